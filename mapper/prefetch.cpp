#include "mapper/prefetch.hpp"

#include "mapper/reported.hpp"
#include "mapper/space.hpp"
#include "model/cost/latency.hpp"

#include <algorithm>

namespace eyeroof::mapper {

using namespace model;

namespace {

static_assert(kPrefetchLevels == kMaxLevels);

struct Open { // a store in which tiles of an operand may be early or late
    std::size_t level = 0;
    Operand operand = Operand::input;
};

// Those that step 7 asks for: next to the outermost memory, and next to the units.
std::vector<Open> open_stores(const Task& task, const std::vector<OperandSet>& keeps) {
    std::vector<Open> open;
    const std::size_t edge = array_edge(task.machine);
    for (const Operand o : kAllOperands) {
        std::size_t before = 0;
        for (const std::size_t from : {std::size_t{1}, edge + 1}) {
            const std::size_t first = keeping_from(keeps, from, o);
            if (!present(task, o) || first == before || first >= keeps.size()) {
                continue;
            }
            const Store* store = store_of(task.machine.levels[first], o);
            const bool single = store != nullptr && store->buffers == 1 && !store->prefetch;
            if (single && keeping_from(keeps, first + 1, o) < keeps.size()) {
                open.push_back({first, o});
            }
            before = first;
        }
    }
    return open;
}

} // namespace

std::size_t keeping_from(const std::vector<OperandSet>& keeps, std::size_t from, Operand o) {
    while (from < keeps.size() && !keeps[from].contains(o)) {
        ++from;
    }
    return from;
}

std::vector<PrefetchCase> prefetch_cases(const Task& task, const std::vector<OperandSet>& keeps,
                                         std::size_t most) {
    std::vector<PrefetchCase> cases(1);
    if (!ramps_matter(task)) {
        return cases;
    }
    for (const Open& open : open_stores(task, keeps)) {
        if (2 * cases.size() > most) {
            break;
        }
        std::vector<PrefetchCase> next;
        for (const PrefetchCase& one : cases) {
            next.push_back(one);
            next.back().late[open.level].insert(open.operand);
            next.push_back(one);
            next.back().early[open.level].insert(open.operand);
        }
        cases = std::move(next);
    }
    return cases;
}

bool suits(const Task& task, const std::vector<OperandSet>& keeps, const PrefetchCase& prefetch,
           Dim dim, const Split& split) {
    const std::size_t levels = keeps.size();
    const Count bound = task.problem.bounds[index(dim)];
    for (std::size_t first = 0; first < levels; ++first) {
        for (const Operand o : kAllOperands) {
            if (!prefetch.early[first].contains(o) || !relevant(o, dim)) {
                continue;
            }
            const std::size_t second = keeping_from(keeps, first + 1, o);
            Count spread = extent_at(split, second, levels, bound);
            for (std::size_t i = first; i < second; ++i) {
                spread *= split.spatial[i];
            }
            if (std::min(spread, bound) != extent_at(split, first, levels, bound)) {
                return false;
            }
        }
    }
    return true;
}

} // namespace eyeroof::mapper
