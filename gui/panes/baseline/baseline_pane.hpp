// Before and after: reports that were pinned, and what is on screen held against one of them, in
// total, layer by layer and as arrows on the plot; measured times where both have them. Examines
// nothing.
#pragma once

#include "gui/panes/pane.hpp"

class QComboBox;
class QLabel;
class QPushButton;

namespace eyeroof::gui {

class AnswerTableView;

struct Baseline {
    QString name;
    analysis::Report report;
};

class BaselinePane : public Pane {
    Q_OBJECT

  public:
    BaselinePane(const PaneActions& actions, QWidget* parent);
    QString title() const override { return tr("Before and after"); }
    QString tab() const override { return tr("Baseline"); }
    QString name() const override { return "baseline"; }
    void show_answer(const PaneInput& input) override;
    QString html() const override;

    const std::vector<Baseline>& baselines() const { return baselines_; }

  private:
    void pin();
    void unpin();
    void compare(const PaneInput& input);
    void tell_nothing();

    std::vector<Baseline> baselines_;
    QComboBox* choice_ = nullptr;
    QPushButton* pin_ = nullptr;
    QPushButton* unpin_ = nullptr;
    QLabel* total_ = nullptr;
    AnswerTableView* layers_ = nullptr;
};

} // namespace eyeroof::gui
