#include "analysis/kernel_fit/kernel_widths.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace eyeroof::analysis {

namespace {

constexpr double kInside = 0.8;
constexpr std::size_t kFewestCells = 3; // that a kind's own width takes

double kernel_quantile(const std::vector<double>& sorted, double share) {
    const double at = std::clamp(share * (static_cast<double>(sorted.size()) + 1.0) - 1.0, 0.0,
                                 static_cast<double>(sorted.size()) - 1.0);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// The mean over the cells of the share of their rows that intervals hold.
double inside(const std::vector<const LeftOut*>& cells, double width) {
    double sum = 0.0;
    for (const LeftOut* cell : cells) {
        double held = 0.0;
        for (const LeftOut::Row& row : cell->rows) {
            const double by = std::hypot(width * row.times, row.plus);
            held += row.off >= std::log(model::widened(cell->low, by)) &&
                            row.off <= std::log(model::widened(cell->high, by))
                        ? 1.0
                        : 0.0;
        }
        sum += held / static_cast<double>(cell->rows.size());
    }
    return sum / static_cast<double>(cells.size());
}

std::vector<const LeftOut*> cells_of(const std::vector<LeftOut>& cells, LeftOut::Why why,
                                     std::optional<model::LibraryKind> kind) {
    std::vector<const LeftOut*> some;
    for (const LeftOut& cell : cells) {
        if (cell.why == why && !cell.rows.empty() && cell.kind == kind.value_or(cell.kind)) {
            some.push_back(&cell);
        }
    }
    return some;
}

} // namespace

std::pair<double, double> kernel_band(std::vector<double> logs) {
    std::sort(logs.begin(), logs.end());
    return {std::min(std::exp(kernel_quantile(logs, (1.0 - kInside) / 2.0)), 0.999),
            std::max(std::exp(kernel_quantile(logs, (1.0 + kInside) / 2.0)), 1.001)};
}

double width_for(const std::vector<const LeftOut*>& cells) {
    if (cells.empty() || inside(cells, 0.0) >= kInside) {
        return 0.0;
    }
    double below = 0.0, above = 2.0;
    for (int i = 0; i < 30; ++i) {
        const double middle = 0.5 * (below + above);
        (inside(cells, middle) < kInside ? below : above) = middle;
    }
    return above;
}

Distances distances_of(const std::vector<LeftOut>& cells) {
    Distances distances{};
    // A family has two or three machines, so half of a kind's width (in squares) is that of all
    // kinds. The share was chosen with B300 and H200 in view (docs/dev/gpu-evidence.md).
    const auto machines = cells_of(cells, LeftOut::Why::machine, std::nullopt);
    const double all_kinds =
        machines.size() < kFewestCells ? model::CellDistance{}.machine : width_for(machines);
    for (std::size_t i = 0; i < distances.size(); ++i) {
        const auto set = [&](LeftOut::Why why, double& width) {
            const auto own = cells_of(cells, why, static_cast<model::LibraryKind>(i));
            const auto like = own.size() < kFewestCells ? cells_of(cells, why, {}) : own;
            width = like.size() < kFewestCells ? width : width_for(like);
        };
        set(LeftOut::Why::machine, distances[i].machine);
        distances[i].machine = std::hypot(distances[i].machine, all_kinds) / std::sqrt(2.0);
        set(LeftOut::Why::version, distances[i].version);
        set(LeftOut::Why::library, distances[i].library);
        set(LeftOut::Why::size, distances[i].size);
    }
    return distances;
}

Distances distances_of_families(const std::vector<LeftOut>& cells, Distances own) {
    std::vector<LeftOut> other = cells;
    for (LeftOut& cell : other) {
        for (LeftOut::Row& row : cell.rows) { // constants of all are of another library, too
            row.plus = std::hypot(row.plus, own[static_cast<std::size_t>(cell.kind)].library);
        }
    }
    const Distances families = distances_of(other);
    for (std::size_t i = 0; i < own.size(); ++i) {
        own[i].machine = families[i].machine;
    }
    return own;
}

} // namespace eyeroof::analysis
