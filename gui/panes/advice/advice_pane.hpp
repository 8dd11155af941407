// What `eyeroof exam --advice` says: on a GPU changes of shape and of the scenario, the largest
// savings first; on an accelerator larger parameters and ideal steps. And what the counters of the
// compared run say against the prediction.
#pragma once

#include "gui/panes/answer_pane.hpp"

namespace eyeroof::gui {

class AdvicePane : public AnswerPane {
    Q_OBJECT

  public:
    AdvicePane(const PaneActions& actions, QWidget* parent);
    QString title() const override { return tr("Advice"); }
    QString name() const override { return "advice"; }

  protected:
    Background::Job job(const PaneInput& input) override;
};

} // namespace eyeroof::gui
