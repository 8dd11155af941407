#include "model/nest/scatter.hpp"

#include "model/nest/flow.hpp"
#include "model/nest/window.hpp"

#include <map>
#include <set>

namespace eyeroof::model::nest {

namespace {

constexpr Count kMaxPoints = 1 << 21;

struct Point {
    Count along = 0;
    Count tap = 0;
    Count output = 0;
};

// Calls visit(point) for every row and tap that meet an output; false when there are too many.
template <class Visit> bool walk(const Problem& problem, Dim along, Dim tap, Visit visit) {
    const bool rows = along == Dim::P;
    const Count step = rows ? problem.stride.h : problem.stride.w;
    const Count gap = rows ? problem.dilation.h : problem.dilation.w;
    const Count outputs = problem.bounds[index(along)];
    const Count taps = problem.bounds[index(tap)];
    const auto points = checked_mul(outputs, taps);
    if (!points || *points > kMaxPoints) {
        return false;
    }
    for (Count o = 0; o < outputs; ++o) {
        for (Count t = 0; t < taps; ++t) {
            visit(Point{o * step + t * gap, t, o});
        }
    }
    return true;
}

Count digit_of(const NestLoop& loop, const Point& point, Dim along) {
    return (loop.dim == along ? point.along : point.tap) / loop.stride % loop.bound;
}

using Key = std::vector<Count>; // digits of the loops that take part, outermost first
using Family = std::map<Key, std::set<Count>>;

Runs runs_of(const std::set<Count>& words) {
    Runs runs;
    for (const Count word : words) {
        if (!runs.empty() && runs.back().end == word) {
            ++runs.back().end;
        } else {
            runs.push_back({word, word + 1});
        }
    }
    return runs;
}

// The family at the nearest trip of the moving loop before (or after) this one, all else equal.
const Family* neighbour(const std::map<Key, Family>& groups, const Key& key, std::size_t place,
                        bool leaving, Count bound) {
    Key other = key;
    const Count way = leaving ? 1 : -1;
    for (other[place] += way; other[place] >= 0 && other[place] < bound; other[place] += way) {
        const auto found = groups.find(other);
        if (found != groups.end()) {
            return &found->second;
        }
    }
    return nullptr;
}

Count family_words(const Family& family, const Family* other, Measure measure) {
    std::vector<Runs> now;
    std::vector<Runs> before;
    for (const auto& [key, words] : family) {
        now.push_back(runs_of(words));
        if (other != nullptr) {
            const auto same = other->find(key);
            before.push_back(same == other->end() ? Runs{} : runs_of(same->second));
        }
    }
    return moved_words(now, before, measure);
}

} // namespace

std::optional<Count> scattered(const Problem& problem, const Nest& nest, const Movement& movement,
                               const std::vector<ScatterPart>& parts,
                               std::optional<std::size_t> moving, Dim along, Dim tap) {
    std::map<Key, Family> groups;
    std::optional<std::size_t> place;
    const bool walked = walk(problem, along, tap, [&](const Point& point) {
        Key group;
        Key family;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const NestLoop& loop = nest.loops[i];
            if ((loop.dim != along && loop.dim != tap) || parts[i] == ScatterPart::inside) {
                continue;
            }
            const Count digit = digit_of(loop, point, along);
            if (parts[i] == ScatterPart::fixed) {
                if (loop.spatial && digit != 0) {
                    return; // another instance
                }
                continue;
            }
            if (moving && *moving == i) {
                place = group.size();
            }
            (parts[i] == ScatterPart::group ? group : family).push_back(digit);
        }
        const Count word = !moves(problem, movement.operand, along) ? point.tap
                           : movement.operand == Operand::output    ? point.output
                                                                    : point.along;
        groups[group][family].insert(word);
    });
    if (!walked) {
        return std::nullopt;
    }
    Count words = 0;
    for (const auto& [key, family] : groups) {
        const Family* other =
            place ? neighbour(groups, key, *place, movement.leaving, nest.loops[*moving].bound)
                  : nullptr;
        words += family_words(family, other, movement.measure);
    }
    return words;
}

std::optional<Count> scattered_steps(const Problem& problem, const Nest& nest, Dim along, Dim tap) {
    std::set<Key> steps;
    const bool walked = walk(problem, along, tap, [&](const Point& point) {
        Key key;
        for (const NestLoop& loop : nest.loops) {
            if (!loop.spatial && (loop.dim == along || loop.dim == tap)) {
                key.push_back(digit_of(loop, point, along));
            }
        }
        steps.insert(std::move(key));
    });
    return walked ? std::optional<Count>(static_cast<Count>(steps.size())) : std::nullopt;
}

} // namespace eyeroof::model::nest
