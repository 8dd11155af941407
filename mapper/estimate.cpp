#include "mapper/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace eyeroof::mapper {

using namespace model;

namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr double kLimitSlack = 1e-10; // rounding; the mapping's own cost is held to the limit

bool finite_store(const Store* s) {
    return s != nullptr &&
           (std::isfinite(s->read_bytes_per_cycle) || std::isfinite(s->write_bytes_per_cycle));
}
bool finite_channel(const Channel* c) {
    return c != nullptr &&
           (std::isfinite(c->down_bytes_per_cycle) || std::isfinite(c->up_bytes_per_cycle));
}

} // namespace

struct Estimator::Words {
    std::array<std::array<double, kOperands>, kMaxLevels> reads{};
    std::array<std::array<double, kOperands>, kMaxLevels> writes{};
    std::array<std::array<double, kOperands>, kMaxLevels> down{};
    std::array<std::array<double, kOperands>, kMaxLevels> up{};
};

Estimator::Estimator(const Space& space)
    : space_(space), task_(*space.task), objective_(task_.objective),
      levels_(task_.machine.levels.size()), macs_(static_cast<double>(macs_of(task_.problem))),
      units_(static_cast<double>(mac_units(task_.machine))) {
    for (std::size_t i = 0; i < levels_; ++i) {
        fanout_[i] = 1.0;
        for (const Axis& axis : task_.machine.levels[i].fanout) {
            fanout_[i] *= static_cast<double>(axis.size);
        }
        for (const Operand o : kAllOperands) {
            const Store* store = store_of(task_.machine.levels[i], o);
            const Channel* channel = channel_of(task_.machine.levels[i], o);
            read_pj_[i][index(o)] = store == nullptr ? 0.0 : store->read_pj;
            write_pj_[i][index(o)] = store == nullptr ? 0.0 : store->write_pj;
            const bool hops = channel != nullptr && task_.counting == Counting::eyeroof;
            hop_pj_[i][index(o)] = hops ? channel->hop_pj : 0.0;
            paced_ = paced_ || finite_store(store) || finite_channel(channel);
        }
    }
    made_words_ = static_cast<double>(
        tile_elements(task_.problem, task_.problem.produced, task_.problem.bounds));
    tile_columns_ = space.links.empty() ? space.columns : space.links.front().received;
    for (std::size_t l = 0; l < space.links.size(); ++l) {
        if (space.links[l].produced) {
            sums_.push_back(l);
        }
    }
    exact_ = task_.counting == Counting::eyeroof && task_.problem.produced != Operand::input &&
             (task_.factors == Factors::perfect || !paced_);
    for (const Level& level : task_.machine.levels) {
        for (const Channel& channel : level.channels) {
            exact_ = exact_ && !channel.forwards;
        }
    }
    list_combinations();
}

void Estimator::list_combinations() {
    std::vector<BlockOrder> orders(levels_);
    for (std::size_t i = 0; i < levels_; ++i) {
        if (!space_.orders[i].empty()) {
            orders[i] = space_.orders[i].front();
        }
    }
    combinations_ = {orders};
    for (const std::size_t block : space_.ordered) {
        std::vector<std::vector<BlockOrder>> next;
        for (const auto& some : combinations_) {
            for (const BlockOrder& order : space_.orders[block]) {
                next.push_back(some);
                next.back()[block] = order;
            }
        }
        combinations_ = std::move(next);
    }
}

void Estimator::multiply_tiles(const std::array<const double*, kGroups>& f, double* out) const {
    static_assert(kGroups == 6);
    for (std::size_t c = 0; c < tile_columns_; ++c) {
        out[c] = f[0][c] * f[1][c] * f[2][c] * f[3][c] * f[4][c] * f[5][c];
    }
}

void Estimator::multiply_rest(const std::array<const double*, kGroups>& f, double* out) const {
    for (std::size_t c = tile_columns_; c < space_.columns; ++c) {
        out[c] = f[0][c] * f[1][c] * f[2][c] * f[3][c] * f[4][c] * f[5][c];
    }
}

// Whole banks, once per buffer, as in the validation of mappings.
bool Estimator::fits_level(const double* product, std::size_t i) const {
    for (const Store& store : task_.machine.levels[i].stores) {
        if (!store.capacity_bytes) {
            continue;
        }
        double need = 0.0;
        for (const Operand o : kAllOperands) {
            const std::size_t column = space_.tile[i][index(o)];
            if (column != 0 && store.operands.contains(o)) {
                const double bytes =
                    std::ceil(product[column] * task_.machine.word_bits[index(o)] / 8.0);
                const auto bank = static_cast<double>(store.bank_bytes);
                need += std::ceil(bytes / bank) * bank * store.buffers;
            }
        }
        if (need > static_cast<double>(*store.capacity_bytes)) {
            return false;
        }
    }
    return true;
}

bool Estimator::fits(const double* product) const {
    for (std::size_t i = 0; i < levels_; ++i) {
        if (product[space_.spatial[i]] > fanout_[i] || !fits_level(product, i)) {
            return false;
        }
    }
    const double least = task_.constraints.min_utilization;
    return least == 0.0 || product[space_.steps] * units_ * least <= macs_ * (1.0 + 1e-12);
}

double Estimator::into_level_pj(const double* product, std::size_t level, bool one_order) {
    tabulate(product, Known::little);
    double least = kNone;
    for (const auto& orders : combinations_) {
        double pj = 0.0;
        for (std::size_t l = 0; l < space_.links.size(); ++l) {
            const Link& link = space_.links[l];
            if (link.child == level) {
                const double* all = pj_[l].data();
                pj += one_order ? pj_[l][ordered_variant(l, orders)]
                                : *std::min_element(all, all + link.variants);
            }
        }
        least = std::min(least, pj);
        if (!one_order) {
            break;
        }
    }
    return least;
}

// Sum over links, each level's links together at least at their floor. energy(l) -> pJ of a link.
template <class Energy> double Estimator::with_floors(Energy energy) const {
    std::array<double, kMaxLevels + 1> into{};
    for (std::size_t l = 0; l < space_.links.size(); ++l) {
        into[space_.links[l].child] += energy(l);
    }
    double pj = base_pj_ + into[levels_];
    for (std::size_t i = 0; i < levels_; ++i) {
        pj += std::max(into[i], floors_[i]);
    }
    return pj;
}

// Energy of the networks that a link crosses: a hop for every word that a receiver gets.
double Estimator::hops_pj(const Link& link, std::size_t v, const double* product) const {
    double pj = 0.0;
    const std::size_t o = index(link.operand);
    for (std::size_t e = link.parent; e < link.child && e < levels_; ++e) {
        if (hop_pj_[e][o] > 0.0) {
            const bool last = e + 1 == link.child || e + 1 == levels_;
            pj += hop_pj_[e][o] * product[(last ? link.received : link.edges[e + 1]) + v];
        }
    }
    return pj;
}

void Estimator::tabulate_reads(std::size_t l, const double* product) {
    const Link& link = space_.links[l];
    const std::size_t o = index(link.operand);
    const double read = read_pj_[link.parent][o];
    const double write = link.child < levels_ ? write_pj_[link.child][o] : 0.0;
    for (std::size_t v = 0; v < link.variants; ++v) {
        pj_[l][v] = link.volume * (product[link.sent + v] * read +
                                   product[link.received + v] * write + hops_pj(link, v, product));
    }
}

// Sums, link by link from the outermost; see model/cost.cpp. Link i updates its parent with U
// words, of which all but fresh(i) read what is there; red - fresh(i) words return below, and
// fresh(i + 1) = (lanes - 1) red + fresh(i) start from zero there. All is linear, so each link gets
// what its own words cost and save:  gain(i) = energy per word of fresh(i), not above zero.
// While visits are open, more returns would save reads below: the least of the two together is at
// the fewest returns, or where no read is left. Behind an open home with several lanes nothing is
// counted but updates.
void Estimator::tabulate_sums(const double* product, Known known) {
    const std::size_t o = index(task_.problem.produced);
    const bool timeloop = task_.counting == Counting::timeloop;
    const bool open = known != Known::all && !timeloop;
    double gain = 0.0; // of the next inner link
    bool below_open = false;
    for (std::size_t i = 0; i + 1 < sums_.size() && open; ++i) {
        below_open =
            below_open || (i + 2 < sums_.size() && product[space_.links[sums_[i]].lanes] > 1.0);
    }
    for (std::size_t i = sums_.size(); i-- > 0;) {
        const Link& link = space_.links[sums_[i]];
        const bool inner = link.child < levels_;
        const double read = below_open && i > 0 ? 0.0 : read_pj_[link.parent][o];
        double back = inner ? write_pj_[link.child][o] : 0.0;
        for (std::size_t e = link.parent; inner && e < link.child; ++e) {
            back += hop_pj_[e][o];
        }
        back = below_open ? 0.0 : back;
        const double lanes = inner ? product[link.lanes] : 1.0;
        const double above = i == 0 || !timeloop ? made_words_
                                                 : product[space_.links[sums_[i - 1]].lanes] *
                                                       space_.links[sums_[i - 1]].volume;
        const double update = write_pj_[link.parent][o] + read;
        const double slope = update + back + (lanes - 1.0) * gain;
        const bool trade = open && inner && !below_open && slope < 0.0;
        for (std::size_t v = 0; v < link.variants; ++v) {
            const double sent = product[link.sent + v] * link.volume;
            const double returned =
                timeloop ? product[link.received + v] * link.volume
                         : (link.produced && inner ? product[link.reduced + v] * link.volume : 0.0);
            double pj = sent * update + hops_pj(link, v, product) * link.volume;
            pj += inner ? returned * back : 0.0;
            if (!timeloop && inner && !below_open) {
                pj += trade ? trade_pj(sums_[i + 1], returned, lanes, update + back, gain, product)
                            : (lanes - 1.0) * gain * returned;
            }
            pj_[sums_[i]][v] = pj;
        }
        if (timeloop) {
            base_pj_ -= read * above + (inner ? back * lanes * link.volume : 0.0);
        } else {
            gain += -read - (inner ? back : 0.0);
        }
    }
    base_pj_ += timeloop ? 0.0 : gain * made_words_;
}

// With u >= returned words, cost * u + gain * (lanes - 1) * u falls until no read is left below.
double Estimator::trade_pj(std::size_t below, double returned, double lanes, double cost,
                           double gain, const double* product) const {
    const Link& next = space_.links[below];
    const double reads = product[next.sent] * next.volume - (lanes - 1.0) * returned - made_words_;
    if (reads <= 0.0) {
        return gain * (product[next.sent] * next.volume - made_words_);
    }
    return (lanes - 1.0) * gain * returned + (cost + (lanes - 1.0) * gain) * reads / (lanes - 1.0);
}

void Estimator::tabulate(const double* product, Known known) {
    base_pj_ = task_.machine.mac_pj * macs_;
    for (std::size_t l = 0; l < space_.links.size(); ++l) {
        if (!space_.links[l].produced) {
            tabulate_reads(l, product);
        }
    }
    tabulate_sums(product, known);
}

double Estimator::relaxed(const double* product, Known known) {
    tabulate(product, known);
    const double pj = with_floors([&](std::size_t l) {
        return *std::min_element(pj_[l].data(), pj_[l].data() + space_.links[l].variants);
    });
    const double steps = std::max(product[space_.steps], std::ceil(macs_ / units_ - 1e-9));
    least_cycles_ = paced_ ? std::max(steps, least_pace(product, known)) : steps;
    return value(pj, least_cycles_);
}

double Estimator::value(double energy_pj, double cycles) const {
    return task_.constraints.allow(energy_pj, cycles, kLimitSlack)
               ? objective_.value(energy_pj, cycles)
               : kNone;
}

// Among the blocks at which the tile may move first, the one that costs least: the others are upper
// bounds of the same count, or do not apply and are infinite.
std::size_t Estimator::ordered_variant(std::size_t l, const std::vector<BlockOrder>& orders) const {
    const Link& link = space_.links[l];
    if (link.child == levels_) {
        return 0;
    }
    std::size_t best = 0;
    double least = kNone;
    for (std::size_t back = 0; back < link.child; ++back) {
        const BlockOrder& order = orders[link.child - 1 - back];
        const std::size_t free = order.stationary == link.operand ? 1 : 0;
        const std::size_t slide = link.slides == 4 ? static_cast<std::size_t>(order.slide) : 0;
        const std::size_t v = (back * 2 + free) * link.slides + slide;
        if (pj_[l][v] < least) {
            least = pj_[l][v];
            best = v;
        }
    }
    return best;
}

double Estimator::order_bound(double cut) const {
    double least = kNone;
    for (const auto& orders : combinations_) {
        least = std::min(
            least, with_floors([&](std::size_t l) { return pj_[l][ordered_variant(l, orders)]; }));
        if (value(least, least_cycles_) <= cut) {
            break;
        }
    }
    return value(least, least_cycles_);
}

Estimate Estimator::ordered(const double* product, const std::vector<BlockOrder>& orders) const {
    Estimate e;
    e.energy_pj = base_pj_;
    std::array<std::size_t, kMaxLinks> variants{};
    for (std::size_t l = 0; l < space_.links.size(); ++l) {
        variants[l] = ordered_variant(l, orders);
        e.energy_pj += pj_[l][variants[l]];
    }
    e.cycles = product[space_.steps];
    if (paced_) {
        e.cycles = std::max(e.cycles, pace(variants, product, Known::all));
    }
    return e;
}

std::vector<std::pair<double, std::size_t>> Estimator::good_orders(const double* product,
                                                                   double cut) const {
    std::vector<std::pair<double, std::size_t>> good;
    double most = cut;
    for (std::size_t c = 0; c < combinations_.size(); ++c) {
        double pj = base_pj_;
        for (std::size_t l = 0; l < space_.links.size(); ++l) {
            pj += pj_[l][ordered_variant(l, combinations_[c])];
        }
        if (value(pj, least_cycles_) > most) {
            continue;
        }
        const Estimate e = ordered(product, combinations_[c]);
        const double v = value(e.energy_pj, e.cycles);
        if (v > most) {
            continue;
        }
        if (exact_ && !task_.constraints.limited()) {
            good.clear();
            most = std::nextafter(v, 0.0);
        }
        good.push_back({v, c});
    }
    std::stable_sort(good.begin(), good.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    return good;
}

// Least words of each link over its variants, paced as if all came together.
double Estimator::least_pace(const double* product, Known known) const {
    Words words;
    double fresh = made_words_;
    bool bounded = true;
    for (const Link& link : space_.links) {
        const std::size_t o = index(link.operand);
        const auto least = [&](std::size_t column) {
            double w = product[column];
            for (std::size_t v = 1; v < link.variants; ++v) {
                w = std::min(w, product[column + v]);
            }
            return w * link.volume;
        };
        add_words(link, o, least, fresh, bounded, known, product, words);
    }
    return cycles_of(words, product, known);
}

double Estimator::pace(const std::array<std::size_t, kMaxLinks>& variants, const double* product,
                       Known known) const {
    Words words;
    double fresh = made_words_;
    bool bounded = true;
    for (std::size_t l = 0; l < space_.links.size(); ++l) {
        const Link& link = space_.links[l];
        const auto one = [&](std::size_t column) {
            return product[column + variants[l]] * link.volume;
        };
        add_words(link, index(link.operand), one, fresh, bounded, known, product, words);
    }
    return cycles_of(words, product, known);
}

// Adds a link's words to those of its levels. `fresh` and `bounded` go from link to link of the
// sums.
template <class Count>
void Estimator::add_words(const Link& link, std::size_t o, Count count, double& fresh,
                          bool& bounded, Known known, const double* product, Words& words) const {
    const double sent = count(link.sent);
    const bool inner = link.child < levels_;
    double back = 0.0;
    if (!link.produced) {
        words.reads[link.parent][o] += sent;
        if (inner) {
            words.writes[link.child][o] += count(link.received);
        }
    } else {
        const bool timeloop = task_.counting == Counting::timeloop;
        words.reads[link.parent][o] += bounded ? std::max(0.0, sent - fresh) : 0.0;
        words.writes[link.parent][o] += sent;
        if (inner) {
            const double lanes = product[link.lanes];
            const double reduced = count(link.reduced);
            back = !bounded   ? 0.0
                   : timeloop ? std::max(0.0, count(link.received) - lanes * link.volume)
                              : std::max(0.0, reduced - fresh);
            words.writes[link.child][o] += back;
            fresh = timeloop ? lanes * link.volume : (lanes - 1.0) * reduced + fresh;
            bounded = bounded && (timeloop || known == Known::all || lanes == 1.0);
        }
    }
    for (std::size_t e = link.parent; e < link.child && e < levels_; ++e) {
        const double crossing = link.edges[e] == 0 ? 0.0 : count(link.edges[e]);
        (link.produced ? words.up : words.down)[e][o] = crossing;
        if (link.produced) {
            words.down[e][o] = back;
        }
    }
}

double Estimator::cycles_of(const Words& words, const double* product, Known known) const {
    double cycles = 0.0;
    double instances = 1.0;
    for (std::size_t i = 0; i < levels_; ++i) {
        for (const Store& store : task_.machine.levels[i].stores) {
            double read = 0.0;
            double written = 0.0;
            for (const Operand o : kAllOperands) {
                if (store.operands.contains(o)) {
                    const double bytes = task_.machine.word_bits[index(o)] / 8.0 / instances;
                    read += words.reads[i][index(o)] * bytes;
                    written += words.writes[i][index(o)] * bytes;
                }
            }
            cycles = std::max(
                {cycles, read / store.read_bytes_per_cycle, written / store.write_bytes_per_cycle});
        }
        for (const Channel& channel : task_.machine.levels[i].channels) {
            double down = 0.0;
            double up = 0.0;
            for (const Operand o : kAllOperands) {
                if (channel.operands.contains(o) && task_.counting == Counting::eyeroof) {
                    const double bytes =
                        bytes_per_word(task_.machine, channel, o, task_.problem.zeros[index(o)]) /
                        instances;
                    down += words.down[i][index(o)] * bytes;
                    up += words.up[i][index(o)] * bytes;
                }
            }
            cycles = channel.half_duplex
                         ? std::max(cycles, (down + up) / channel.down_bytes_per_cycle)
                         : std::max({cycles, down / channel.down_bytes_per_cycle,
                                     up / channel.up_bytes_per_cycle});
        }
        instances *= known == Known::little ? fanout_[i] : product[space_.spatial[i]];
    }
    return cycles;
}

} // namespace eyeroof::mapper
