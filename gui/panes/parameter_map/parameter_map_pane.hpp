// Two parameters of the first machine against each other: the network's time over both, as a map.
// Runs nothing itself: parameter_map() does, in the background, once it is shown.
#pragma once

#include "analysis/what_if/parameter_map.hpp"
#include "gui/panes/answer_pane.hpp"

namespace eyeroof::gui {

class ParameterMapPane : public AnswerPane {
    Q_OBJECT

  public:
    ParameterMapPane(const PaneActions& actions, QWidget* parent);
    QString title() const override { return tr("Two parameters"); }
    QString name() const override { return "parameters"; }
    PanePlace place() const override { return PanePlace::middle; } // numbers in cells need room
    const std::optional<analysis::ParameterMap>& map() const { return map_; }

  protected:
    void fill(const PaneInput& input) override;
    Background::Job job(const PaneInput& input) override;
    void clear() override;

  private:
    std::optional<analysis::ParameterMap> map_;
    QComboBox* x_ = nullptr;
    QComboBox* y_ = nullptr;
};

} // namespace eyeroof::gui
