#include "model/nest/flow.hpp"

#include "model/nest/scatter.hpp"

#include <algorithm>
#include <numeric>

namespace eyeroof::model::nest {

namespace {

constexpr Count kMaxIrregular = 1 << 16; // tiles of an axis that differ from all others
constexpr Count kMaxRuns = 1 << 20;      // pieces that a group of windows may fall into

Count extent_below(const Nest& nest, std::size_t position, Dim dim) {
    Count tile = 1;
    for (std::size_t i = position; i < nest.loops.size(); ++i) {
        tile *= nest.loops[i].dim == dim ? nest.loops[i].bound : 1;
    }
    return tile;
}

// How many indices below n have this digit at `place`.
Count with_digit(Count n, const std::vector<Digit>& digits, std::size_t place, Count value) {
    Count weight = 1;
    for (std::size_t i = place + 1; i < digits.size(); ++i) {
        weight *= digits[i].bound;
    }
    const Count period = weight * digits[place].bound;
    return n / period * weight + std::clamp<Count>(n % period - value * weight, 0, weight);
}

Count digit_at(Count index, const std::vector<Digit>& digits, std::size_t place) {
    for (std::size_t i = digits.size(); i-- > place + 1;) {
        index /= digits[i].bound;
    }
    return index % digits[place].bound;
}

std::vector<Count> offsets_of(const std::vector<Digit>& family) {
    Count size = 1;
    for (const Digit& digit : family) {
        size *= digit.bound;
    }
    std::vector<Count> offsets;
    for (Count i = 0; i < size; ++i) {
        offsets.push_back(offset_of(i, family));
    }
    return offsets;
}

} // namespace

FlowCounter::FlowCounter(const Problem& problem, const Nest& nest, Counting counting)
    : problem_(problem), nest_(nest), counting_(counting), bounds_(loop_bounds(problem)) {}

Count FlowCounter::times(Count a, Count b) {
    const auto product = checked_mul(a, b);
    failed_ = failed_ || !product;
    return product.value_or(0);
}

std::optional<std::size_t> FlowCounter::moving_loop(const Movement& movement) const {
    if (movement.tile_level + 1 >= nest_.begin.size()) {
        return std::nullopt; // single MACs keep nothing
    }
    for (std::size_t i = nest_.begin[movement.tile_level]; i-- > 0;) {
        if (!nest_.loops[i].spatial && moves(problem_, movement.operand, nest_.loops[i].dim)) {
            return i;
        }
    }
    return std::nullopt;
}

std::vector<FlowCounter::Part> FlowCounter::parts_of(const Movement& movement) const {
    const std::size_t end = nest_.begin[movement.tile_level];
    const bool keeps = movement.tile_level + 1 < nest_.begin.size();
    const auto moving = moving_loop(movement);
    const std::size_t rest_from = keeps ? (moving ? *moving + 1 : 0) : end;
    std::vector<Part> parts(nest_.loops.size(), Part::inside);
    for (std::size_t i = 0; i < end; ++i) {
        const NestLoop& loop = nest_.loops[i];
        if (!loop.spatial) {
            const bool rests =
                i >= rest_from || (movement.once && !moves(problem_, movement.operand, loop.dim));
            parts[i] = rests ? Part::fixed : Part::each;
        } else if (loop.level < movement.pinned_levels) {
            parts[i] = Part::fixed;
        } else {
            const bool merges = loop.level >= movement.merge_from &&
                                loop.level < movement.merges.size() && movement.merges[loop.level];
            parts[i] = merges ? Part::merged : Part::each;
        }
    }
    return parts;
}

FlowCounter::AxisLoops FlowCounter::loops_of(const Movement& movement,
                                             const std::vector<Part>& parts, Dim dim) const {
    AxisLoops loops;
    const auto moving = moving_loop(movement);
    for (std::size_t i = 0; i < nest_.begin[movement.tile_level]; ++i) {
        const NestLoop& loop = nest_.loops[i];
        if (loop.dim != dim || parts[i] == Part::fixed) {
            continue;
        }
        if (moving && *moving == i) {
            loops.moving = loops.group.size();
        }
        (parts[i] == Part::merged ? loops.family : loops.group)
            .push_back({loop.bound, loop.stride});
    }
    loops.tile = extent_below(nest_, nest_.begin[movement.tile_level], dim);
    loops.bound = bounds_[index(dim)];
    return loops;
}

// A dimension of its own: each element lies in one tile, so a dimension that moves the tile adds
// what the tiles cover, and one that does not multiplies by how often it comes round.
Count FlowCounter::plain(const Movement& movement, const std::vector<Part>& parts, Dim dim) const {
    const bool relevant_dim = moves(problem_, movement.operand, dim);
    const bool each_receives =
        movement.measure == Measure::received || movement.measure == Measure::received_new;
    std::vector<Digit> digits;
    for (std::size_t i = 0; i < nest_.begin[movement.tile_level]; ++i) {
        const NestLoop& loop = nest_.loops[i];
        const bool counts =
            parts[i] == Part::each || (parts[i] == Part::merged && (relevant_dim || each_receives));
        if (loop.dim == dim && counts) {
            digits.push_back({loop.bound, loop.stride});
        }
    }
    const Count bound = bounds_[index(dim)];
    const Count tile = extent_below(nest_, nest_.begin[movement.tile_level], dim);
    return relevant_dim ? covered(bound, digits, tile) : visits(bound, digits);
}

// Words of the axis in units in which neighbouring words are 1 apart where that changes no count: a
// dimension with one value has no step, a common divisor is left out, and windows that never touch
// are set side by side. Timeloop's boxes keep the original distances.
Axis1d FlowCounter::geometry(Dim along, Dim tap) const {
    const bool rows = along == Dim::P;
    const Count step = rows ? problem_.stride.h : problem_.stride.w;
    const Count gap = rows ? problem_.dilation.h : problem_.dilation.w;
    if (counting_ == Counting::timeloop) {
        return {step, gap, true};
    }
    const Count positions = bounds_[index(along)];
    const Count taps = bounds_[index(tap)];
    if (positions == 1 || taps == 1) {
        return {1, 1, false};
    }
    const Count common = std::gcd(step, gap);
    Axis1d axis{step / common, gap / common, false};
    if ((taps - 1) * axis.gap < axis.step) {
        axis = {taps, 1, false};
    } else if ((positions - 1) * axis.step < axis.gap) {
        axis = {1, positions, false};
    }
    return axis;
}

// Combinations of trips outside the family, with those that look alike put together: all whose
// family is complete, and one by one the few whose family the bound cuts.
std::vector<FlowCounter::Entry> FlowCounter::census(const AxisLoops& loops, bool leaving) {
    Count reach = loops.tile;
    for (const Digit& digit : loops.family) {
        reach += (digit.bound - 1) * digit.stride;
    }
    const Count step = loops.moving ? loops.group[*loops.moving].stride : 0;
    const Count margin = leaving ? reach + step : reach;
    const Count all = visits(loops.bound, loops.group);
    const Count complete = std::min(all, visits(loops.bound - margin + 1, loops.group));
    std::vector<Entry> entries;
    if (complete > 0) {
        const Count edge = leaving && loops.moving ? loops.group[*loops.moving].bound - 1 : 0;
        const Count whole =
            loops.moving ? with_digit(complete, loops.group, *loops.moving, edge) : complete;
        entries.push_back({reach, 0, whole});
        entries.push_back({reach, reach, complete - whole});
    }
    add_irregular(loops, leaving, complete, all, reach, entries);
    return entries;
}

void FlowCounter::add_irregular(const AxisLoops& loops, bool leaving, Count from, Count to,
                                Count reach, std::vector<Entry>& entries) {
    if (to - from > kMaxIrregular) {
        failed_ = true;
        return;
    }
    for (Count i = from; i < to; ++i) {
        const Count left = loops.bound - offset_of(i, loops.group);
        Count other = 0;
        if (loops.moving) {
            const Digit& digit = loops.group[*loops.moving];
            const Count trip = digit_at(i, loops.group, *loops.moving);
            if (!leaving && trip > 0) {
                other = left + digit.stride;
            } else if (leaving && trip + 1 < digit.bound) {
                other = std::max<Count>(0, left - digit.stride);
            }
        }
        entries.push_back({std::min(left, reach), std::min(other, reach), 1});
    }
}

// Words of the axis that one family of tiles moves.
Count FlowCounter::family_words(const AxisLoops& p, const Entry& ep, const AxisLoops& r,
                                const Entry& er, const Axis1d& axis, Measure measure,
                                bool leaving) {
    const bool fresh =
        (p.moving && ep.other == 0) || (r.moving && er.other == 0) || (!p.moving && !r.moving);
    const Count way = leaving ? 1 : -1;
    const Count shift_p = p.moving ? way * p.group[*p.moving].stride : 0;
    const Count shift_r = r.moving ? way * r.group[*r.moving].stride : 0;
    std::vector<Runs> now;
    std::vector<Runs> other;
    Count runs = 0;
    for (const Count at_p : offsets_of(p.family)) {
        for (const Count at_r : offsets_of(r.family)) {
            const Count size_p = std::min(p.tile, ep.left - at_p);
            const Count size_r = std::min(r.tile, er.left - at_r);
            const Count other_p = std::min(p.tile, (p.moving ? ep.other : ep.left) - at_p);
            const Count other_r = std::min(r.tile, (r.moving ? er.other : er.left) - at_r);
            if (!fresh) {
                other.push_back(
                    other_p <= 0 || other_r <= 0
                        ? Runs{}
                        : window(axis, {at_p + shift_p, other_p}, {at_r + shift_r, other_r}));
            }
            now.push_back(size_p <= 0 || size_r <= 0
                              ? Runs{} // this neighbour has nothing to do
                              : window(axis, {at_p, size_p}, {at_r, size_r}));
            runs += static_cast<Count>(now.back().size());
            failed_ = failed_ || runs > kMaxRuns;
            if (failed_) {
                return 0;
            }
        }
    }
    return moved_words(now, other, measure);
}

Count FlowCounter::sliding(const Movement& movement, const std::vector<Part>& parts, Dim along,
                           Dim tap) {
    return window_words(loops_of(movement, parts, along), loops_of(movement, parts, tap), along,
                        tap, movement.measure, movement.leaving);
}

Count FlowCounter::window_words(const AxisLoops& p, const AxisLoops& r, Dim along, Dim tap,
                                Measure measure, bool leaving) {
    const Axis1d axis = geometry(along, tap);
    Count words = 0;
    for (const Entry& ep : census(p, leaving)) {
        for (const Entry& er : census(r, leaving)) {
            if (ep.times == 0 || er.times == 0 || failed_) {
                continue;
            }
            const Count each = family_words(p, ep, r, er, axis, measure, leaving);
            const auto sum = checked_add(words, times(times(ep.times, er.times), each));
            failed_ = failed_ || !sum;
            words = sum.value_or(0);
        }
    }
    return words;
}

Count FlowCounter::tile_words(Operand operand, const Extents& tile) {
    if (counting_ == Counting::eyeroof || operand != Operand::input ||
        problem_.form == ConvForm::scatter) {
        return tile_elements(problem_, operand, tile);
    }
    const auto at = [&](Dim d) { return tile[index(d)]; };
    const Count rows =
        (at(Dim::P) - 1) * problem_.stride.h + (at(Dim::R) - 1) * problem_.dilation.h + 1;
    const Count columns =
        (at(Dim::Q) - 1) * problem_.stride.w + (at(Dim::S) - 1) * problem_.dilation.w + 1;
    return times(times(at(Dim::N) * at(Dim::G) * at(Dim::C), rows), columns);
}

Count FlowCounter::moved(const Movement& movement) {
    const std::vector<Part> parts = parts_of(movement);
    Count words = 1;
    for (const Dim dim : {Dim::N, Dim::G, Dim::K, Dim::C}) {
        words = times(words, plain(movement, parts, dim));
    }
    for (const auto& [along, tap] : {std::pair{Dim::P, Dim::R}, std::pair{Dim::Q, Dim::S}}) {
        if (problem_.form == ConvForm::scatter) {
            std::vector<ScatterPart> scatter;
            for (const Part part : parts) {
                scatter.push_back(part == Part::each     ? ScatterPart::group
                                  : part == Part::merged ? ScatterPart::family
                                  : part == Part::fixed  ? ScatterPart::fixed
                                                         : ScatterPart::inside);
            }
            const auto count =
                scattered(problem_, nest_, movement, scatter, moving_loop(movement), along, tap);
            failed_ = failed_ || !count;
            words = times(words, count.value_or(0));
        } else if (movement.operand == Operand::input) {
            words = times(words, sliding(movement, parts, along, tap));
        } else {
            words = times(times(words, plain(movement, parts, along)), plain(movement, parts, tap));
        }
    }
    return words;
}

} // namespace eyeroof::model::nest
