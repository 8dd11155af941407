#include "analysis/scale/collectives.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace eyeroof::analysis {

using model::Fabric;
using model::FabricLevel;

namespace {

double rounds_of(Count n) { // ceil(log2 n)
    return static_cast<double>(
        std::bit_width(static_cast<std::uint64_t>(std::max<Count>(n, 1)) - 1));
}

// One collective on one group: the levels with what the group has of them.
class Run {
  public:
    Run(const Fabric& fabric, const Group& group, Collective kind, std::size_t protocol)
        : fabric_(fabric), group_(group), kind_(kind), protocol_(protocol),
          share_(fabric.protocol(protocol).share) {
        time_.protocol = fabric.protocol(protocol).name;
        time_.level_bytes.assign(fabric.levels.size(), 0.0);
        time_.level_messages.assign(fabric.levels.size(), 0.0);
        time_.latency_s = fabric.protocol(protocol).base_s;
    }

    bool uses(std::size_t l) const { return group_.counts[l] > 1; }
    double a(std::size_t l) const {
        return fabric_.levels[l].latency(protocol_) + fabric_.levels[l].overhead_s;
    }
    // Members in the unit with fewest: those that are left where the group does not fill all.
    Count fewest(std::size_t l) const {
        const Count left = group_.size % group_.members[l];
        return left > 0 ? left : group_.members[l];
    }
    // Of the narrowest unit, for this group alone.
    double unit_bandwidth(std::size_t l, bool uniform = false) const {
        return bandwidth_of(l, fewest(l), uniform);
    }
    // Of one member, when all of the group in a unit send at once.
    double member_bandwidth(std::size_t l, bool uniform = false) const {
        return bandwidth_of(l, group_.members[l], uniform) / static_cast<double>(group_.members[l]);
    }
    // Of the unit with so many of the members.
    double bandwidth_of(std::size_t l, Count members, bool uniform = false) const {
        const FabricLevel& level = fabric_.levels[l];
        const Count units = group_.counts[l];
        const double all = uniform ? model::uniform_bytes_per_s(level, units)
                                   : model::neighbour_bytes_per_s(level, units);
        return all * reachable(l, members) * share_ / static_cast<double>(group_.sharing[l]);
    }
    double narrowest(bool uniform = false) const {
        double least = INFINITY;
        for (std::size_t l = 0; l < fabric_.levels.size(); ++l) {
            if (uses(l)) {
                least = std::min(least, unit_bandwidth(l, uniform));
            }
        }
        return least;
    }
    std::size_t outermost() const {
        std::size_t last = 0;
        for (std::size_t l = 0; l < fabric_.levels.size(); ++l) {
            last = uses(l) ? l : last;
        }
        return last;
    }
    // Units of the level that the whole group has: n over the members of a unit.
    double units(std::size_t l) const {
        return static_cast<double>(group_.size) / static_cast<double>(group_.members[l]);
    }
    // Hops of a ring through all members that pass this level and no wider one.
    double ring_hops(std::size_t l) const {
        const double wider = l + 1 < fabric_.levels.size() && l < outermost() ? units(l + 1) : 0.0;
        return uses(l) ? units(l) - wider : 0.0;
    }
    void moves(std::size_t l, double messages, double bytes_each) {
        time_.level_bytes[l] += messages * bytes_each;
        time_.level_messages[l] += messages;
    }

    double n() const { return static_cast<double>(group_.size); }
    double passes() const { return kind_ == Collective::all_reduce ? 2.0 : 1.0; }
    const Fabric& fabric() const { return fabric_; }
    const Group& group() const { return group_; }
    Collective kind() const { return kind_; }
    CollectiveTime& time() { return time_; }

  private:
    // A member drives its own ports, not those of members of other groups.
    double reachable(std::size_t l, Count members) const {
        const FabricLevel& level = fabric_.levels[l];
        const double ports = static_cast<double>(level.ports);
        const double devices =
            static_cast<double>(group_.members[l]) * static_cast<double>(group_.sharing[l]);
        const double own = std::max(1.0, ports / std::max(devices, 1.0));
        const double driven = std::min(ports, static_cast<double>(members) * own);
        // `sharing` divides the ports already: give back what others do not take of this one.
        return l == 0 ? 1.0
                      : std::min(1.0, driven * static_cast<double>(group_.sharing[l]) / ports);
    }

    const Fabric& fabric_;
    const Group& group_;
    Collective kind_;
    std::size_t protocol_;
    double share_;
    CollectiveTime time_;
};

// n pieces of S/n move on at once, `steps` times. The longest chain of messages either waits for
// the narrowest link again and again, or follows a piece around, from one crossing of the outermost
// level to the next. With h the time of a hop (a + S/n/B), w the narrowest link's of a piece, and c
// members between two crossings:
//   max( h_out + (steps - 1) w,  J h_out + (J - 1)(c - 1) h_in + rest max(h_in, w) ),
//   J = ceil(steps / c), rest = steps - (J - 1) c - 1; on one level that is steps (a + S/n/B).
// A broadcast is a chain: its pieces, of at most the fabric's size, follow one another over n - 1
// hops.
void ring(Run& run, double bytes) {
    const double n = run.n();
    const bool broadcast = run.kind() == Collective::broadcast;
    const double pieces =
        broadcast ? std::max(1.0, std::ceil(bytes / run.fabric().chunk_bytes)) : n;
    const double travelled = broadcast ? n - 1.0 : run.passes() * (n - 1.0); // hops of a piece
    const double steps = broadcast ? travelled + pieces - 1.0 : travelled;
    const double piece = bytes / pieces;
    const std::size_t out = run.outermost();
    double inner = 0.0;
    double inner_hops = 0.0;
    double narrowest = 0.0;
    for (std::size_t l = 0; l < run.fabric().levels.size(); ++l) {
        const double hops = run.ring_hops(l);
        if (hops <= 0.0) {
            continue;
        }
        const double transfer = piece / run.unit_bandwidth(l);
        narrowest = std::max(narrowest, run.fabric().levels[l].overhead_s + transfer);
        if (l != out) {
            inner += hops * (run.a(l) + transfer);
            inner_hops += hops;
        }
        run.moves(l, broadcast ? hops * (n - 1.0) / n * pieces : steps * hops, piece);
    }
    const double crossing = run.a(out) + piece / run.unit_bandwidth(out);
    const double hop = inner_hops > 0.0 ? inner / inner_hops : 0.0;
    const auto between = static_cast<double>(run.group().members[out]);
    const double crossings = std::ceil(travelled / between);
    const double rest = travelled - (crossings - 1.0) * between - 1.0;
    const double waits = crossing + (steps - 1.0) * narrowest;
    const double around = crossings * crossing + (crossings - 1.0) * (between - 1.0) * hop +
                          rest * std::max(hop, narrowest) + (steps - travelled) * narrowest;
    run.time().bandwidth_s = steps * piece / run.narrowest();
    run.time().latency_s += std::max(std::max(waits, around) - run.time().bandwidth_s, 0.0);
}

void tree(Run& run, double bytes) {
    const double ways = run.kind() == Collective::all_reduce ? 2.0 : 1.0;
    for (std::size_t l = 0; l < run.fabric().levels.size(); ++l) {
        const double rounds = rounds_of(run.group().counts[l]);
        const auto sharing = static_cast<double>(run.group().sharing[l]);
        const double port = run.bandwidth_of(l, run.group().members[l]) * sharing /
                            static_cast<double>(l == 0 ? 1 : run.fabric().levels[l].ports);
        run.time().latency_s += ways * rounds * run.a(l);
        run.time().bandwidth_s +=
            rounds > 0.0 ? ways * rounds * bytes / std::min(port, run.unit_bandwidth(l)) : 0.0;
        const double joins =
            run.units(l) - (l + 1 < run.fabric().levels.size() ? run.units(l + 1) : 1.0);
        run.moves(l, run.uses(l) ? ways * joins : 0.0, bytes);
    }
}

// Each of the two trees carries half of the array, in pieces of at most the fabric's; a member that
// is inner in one tree sends and receives four messages for each pair of pieces.
void double_tree(Run& run, double bytes) {
    const double pieces = std::max(1.0, std::ceil(bytes / 2.0 / run.fabric().chunk_bytes));
    const double piece = bytes / 2.0 / pieces;
    double overhead = 0.0; // of the slowest level's messages
    for (std::size_t l = 0; l < run.fabric().levels.size(); ++l) {
        const double rounds = rounds_of(run.group().counts[l]);
        if (rounds > 0.0) {
            overhead = std::max(overhead, 4.0 * pieces * run.fabric().levels[l].overhead_s);
            run.time().latency_s += 2.0 * rounds * run.a(l);
            run.time().bandwidth_s += 2.0 * rounds * piece / run.unit_bandwidth(l);
            const double joins =
                run.units(l) - (l + 1 < run.fabric().levels.size() ? run.units(l + 1) : 1.0);
            run.moves(l, 2.0 * joins, bytes);
        }
    }
    run.time().latency_s += overhead;
    run.time().bandwidth_s += 2.0 * bytes / run.narrowest();
}

// Rings, or halving and doubling, level by level: inside each unit the array is scattered before it
// goes outside.
void by_levels(Run& run, double bytes, bool halving) {
    double rest = bytes;
    for (std::size_t l = 0; l < run.fabric().levels.size(); ++l) {
        const Count units = run.group().counts[l];
        if (units <= 1) {
            continue;
        }
        const auto c = static_cast<double>(units);
        // Halving and doubling is of the largest power of 2; those beyond hand theirs to a partner.
        const double core =
            halving ? static_cast<double>(std::bit_floor(static_cast<std::uint64_t>(units))) : c;
        const double rounds = halving ? std::log2(core) : c - 1.0;
        const double member = run.member_bandwidth(l);
        const double carried = run.passes() * (core - 1.0) / core * rest;
        run.time().latency_s += run.passes() * rounds * run.a(l);
        run.time().bandwidth_s += carried / member;
        const double groups = run.n() / c;
        run.moves(l, groups * core * run.passes() * rounds, carried / (run.passes() * rounds));
        if (core < c) {
            run.time().latency_s += run.passes() * run.a(l);
            run.time().bandwidth_s += run.passes() * rest / member;
            run.moves(l, groups * (c - core) * run.passes(), rest);
        }
        rest /= c;
    }
}

// Its base is the level's own, whatever the protocol; payload moves as by the last one.
bool in_switch(Run& run, double bytes) {
    double rest = bytes;
    bool any = false;
    run.time().latency_s = 0.0;
    for (std::size_t l = 0; l < run.fabric().levels.size(); ++l) {
        const FabricLevel& level = run.fabric().levels[l];
        const auto c = static_cast<double>(run.group().counts[l]);
        if (c <= 1.0) {
            continue;
        }
        if (level.reduces) {
            const double share =
                level.reduced_share > 0.0 ? level.reduced_share / level.share : 1.0;
            run.time().latency_s += level.reduced_base_s + 2.0 * run.a(l);
            run.time().bandwidth_s += rest / (run.member_bandwidth(l) * share);
            run.moves(l, 2.0 * run.n(), rest / 2.0);
            any = true;
        } else {
            run.time().latency_s += 2.0 * (c - 1.0) * run.a(l);
            run.time().bandwidth_s += 2.0 * (c - 1.0) / c * rest / run.member_bandwidth(l);
            run.moves(l, run.n() * 2.0 * (c - 1.0), rest / c);
        }
        rest /= c;
    }
    return any;
}

// Servers stand at the outermost level that the group uses.
void server(Run& run, double bytes, Count servers) {
    const std::size_t l = run.outermost();
    const double one = run.member_bandwidth(l);
    run.time().latency_s += 2.0 * run.a(l);
    run.time().bandwidth_s =
        std::max(run.n() / static_cast<double>(std::max<Count>(servers, 1)), 1.0) * bytes / one;
    run.moves(l, 2.0 * run.n(), bytes);
}

void sharded_server(Run& run, double bytes) {
    const std::size_t l = run.outermost();
    const double n = run.n();
    run.time().latency_s += 2.0 * run.a(l) + 2.0 * (n - 2.0) * run.fabric().levels[l].overhead_s;
    run.time().bandwidth_s =
        2.0 * (n - 1.0) / n * bytes / std::min(run.member_bandwidth(l, true), run.narrowest(true));
    run.moves(l, 2.0 * n * (n - 1.0), bytes / n);
}

// Inside one level whose pairs were measured; the protocol for short messages is left where the
// one for long messages is faster.
void pairs_of_level(Run& run, const FabricLevel& level, double bytes) {
    const model::PairTraffic& pairs = level.pairs;
    const double partners = run.n() - 1.0;
    const double sent = partners * bytes / run.n();
    const double reached = std::min(pairs.share, partners * pairs.pair_share);
    const double long_s = pairs.long_s + sent / (level.bytes_per_s * reached);
    const double short_s = sent / pairs.short_bytes_per_s;
    const bool is_long = bytes / run.n() > pairs.long_bytes || long_s < short_s;
    run.time().protocol =
        run.fabric().protocol(is_long ? run.fabric().protocol_count() - 1 : 0).name;
    run.time().latency_s =
        pairs.base_s + (partners - 1.0) * pairs.partner_s + (is_long ? pairs.long_s : 0.0);
    run.time().bandwidth_s = is_long ? long_s - pairs.long_s : short_s;
}

// Every pair by itself, all at once: NCCL's point-to-point kernels keep many pairs in flight, and
// two to sixteen GPUs take the same time for small messages. What leaves a unit goes to all members
// outside it.
void direct(Run& run, double bytes) {
    const double n = run.n();
    const std::size_t out = run.outermost();
    const FabricLevel& whole = run.fabric().levels[out];
    if (whole.pairs.share > 0.0 && run.group().counts[out] == run.group().size) {
        pairs_of_level(run, whole, bytes);
        run.moves(out, n * (n - 1.0), bytes / n);
        return;
    }
    double longest = 0.0;
    for (std::size_t l = 0; l < run.fabric().levels.size(); ++l) {
        if (!run.uses(l)) {
            continue;
        }
        const auto inside = static_cast<double>(run.group().members[l]);
        const double reach = inside * static_cast<double>(run.group().counts[l]);
        const double at_level = std::min(reach, n) - inside; // partners first met here
        const auto fewest = static_cast<double>(run.fewest(l));
        const double narrow = run.bandwidth_of(l, run.fewest(l), true) / fewest; // of a member
        const double overhead = run.fabric().levels[l].overhead_s;
        longest = std::max(longest, run.a(l) - overhead);
        run.time().latency_s += at_level * overhead;
        run.time().bandwidth_s =
            std::max(run.time().bandwidth_s, (n - fewest) / n * bytes / narrow);
        run.moves(l, n * at_level, bytes / n);
    }
    run.time().latency_s += longest;
}

// The framework's own all-reduces, where the group lies in one level that has them.
const model::DirectReduce* own_reduces(const Fabric& fabric, const Group& group,
                                       const std::string& software) {
    for (std::size_t l = 0; l < fabric.levels.size(); ++l) {
        if (group.size > 1 && group.counts[l] == group.size) {
            const auto& direct = fabric.levels[l].direct;
            const auto own = std::ranges::find(direct, software, &model::DirectReduce::name);
            const bool serves =
                own != direct.end() && (own->devices == 0 || group.size <= own->devices);
            return serves ? &*own : nullptr;
        }
    }
    return nullptr;
}

// Between devices of one level that reach each other's memory.
bool shots(Run& run, double bytes, const std::string& software, bool two) {
    const std::size_t l = run.outermost();
    const model::DirectReduce* own = own_reduces(run.fabric(), run.group(), software);
    if (own == nullptr) {
        return false;
    }
    const double n = run.n();
    const double moved = two ? 2.0 * (n - 1.0) / n * bytes : (n - 1.0) * bytes;
    const double messages = (two ? 2.0 : 1.0) * (n - 1.0);
    run.time().protocol = own->name;
    run.time().latency_s = two ? own->two_shot_s : own->base_s;
    run.time().bandwidth_s = moved / (run.fabric().levels[l].bytes_per_s * own->share);
    run.moves(l, n * messages, moved / messages);
    return true;
}

// Every unit has as many of the group: what goes level by level needs a partner in each.
bool fills_units(const Group& group) {
    Count placed = 1;
    for (const Count joined : group.counts) {
        placed *= joined;
    }
    return placed == group.size;
}

bool powers_of_two(const Group& group) {
    return std::all_of(group.counts.begin(), group.counts.end(),
                       [](Count c) { return std::has_single_bit(static_cast<std::uint64_t>(c)); });
}

bool serves(Algorithm algorithm, Collective kind) {
    switch (algorithm) {
    case Algorithm::ring:
        return kind != Collective::all_to_all;
    case Algorithm::tree:
        return kind == Collective::all_reduce || kind == Collective::broadcast;
    case Algorithm::hierarchical:
    case Algorithm::halving_doubling:
        return kind != Collective::all_to_all && kind != Collective::broadcast;
    case Algorithm::direct:
        return kind == Collective::all_to_all;
    default:
        return kind == Collective::all_reduce;
    }
}

} // namespace

std::optional<CollectiveTime> collective_time(const Fabric& fabric, const Group& group,
                                              Collective collective, double bytes,
                                              Algorithm algorithm, std::size_t protocol,
                                              Count servers, const std::string& direct_by) {
    if (!serves(algorithm, collective)) {
        return std::nullopt;
    }
    const bool by_units = algorithm == Algorithm::hierarchical ||
                          algorithm == Algorithm::halving_doubling ||
                          algorithm == Algorithm::in_switch;
    if (by_units && !fills_units(group)) {
        return std::nullopt;
    }
    Run run(fabric, group, collective, protocol);
    run.time().algorithm = algorithm;
    if (group.size <= 1) {
        run.time().latency_s = 0.0;
        return run.time();
    }
    switch (algorithm) {
    case Algorithm::ring:
        ring(run, bytes);
        break;
    case Algorithm::tree:
        tree(run, bytes);
        break;
    case Algorithm::double_tree:
        double_tree(run, bytes);
        break;
    case Algorithm::halving_doubling:
        if (collective != Collective::all_reduce && !powers_of_two(group)) {
            return std::nullopt;
        }
        by_levels(run, bytes, true);
        break;
    case Algorithm::hierarchical:
        by_levels(run, bytes, false);
        break;
    case Algorithm::in_switch:
        if (protocol + 1 < fabric.protocol_count() || !in_switch(run, bytes)) {
            return std::nullopt;
        }
        break;
    case Algorithm::server:
        server(run, bytes, servers);
        break;
    case Algorithm::sharded_server:
        sharded_server(run, bytes);
        break;
    case Algorithm::one_shot:
    case Algorithm::two_shot:
        if (protocol > 0 || !shots(run, bytes, direct_by, algorithm == Algorithm::two_shot)) {
            return std::nullopt;
        }
        break;
    case Algorithm::direct:
        direct(run, bytes);
        break;
    }
    return run.time();
}

namespace {

// Whether the fabric's library has the algorithm for a group placed so.
bool has(const Fabric& fabric, const Group& group, Algorithm algorithm) {
    if (fabric.algorithms.empty()) {
        return true;
    }
    const bool named =
        std::ranges::find(fabric.algorithms, algorithm_name(algorithm)) != fabric.algorithms.end();
    const bool one_level = std::ranges::count_if(group.counts, [](Count c) { return c > 1; }) <= 1;
    return named && !(one_level && algorithm == Algorithm::double_tree);
}

// A call that is not replayed in a graph ends no earlier than the host. Where the framework has an
// all-reduce of its `own` for the group, it copies the array first.
void add_host_call(CollectiveTime& time, const Fabric& fabric, const std::string& software,
                   const model::DirectReduce* own, double bytes) {
    if (own != nullptr) {
        time.latency_s += own->copy_s;
        time.bandwidth_s += own->copy_bytes_per_s > 0.0 ? bytes / own->copy_bytes_per_s : 0.0;
    }
    for (const FabricLevel& level : fabric.levels) {
        const auto called = std::ranges::find(level.direct, software, &model::DirectReduce::name);
        if (called != level.direct.end()) {
            time.latency_s += std::max(called->call_s - time.time_s(), 0.0);
            return;
        }
    }
}

} // namespace

CollectiveTime collective_time(const Fabric& fabric, const Group& group, Collective collective,
                               double bytes, const CollectiveOptions& options) {
    std::optional<CollectiveTime> best;
    const model::DirectReduce* own =
        collective == Collective::all_reduce ? own_reduces(fabric, group, options.direct) : nullptr;
    const auto consider = [&](Algorithm algorithm) {
        for (std::size_t p = 0; p < fabric.protocol_count(); ++p) {
            auto time = collective_time(fabric, group, collective, bytes, algorithm, p,
                                        options.servers, options.direct);
            const bool shot = algorithm == Algorithm::one_shot || algorithm == Algorithm::two_shot;
            if (time && own != nullptr && !shot) {
                time->bandwidth_s += bytes * own->staging_s_per_byte;
            }
            if (time && (!best || time->time_s() < best->time_s())) {
                best = time;
            }
        }
    };
    if (options.algorithm) {
        consider(*options.algorithm);
    }
    constexpr std::array kAll = {
        Algorithm::ring,         Algorithm::double_tree, Algorithm::halving_doubling,
        Algorithm::hierarchical, Algorithm::in_switch,   Algorithm::direct,
        Algorithm::tree};
    if (!best) {
        for (const Algorithm a : kAll) {
            if (has(fabric, group, a)) {
                consider(a);
            }
        }
        if (!options.direct.empty()) {
            consider(Algorithm::one_shot);
            consider(Algorithm::two_shot);
        }
    }
    if (!best) { // the list lacks what serves this collective
        for (const Algorithm a : kAll) {
            consider(a);
        }
    }
    if (options.from_host && group.size > 1) {
        add_host_call(*best, fabric, options.direct, own, bytes);
    }
    return *best;
}

CollectiveTime dispatch_time(const Fabric& fabric, const Group& group, double bytes,
                             double copies) {
    std::optional<CollectiveTime> best;
    for (std::size_t p = 0; p < fabric.protocol_count(); ++p) {
        Run run(fabric, group, Collective::all_to_all, p);
        run.time().algorithm = Algorithm::direct;
        run.time().latency_s *= group.size > 1 ? 1.0 : 0.0;
        for (std::size_t l = 0; l < fabric.levels.size(); ++l) {
            if (!run.uses(l)) {
                continue;
            }
            const auto joined = static_cast<double>(group.counts[l]);
            const double units = run.units(l);
            const double reached = units * (1.0 - std::pow(1.0 - 1.0 / units, copies));
            const double sent = bytes * reached * (joined - 1.0) / joined;
            run.time().latency_s +=
                run.a(l) + (joined - 2.0) * fabric.levels[l].overhead_s; // then handed on
            run.time().bandwidth_s =
                std::max(run.time().bandwidth_s, sent / run.member_bandwidth(l, true));
            run.moves(l, run.n() * (joined - 1.0), sent / (joined - 1.0));
        }
        if (!best || run.time().time_s() < best->time_s()) {
            best = run.time();
        }
    }
    return *best;
}

CollectiveTime send_time(const Fabric& fabric, const Group& group, double bytes) {
    std::optional<CollectiveTime> best;
    for (std::size_t p = 0; p < fabric.protocol_count(); ++p) {
        Run run(fabric, group, Collective::broadcast, p);
        const std::size_t l = run.outermost();
        run.time().latency_s = group.size > 1 ? run.a(l) : 0.0;
        run.time().bandwidth_s = group.size > 1 ? bytes / run.member_bandwidth(l) : 0.0;
        run.moves(l, 1.0, bytes);
        if (!best || run.time().time_s() < best->time_s()) {
            best = run.time();
        }
    }
    return *best;
}

} // namespace eyeroof::analysis
