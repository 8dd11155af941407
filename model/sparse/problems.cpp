#include "model/sparse/problems.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::model::sparse {

Diagnostics problems(const Layer& layer, const Densities& densities,
                     std::initializer_list<Op> runs) {
    Diagnostics found = validate(layer);
    if (std::find(runs.begin(), runs.end(), layer.op) == runs.end() ||
        layer.direction != Direction::fwd) {
        std::string names;
        for (const Op op : runs) {
            names += (names.empty() ? "" : " and ") + std::string(op_name(op));
        }
        found.error("not-sparse-op",
                    fmt::format("the machine runs no {} {}", op_name(layer.op),
                                direction_name(layer.direction)),
                    fmt::format("it runs {}, forward; choose layers with --layers", names));
    }
    for (const double density : {densities.input, densities.weight, densities.output}) {
        if (!(density >= 0.0 && density <= 1.0)) {
            found.error("density", fmt::format("{} is no density", density),
                        "a density is the share of words that are not zero, 0 to 1");
        }
    }
    return found;
}

} // namespace eyeroof::model::sparse
