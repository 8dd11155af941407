#include "model/nest/flow.hpp"

#include "model/accelerator/data_width.hpp"
#include "model/nest/scatter.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace eyeroof::model::nest {

namespace {

constexpr Count kMaxIrregular = 1 << 16; // tiles of an axis that differ from all others
constexpr std::size_t kMaxLoops = 64;    // more would not leave a count that fits 63 bits
constexpr Count kMaxRuns = 1 << 20;      // pieces that a group of windows may fall into

constexpr std::uint64_t bit(std::size_t i) {
    return std::uint64_t{1} << i;
}

// The bits below `i`, at most 64.
constexpr std::uint64_t below(std::size_t i) {
    return i >= kMaxLoops ? ~std::uint64_t{0} : bit(i) - 1;
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

Count trips_of(const std::vector<Digit>& digits) {
    Count trips = 1;
    for (const Digit& digit : digits) {
        trips *= digit.bound;
    }
    return trips;
}

} // namespace

FlowCounter::FlowCounter(const Problem& problem, const Nest& nest, Counting counting)
    : problem_(problem), nest_(nest), counting_(counting), bounds_(loop_bounds(problem)),
      of_level_(nest.begin.size(), 0), tiles_(nest.begin.size(), kOnes),
      failed_(nest.loops.size() > kMaxLoops) {
    for (std::size_t i = 0; i < nest.loops.size() && !failed_; ++i) {
        const NestLoop& loop = nest.loops[i];
        const std::size_t dim = index(loop.dim);
        of_dim_[dim] |= bit(i);
        of_level_[loop.level] |= bit(i);
        spatial_ |= loop.spatial ? bit(i) : 0;
        for (std::size_t level = 0; level < nest.begin.size() && nest.begin[level] <= i; ++level) {
            tiles_[level][dim] *= loop.bound;
        }
    }
}

std::optional<Count> FlowCounter::Memory::recall(const Movement& movement,
                                                 const Parts& parts) const {
    for (const Counted& c : counted_) {
        if (c.parts == parts && c.tile_level == movement.tile_level &&
            c.operand == movement.operand && c.measure == movement.measure &&
            c.leaving == movement.leaving) {
            return c.words;
        }
    }
    return std::nullopt;
}

void FlowCounter::Memory::keep(const Movement& movement, const Parts& parts, Count words) {
    counted_.push_back(
        {movement.operand, movement.measure, movement.leaving, movement.tile_level, parts, words});
}

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

FlowCounter::Parts FlowCounter::parts_of(const Movement& movement) const {
    const std::size_t end = nest_.begin[movement.tile_level];
    const bool keeps = movement.tile_level + 1 < nest_.begin.size();
    const auto moving = moving_loop(movement);
    const std::size_t rest_from = keeps ? (moving ? *moving + 1 : 0) : end;
    Parts parts;
    parts.each = below(rest_from) & ~spatial_;
    for (const Dim dim : kAllDims) {
        if (movement.once && !moves(problem_, movement.operand, dim)) {
            parts.each &= ~of_dim_[index(dim)];
        }
    }
    for (std::size_t level = movement.pinned_levels; level < of_level_.size(); ++level) {
        const bool merges = level >= movement.merge_from && movement.merges != nullptr &&
                            level < movement.merges->size() && (*movement.merges)[level];
        (merges ? parts.merged : parts.each) |= of_level_[level] & spatial_ & below(end);
    }
    return parts;
}

void FlowCounter::set_loops(const Movement& movement, const Parts& parts, Dim dim,
                            AxisLoops& loops) const {
    loops.group.clear();
    loops.family.clear();
    loops.moving.reset();
    const auto moving = moving_loop(movement);
    const std::uint64_t counts = (parts.each | parts.merged) & of_dim_[index(dim)];
    for (std::uint64_t left = counts; left != 0; left &= left - 1) {
        const auto i = static_cast<std::size_t>(std::countr_zero(left));
        if (moving && *moving == i) {
            loops.moving = loops.group.size();
        }
        ((parts.merged & bit(i)) != 0 ? loops.family : loops.group)
            .push_back({nest_.loops[i].bound, nest_.loops[i].stride});
    }
    loops.tile = tiles_[movement.tile_level][index(dim)];
    loops.bound = bounds_[index(dim)];
}

// A dimension of its own: each element lies in one tile, so a dimension that moves the tile adds
// what the tiles cover, and one that does not multiplies by how often it comes round.
Count FlowCounter::plain(const Movement& movement, const Parts& parts, Dim dim) {
    const Count bound = bounds_[index(dim)];
    if (bound == 1) {
        return 1;
    }
    const bool relevant_dim = moves(problem_, movement.operand, dim);
    const bool each_receives =
        movement.measure == Measure::received || movement.measure == Measure::received_new;
    const std::uint64_t counts =
        parts.each | (relevant_dim || each_receives ? parts.merged : std::uint64_t{0});
    digits_.clear();
    for (std::uint64_t left = counts & of_dim_[index(dim)]; left != 0; left &= left - 1) {
        const NestLoop& loop = nest_.loops[static_cast<std::size_t>(std::countr_zero(left))];
        digits_.push_back({loop.bound, loop.stride});
    }
    const Count tile = tiles_[movement.tile_level][index(dim)];
    return relevant_dim ? covered(bound, digits_, tile) : visits(bound, digits_);
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
void FlowCounter::take_census(const AxisLoops& loops, bool leaving, std::vector<Entry>& entries) {
    Count reach = loops.tile;
    for (const Digit& digit : loops.family) {
        reach += (digit.bound - 1) * digit.stride;
    }
    const Count step = loops.moving ? loops.group[*loops.moving].stride : 0;
    const Count margin = leaving ? reach + step : reach;
    const Count all = visits(loops.bound, loops.group);
    const Count complete = std::min(all, visits(loops.bound - margin + 1, loops.group));
    entries.clear();
    if (complete > 0) {
        const Count edge = leaving && loops.moving ? loops.group[*loops.moving].bound - 1 : 0;
        const Count whole =
            loops.moving ? with_digit(complete, loops.group, *loops.moving, edge) : complete;
        entries.push_back({reach, 0, whole});
        entries.push_back({reach, reach, complete - whole});
    }
    add_irregular(loops, leaving, complete, all, reach, entries);
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

// The neighbours of one family: where their windows lie now, and where they lay before the move (or
// will lie after it). Nothing in `other` when everything is new.
void FlowCounter::set_family(const AxisLoops& p, const Entry& ep, const AxisLoops& r,
                             const Entry& er, bool leaving) {
    const bool fresh =
        (p.moving && ep.other == 0) || (r.moving && er.other == 0) || (!p.moving && !r.moving);
    const Count way = leaving ? 1 : -1;
    const Count shift_p = p.moving ? way * p.group[*p.moving].stride : 0;
    const Count shift_r = r.moving ? way * r.group[*r.moving].stride : 0;
    now_.clear();
    other_.clear();
    const Count along_r = trips_of(r.family);
    for (Count i = 0, along_p = trips_of(p.family); i < along_p; ++i) {
        const Count at_p = offset_of(i, p.family);
        const Interval now_p = {at_p, std::min(p.tile, ep.left - at_p)};
        const Interval other_p = {at_p + shift_p,
                                  std::min(p.tile, (p.moving ? ep.other : ep.left) - at_p)};
        for (Count j = 0; j < along_r; ++j) {
            const Count at_r = offset_of(j, r.family);
            now_.push_back({now_p, {at_r, std::min(r.tile, er.left - at_r)}});
            if (!fresh) {
                other_.push_back(
                    {other_p,
                     {at_r + shift_r, std::min(r.tile, (r.moving ? er.other : er.left) - at_r)}});
            }
        }
    }
}

// Words of the axis that one family of tiles moves.
Count FlowCounter::family_words(const Axis1d& axis, Measure measure) {
    if (solid_windows(axis, now_, solid_now_) && solid_windows(axis, other_, solid_other_)) {
        return moved_words(solid_now_, solid_other_, measure);
    }
    std::vector<Runs> now;
    std::vector<Runs> other;
    Count runs = 0;
    for (const Window& w : now_) {
        now.push_back(window(axis, w));
        runs += static_cast<Count>(now.back().size());
        failed_ = failed_ || runs > kMaxRuns;
        if (failed_) {
            return 0;
        }
    }
    for (const Window& w : other_) {
        other.push_back(window(axis, w));
    }
    return moved_words(now, other, measure);
}

// Timeloop finds equal tiles level by level, and takes containers of PEs for levels: those in an
// outer one are equal where the whole windows of what they contain are. Windows that one loop alone
// moves never are, so its trips are summed. Windows that two loops of one container move together
// are compared with all further in, which finds more equal ones where there are any.
FlowCounter::Parts FlowCounter::by_container(Parts parts, Dim along, Dim tap) const {
    const auto place = [&](std::size_t i) {
        return std::pair(nest_.loops[i].level, nest_.loops[i].container);
    };
    if (parts.merged == 0) {
        return parts;
    }
    auto innermost = place(static_cast<std::size_t>(std::countr_zero(parts.merged)));
    for (std::uint64_t left = parts.merged; left != 0; left &= left - 1) {
        innermost = std::max(innermost, place(static_cast<std::size_t>(std::countr_zero(left))));
    }
    std::uint64_t outer = 0;
    for (std::uint64_t left = parts.merged; left != 0; left &= left - 1) {
        const auto i = static_cast<std::size_t>(std::countr_zero(left));
        outer |= place(i) == innermost ? 0 : bit(i);
    }
    for (std::uint64_t left = outer; left != 0; left &= left - 1) {
        const auto i = static_cast<std::size_t>(std::countr_zero(left));
        std::uint64_t together = 0;
        for (std::uint64_t others = outer; others != 0; others &= others - 1) {
            const auto j = static_cast<std::size_t>(std::countr_zero(others));
            together |= place(j) == place(i) ? bit(j) : 0;
        }
        const bool both =
            (together & of_dim_[index(along)]) != 0 && (together & of_dim_[index(tap)]) != 0;
        if (!both) {
            parts.merged &= ~bit(i);
            parts.each |= bit(i);
        }
    }
    return parts;
}

Count FlowCounter::sliding(const Movement& movement, const Parts& parts, Dim along, Dim tap) {
    if (bounds_[index(along)] == 1 && bounds_[index(tap)] == 1) {
        return 1;
    }
    const std::uint64_t axis = of_dim_[index(along)] | of_dim_[index(tap)];
    Parts here{parts.each & axis, parts.merged & axis};
    if (movement.measure == Measure::sent_tiles) {
        here = by_container(here, along, tap);
    }
    Memory& memory = windows_[along == Dim::P ? 0 : 1];
    if (const auto before = memory.recall(movement, here)) {
        return *before;
    }
    set_loops(movement, here, along, positions_);
    set_loops(movement, here, tap, taps_);
    const Count words =
        window_words(positions_, taps_, along, tap, movement.measure, movement.leaving);
    memory.keep(movement, here, words);
    return words;
}

Count FlowCounter::window_words(const AxisLoops& p, const AxisLoops& r, Dim along, Dim tap,
                                Measure measure, bool leaving) {
    const Axis1d axis = geometry(along, tap);
    Count words = 0;
    take_census(p, leaving, of_positions_);
    take_census(r, leaving, of_taps_);
    for (const Entry& ep : of_positions_) {
        for (const Entry& er : of_taps_) {
            if (ep.times == 0 || er.times == 0 || failed_) {
                continue;
            }
            set_family(p, ep, r, er, leaving);
            const Count each = family_words(axis, measure);
            const auto sum = checked_add(words, times(times(ep.times, er.times), each));
            failed_ = failed_ || !sum;
            words = sum.value_or(0);
        }
    }
    return words;
}

Count FlowCounter::tile_words(Operand operand, const Extents& tile) {
    const Count words = held_words(problem_, operand, tile, counting_);
    failed_ = failed_ || words == std::numeric_limits<Count>::max();
    return words;
}

Count FlowCounter::moved(const Movement& movement) {
    if (failed_) {
        return 0;
    }
    const Parts parts = parts_of(movement);
    if (const auto before = movements_.recall(movement, parts)) {
        return *before;
    }
    const Count words = counted(movement, parts);
    movements_.keep(movement, parts, words);
    return words;
}

Count FlowCounter::counted(const Movement& movement, const Parts& parts) {
    Count words = 1;
    for (const Dim dim : {Dim::N, Dim::G, Dim::K, Dim::C}) {
        words = times(words, plain(movement, parts, dim));
    }
    for (const auto& [along, tap] : {std::pair{Dim::P, Dim::R}, std::pair{Dim::Q, Dim::S}}) {
        if (problem_.form == ConvForm::scatter) {
            words = times(words, scattering(movement, parts, along, tap));
        } else if (movement.operand == Operand::input) {
            words = times(words, sliding(movement, parts, along, tap));
        } else {
            words = times(times(words, plain(movement, parts, along)), plain(movement, parts, tap));
        }
    }
    return words;
}

Count FlowCounter::scattering(const Movement& movement, const Parts& parts, Dim along, Dim tap) {
    std::vector<ScatterPart> loops;
    for (std::size_t i = 0; i < nest_.loops.size(); ++i) {
        loops.push_back((parts.each & bit(i)) != 0             ? ScatterPart::group
                        : (parts.merged & bit(i)) != 0         ? ScatterPart::family
                        : i < nest_.begin[movement.tile_level] ? ScatterPart::fixed
                                                               : ScatterPart::inside);
    }
    const auto words =
        scattered(problem_, nest_, movement, loops, moving_loop(movement), along, tap);
    failed_ = failed_ || !words;
    return words.value_or(0);
}

} // namespace eyeroof::model::nest
