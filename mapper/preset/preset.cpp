#include "mapper/preset/preset.hpp"

#include "mapper/preset/row_stationary.hpp"
#include "mapper/preset/stationary.hpp"

namespace eyeroof::mapper {

Result<Preset> preset_mapping(const model::Problem& problem, const model::Accelerator& accelerator,
                              const model::Dataflow& dataflow) {
    if (dataflow.kind == model::DataflowKind::rs) {
        return row_stationary_mapping(problem, accelerator, dataflow);
    }
    return stationary_mapping(problem, accelerator, dataflow);
}

} // namespace eyeroof::mapper
