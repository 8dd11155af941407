#include "formats/component_energy.hpp"

#include "base/ascii.hpp"
#include "model/technology/chip_parts.hpp"

#include <algorithm>

namespace eyeroof::formats {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

constexpr double kUsualNode = 45.0; // nm, where the file names none
constexpr double kSmallestBytes = 4.0;

// The process called so, or the nearest one of the table.
std::optional<ProcessNode> process(const Technology& technology, double nm) {
    if (technology.nodes.empty()) {
        return std::nullopt;
    }
    const double within = std::clamp(nm, technology.nodes.back().nm, technology.nodes.front().nm);
    auto node = node_of(technology, within);
    return node ? std::optional(*node) : std::nullopt;
}

} // namespace

std::optional<double> estimated_pj(const Technology& technology, const NamedComponent& component) {
    const std::string kind = lowered(component.kind);
    const auto has = [&](const char* part) { return kind.find(part) != std::string::npos; };
    if (kind == "dummy" || kind.empty()) {
        return 0.0;
    }
    for (const DramEnergy& dram : technology.drams) {
        if (kind == lowered(dram.name)) {
            return dram.pj_per_bit;
        }
    }
    const auto node = process(technology, component.nm > 0.0 ? component.nm : kUsualNode);
    const bool memory = has("sram") || has("register") || has("regfile") || has("edram");
    if (!node || (has("edram") && has("bus"))) {
        return std::nullopt;
    }
    if (memory && component.bytes > 0.0) {
        return memory_pj_per_bit(technology.reference, *node,
                                 std::max(component.bytes, kSmallestBytes));
    }
    if (kind == "intmac" || kind == "mac") {
        return multiplier(technology.reference, *node, component.multiplier_bits).pj +
               adder(technology.reference, *node, component.adder_bits).pj;
    }
    return std::nullopt;
}

} // namespace eyeroof::formats
