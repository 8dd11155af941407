// Two parameters of the first machine against each other: the network's time over both, as a map.
// Runs nothing itself: parameter_map() does, in the background, once it is shown.
#pragma once

#include "analysis/what_if/parameter_map.hpp"
#include "gui/jobs/background.hpp"
#include "gui/panes/pane.hpp"
#include "gui/views/drawing_view.hpp"

class QComboBox;
class QLabel;

namespace eyeroof::gui {

// Cells by their speed, the present one framed; beside each side its values.
report::Drawing draw_parameter_map(const analysis::ParameterMap& map, const report::Canvas& canvas);

class ParameterMapPane : public Pane {
    Q_OBJECT

  public:
    ParameterMapPane(const PaneActions& actions, QWidget* parent);
    QString title() const override { return tr("Two parameters"); }
    QString name() const override { return "parameters"; }
    void show_answer(const PaneInput& input) override;
    QString html() const override;
    const std::optional<analysis::ParameterMap>& map() const { return map_; }
    DrawingView& picture() { return *picture_; }

  signals:
    void mapped();

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    void fill_choices(const PaneInput& input);
    void ask(const PaneInput& input);

    bool due_ = true; // what is shown is of another question
    std::optional<analysis::ParameterMap> map_;
    Background worker_;
    QComboBox* x_ = nullptr;
    QComboBox* y_ = nullptr;
    QLabel* head_ = nullptr;
    DrawingView* picture_ = nullptr;
};

} // namespace eyeroof::gui
