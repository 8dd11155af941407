#include "model/eyexam/chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::model {

std::string_view limit_name(Limit limit) {
    constexpr std::array<std::string_view, 13> names = {
        "arithmetic",   "workload", "dataflow", "units",   "dimensions", "alignment", "storage",
        "outer memory", "on chip",  "link",     "latency", "power",      "launch"};
    return names[static_cast<std::size_t>(limit)];
}

Diagnostics check_chain(const Chain& chain, std::string_view what) {
    constexpr double rounding = 1.0 + 1e-9;
    constexpr const char* hint =
        "this is a defect of eyeroof; please report it with the input files";
    Diagnostics d;
    for (std::size_t i = 0; i < kSteps; ++i) {
        const double bound = chain[i].macs_per_cycle;
        if (!std::isfinite(bound) || bound <= 0.0) {
            d.error("chain-rises",
                    fmt::format("{}: the bound of step {} is {}, not a positive number", what,
                                i + 1, bound),
                    hint);
        } else if (i > 0 && bound > chain[i - 1].macs_per_cycle * rounding) {
            d.error("chain-rises",
                    fmt::format("{}: the bound rises from {} to {} MAC/cycle at step {}", what,
                                chain[i - 1].macs_per_cycle, bound, i + 1),
                    hint);
        }
    }
    return d;
}

} // namespace eyeroof::model
