// The seven-step pane: the ladder of the selected layer or of the whole network, below it why the
// marked step costs what it costs, which parameter stands behind it, what would help most, and what
// was measured.
#pragma once

#include "analysis/what_if/sensitivity.hpp"
#include "gui/views/ladder_view.hpp"

class QButtonGroup;
class QLabel;
class QScrollArea;
class QToolButton;

namespace eyeroof::gui {

class StepsPane : public QWidget {
    Q_OBJECT

  public:
    explicit StepsPane(QWidget* parent = nullptr);

    LadderView& ladder() { return *ladder_; }
    void set_layer(std::shared_ptr<const analysis::Report> report, std::size_t layer);
    void clear();
    void show_help(const analysis::LayerHelp& help);
    void show_gains(const std::vector<analysis::Sensitivity>& gains); // of the whole network
    // The ladder of the network instead of the layer's, or back.
    void show_network(bool network);
    bool shows_network() const;
    void show_ladder(); // again, since the report says more
    QString text() const;

  signals:
    void parameter_wanted(const QString& key);
    void layer_wanted(std::size_t row); // of the report

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void arrange();
    void make_choice();
    void choose(std::size_t step);
    void update_text();
    QString layer_text() const;
    QString network_text() const;
    QString help_text(std::vector<analysis::Sensitivity> gains, const QString& nothing) const;
    QString measured_text() const;
    const analysis::LayerReport& layer() const { return report_->layers[layer_]; }

    LadderView* ladder_ = nullptr;
    QLabel* text_ = nullptr;
    QScrollArea* text_area_ = nullptr;
    QButtonGroup* choice_ = nullptr;
    QToolButton* of_layer_ = nullptr;
    QToolButton* of_network_ = nullptr;
    std::shared_ptr<const analysis::Report> report_;
    std::size_t layer_ = 0;
    std::string layer_name_;
    std::optional<analysis::LayerHelp> help_;
    std::vector<analysis::Sensitivity> gains_;
    std::size_t step_ = 0;
};

} // namespace eyeroof::gui
