// Searches that were recorded: the best so far against trials, and how soon each came near it.
// Shows the logs of trials among the open files. Searches nothing itself.
#pragma once

#include "analysis/trials/log_searches.hpp"
#include "gui/panes/asking_pane.hpp"
#include "gui/views/drawing_view.hpp"

class QTableWidget;

namespace eyeroof::gui {

class TuningPane : public AskingPane {
    Q_OBJECT

  public:
    using Searches = std::vector<analysis::tune::LogSearch>;
    using Lines = std::vector<analysis::tune::TrialLine>;

    TuningPane(const PaneActions& actions, QWidget* parent);
    QString title() const override { return tr("Recorded searches of kernels"); }
    QString tab() const override { return tr("Tuning"); }
    QString name() const override { return "tuning"; }
    PanePlace place() const override { return PanePlace::middle; }
    QString html() const override;
    bool belongs(const PaneInput& input) const override;
    DrawingView* picture_in_front() override { return picture_; }

    const Searches& searches() const { return shown_; } // of the chosen layer

  protected:
    Background::Job job(const PaneInput& input) override;
    void clear() override;

  private:
    using Logs = std::vector<std::shared_ptr<const report::Trials>>;
    void take(const Logs& logs, std::shared_ptr<const Lines> lines, Searches all);
    void fill_layers();
    void show_layer();
    void fill_rows();
    QString headline() const;

    QComboBox* layer_ = nullptr;
    DrawingView* picture_ = nullptr;
    QTableWidget* rows_ = nullptr;
    Logs logs_; // that the rest is made of
    std::shared_ptr<const Lines> lines_;
    Searches all_, shown_;
};

} // namespace eyeroof::gui
