#include "analysis/fuse/fuse.hpp"

#include "analysis/fuse/members.hpp"
#include "mapper/frontier.hpp"
#include "model/fuse/partition.hpp"
#include "model/fuse/product_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace eyeroof::analysis {

using model::fuse::Group;
using model::fuse::Window;

namespace {

constexpr std::uint64_t kLoneNodes = 200000; // of the search of one layer, as --search-nodes

struct Costed { // one execution
    FuseCost cost;
    double buffer_bytes = 0.0;
    std::string how;
};

std::string described(const model::fuse::GroupChoice& choice, const Window& last) {
    const model::fuse::Tiling& t = choice.tiling;
    std::string text = t.tile == last.out ? std::string("whole plane")
                                          : fmt::format("tiles of {} x {}", t.tile.h, t.tile.w);
    if (t.tile != last.out) {
        text += fmt::format(", overlap {}", model::fuse::overlap_name(t.overlap));
    }
    if (last.weights > 0 || !t.weights_stay) {
        text += t.passes > 1      ? fmt::format(", {} parts of the weights", t.passes)
                : !t.weights_stay ? (t.tile == last.out ? ", weights pass through"
                                                        : ", weights again for each tile")
                                  : ", weights stay";
    }
    return text;
}

std::string described(const model::fuse::ProductChain& chain,
                      const model::fuse::ChainTiling& tiling) {
    const auto staying = std::count(tiling.stays.begin(), tiling.stays.end(), true);
    const auto all = static_cast<std::ptrdiff_t>(tiling.stays.size());
    std::string text = tiling.rows == chain.m ? std::string("all rows at once")
                                              : fmt::format("tiles of {} rows", tiling.rows);
    text += staying == all ? ", weights stay"
            : staying == 0 ? (tiling.rows == chain.m ? ", weights pass through"
                                                     : ", weights again for each tile")
                           : fmt::format(", {} of {} weights stay", staying, all);
    return text;
}

class Fuser {
  public:
    Fuser(const Chains& chains, const Chip& chip, FuseAim aim, std::stop_token stop)
        : members_(chains.members), chip_(chip), aim_(aim), stop_(std::move(stop)) {}

    std::optional<Costed> cost(Group g) {
        for (std::size_t i = g.first; i < g.last; ++i) {
            if (!members_[i].joins_next) {
                return std::nullopt;
            }
        }
        const ChainMember& first = members_[g.first];
        if (std::holds_alternative<Window>(first.what)) {
            return windows(g);
        }
        if (const auto* pair = std::get_if<PairMember>(&first.what)) {
            return products(front(pair->pair), pair->copies, first, first.macs,
                            "products of one head together");
        }
        const auto& product = std::get<ProductMember>(first.what);
        if (g.last == g.first) {
            return products(front(product.product), product.copies, first, first.macs, "alone");
        }
        return chain(g);
    }

    // A member by itself; where not even that fits, each tensor once, which nothing goes below.
    std::pair<Costed, bool> alone(std::size_t i) {
        const ChainMember& m = members_[i];
        auto costed = cost({i, i});
        if (const auto* pair = std::get_if<PairMember>(&m.what)) {
            costed = apart(*pair, m);
        }
        if (costed) {
            return {*std::move(costed), true};
        }
        return {Costed{timed(m.compulsory_bytes, static_cast<double>(m.macs)), 0.0,
                       "does not fit; each tensor is counted once"},
                false};
    }

    bool proved = true; // every search of a layer alone ended

    double aimed(const FuseCost& cost) const {
        return aim_ == FuseAim::traffic ? cost.bytes : cost.time_s;
    }

  private:
    double seconds_per_byte() const {
        return chip_.dram_bytes_per_s > 0.0 ? 1.0 / chip_.dram_bytes_per_s : 0.0;
    }

    FuseCost timed(double bytes, double macs) const {
        return {bytes, macs, std::max(bytes * seconds_per_byte(), macs / chip_.macs_per_s),
                1e-12 * (macs * chip_.mac_pj + bytes * chip_.outer_pj_per_byte)};
    }

    double word_bytes(Group g) const {
        double widest = 0.0;
        for (std::size_t i = g.first; i <= g.last; ++i) {
            widest = std::max(widest, members_[i].word_bytes);
        }
        return widest;
    }

    // A convolution by itself: the least traffic of any mapping with this buffer, as `map
    // --capacity-curve` and an exam count it, or of tiles of its plane where that is less (their
    // regions are clipped at borders).
    std::optional<Costed> mapped(std::size_t i) {
        const auto [at, fresh] = alone_.try_emplace(i);
        if (!fresh) {
            return at->second;
        }
        at->second = tiled({i, i});
        const ChainMember& m = members_[i];
        mapper::Task task;
        task.problem = *m.nest;
        task.machine.word_bits.fill(static_cast<int>(m.word_bytes * 8.0));
        mapper::SearchOptions search;
        search.max_nodes = kLoneNodes;
        const auto least =
            mapper::least_traffic(task, static_cast<Count>(chip_.buffer_bytes), search, stop_);
        proved = proved && least && least->certificate.proved;
        if (least && (!at->second || least->traffic_bytes < at->second->cost.bytes)) {
            at->second = Costed{timed(least->traffic_bytes, static_cast<double>(m.macs)),
                                static_cast<double>(least->capacity_bytes), "mapped alone"};
        }
        return at->second;
    }

    std::optional<Costed> windows(Group g) {
        return g.first == g.last && members_[g.first].nest ? mapped(g.first) : tiled(g);
    }

    std::optional<Costed> tiled(Group g) const {
        std::vector<Window> group;
        for (std::size_t i = g.first; i <= g.last; ++i) {
            group.push_back(std::get<Window>(members_[i].what));
        }
        const double word = word_bytes(g);
        const auto aim = aim_ == FuseAim::latency
                             ? model::fuse::Aim{1.0 / chip_.macs_per_s, word * seconds_per_byte()}
                             : model::fuse::Aim{};
        const auto best =
            model::fuse::best_tiling(group, static_cast<Count>(chip_.buffer_bytes / word), aim);
        if (!best) {
            return std::nullopt;
        }
        return Costed{timed(static_cast<double>(best->cost.traffic) * word,
                            static_cast<double>(best->cost.macs)),
                      static_cast<double>(best->cost.capacity) * word,
                      described(*best, group.back())};
    }

    using Front = std::vector<model::fuse::Point>;

    template <class Shape> const Front& front(const Shape& shape) {
        std::tuple<Count, Count, Count, Count> key;
        if constexpr (std::is_same_v<Shape, model::fuse::Pair>) {
            key = {shape.m, shape.k, shape.l, shape.n};
        } else {
            key = {shape.m, shape.n, shape.k, 0};
        }
        const auto [at, fresh] = fronts_.try_emplace(key);
        if (fresh) {
            at->second = model::fuse::front_of(shape);
        }
        return at->second;
    }

    std::optional<Costed> products(const Front& points, Count copies, const ChainMember& m,
                                   Count macs, std::string how) const {
        const auto words = static_cast<Count>(chip_.buffer_bytes / m.word_bytes);
        const model::fuse::Point* best = nullptr;
        for (const model::fuse::Point& point : points) {
            best = point.words <= words ? &point : best;
        }
        if (best == nullptr) {
            return std::nullopt;
        }
        return Costed{timed(static_cast<double>(best->traffic * copies) * m.word_bytes,
                            static_cast<double>(macs)),
                      static_cast<double>(best->words) * m.word_bytes, std::move(how)};
    }

    // Products one after the other: rows in tiles through all of them, or, of two, any order of
    // tiles of rows and of the middle dimension.
    std::optional<Costed> chain(Group g) {
        const ChainMember& first = members_[g.first];
        model::fuse::ProductChain shape;
        const auto product = [&](std::size_t i) -> const ProductMember& {
            return std::get<ProductMember>(members_[i].what);
        };
        Count macs = 0;
        bool whole_rows = false;
        shape.m = product(g.first).product.m;
        shape.widths = {product(g.first).product.k};
        shape.whole_rows = {false};
        for (std::size_t i = g.first; i <= g.last; ++i) {
            const bool rows = members_[i].whole_rows && i < g.last;
            shape.widths.push_back(product(i).product.n);
            shape.whole_rows.push_back(rows);
            whole_rows = whole_rows || rows;
            macs += members_[i].macs;
        }
        std::optional<Costed> best;
        if (g.last == g.first + 1 && !whole_rows) {
            const model::fuse::Pair pair{shape.m, shape.widths[0], shape.widths[1],
                                         shape.widths[2]};
            best = products(front(pair), product(g.first).copies, first, macs,
                            "both products together");
        }
        const double word = word_bytes(g);
        const auto choice =
            model::fuse::best_tiling(shape, static_cast<Count>(chip_.buffer_bytes / word));
        if (choice) {
            const double copies = static_cast<double>(product(g.first).copies);
            Costed rows{timed(static_cast<double>(choice->cost.traffic) * copies * word,
                              static_cast<double>(macs)),
                        static_cast<double>(choice->cost.capacity) * word,
                        described(shape, choice->tiling)};
            best = best && best->cost.bytes <= rows.cost.bytes ? best : rows;
        }
        return best;
    }

    std::optional<Costed> apart(const PairMember& pair, const ChainMember& m) {
        const auto one = products(front(pair.pair.first()), pair.copies, m, m.macs / 2, "");
        const auto two =
            products(front(pair.pair.second()), pair.copies, m, m.macs - m.macs / 2, "");
        if (!one || !two) {
            return std::nullopt;
        }
        Costed both = *one;
        both.cost += two->cost;
        both.buffer_bytes = std::max(one->buffer_bytes, two->buffer_bytes);
        both.how = "one product after the other";
        return both;
    }

    const std::vector<ChainMember>& members_;
    const Chip& chip_;
    FuseAim aim_;
    std::stop_token stop_;
    std::map<std::size_t, std::optional<Costed>> alone_;
    std::map<std::tuple<Count, Count, Count, Count>, Front> fronts_;
};

FuseCost times(FuseCost cost, Count count) {
    const auto n = static_cast<double>(count);
    return {cost.bytes * n, cost.macs * n, cost.time_s * n, cost.energy_j * n};
}

struct Candidate {
    Costed costed;
    bool fits = true;
};

// Fills a result group by group.
class Writer {
  public:
    Writer(const Chains& chains, Fuser& fuser,
           const std::map<std::pair<std::size_t, std::size_t>, Candidate>& costs)
        : members_(chains.members), fuser_(fuser), costs_(costs) {}

    FusedGroup group(Group g) {
        FusedGroup out;
        out.count = members_[g.first].count;
        const Candidate& chosen = costs_.at({g.first, g.last});
        for (std::size_t i = g.first; i <= g.last; ++i) {
            out.layers.push_back(members_[i].name);
            out.apart += times(fuser_.alone(i).first.cost, out.count);
        }
        out.how = chosen.costed.how;
        out.fits = chosen.fits;
        out.buffer_bytes = chosen.costed.buffer_bytes;
        out.together = times(chosen.costed.cost, out.count);
        out.ends = why_it_ends(g);
        return out;
    }

  private:
    std::string why_it_ends(Group g) {
        if (g.last + 1 == members_.size()) {
            return "the network ends";
        }
        const bool window = std::holds_alternative<Window>(members_[g.last].what);
        if (window != std::holds_alternative<Window>(members_[g.last + 1].what)) {
            return "products and windows are not fused";
        }
        if (!members_[g.last].joins_next) {
            return "the next layer reads something else";
        }
        const auto longer = costs_.find({g.first, g.last + 1});
        if (longer == costs_.end()) {
            return fmt::format("{} would not fit", members_[g.last + 1].name);
        }
        const double split = fuser_.aimed(costs_.at({g.first, g.last}).costed.cost) +
                             fuser_.aimed(fuser_.alone(g.last + 1).first.cost);
        const double joined = fuser_.aimed(longer->second.costed.cost);
        return joined >= split
                   ? fmt::format("{} would cost {:.1f} % more inside", members_[g.last + 1].name,
                                 100.0 * (joined / split - 1.0))
                   : fmt::format("{} is better with what follows", members_[g.last + 1].name);
    }

    const std::vector<ChainMember>& members_;
    Fuser& fuser_;
    const std::map<std::pair<std::size_t, std::size_t>, Candidate>& costs_;
};

// Of the plane whose tiles are tried least closely.
model::fuse::SizesTried sizes_of(const Chains& chains) {
    auto worst = model::fuse::SizesTried::all;
    for (const ChainMember& member : chains.members) {
        if (const auto* window = std::get_if<Window>(&member.what)) {
            worst = std::max({worst, model::fuse::sizes_tried(window->out.h),
                              model::fuse::sizes_tried(window->out.w)});
        }
    }
    return worst;
}

} // namespace

std::size_t FuseResult::unfit() const {
    return static_cast<std::size_t>(std::count_if(
        groups.begin(), groups.end(), [](const FusedGroup& group) { return !group.fits; }));
}

FuseCost& FuseCost::operator+=(const FuseCost& other) {
    bytes += other.bytes;
    macs += other.macs;
    time_s += other.time_s;
    energy_j += other.energy_j;
    return *this;
}

Result<FuseResult> fuse_network(const model::Network& network, const Chip& chip, FuseAim aim,
                                std::stop_token stop, const ProgressCallback& progress,
                                const std::optional<OnlyReaders>& readers) {
    auto chains = chains_of(network, chip, readers);
    if (!chains) {
        return chains.diagnostics();
    }
    if (chains->members.empty()) {
        return Result<FuseResult>::failure("no-layers", "no layer here can be fused",
                                           "convolutions, pooling, products and attention can");
    }
    Fuser fuser(*chains, chip, aim, stop);
    std::map<std::pair<std::size_t, std::size_t>, Candidate> costs;
    const std::size_t members = chains->members.size();
    const auto cost = [&](Group g) -> std::optional<double> {
        if (stop.stop_requested()) {
            return std::nullopt;
        }
        if (progress && g.first == g.last) {
            progress({static_cast<double>(g.first) / static_cast<double>(members),
                      "fusing from " + chains->members[g.first].name});
        }
        auto own = fuser.cost(g);
        bool fits = own.has_value();
        if (!own && g.first == g.last) {
            std::tie(own, fits) = fuser.alone(g.first);
        }
        if (!own) {
            return std::nullopt;
        }
        if (const auto* pair = std::get_if<PairMember>(&chains->members[g.first].what);
            pair != nullptr && fits) { // an attention need not be fused
            const auto [apart, both_fit] = fuser.alone(g.first);
            if (both_fit && fuser.aimed(apart.cost) < fuser.aimed(own->cost)) {
                own = apart;
            }
        }
        const double aimed = fuser.aimed(own->cost);
        costs[{g.first, g.last}] = {*std::move(own), fits};
        return aimed;
    };
    const auto partition = model::fuse::cheapest_partition(members, cost);
    if (stop.stop_requested() || !partition) {
        return Result<FuseResult>::failure("cancelled", "stopped before the end");
    }
    FuseResult result;
    result.network = network.name.empty() ? network.id : network.name;
    result.chip = chip;
    result.aim = aim;
    result.between = std::move(chains->between);
    result.edges_known = readers.has_value();
    result.sizes = sizes_of(*chains);
    result.lone_proved = fuser.proved;
    Writer writer(*chains, fuser, costs);
    for (const Group& g : *partition) {
        result.groups.push_back(writer.group(g));
        result.together += result.groups.back().together;
        result.apart += result.groups.back().apart;
    }
    return result;
}

Result<std::vector<FusePoint>> fuse_curve(const model::Network& network, const Chip& chip,
                                          std::stop_token stop, const ProgressCallback& progress,
                                          const std::optional<OnlyReaders>& readers) {
    std::vector<FusePoint> curve;
    for (int power = 10; power <= 28; ++power) {
        Chip other = chip;
        other.buffer_bytes = static_cast<double>(Count{1} << power);
        const auto result = fuse_network(network, other, FuseAim::traffic, stop, {}, readers);
        if (!result) {
            return result.diagnostics();
        }
        const bool fits = std::all_of(result->groups.begin(), result->groups.end(),
                                      [](const FusedGroup& group) { return group.fits; });
        curve.push_back({other.buffer_bytes, result->together.bytes, result->apart.bytes, fits});
        if (progress) {
            progress({(power - 9) / 19.0,
                      fmt::format("buffers of up to {} KiB", (Count{1} << power) / 1024)});
        }
    }
    return curve;
}

} // namespace eyeroof::analysis
