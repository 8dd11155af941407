#include "model/cost/cost.hpp"

#include "model/accelerator/data_width.hpp"
#include "model/cost/latency_terms.hpp"
#include "model/nest/bandwidth_cycles.hpp"
#include "model/nest/flow.hpp"
#include "model/nest/neighbours.hpp"
#include "model/nest/scatter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

// The counts, per operand and per pair of neighbouring homes p (outer) and c (inner; or the MACs):
//
//   fills(c)  = words that enter the tiles of c                  delivered, summed over instances
//   reads(p)  = the same with words that several instances want sent once where the network can
//   updates(p)= words that leave the tiles of c, after spatial reduction where the network adds
//   back(c)   = updates(p) - fresh(p): partial sums that return, into one lane of a reduction
//   fresh(c)  = words visited at c - back(c): sums that start from zero and need no read
//   reads(c) of sums = updates(c) - fresh(c)
//
// Reading a finished tile to drain it is not counted, as in the studies that are compared with.
// Under Timeloop's counting only equal tiles are sent once, every lane gets returning sums, and
// fresh sums are the distinct outputs of an instance.

namespace eyeroof::model {

namespace {

using nest::Busy;
using nest::FlowCounter;
using nest::Measure;
using nest::Nest;

class CostCounter {
  public:
    CostCounter(const Problem& problem, const Accelerator& machine, const Mapping& mapping,
                Counting counting)
        : problem_(problem), machine_(machine), mapping_(mapping), counting_(counting),
          nest_(nest::flatten(mapping, machine)), flow_(problem, nest_, counting),
          units_(machine.levels.size()), everywhere_(units_, true) {}

    // What bandwidth cycles are made of, to evaluate other bandwidths.
    void record_in(std::vector<PortTraffic>& transfers) { transfers_ = &transfers; }

    Result<MappingCost> run() {
        cost_.levels.resize(machine_.levels.size());
        cost_.edges.resize(machine_.levels.size());
        busy_.resize(machine_.levels.size());
        count_steps();
        for (const Operand o : kAllOperands) {
            if (o == Operand::weight && !problem_.has_weight) {
                continue;
            }
            homes_ = homes_of(o);
            sends_once_ = merging(o, false);
            adds_ = merging(o, true);
            if (o == problem_.produced) {
                count_sums(o);
            } else {
                count_reads(o);
            }
        }
        if (flow_.failed()) {
            return Result<MappingCost>::failure(
                "overflow",
                "the access counts of this mapping do not fit 63 bits, or its tiles are "
                "too irregular to count",
                "make the layer smaller, or the tiles more even");
        }
        add_energy();
        nest::set_bandwidth_cycles({problem_, machine_, mapping_, counting_, busy_, transfers_},
                                   cost_);
        return checked();
    }

  private:
    std::vector<std::size_t> homes_of(Operand o) const {
        std::vector<std::size_t> homes;
        for (std::size_t i = 0; i < mapping_.levels.size(); ++i) {
            if (mapping_.levels[i].keeps.contains(o)) {
                homes.push_back(i);
            }
        }
        return homes;
    }

    // Trips of a dimension's loops in time, or in space above a level.
    Count trips(Dim dim, bool spatial, std::size_t below_level) {
        const Count bound = loop_bounds(problem_)[index(dim)];
        if (bound == 1) {
            return 1;
        }
        digits_.clear();
        for (const nest::NestLoop& loop : nest_.loops) {
            if (loop.dim == dim && loop.spatial == spatial && loop.level < below_level) {
                digits_.push_back({loop.bound, loop.stride});
            }
        }
        return nest::visits(bound, digits_);
    }

    void count_steps() {
        cost_.macs = macs_of(problem_);
        cost_.compute_steps = 1;
        cost_.allocated_macs_units = 1;
        const bool scatter = problem_.form == ConvForm::scatter;
        for (const Dim dim : kAllDims) {
            const bool walked = scatter && index(dim) >= index(Dim::P);
            cost_.compute_steps *= walked ? 1 : trips(dim, false, units_);
            cost_.allocated_macs_units *= trips(dim, true, units_);
            for (std::size_t i = 0; i < units_; ++i) {
                cost_.levels[i].instances *= trips(dim, true, i);
            }
        }
        if (scatter) {
            const auto rows = nest::scattered_steps(problem_, nest_, Dim::P, Dim::R);
            const auto columns = nest::scattered_steps(problem_, nest_, Dim::Q, Dim::S);
            cost_.compute_steps *= rows.value_or(1) * columns.value_or(1);
        }
        cost_.averaged_mac_units =
            static_cast<double>(cost_.macs) / static_cast<double>(cost_.compute_steps);
        for (std::size_t i = 0; i < units_; ++i) {
            const Extents tile = tile_at(mapping_, problem_, i);
            for (const Operand o : kAllOperands) {
                const bool there = o != Operand::weight || problem_.has_weight;
                if (there && mapping_.levels[i].keeps.contains(o)) {
                    cost_.levels[i].tile_words[index(o)] = flow_.tile_words(o, tile);
                }
            }
        }
    }

    // Whether the network below a level sends equal words once (down) or adds sums (up).
    std::vector<bool> merging(Operand o, bool up) const {
        std::vector<bool> merges;
        for (const Level& level : machine_.levels) {
            const Channel* channel = channel_of(level, o);
            const bool merge = up ? (channel == nullptr || channel->reduces)
                                  : (channel == nullptr || channel->cast != Cast::unicast);
            merges.push_back(merge || counting_ == Counting::timeloop);
        }
        return merges;
    }

    // Neighbours hand windows on when every network with a fan-out on the way can.
    bool forwards(Operand o, std::size_t from, std::size_t to) const {
        bool fanout = false;
        for (std::size_t i = from; i < to && i < units_; ++i) {
            const Channel* channel = channel_of(machine_.levels[i], o);
            if (mapping_.levels[i].spatial.empty()) {
                continue;
            }
            fanout = true;
            if (channel == nullptr || !channel->forwards) {
                return false;
            }
        }
        return fanout;
    }

    Count entering(Operand o, std::size_t tile, Measure measure, std::size_t merge_from,
                   std::size_t pinned) {
        return flow_.moved({o, tile, measure, merge_from, &sends_once_, pinned, false, false});
    }
    Count received(Operand o, std::size_t tile, std::size_t pinned) {
        return entering(o, tile, Measure::received, units_, pinned);
    }
    Count leaving(Operand o, std::size_t tile, std::size_t merge_from, std::size_t pinned,
                  bool reduced) {
        const std::vector<bool>* merges = reduced ? &everywhere_ : &adds_;
        return flow_.moved({o, tile, Measure::sent, merge_from, merges, pinned, true, false});
    }
    // Different words that an instance of a level ever holds, summed over instances.
    Count distinct(Operand o, std::size_t tile, std::size_t pinned) {
        return flow_.moved({o, tile, Measure::received, units_, nullptr, pinned, false, true});
    }

    Accesses& total(std::size_t level, Operand o) { return cost_.levels[level].total[index(o)]; }
    Accesses& busiest(std::size_t level, Operand o) {
        return cost_.levels[level].per_instance[index(o)];
    }

    void count_reads(Operand o) {
        for (std::size_t h = 0; h < homes_.size(); ++h) {
            const std::size_t parent = homes_[h];
            const std::size_t child = h + 1 < homes_.size() ? homes_[h + 1] : units_;
            const bool eyeroof = counting_ == Counting::eyeroof;
            const bool forward = eyeroof && child < units_ && forwards(o, parent, child);
            const Measure measure = !eyeroof  ? Measure::sent_tiles
                                    : forward ? Measure::sent_new
                                              : Measure::sent;
            Count arriving = received(o, child, 0);
            const Count delivered = arriving;
            for (std::size_t e = child; e-- > parent;) {
                EdgeTraffic& edge = cost_.edges[e];
                edge.delivered[index(o)] = arriving;
                arriving = entering(o, child, measure, e, 0);
                edge.down[index(o)] = arriving;
                busy_[e][index(o)].down = entering(o, child, measure, e, e);
            }
            total(parent, o).reads += arriving;
            busiest(parent, o).reads += busy_[parent][index(o)].down;
            if (child < units_) {
                total(child, o).fills = delivered;
                busiest(child, o).fills = received(o, child, child);
                if (forward) {
                    add_forwarded(o, child,
                                  delivered - entering(o, child, Measure::received_new, parent, 0));
                } else if (!eyeroof) {
                    add_links(o, parent, child);
                }
            }
        }
    }

    void add_forwarded(Operand o, std::size_t child, Count words) {
        total(child, o).reads += words;
        busiest(child, o).reads += ceil_div(words, cost_.levels[child].instances);
    }

    void add_links(Operand o, std::size_t parent, std::size_t child) {
        const auto links = nest::link_transfers(problem_, machine_, nest_, flow_, o, parent, child);
        const Count parents = cost_.levels[parent].instances;
        total(parent, o).reads -= links.not_sent * parents;
        busiest(parent, o).reads -= links.not_sent;
        total(child, o).reads += links.passed * parents;
        busiest(child, o).reads += links.passed * parents / cost_.levels[child].instances;
        cost_.edges[parent].down[index(o)] -= links.not_sent * parents;
        busy_[parent][index(o)].down -= links.not_sent;
    }

    // Words that come back to home number h as partial sums; pinned as in Movement.
    Count back(Operand o, std::size_t h, std::size_t pinned) {
        if (h == 0) {
            return 0;
        }
        if (counting_ == Counting::timeloop) {
            return received(o, homes_[h], pinned) - distinct(o, homes_[h], pinned);
        }
        return leaving(o, homes_[h], homes_[h - 1], pinned, true) - fresh(o, h - 1, pinned);
    }

    // Sums that start from zero at home number h.
    Count fresh(Operand o, std::size_t h, std::size_t pinned) {
        if (counting_ == Counting::timeloop) {
            return distinct(o, homes_[h], pinned);
        }
        return received(o, homes_[h], pinned) - back(o, h, pinned);
    }

    // The busiest instance's share of what returns: the lane that takes returning sums. Never less
    // than the average over all instances.
    Count back_share(Operand o, std::size_t h, Count all) {
        if (h == 0 || all == 0) {
            return 0;
        }
        if (counting_ == Counting::timeloop) {
            return back(o, h, homes_[h]);
        }
        const auto lanes = static_cast<long double>(leaving(o, homes_[h], homes_[h - 1], 0, true));
        const auto mine = static_cast<long double>(received(o, homes_[h], homes_[h]));
        constexpr long double whole = 1.0L - 1e-15L; // a whole share stays what it is
        return static_cast<Count>(std::ceil(static_cast<long double>(all) * mine / lanes * whole));
    }

    void count_sums(Operand o) {
        for (std::size_t h = 0; h < homes_.size(); ++h) {
            const std::size_t parent = homes_[h];
            const std::size_t child = h + 1 < homes_.size() ? homes_[h + 1] : units_;
            const Count returning = child < units_ ? back(o, h + 1, 0) : 0;
            Count sent = received(o, child, 0);
            for (std::size_t e = child; e-- > parent;) {
                cost_.network_energy_pj += hop_pj(e, o) * static_cast<double>(sent);
                sent = leaving(o, child, e, 0, false);
                cost_.edges[e].up[index(o)] = sent;
                cost_.edges[e].down[index(o)] = returning;
                cost_.edges[e].delivered[index(o)] = returning;
                busy_[e][index(o)] = {ceil_div(returning, cost_.levels[e].instances),
                                      leaving(o, child, e, e, false)};
            }
            total(parent, o).updates = sent;
            total(parent, o).reads = sent - fresh(o, h, 0);
            busiest(parent, o).updates = busy_[parent][index(o)].up;
            busiest(parent, o).reads = sums_read(o, h);
            if (child < units_) {
                total(child, o).fills = returning;
                busiest(child, o).fills = back_share(o, h + 1, returning);
            }
        }
    }

    Count sums_read(Operand o, std::size_t h) {
        const std::size_t level = homes_[h];
        const Count started = counting_ == Counting::timeloop
                                  ? fresh(o, h, level)
                                  : received(o, level, level) - busiest(level, o).fills;
        return busiest(level, o).updates - started;
    }

    double hop_pj(std::size_t level, Operand o) const {
        const Channel* channel = channel_of(machine_.levels[level], o);
        return channel == nullptr || counting_ == Counting::timeloop ? 0.0 : channel->hop_pj;
    }

    // Timeloop: vector accesses of each kind and instance, ceil(words / block), times the energy of
    // one (NVlabs/timeloop, src/model/buffer.cpp, ComputeVectorAccesses).
    double access_energy(const Store& store, Operand o, const Accesses& a, Count instances) const {
        if (counting_ == Counting::eyeroof || store.access_words == 1) {
            return store.read_pj_of(o) * static_cast<double>(a.reads) +
                   store.write_pj_of(o) * static_cast<double>(a.fills) +
                   store.update_pj_of(o) * static_cast<double>(a.updates);
        }
        const auto whole = [&](Count words) {
            const Count each = ceil_div(ceil_div(words, instances), store.access_words);
            return static_cast<double>(each) * static_cast<double>(store.access_words) *
                   static_cast<double>(instances);
        };
        return store.read_pj_of(o) * whole(a.reads) + store.write_pj_of(o) * whole(a.fills) +
               store.update_pj_of(o) * whole(a.updates);
    }

    void add_energy() {
        cost_.mac_energy_pj = machine_.mac_pj * static_cast<double>(cost_.macs);
        cost_.energy_pj = cost_.mac_energy_pj;
        for (std::size_t i = 0; i < units_; ++i) {
            for (const Operand o : kAllOperands) {
                cost_.network_energy_pj +=
                    hop_pj(i, o) * static_cast<double>(cost_.edges[i].delivered[index(o)]);
                const Store* store = store_of(machine_.levels[i], o);
                if (store == nullptr) {
                    continue;
                }
                double& energy = cost_.levels[i].energy_pj[index(o)];
                energy = access_energy(*store, o, total(i, o), cost_.levels[i].instances);
                cost_.energy_pj += energy;
            }
        }
        cost_.energy_pj += cost_.network_energy_pj;
    }

    Result<MappingCost> checked() {
        const auto steps = checked_mul(cost_.compute_steps, cost_.allocated_macs_units);
        bool holds = !steps || *steps >= cost_.macs;
        for (const Operand o : kAllOperands) {
            const bool there = o != Operand::weight || problem_.has_weight;
            const auto home =
                std::find_if(mapping_.levels.begin(), mapping_.levels.end(),
                             [o](const LevelMapping& level) { return level.keeps.contains(o); });
            const auto level = static_cast<std::size_t>(home - mapping_.levels.begin());
            const Count all = tile_elements(problem_, o, loop_bounds(problem_));
            const Accesses& a = cost_.levels[std::min(level, units_ - 1)].total[index(o)];
            holds = holds && (!there || (o == problem_.produced ? a.updates : a.reads) >= all);
        }
        if (!holds) {
            return Result<MappingCost>::failure(
                "internal-bound", "the counted cost of this mapping breaks a physical bound");
        }
        return std::move(cost_);
    }

    const Problem& problem_;
    const Accelerator& machine_;
    const Mapping& mapping_;
    Counting counting_;
    Nest nest_;
    FlowCounter flow_;
    std::vector<nest::Digit> digits_; // scratch of trips()
    std::size_t units_;               // stands for the MACs where a level is asked for
    // of the operand that is being counted
    std::vector<std::size_t> homes_;
    std::vector<bool> sends_once_; // by level: its network sends equal words once …
    std::vector<bool> adds_;       // … or adds sums on the way up
    std::vector<bool> everywhere_; // every level's would
    std::vector<PerOperand<Busy>> busy_;
    MappingCost cost_;
    std::vector<PortTraffic>* transfers_ = nullptr;
};

} // namespace

Result<MappingCost> cost_of(const Problem& problem, const Accelerator& machine,
                            const Mapping& mapping, Counting counting) {
    Diagnostics found = validate(mapping, problem, machine, counting);
    if (found.has_errors()) {
        return found;
    }
    return CostCounter(problem, machine, mapping, counting).run();
}

Result<CountedMapping> counted_mapping(const Problem& problem, const Accelerator& machine,
                                       const Mapping& mapping) {
    Diagnostics found = validate(mapping, problem, machine, Counting::eyeroof);
    if (found.has_errors()) {
        return Result<CountedMapping>(std::move(found));
    }
    CountedMapping counted;
    CostCounter counter(problem, machine, mapping, Counting::eyeroof);
    counter.record_in(counted.transfers);
    auto cost = counter.run();
    if (!cost) {
        return Result<CountedMapping>(cost.diagnostics());
    }
    counted.cost = *std::move(cost);
    return Result<CountedMapping>(std::move(counted));
}

} // namespace eyeroof::model
