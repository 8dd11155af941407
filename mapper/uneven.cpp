#include "mapper/uneven.hpp"

#include "mapper/space.hpp"
#include "model/cost/dram_pattern.hpp"
#include "model/cost/latency.hpp"
#include "model/cost/leakage.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::mapper {

using namespace model;

namespace {

using Parts = std::vector<Operand>; // of a level, outermost first; empty: it stays as it is

// Operands that a level may keep.
Parts kept_at(const Task& task, std::size_t level) {
    Parts kept;
    for (const Operand o : kAllOperands) {
        if (present(task, o) && store_of(task.machine.levels[level], o) != nullptr &&
            !rules_of(task, level).bypass.contains(o)) {
            kept.push_back(o);
        }
    }
    return kept;
}

bool fixes_loops(const LevelConstraint& rule) {
    return !rule.order.empty() ||
           std::any_of(rule.temporal.begin(), rule.temporal.end(),
                       [](const auto& trips) { return trips.has_value(); }) ||
           std::any_of(rule.temporal_range.begin(), rule.temporal_range.end(),
                       [](const TripRange& range) { return range.limits(); });
}

// Why a level that keeps several operands cannot be taken apart; empty: it can.
std::string obstacle(const Task& task, std::size_t level) {
    const Level& at = task.machine.levels[level];
    if (at.keeps_between_layers || at.keeps_weights || at.scheduled) {
        return "keeps data from one layer to the next";
    }
    for (const Operand o : kept_at(task, level)) {
        const std::vector<std::size_t> homes = homes_allowed(task, o);
        if (std::any_of(homes.begin(), homes.end(), [&](std::size_t h) { return h >= level; })) {
            return fmt::format("is the outermost store of the {}", operand_name(o));
        }
        if (store_of(at, o)->prefetch) {
            return "prefetches";
        }
    }
    return level > array_edge(task.machine)     ? "lies inside the array"
           : fixes_loops(rules_of(task, level)) ? "has loops that constraints fix"
                                                : "";
}

// Every choice of two or more operands in every order, beside the level as it is.
std::vector<Parts> ways_apart(const Task& task, std::size_t level) {
    std::vector<Parts> ways(1);
    const Parts all = kept_at(task, level);
    const auto must = [&](Operand o) {
        return !store_of(task.machine.levels[level], o)->may_bypass ||
               rules_of(task, level).keep.contains(o);
    };
    for (unsigned chosen = 1; chosen < 1U << all.size(); ++chosen) {
        Parts parts;
        bool allowed = true;
        for (std::size_t n = 0; n < all.size(); ++n) {
            if ((chosen >> n & 1U) != 0) {
                parts.push_back(all[n]);
            } else {
                allowed = allowed && !must(all[n]);
            }
        }
        if (allowed && parts.size() > 1) {
            std::sort(parts.begin(), parts.end());
            do {
                ways.push_back(parts);
            } while (std::next_permutation(parts.begin(), parts.end()));
        }
    }
    return ways;
}

// Appends a level, or its parts and the rules of each.
void append(const Task& task, std::size_t level, const Parts& parts, Task& out) {
    const Level& whole = task.machine.levels[level];
    LevelConstraint rule = rules_of(task, level);
    if (parts.empty()) {
        out.machine.levels.push_back(whole);
        out.constraints.levels.push_back(rule);
        return;
    }
    for (const Operand o : parts) {
        Level part;
        part.name = whole.name;
        part.word_bits = whole.word_bits;
        const Store* store = store_of(whole, o);
        part.stores = {*store};
        part.stores[0].operands = {o};
        part.stores[0].may_bypass = false;
        part.stores[0].leak_pj = 0.0;
        part.stores[0].part_of =
            static_cast<int>(kOperands * level +
                             static_cast<std::size_t>(store - whole.stores.data())) +
            1;
        out.machine.levels.push_back(std::move(part));
        out.constraints.levels.emplace_back().where = rule.where;
    }
    Level& last = out.machine.levels.back();
    last.fanout = whole.fanout;
    last.channels = whole.channels;
    last.stores[0].leak_pj = leak_of_instance(task.machine, level);
    rule.keep = {};
    rule.bypass = {};
    out.constraints.levels.back() = std::move(rule);
}

// The task with some levels in parts; parts[i]: of level i.
Task in_parts(const Task& task, const std::vector<Parts>& parts) {
    Task out = task;
    out.known.clear();               // mappings of the levels as they are
    out.machine.vector_unit.reset(); // which names a level; it runs nothing that is mapped
    out.machine.levels.clear();
    out.constraints.levels.clear();
    for (std::size_t i = 0; i < parts.size(); ++i) {
        append(task, i, parts[i], out);
    }
    return out;
}

} // namespace

Result<Unfolded> unfolded(const Task& task) {
    const auto refused = [](const std::string& why) {
        return Result<Unfolded>::failure("unsupported", "uneven mappings are not searched: " + why,
                                         "leave out --uneven");
    };
    if (task.counting == Counting::timeloop) {
        return refused("Timeloop's counting is of even ones");
    }
    if (follows_mapping(task.machine)) {
        return refused("the DRAM's rate follows the tiles of an even one");
    }
    Unfolded out;
    const auto say = [](std::string& list, const std::string& text) {
        list += (list.empty() ? "" : ", ") + text;
    };
    std::vector<std::vector<Parts>> all(1);
    all[0].resize(1); // the outermost level stays as it is
    std::size_t levels = task.machine.levels.size();
    for (std::size_t i = 1; i < task.machine.levels.size(); ++i) {
        const std::size_t kept = kept_at(task, i).size();
        std::vector<Parts> ways(1);
        std::string why = kept < 2 ? "" : obstacle(task, i);
        if (why.empty() && kept > 1 && levels + kept - 1 > kMaxLevels) {
            why = fmt::format("would make more than {} levels", kMaxLevels);
        }
        if (!why.empty()) {
            say(out.even, task.machine.levels[i].name + " " + why);
        } else if (kept > 1) {
            levels += kept - 1;
            ways = ways_apart(task, i);
            say(out.stores, task.machine.levels[i].name);
        }
        std::vector<std::vector<Parts>> next;
        for (const auto& before : all) {
            for (const Parts& way : ways) {
                next.push_back(before);
                next.back().push_back(way);
            }
        }
        all = std::move(next);
    }
    if (out.stores.empty()) {
        return refused(out.even.empty() ? "no store keeps several operands" : out.even);
    }
    for (std::size_t n = 1; n < all.size(); ++n) { // the first one is the task itself
        out.tasks.push_back(in_parts(task, all[n]));
    }
    return Result<Unfolded>(std::move(out));
}

} // namespace eyeroof::mapper
