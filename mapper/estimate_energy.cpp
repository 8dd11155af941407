#include "mapper/estimate.hpp"
#include "model/cost/leakage.hpp"

#include <algorithm>
#include <limits>

// Energies of links from products of cost factors: linear in the words, apart from the sums.

namespace eyeroof::mapper {

using namespace model;

// Reads: what is sent, what is written where it arrives, and a hop for every word that a receiver
// gets from a network. Sums: the hops alone.
void Estimator::list_terms() {
    for (const Link& link : space_->links) {
        std::vector<Term> terms;
        const std::size_t o = index(link.operand);
        const auto add = [&](double pj, std::size_t cost_factor) {
            const auto same = std::find_if(terms.begin(), terms.end(), [&](const Term& t) {
                return t.cost_factor == cost_factor;
            });
            if (same != terms.end()) {
                same->pj += pj * link.volume;
            } else if (pj != 0.0) {
                terms.push_back({pj * link.volume, cost_factor});
            }
        };
        if (!link.produced) {
            add(read_pj_[link.parent][o], link.sent);
            add(link.child < levels_ ? write_pj_[link.child][o] : 0.0, link.received);
        }
        for (std::size_t e = link.parent; e < link.child && e < levels_; ++e) {
            const bool last = e + 1 == link.child || e + 1 == levels_;
            add(hop_pj_[e][o], last ? link.received : link.edges[e + 1]);
        }
        terms_.push_back(std::move(terms));
    }
}

double Estimator::terms_pj(std::size_t l, std::size_t v, const double* product) const {
    double pj = 0.0;
    for (const Term& term : terms_[l]) {
        pj += term.pj * product[term.cost_factor + v];
    }
    return pj;
}

// Sums, link by link from the outermost; see model/cost/cost.cpp. Link i updates its parent with U
// words, of which all but fresh(i) read what is there; red - fresh(i) words return below, and
// fresh(i + 1) = (lanes - 1) red + fresh(i) start from zero there. All is linear, so each link gets
// what its own words cost and save:  gain(i) = energy per word of fresh(i), not above zero.
// While visits are open, more returns would save reads below: the least of the two together is at
// the fewest returns, or where no read is left. Behind an open home with several lanes nothing is
// counted but updates.
template <class Each> void Estimator::tabulate_sums(const double* product, Known known, Each each) {
    const std::size_t o = index(task_->problem.produced);
    const bool open = known != Known::all && !timeloop_;
    double gain = 0.0; // of the next inner link
    bool below_open = false;
    for (std::size_t i = 0; i + 2 < sums_.size() && open; ++i) {
        below_open = below_open || product[space_->links[sums_[i]].lanes] > 1.0;
    }
    for (std::size_t i = sums_.size(); i-- > 0;) {
        const Link& link = space_->links[sums_[i]];
        const bool inner = link.child < levels_;
        const double read = below_open && i > 0 ? 0.0 : read_pj_[link.parent][o];
        double back = inner ? write_pj_[link.child][o] : 0.0;
        for (std::size_t e = link.parent; inner && e < link.child; ++e) {
            back += hop_pj_[e][o];
        }
        back = below_open ? 0.0 : back;
        const double lanes = inner ? product[link.lanes] : 1.0;
        const double above = i == 0 || !timeloop_ ? made_words_
                                                  : product[space_->links[sums_[i - 1]].lanes] *
                                                        space_->links[sums_[i - 1]].volume;
        const double update = update_pj_[link.parent] + read;
        const bool trade = open && inner && !below_open && update + back + (lanes - 1.0) * gain < 0;
        const std::size_t returns = timeloop_ ? link.received : link.reduced;
        each(sums_[i], [&](std::size_t v) {
            double pj =
                product[link.sent + v] * link.volume * update + terms_pj(sums_[i], v, product);
            if (inner) {
                const double returned = product[returns + v] * link.volume;
                pj += returned * back;
                if (trade) {
                    pj += trade_pj(sums_[i + 1], returned, lanes, update + back, gain, product);
                } else if (!timeloop_ && !below_open) {
                    pj += (lanes - 1.0) * gain * returned;
                }
            }
            return pj;
        });
        if (timeloop_) {
            base_pj_ -= read * above + (inner ? back * lanes * link.volume : 0.0);
        } else {
            gain += -read - (inner ? back : 0.0);
        }
    }
    base_pj_ += timeloop_ ? 0.0 : gain * made_words_;
}

// With u >= returned words, cost * u + gain * (lanes - 1) * u falls until no read is left below.
double Estimator::trade_pj(std::size_t below, double returned, double lanes, double cost,
                           double gain, const double* product) const {
    const Link& next = space_->links[below];
    const double reads = product[next.sent] * next.volume - (lanes - 1.0) * returned - made_words_;
    if (reads <= 0.0) {
        return gain * (product[next.sent] * next.volume - made_words_);
    }
    return (lanes - 1.0) * gain * returned + (cost + (lanes - 1.0) * gain) * reads / (lanes - 1.0);
}

// An instance at work does at most one MAC per unit below it and cycle, so that those of a level
// leak in all at least what the MACs take.
void Estimator::list_leaks() {
    gated_ = false;
    for (std::size_t i = 0; i <= levels_; ++i) {
        leak_pj_[i] = leak_of_instance(task_->machine, i);
        const auto below = static_cast<double>(mac_units(task_->machine)) /
                           static_cast<double>(instances_of(task_->machine, i));
        least_leak_pj_ += leak_pj_[i] * macs_ / below;
        gated_ = gated_ || (task_->machine.gates_idle && leak_pj_[i] > 0.0);
    }
    fixed_leak_rate_ = least_leak_pj_per_cycle(task_->machine);
    leak_rate_ = fixed_leak_rate_;
}

void Estimator::tabulate(const double* product, Known known) {
    if (gated_ && known != Known::little) {
        leak_rate_ = leak_rate([&](std::size_t i) { return product[space_->spatial[i]]; });
    } else {
        leak_rate_ = fixed_leak_rate_;
    }
    base_pj_ = task_->machine.mac_pj * macs_;
    const auto each = [&](std::size_t l, auto energy) {
        const Variants& active = orders_.active(l);
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t n = 0; n < active.count; ++n) {
            const std::size_t v = active.at[n];
            const double pj = energy(v);
            pj_[l][v] = pj;
            least = std::min(least, pj);
        }
        least_pj_[l] = least;
    };
    for (std::size_t l = 0; l < space_->links.size(); ++l) {
        if (!space_->links[l].produced) {
            each(l, [&](std::size_t v) { return terms_pj(l, v, product); });
        }
    }
    tabulate_sums(product, known, each);
}

double Estimator::into_level_pj(const double* product, std::size_t level) {
    double pj = 0.0;
    const auto each = [&](std::size_t l, auto energy) {
        const Link& link = space_->links[l];
        if (link.child != level || (link.produced && !sums_bounded_)) {
            return;
        }
        const Variants& active = orders_.active(l);
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t n = 0; n < active.count; ++n) {
            least = std::min(least, energy(active.at[n]));
        }
        pj += least;
    };
    for (std::size_t l = 0; l < space_->links.size(); ++l) {
        if (!space_->links[l].produced) {
            each(l, [&](std::size_t v) { return terms_pj(l, v, product); });
        }
    }
    tabulate_sums(product, Known::little, each);
    return pj;
}

} // namespace eyeroof::mapper
