#include "mapper/pace.hpp"

#include "mapper/fits.hpp"
#include "model/accelerator/words.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::mapper {

using namespace model;

Pace::Pace(const Space& space)
    : space_(&space), task_(space.task), levels_(task_->machine.levels.size()),
      timeloop_(task_->counting == Counting::timeloop),
      made_words_(static_cast<double>(
          tile_elements(task_->problem, task_->problem.produced, task_->problem.bounds))) {
    const Fits fits(space);
    for (std::size_t i = 0; i < levels_; ++i) {
        fanout_[i] = fits.fanout(i);
    }
    list_pacers();
}

void Pace::add_pacer(std::size_t level, const Pacer& pacer) {
    Pacer finite = pacer;
    finite.level = level;
    finite.count = 0;
    for (std::size_t n = 0; n < pacer.count; ++n) {
        if (pacer.parts[n].cycles_per_word > 0.0) {
            finite.parts[finite.count++] = pacer.parts[n];
        }
    }
    if (finite.count > 0) {
        pacers_.push_back(finite);
    }
}

void Pace::list_pacers() {
    using Way = Pacer::Way;
    const Accelerator& machine = task_->machine;
    const auto up = [&](Way way, Operand o, const WordBytes& bytes, double rate) {
        return Pacer::Part{way, static_cast<std::uint8_t>(index(o)), bytes.partial / rate,
                           (bytes.partial - bytes.complete) / rate};
    };
    const auto down = [&](Way way, Operand o, const WordBytes& bytes, double rate) {
        Pacer::Part part = up(way, o, bytes, rate);
        part.cycles_saved = 0.0; // what comes back down is partial
        return part;
    };
    for (std::size_t i = 0; i < levels_; ++i) {
        for (const Store& store : machine.levels[i].stores) {
            Pacer read;
            Pacer write;
            for (const Operand o : kAllOperands) {
                if (store.operands.contains(o)) {
                    const WordBytes bytes = stored_word(task_->problem, machine, i, o);
                    read.parts[read.count++] =
                        down(Way::read, o, bytes, store.read_bytes_per_cycle);
                    write.parts[write.count++] =
                        up(Way::write, o, bytes, store.write_bytes_per_cycle);
                }
            }
            add_pacer(i, read);
            add_pacer(i, write);
        }
        for (const Channel& channel : machine.levels[i].channels) {
            if (timeloop_) {
                continue;
            }
            Pacer inwards;
            Pacer outwards;
            Pacer& back = channel.half_duplex ? inwards : outwards;
            const double up_rate =
                channel.half_duplex ? channel.down_bytes_per_cycle : channel.up_bytes_per_cycle;
            for (const Operand o : kAllOperands) {
                if (channel.operands.contains(o)) {
                    const WordBytes bytes = sent_word(task_->problem, machine, i, channel, o);
                    inwards.parts[inwards.count++] =
                        down(Way::down, o, bytes, channel.down_bytes_per_cycle);
                    back.parts[back.count++] = up(Way::up, o, bytes, up_rate);
                }
            }
            add_pacer(i, inwards);
            add_pacer(i, outwards);
        }
    }
}

// words_of(l, column): of link l, by the first column of a count.
template <class Words>
MovedWords Pace::moved(const double* product, Known known, Words words_of) const {
    MovedWords words; // NOLINT(cppcoreguidelines-pro-type-member-init)
    for (std::size_t i = 0; i < levels_; ++i) {
        words.at[i] = {};
    }
    double fresh = made_words_;
    bool bounded = true;
    for (std::size_t l = 0; l < space_->links.size(); ++l) {
        const Link& link = space_->links[l];
        const auto count = [&](std::size_t column) { return words_of(l, column) * link.volume; };
        add_words(link, index(link.operand), count, fresh, bounded, known, product, words);
    }
    return words;
}

MovedWords Pace::least_words(const OrderChoices& orders, const double* product, Known known) const {
    return moved(product, known, [&](std::size_t l, std::size_t column) {
        const Variants& active = orders.active(l);
        double least = product[column + active.at[0]];
        for (std::size_t n = 1; n < active.count; ++n) {
            least = std::min(least, product[column + active.at[n]]);
        }
        return least;
    });
}

MovedWords Pace::words(const std::array<std::size_t, kMaxLinks>& variants, const double* product,
                       Known known) const {
    return moved(product, known,
                 [&](std::size_t l, std::size_t column) { return product[column + variants[l]]; });
}

Crossing MovedWords::crossing(std::size_t edge) const {
    Crossing out;
    const auto along = [&](std::size_t level, Pacer::Way way) {
        return at[level][static_cast<std::size_t>(way)];
    };
    out.outer = {along(0, Pacer::Way::down), along(0, Pacer::Way::up)};
    out.edge = {along(edge, Pacer::Way::down), along(edge, Pacer::Way::up)};
    return out;
}

// Adds a link's words to those of its levels. `fresh` and `bounded` go from link to link of the
// sums.
template <class Count>
void Pace::add_words(const Link& link, std::size_t o, Count count, double& fresh, bool& bounded,
                     Known known, const double* product, MovedWords& words) const {
    using Way = Pacer::Way;
    const double sent = count(link.sent);
    const bool inner = link.child < levels_;
    double back = 0.0;
    if (!link.produced) {
        words(link.parent, Way::read, o) += sent;
        if (inner) {
            words(link.child, Way::write, o) += count(link.received);
        }
    } else {
        words(link.parent, Way::read, o) += bounded ? std::max(0.0, sent - fresh) : 0.0;
        words(link.parent, Way::write, o) += sent;
        if (inner) {
            const double lanes = product[link.lanes];
            const double reduced = count(link.reduced);
            back = !bounded    ? 0.0
                   : timeloop_ ? std::max(0.0, count(link.received) - lanes * link.volume)
                               : std::max(0.0, reduced - fresh);
            words(link.child, Way::write, o) += back;
            fresh = timeloop_ ? lanes * link.volume : (lanes - 1.0) * reduced + fresh;
            bounded = bounded && (timeloop_ || known == Known::all || lanes == 1.0);
        }
    }
    for (std::size_t e = link.parent; e < link.child && e < levels_; ++e) {
        const double crossing = link.edges[e] == 0 ? 0.0 : count(link.edges[e]);
        words(e, link.produced ? Way::up : Way::down, o) = crossing;
        if (link.produced) {
            words(e, Way::down, o) = back;
        }
    }
}

double Pace::cycles(const MovedWords& words, const double* product, Known known) const {
    std::array<double, kMaxLevels> share; // NOLINT(cppcoreguidelines-pro-type-member-init)
    double one = 1.0;                     // share of one instance
    for (std::size_t i = 0; i < levels_; ++i) {
        share[i] = one;
        if (fanout_[i] > 1.0) {
            one /= fanout(i, product, known);
        }
    }
    double cycles = 0.0;
    for (const Pacer& pacer : pacers_) {
        double all = 0.0;
        for (std::size_t n = 0; n < pacer.count; ++n) {
            const Pacer::Part& part = pacer.parts[n];
            const double moved =
                words.at[pacer.level][static_cast<std::size_t>(part.way)][part.operand];
            all += moved * part.cycles_per_word;
            if (part.cycles_saved > 0.0) {
                all -= std::min(moved, made_words_) * part.cycles_saved;
            }
        }
        cycles = std::max(cycles, all * share[pacer.level]);
    }
    return cycles;
}

} // namespace eyeroof::mapper
