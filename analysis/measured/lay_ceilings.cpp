#include "analysis/measured/lay_ceilings.hpp"

#include "analysis/exam/roofs.hpp"
#include "base/ascii.hpp"

#include <algorithm>
#include <cctype>

namespace eyeroof::analysis {

namespace {

// What the description says of the same level, or of the same type on the same kind of units.
double described(const model::Machine& machine, const PlotMachine& roofs,
                 const profiles::Ceiling& ceiling) {
    const auto* gpu = std::get_if<model::Gpu>(&machine.kind);
    if (gpu != nullptr && same_in_any_case(ceiling.level, "pcie")) {
        return gpu->pcie_bytes_per_s;
    }
    const bool memory = !ceiling.level.empty();
    for (const Roof& roof : roofs.roofs) {
        const bool tensor = roof.name.ends_with("tensor");
        const bool fits =
            memory ? roof.kind == RoofKind::memory && same_in_any_case(roof.key, ceiling.level)
                   : roof.kind == RoofKind::compute && !ceiling.precision.empty() &&
                         roof.key == ceiling.precision && tensor == (ceiling.pipe == "tensor");
        if (fits) {
            return roof.value;
        }
    }
    return 0.0;
}

const profiles::Ceiling* highest(const std::vector<profiles::Ceiling>& ceilings,
                                 std::string profiles::Ceiling::*field, std::string_view word) {
    const profiles::Ceiling* found = nullptr;
    for (const profiles::Ceiling& ceiling : ceilings) {
        if (same_in_any_case(ceiling.*field, word) &&
            (found == nullptr || ceiling.value > found->value)) {
            found = &ceiling;
        }
    }
    return found;
}

std::optional<MeasuredRoof> roof_of(const LayerReport& layer,
                                    const std::vector<profiles::Ceiling>& ceilings) {
    std::optional<MeasuredRoof> roof;
    const auto raise = [&](double amount, const profiles::Ceiling* ceiling) {
        if (ceiling == nullptr || !(ceiling->value > 0.0) || !(amount > 0.0)) {
            return;
        }
        const double time_s = amount / ceiling->value;
        if (!roof || time_s > roof->time_s) {
            roof = MeasuredRoof{time_s, ceiling->name};
        }
    };
    const auto type = model::data_type_name(layer.layer.types.input);
    raise(static_cast<double>(layer.flops), highest(ceilings, &profiles::Ceiling::precision, type));
    raise(layer.outer_bytes, highest(ceilings, &profiles::Ceiling::level, "dram"));
    return roof;
}

} // namespace

void lay_ceilings(Report& report, const model::Machine& machine,
                  const std::vector<profiles::Ceiling>& ceilings) {
    const PlotMachine roofs = roofs_of(machine);
    for (const profiles::Ceiling& ceiling : ceilings) {
        report.ceilings.push_back({ceiling.name, ceiling.level, ceiling.precision, ceiling.pipe,
                                   described(machine, roofs, ceiling), ceiling.value,
                                   ceiling.spread, ceiling.how});
    }
    for (LayerReport& layer : report.layers) {
        layer.roof = roof_of(layer, ceilings);
    }
}

} // namespace eyeroof::analysis
