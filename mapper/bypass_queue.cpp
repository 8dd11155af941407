#include "mapper/bypass_queue.hpp"

#include "mapper/trivial_bound.hpp"
#include "model/accelerator/fanout.hpp"
#include "model/cost/leakage.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

// The lower bound of a choice: every word of an operand crosses each of its links at least once,
// and what the innermost home serves goes to no more units than lie below it at a time. Each
// operand's part depends on its own homes alone, so that the sums are walked in order, one
// neighbour at a time.

namespace eyeroof::mapper {

using namespace model;

namespace {

// Positions of a window (rows times columns) that use the same input, at most.
double windows_of(const Task& task) {
    const Problem& p = task.problem;
    const auto along = [&](Dim position, Dim tap, Count stride, Count dilation) {
        const Count step = stride / std::gcd(stride, dilation);
        return static_cast<double>(
            std::min(p.bounds[index(position)], ceil_div(p.bounds[index(tap)], step)));
    };
    return along(Dim::P, Dim::R, p.stride.h, p.dilation.h) *
           along(Dim::Q, Dim::S, p.stride.w, p.dilation.w);
}

} // namespace

BypassQueue::BypassQueue(const Task& task)
    : task_(task), macs_(static_cast<double>(macs_of(task.problem))), windows_(windows_of(task)),
      steps_(trivial_cycles(task) * (1.0 - 1e-12)) {
    for (const Operand o : kAllOperands) {
        list(o);
        std::stable_sort(
            homes_[index(o)].begin(), homes_[index(o)].end(), [](const Homes& a, const Homes& b) {
                return a.pj != b.pj ? a.pj < b.pj
                                    : std::popcount(a.levels) > std::popcount(b.levels);
            });
    }
    const bool possible =
        std::none_of(homes_.begin(), homes_.end(), [](const auto& homes) { return homes.empty(); });
    if (possible) {
        push({});
        settle();
    }
}

std::size_t BypassQueue::choices() const {
    std::size_t all = 1;
    for (const auto& homes : homes_) {
        all *= std::max<std::size_t>(1, homes.size());
    }
    return all;
}

void BypassQueue::list(Operand o) {
    auto& homes = homes_[index(o)];
    if (o == Operand::weight && !task_.problem.has_weight) {
        homes.push_back({});
        return;
    }
    for (const std::size_t home : homes_allowed(task_, o)) {
        std::vector<std::uint32_t> choices = {0};
        for (std::size_t i = 0; i < task_.machine.levels.size(); ++i) {
            const Keeping keeping = keeping_of(task_, o, home, i);
            if (keeping == Keeping::never_but_asked) {
                choices.clear();
            }
            std::vector<std::uint32_t> next;
            for (const std::uint32_t levels : choices) {
                if (keeping != Keeping::must) {
                    next.push_back(levels);
                }
                if (keeping == Keeping::must || keeping == Keeping::may) {
                    next.push_back(levels | (1U << i));
                }
            }
            choices = std::move(next);
        }
        for (const std::uint32_t levels : choices) {
            homes.push_back(homes_of(o, levels));
        }
    }
}

BypassQueue::Homes BypassQueue::homes_of(Operand o, std::uint32_t kept) const {
    const Accelerator& machine = task_.machine;
    const auto words =
        static_cast<double>(tile_elements(task_.problem, o, loop_bounds(task_.problem)));
    const bool sums = o == task_.problem.produced;
    Homes homes;
    homes.levels = kept;
    double units = 1.0; // below the innermost home
    bool innermost = true;
    for (std::size_t i = machine.levels.size(); i-- > 0;) {
        units *= static_cast<double>(fanout_of(machine.levels[i]));
        const Store* store = store_of(machine.levels[i], o);
        if ((kept >> i & 1U) == 0 || store == nullptr) {
            continue;
        }
        const bool above = (kept & ((1U << i) - 1U)) != 0; // it is filled from there
        homes.pj += !sums && above ? words * store->write_pj_of(o) : 0.0;
        if (innermost) {
            innermost = false;
            homes.serves = i;
            homes.word_pj = sums ? store->update_pj_of(o) : store->read_pj_of(o);
            homes.serving_pj = homes.word_pj * std::max(words, macs_ / units);
        } else {
            homes.pj += words * (sums ? store->update_pj_of(o) : store->read_pj_of(o));
        }
    }
    homes.pj += homes.serving_pj;
    return homes;
}

// A word that is served goes to as many units at a time as dimensions that do not move it are
// spread over. Each dimension but the windows' leaves one operand at rest, so that
//   share(a) * share(b) * share(c) <= units * windows
// where `windows` positions of a window at most use the same input; and operands whose homes lie
// further in have only the units below them. The least of  sum of word_pj * macs / share  is where
// all terms are equal, but for the limits of each: s = ln(share) = ln(cost / level), clamped.
double BypassQueue::served_together(const Place& place) const {
    struct Term {
        double pj = 0.0;   // with a share of one
        double most = 0.0; // ln(share)
        std::size_t home = 0;
    };
    std::vector<Term> terms;
    for (const Operand o : kAllOperands) {
        const Homes& homes = homes_[index(o)][place[index(o)]];
        if (homes.word_pj > 0.0) {
            const double pj = homes.word_pj * macs_;
            terms.push_back({pj, std::max(0.0, std::log(pj / homes.serving_pj)), homes.serves});
        }
    }
    double best = 0.0;
    for (const Term& outermost : terms) { // those at or inside this home share the units below it
        double room = std::log(windows_);
        for (std::size_t i = outermost.home; i < task_.machine.levels.size(); ++i) {
            room += std::log(static_cast<double>(fanout_of(task_.machine.levels[i])));
        }
        const auto shares = [&](double level, const Term& term) {
            return std::clamp(std::log(term.pj / level), 0.0, term.most);
        };
        double low = 1e-30;
        double high = 0.0;
        for (const Term& term : terms) {
            high = std::max(high, term.pj);
        }
        for (int step = 0; step < 60; ++step) { // the least level that the room allows
            const double level = std::sqrt(low * high);
            double all = 0.0;
            for (const Term& term : terms) {
                all += term.home >= outermost.home ? shares(level, term) : 0.0;
            }
            (all > room ? low : high) = level;
        }
        double pj = 0.0;
        for (const Term& term : terms) { // at `low` they share more than they can
            const double share = term.home >= outermost.home ? shares(low, term) : term.most;
            pj += term.pj * std::exp(-share);
        }
        best = std::max(best, pj);
    }
    return best;
}

void BypassQueue::push(const Place& place) {
    Open open{0.0, place};
    for (std::size_t o = 0; o < kOperands; ++o) {
        if (place[o] >= homes_[o].size()) {
            return;
        }
        open.pj += homes_[o][place[o]].pj;
    }
    if (seen_.insert(place).second) {
        open_.push(open);
    }
}

// Until the first choice is one whose operands were looked at together; its neighbours, whose parts
// are no less each, come in when it is first seen.
void BypassQueue::settle() {
    while (!open_.empty() && !open_.top().joint) {
        Open open = open_.top();
        open_.pop();
        for (std::size_t o = 0; o < kOperands; ++o) {
            Place beside = open.place;
            ++beside[o];
            push(beside);
        }
        double apart = 0.0;
        for (std::size_t o = 0; o < kOperands; ++o) {
            apart += homes_[o][open.place[o]].serving_pj;
        }
        open.pj += std::max(0.0, served_together(open.place) * (1.0 - 1e-9) - apart);
        open.joint = true;
        open_.push(open);
    }
}

double BypassQueue::lower_bound() const {
    const double macs = macs_ * task_.machine.mac_pj;
    const double leaked = least_leak_pj_per_cycle(task_.machine) * steps_;
    return task_.objective.value((macs + open_.top().pj + leaked) * (1.0 - 1e-9), steps_);
}

std::vector<OperandSet> BypassQueue::next() {
    const Place place = open_.top().place;
    open_.pop();
    std::vector<OperandSet> keeps(task_.machine.levels.size());
    for (const Operand o : kAllOperands) {
        for (std::size_t i = 0; i < keeps.size(); ++i) {
            if ((homes_[index(o)][place[index(o)]].levels >> i & 1U) != 0) {
                keeps[i].insert(o);
            }
        }
    }
    settle();
    return keeps;
}

} // namespace eyeroof::mapper
