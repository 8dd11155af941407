// The seven-step pane: the ladder, below it why the marked step costs what it costs, which
// parameter stands behind it, and what would help most.
// Used by the main window, which looks the help up in the background.
// Knows only one layer of one report.
#pragma once

#include "gui/views/ladder_view.hpp"
#include "study/what_if/sensitivity.hpp"

class QLabel;

namespace eyeroof::gui {

class StepsPane : public QWidget {
    Q_OBJECT

  public:
    explicit StepsPane(QWidget* parent = nullptr);

    LadderView& ladder() { return *ladder_; }
    void set_layer(const study::Report& report, std::size_t layer,
                   std::optional<double> measured_s);
    void clear();
    void show_help(const study::LayerHelp& help);
    QString text() const;

  signals:
    void parameter_wanted(const QString& key);

  private:
    void choose(std::size_t step);
    void update_text();

    LadderView* ladder_ = nullptr;
    QLabel* text_ = nullptr;
    std::optional<study::LayerReport> layer_;
    std::optional<study::LayerHelp> help_;
    std::size_t step_ = 0;
};

} // namespace eyeroof::gui
