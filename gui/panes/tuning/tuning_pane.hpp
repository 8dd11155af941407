// Searches that were recorded: the best so far against trials, and how soon each came near it.
// Shows the logs of trials among the open files. Searches nothing itself.
#pragma once

#include "analysis/trials/log_searches.hpp"
#include "gui/panes/answer_pane.hpp"

namespace eyeroof::gui {

class TuningPane : public AnswerPane {
    Q_OBJECT

  public:
    using Searches = std::vector<analysis::tune::LogSearch>;

    TuningPane(const PaneActions& actions, QWidget* parent);
    QString title() const override { return tr("Recorded searches of kernels"); }
    QString tab() const override { return tr("Tuning"); }
    QString name() const override { return "tuning"; }
    PanePlace place() const override { return PanePlace::middle; }
    bool belongs(const PaneInput& input) const override;

    const Searches& searches() const { return shown_; } // of the chosen layer

  protected:
    Background::Job job(const PaneInput& input) override;
    void clear() override;

  private:
    void fill_layers(const QStringList& layers);

    QComboBox* layer_ = nullptr;
    Searches shown_;
};

} // namespace eyeroof::gui
