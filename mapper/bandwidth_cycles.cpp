#include "mapper/bandwidth_cycles.hpp"

#include "mapper/fits.hpp"
#include "model/accelerator/data_width.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::mapper {

using namespace model;

BandwidthCycles::BandwidthCycles(const Space& space)
    : space_(&space), task_(space.task), levels_(task_->machine.levels.size()),
      timeloop_(task_->counting == Counting::timeloop),
      made_words_(static_cast<double>(
          tile_elements(task_->problem, task_->problem.produced, task_->problem.bounds))) {
    const Fits fits(space);
    for (std::size_t i = 0; i < levels_; ++i) {
        fanout_[i] = fits.fanout(i);
    }
    list_bandwidths();
}

void BandwidthCycles::add_bandwidth(std::size_t level, const Bandwidth& bandwidth) {
    Bandwidth finite = bandwidth;
    finite.level = level;
    finite.count = 0;
    for (std::size_t n = 0; n < bandwidth.count; ++n) {
        if (bandwidth.parts[n].cycles_per_word > 0.0) {
            finite.parts[finite.count++] = bandwidth.parts[n];
        }
    }
    if (finite.count > 0) {
        bandwidths_.push_back(finite);
    }
}

void BandwidthCycles::list_bandwidths() {
    using Direction = Bandwidth::Direction;
    const Accelerator& machine = task_->machine;
    std::size_t level = 0; // of the parts that are made
    const auto up = [&](Direction direction, Operand o, const DataWidth& bytes, double rate) {
        return Bandwidth::Part{level, direction, static_cast<std::uint8_t>(index(o)),
                               bytes.partial / rate, (bytes.partial - bytes.complete) / rate};
    };
    const auto down = [&](Direction direction, Operand o, const DataWidth& bytes, double rate) {
        Bandwidth::Part part = up(direction, o, bytes, rate);
        part.cycles_saved = 0.0; // what comes back down is partial
        return part;
    };
    for (std::size_t i = 0; i < levels_; ++i) {
        for (const Store& store : machine.levels[i].stores) {
            Bandwidth read;
            Bandwidth write;
            std::size_t outermost = i;
            each_part(machine, i, store, [&](std::size_t at, const Store& part) {
                level = at;
                outermost = std::min(outermost, at);
                for (const Operand o : kAllOperands) {
                    if (part.operands.contains(o)) {
                        const DataWidth bytes = stored_width(task_->problem, machine, at, o);
                        read.parts[read.count++] =
                            down(Direction::read, o, bytes, store.read_bytes_per_cycle);
                        write.parts[write.count++] =
                            up(Direction::write, o, bytes, store.write_bytes_per_cycle);
                    }
                }
            });
            if (outermost == i) {
                add_bandwidth(i, read);
                add_bandwidth(i, write);
            }
        }
        level = i;
        for (const Channel& channel : machine.levels[i].channels) {
            if (timeloop_) {
                continue;
            }
            Bandwidth inwards;
            Bandwidth outwards;
            Bandwidth& back = channel.half_duplex ? inwards : outwards;
            const double up_rate =
                channel.half_duplex ? channel.down_bytes_per_cycle : channel.up_bytes_per_cycle;
            for (const Operand o : kAllOperands) {
                if (channel.operands.contains(o)) {
                    const DataWidth bytes = sent_width(task_->problem, machine, i, channel, o);
                    inwards.parts[inwards.count++] =
                        down(Direction::down, o, bytes, channel.down_bytes_per_cycle);
                    back.parts[back.count++] = up(Direction::up, o, bytes, up_rate);
                }
            }
            add_bandwidth(i, inwards);
            add_bandwidth(i, outwards);
        }
    }
}

// words_of(l, factor): of link l, by the first cost factor of a count.
template <class Words>
MovedWords BandwidthCycles::moved(const double* product, Known known, Words words_of) const {
    MovedWords words; // NOLINT(cppcoreguidelines-pro-type-member-init)
    for (std::size_t i = 0; i < levels_; ++i) {
        words.at[i] = {};
    }
    double fresh = made_words_;
    bool bounded = true;
    for (std::size_t l = 0; l < space_->links.size(); ++l) {
        const Link& link = space_->links[l];
        const auto count = [&](std::size_t cost_factor) {
            return words_of(l, cost_factor) * link.volume;
        };
        add_words(link, index(link.operand), count, fresh, bounded, known, product, words);
    }
    return words;
}

MovedWords BandwidthCycles::least_words(const OrderChoices& orders, const double* product,
                                        Known known) const {
    return moved(product, known, [&](std::size_t l, std::size_t cost_factor) {
        const Variants& active = orders.active(l);
        double least = product[cost_factor + active.at[0]];
        for (std::size_t n = 1; n < active.count; ++n) {
            least = std::min(least, product[cost_factor + active.at[n]]);
        }
        return least;
    });
}

MovedWords BandwidthCycles::words(const std::array<std::size_t, kMaxLinks>& variants,
                                  const double* product, Known known) const {
    return moved(product, known, [&](std::size_t l, std::size_t cost_factor) {
        return product[cost_factor + variants[l]];
    });
}

Crossing MovedWords::crossing(std::size_t edge) const {
    Crossing out;
    const auto along = [&](std::size_t level, Bandwidth::Direction direction) {
        return at[level][static_cast<std::size_t>(direction)];
    };
    out.outer = {along(0, Bandwidth::Direction::down), along(0, Bandwidth::Direction::up)};
    out.edge = {along(edge, Bandwidth::Direction::down), along(edge, Bandwidth::Direction::up)};
    return out;
}

// Adds a link's words to those of its levels. `fresh` and `bounded` go from link to link of the
// sums.
template <class Count>
void BandwidthCycles::add_words(const Link& link, std::size_t o, Count count, double& fresh,
                                bool& bounded, Known known, const double* product,
                                MovedWords& words) const {
    using Direction = Bandwidth::Direction;
    const double sent = count(link.sent);
    const bool inner = link.child < levels_;
    double back = 0.0;
    if (!link.produced) {
        words(link.parent, Direction::read, o) += sent;
        if (inner) {
            words(link.child, Direction::write, o) += count(link.received);
        }
    } else {
        words(link.parent, Direction::read, o) += bounded ? std::max(0.0, sent - fresh) : 0.0;
        words(link.parent, Direction::write, o) += sent;
        if (inner) {
            const double lanes = product[link.lanes];
            const double reduced = count(link.reduced);
            back = !bounded    ? 0.0
                   : timeloop_ ? std::max(0.0, count(link.received) - lanes * link.volume)
                               : std::max(0.0, reduced - fresh);
            words(link.child, Direction::write, o) += back;
            fresh = timeloop_ ? lanes * link.volume : (lanes - 1.0) * reduced + fresh;
            bounded = bounded && (timeloop_ || known == Known::all || lanes == 1.0);
        }
    }
    for (std::size_t e = link.parent; e < link.child && e < levels_; ++e) {
        const double crossing = link.edges[e] == 0 ? 0.0 : count(link.edges[e]);
        words(e, link.produced ? Direction::up : Direction::down, o) = crossing;
        if (link.produced) {
            words(e, Direction::down, o) = back;
        }
    }
}

double BandwidthCycles::cycles(const MovedWords& words, const double* product, Known known) const {
    std::array<double, kMaxLevels> share; // NOLINT(cppcoreguidelines-pro-type-member-init)
    double one = 1.0;                     // share of one instance
    for (std::size_t i = 0; i < levels_; ++i) {
        share[i] = one;
        if (fanout_[i] > 1.0) {
            one /= fanout(i, product, known);
        }
    }
    double cycles = 0.0;
    for (const Bandwidth& bandwidth : bandwidths_) {
        double all = 0.0;
        for (std::size_t n = 0; n < bandwidth.count; ++n) {
            const Bandwidth::Part& part = bandwidth.parts[n];
            const double moved =
                words.at[part.level][static_cast<std::size_t>(part.direction)][part.operand];
            all += moved * part.cycles_per_word;
            if (part.cycles_saved > 0.0) {
                all -= std::min(moved, made_words_) * part.cycles_saved;
            }
        }
        cycles = std::max(cycles, all * share[bandwidth.level]);
    }
    return cycles;
}

} // namespace eyeroof::mapper
