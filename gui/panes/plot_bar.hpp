// The row above the plot: filters that are always in sight, and a switch for every roof.
#pragma once

#include "report/draw/roofline_scene.hpp"

#include <QWidget>

class QComboBox;
class QLineEdit;
class QSpinBox;
class QToolButton;
class QVBoxLayout;

namespace eyeroof::gui {

class FlowLayout;

class PlotBar : public QWidget {
    Q_OBJECT

  public:
    explicit PlotBar(QWidget* parent = nullptr);

    // Shows what the view says of the plot; sends nothing.
    void show_view(const report::PlotInput& input, const report::RooflineScene& scene,
                   const report::ViewState& view);
    void focus_filter();

  signals:
    void changed(const std::function<void(eyeroof::report::ViewState&)>& change);

  protected:
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;

  private:
    void make_filters();
    void keep_all_rows();
    void show_roofs(const report::PlotInput& input, const report::RooflineScene& scene,
                    const report::ViewState& view);
    void add_machine_switch(const analysis::PlotMachine& machine, bool several);
    void add_roof_switch(const analysis::PlotMachine& machine, const analysis::Roof& roof);
    static void mark_switch(QToolButton* button, const QString& name, bool on);
    void show_chips(const report::RooflineScene& scene);
    void make_looks();
    void show_levels(const report::PlotInput& input, const report::ViewState& view);
    void choose_level(const std::string& level);
    void switch_roof(const std::string& id, bool on);

    FlowLayout* row_ = nullptr;
    QLineEdit* filter_ = nullptr;
    QSpinBox* top_ = nullptr;
    QComboBox* level_ = nullptr;
    QComboBox* colour_by_ = nullptr;
    QToolButton* zones_ = nullptr;
    QToolButton* roofs_ = nullptr; // opens the list of switches
    QVBoxLayout* roof_rows_ = nullptr;
    std::vector<QWidget*> chips_;
    std::vector<QToolButton*> switches_;
    std::vector<std::string> shown_roofs_;                          // what the switches stand for
    std::vector<std::pair<std::string, std::string>> memory_roofs_; // level and id
    std::set<std::string> visible_;
};

} // namespace eyeroof::gui
