#include "model/eyexam/chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::model {

std::size_t worst_step(const Chain& chain, double units) {
    std::size_t worst = 3;
    double worst_ratio = 2.0;
    double before = units;
    for (std::size_t i = 0; i < kSteps; ++i) {
        const double after = std::min(units, chain[i].macs_per_cycle);
        const double ratio = after / before;
        if (ratio < worst_ratio) {
            worst = i + 1;
            worst_ratio = ratio;
        }
        before = after;
    }
    return worst_ratio < 1.0 ? worst : 3;
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
