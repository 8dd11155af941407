// Everything that was measured and is in the window: profiles, ceilings, assignments. Each can be
// removed or replaced; two profiles stand beside each other, kernel by kernel. Reads no file.
#pragma once

#include "gui/jobs/background.hpp"
#include "gui/panes/pane.hpp"

class QComboBox;
class QLabel;
class QPushButton;

namespace eyeroof::gui {

class AnswerTableView;

class MeasurementsPane : public Pane {
    Q_OBJECT

  public:
    MeasurementsPane(const PaneActions& actions, QWidget* parent);
    QString title() const override { return tr("Measurements"); }
    QString name() const override { return "measurements"; }
    void show_answer(const PaneInput& input) override;
    QString html() const override;

  private:
    void show_kernels(); // at once where there are few launches, else in the background
    void show_compared(const PaneInput& input);
    std::vector<MeasurementFile> chosen_profiles() const;
    std::string chosen_path() const;

    std::vector<MeasurementFile> files_;
    Background worker_;
    AnswerTableView* list_ = nullptr;
    AnswerTableView* kernels_ = nullptr;
    QLabel* head_ = nullptr;
    QComboBox* compared_ = nullptr;
    QPushButton* remove_ = nullptr;
    QPushButton* replace_ = nullptr;
};

} // namespace eyeroof::gui
