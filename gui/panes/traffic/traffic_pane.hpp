// What the selected layer is and what it moves: operator, shape, traffic and energy by level and
// tensor, energy times delay; and the same sums of the network. Costs nothing itself: it shows the
// report.
#pragma once

#include "gui/panes/pane.hpp"

class QLabel;

namespace eyeroof::gui {

class AnswerTableView;

// "conv2d: k 64, c 3, h 224 …; fp16": the columns of a layer table that are not defaults.
QString shape_text(const model::Layer& layer);

class TrafficPane : public Pane {
    Q_OBJECT

  public:
    TrafficPane(const PaneActions& actions, QWidget* parent);
    QString title() const override { return tr("Traffic and energy"); }
    QString tab() const override { return tr("Traffic"); }
    QString name() const override { return "traffic"; }
    void show_answer(const PaneInput& input) override;
    void show_selection(const PaneInput& input) override { show_answer(input); }
    QString html() const override;

  private:
    QLabel* head_ = nullptr;
    AnswerTableView* rows_ = nullptr;
};

} // namespace eyeroof::gui
