#include "mapper/reported.hpp"
#include "mapper/space.hpp"
#include "model/accelerator/data_width.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

// Dominance between the chains of a group. Energy, cycles, tiles and trips in time are products
// over groups, and all but the reads of sums grow with every factor. So of two chains with the same
// trips in space, one that is nowhere larger can replace the other in any mapping: capacity and
// limits stay met, and no order of loops costs more. Reads of sums fall with the sums that return
// (each starts `lanes` words from zero), which is outweighed by the cost of returning them unless
// there are many lanes: chains that lean on this are only marked, and skipped where the lanes allow
// it.
//
// Not applied where cost factors do not tell the whole cost: partial trips with finite bandwidths
// (the busiest instance may differ), and words that neighbours hand on.

namespace eyeroof::mapper {

using namespace model;

namespace {

constexpr std::size_t kMaxBucket = 4000; // chains with equal trips in space that are compared

enum class Verdict { no, on_sums, outright };

bool applies(const Space& space) {
    const Task& task = *space.task;
    for (const Level& level : task.machine.levels) {
        for (const Channel& c : level.channels) {
            if (c.forwards) {
                return false;
            }
        }
    }
    return task.factors == Factors::perfect && task.counting == Counting::eyeroof &&
           !ramps_matter(task);
}

// Can reads of sums never bound the rate? At most one word a step and unit is read, with one of
// each other operand in the store.
bool reads_are_fast(const Space& space) {
    const Task& task = *space.task;
    if (!task.time_matters()) {
        return true;
    }
    for (const Link& link : space.links) {
        if (!link.produced || link.child >= space.keeps.size()) {
            continue;
        }
        const Store* store = store_of(task.machine.levels[link.child], link.operand);
        double bytes = 0.0;
        for (const Operand o : kAllOperands) {
            bytes += store->operands.contains(o) || store->part_of != 0
                         ? stored_width(task.problem, task.machine, link.child, o).partial
                         : 0.0;
        }
        for (std::size_t i = link.child; i < space.keeps.size(); ++i) {
            for (const Axis& axis : task.machine.levels[i].fanout) {
                bytes *= static_cast<double>(axis.size);
            }
        }
        if (bytes > store->read_bytes_per_cycle) {
            return false;
        }
    }
    return true;
}

class Comparer {
  public:
    explicit Comparer(const Space& space)
        : cost_factors_(space.cost_factors), kind_(space.cost_factors, Kind::rising) {
        for (const Link& link : space.links) {
            if (!link.produced) {
                continue;
            }
            kind_[link.lanes] = Kind::equal;
            for (std::size_t v = 0; v < link.variants; ++v) {
                for (std::size_t c : {link.received, link.reduced, link.sent}) {
                    kind_[c + v] = Kind::sums;
                }
                for (const std::size_t e : link.edges) {
                    kind_[e == 0 ? 0 : e + v] = e == 0 ? Kind::rising : Kind::sums;
                }
            }
        }
    }

    // Does a replace b?
    Verdict compare(const double* a, const double* b) const {
        bool equal_sums = true;
        for (std::size_t c = 0; c < cost_factors_; ++c) {
            if (a[c] > b[c] || (kind_[c] == Kind::equal && a[c] != b[c])) {
                return Verdict::no;
            }
            equal_sums = equal_sums && (kind_[c] != Kind::sums || a[c] == b[c]);
        }
        return equal_sums ? Verdict::outright : Verdict::on_sums;
    }

  private:
    enum class Kind { rising, sums, equal };
    std::size_t cost_factors_;
    std::vector<Kind> kind_;
};

// Chains to look at first: those with small factors dominate most.
std::vector<std::size_t> by_size(const std::vector<std::size_t>& bucket,
                                 const std::vector<double>& cost_factors, std::size_t width) {
    std::vector<std::pair<double, std::size_t>> sized;
    for (const std::size_t chain : bucket) {
        double size = 0.0;
        for (std::size_t c = 0; c < width; ++c) {
            const double factor = cost_factors[chain * width + c];
            size += std::isfinite(factor) ? std::log(factor) : 50.0;
        }
        sized.push_back({size, chain});
    }
    std::stable_sort(sized.begin(), sized.end());
    std::vector<std::size_t> order;
    for (const auto& [size, chain] : sized) {
        order.push_back(chain);
    }
    return order;
}

} // namespace

SumsPrice sums_price(const Task& task, Operand o, std::size_t parent, std::size_t child) {
    const auto& levels = task.machine.levels;
    const Store* above = store_of(levels[parent], o);
    const Store* below = store_of(levels[child], o);
    return {above->read_pj_of(o) + above->update_pj_of(o) + below->write_pj_of(o),
            below->read_pj_of(o)};
}

void drop_dominated(Space& space, Group& group, std::vector<double>& cost_factors,
                    std::vector<bool>& needless, const Effort& effort) {
    if (!applies(space)) {
        return;
    }
    std::vector<Chain>& chains = group.chains;
    // A chain whose loops lean on those of other groups does not stand for one whose loops do not.
    const auto leans_as_little = [&](std::size_t a, std::size_t b) {
        const auto leans = [&](std::size_t chain) {
            return loops_of(space, group, chains[chain], 0, space.keeps.size()).leans;
        };
        return (leans(a) & static_cast<std::uint16_t>(~leans(b))) == 0;
    };
    std::map<std::pair<std::array<Count, kMaxLevels>, std::array<Count, kMaxLevels>>,
             std::vector<std::size_t>>
        buckets;
    for (std::size_t i = 0; i < chains.size(); ++i) {
        buckets[{chains[i].first.spatial, chains[i].tap.spatial}].push_back(i);
    }
    const Comparer comparer(space);
    const bool fast = reads_are_fast(space);
    std::vector<bool> dropped(chains.size(), false);
    const std::size_t width = space.cost_factors;
    for (const auto& [key, bucket] : buckets) {
        std::vector<std::size_t> kept;
        for (const std::size_t b : by_size(bucket, cost_factors, width)) {
            const bool looks = bucket.size() < kMaxBucket && !effort.over();
            for (std::size_t k = 0; k < kept.size() && !dropped[b] && looks; ++k) {
                Verdict verdict =
                    comparer.compare(&cost_factors[kept[k] * width], &cost_factors[b * width]);
                if (verdict != Verdict::no && !leans_as_little(kept[k], b)) {
                    verdict = Verdict::no;
                }
                dropped[b] = verdict == Verdict::outright;
                needless[b] = needless[b] || (fast && verdict != Verdict::no && !needless[kept[k]]);
            }
            if (!dropped[b]) {
                kept.push_back(b);
            }
        }
    }
    std::size_t to = 0;
    for (std::size_t i = 0; i < chains.size(); ++i) {
        if (!dropped[i]) {
            chains[to] = chains[i];
            needless[to] = needless[i];
            std::copy_n(cost_factors.begin() + static_cast<std::ptrdiff_t>(i * width), width,
                        cost_factors.begin() + static_cast<std::ptrdiff_t>(to * width));
            ++to;
        }
    }
    chains.resize(to);
    needless.resize(to);
    cost_factors.resize(to * width);
}

} // namespace eyeroof::mapper
