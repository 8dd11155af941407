#include "mapper/keep_queue.hpp"

#include "mapper/least.hpp"

#include <algorithm>
#include <bit>

// The floor of a choice: every word of an operand crosses each of its links at least once, and what
// the innermost home serves goes to no more units than lie below it at a time. Each operand's part
// depends on its own homes alone, so that the sums are walked in order, one neighbour at a time.

namespace eyeroof::mapper {

using namespace model;

KeepQueue::KeepQueue(const Task& task) : task_(task), steps_(least_cycles(task) * (1.0 - 1e-12)) {
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
    }
}

void KeepQueue::list(Operand o) {
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
            homes.push_back({least_pj(o, levels), levels});
        }
    }
}

double KeepQueue::least_pj(Operand o, std::uint32_t kept) const {
    const auto words =
        static_cast<double>(tile_elements(task_.problem, o, loop_bounds(task_.problem)));
    double served = static_cast<double>(macs_of(task_.problem)); // by the innermost home
    double pj = 0.0;
    bool innermost = true;
    for (std::size_t i = task_.machine.levels.size(); i-- > 0;) {
        for (const Axis& axis : task_.machine.levels[i].fanout) {
            served /= innermost ? static_cast<double>(axis.size) : 1.0;
        }
        const Store* store = store_of(task_.machine.levels[i], o);
        if ((kept >> i & 1U) == 0 || store == nullptr) {
            continue;
        }
        const double moved = innermost ? std::max(words, served) : words;
        const bool above = (kept & ((1U << i) - 1U)) != 0; // it is filled from there
        if (o == task_.problem.produced) {
            pj += moved * store->write_pj;
        } else {
            pj += moved * store->read_pj + (above ? words * store->write_pj : 0.0);
        }
        innermost = false;
    }
    return pj;
}

void KeepQueue::push(const Place& place) {
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

double KeepQueue::floor() const {
    const double macs = static_cast<double>(macs_of(task_.problem)) * task_.machine.mac_pj;
    return task_.objective.value((macs + open_.top().pj) * (1.0 - 1e-9), steps_);
}

std::vector<OperandSet> KeepQueue::next() {
    const Place place = open_.top().place;
    open_.pop();
    std::vector<OperandSet> keeps(task_.machine.levels.size());
    for (const Operand o : kAllOperands) {
        for (std::size_t i = 0; i < keeps.size(); ++i) {
            if ((homes_[index(o)][place[index(o)]].levels >> i & 1U) != 0) {
                keeps[i].insert(o);
            }
        }
        Place beside = place;
        ++beside[index(o)];
        push(beside);
    }
    return keeps;
}

} // namespace eyeroof::mapper
