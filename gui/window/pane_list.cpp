#include "gui/window/pane_list.hpp"

#include "gui/panes/advice/advice_pane.hpp"
#include "gui/panes/baseline/baseline_pane.hpp"
#include "gui/panes/fusion/fusion_pane.hpp"
#include "gui/panes/measurements/measurements_pane.hpp"
#include "gui/panes/memory/memory_pane.hpp"
#include "gui/panes/parameter_map/parameter_map_pane.hpp"
#include "gui/panes/scaling/scaling_pane.hpp"
#include "gui/panes/sparse/sparse_pane.hpp"
#include "gui/panes/timeline/timeline_pane.hpp"
#include "gui/panes/traffic/traffic_pane.hpp"
#include "gui/panes/tuning/tuning_pane.hpp"

namespace eyeroof::gui {

namespace {
template <class Kind> Pane* make(const PaneActions& actions, QWidget* parent) {
    return new Kind(actions, parent);
}
} // namespace

const std::vector<MakePane>& all_panes() {
    static const std::vector<MakePane> panes = {
        make<MeasurementsPane>, make<BaselinePane>, make<TrafficPane>, make<ParameterMapPane>,
        make<AdvicePane>,       make<TimelinePane>, make<MemoryPane>,  make<ScalingPane>,
        make<SparsePane>,       make<FusionPane>,   make<TuningPane>,
    };
    return panes;
}

} // namespace eyeroof::gui
