// Two parameters of the first machine against each other: the network's time over both, as a map.
// Runs nothing itself: study::knob_map does, in the background, once somebody looks.
#pragma once

#include "analysis/what_if/knob_map.hpp"
#include "gui/jobs/background.hpp"
#include "gui/panes/pane.hpp"
#include "gui/views/drawing_view.hpp"

class QComboBox;
class QLabel;

namespace eyeroof::gui {

class KnobMapPane : public Pane {
    Q_OBJECT

  public:
    KnobMapPane(const PaneActions& actions, QWidget* parent);
    QString title() const override { return tr("Two knobs"); }
    QString name() const override { return "knobs"; }
    PanePlace place() const override { return PanePlace::middle; } // numbers in cells need room
    DrawingView* picture_in_front() override { return picture_; }
    void show_answer(const PaneInput& input) override;
    QString html() const override;
    const std::optional<analysis::KnobMap>& map() const { return map_; }
    DrawingView& picture() { return *picture_; }

  signals:
    void mapped();

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    void fill_choices(const PaneInput& input);
    void ask(const PaneInput& input);

    bool due_ = true; // what is shown is of another question
    std::optional<analysis::KnobMap> map_;
    Background worker_;
    QComboBox* x_ = nullptr;
    QComboBox* y_ = nullptr;
    QLabel* head_ = nullptr;
    DrawingView* picture_ = nullptr;
};

} // namespace eyeroof::gui
