#include "mapper/space.hpp"
#include "model/accelerator/residency.hpp"

#include <algorithm>

// What may rest where: homes of operands, and every choice of what each level keeps.

namespace eyeroof::mapper {

using namespace model;

const LevelConstraint& rules_of(const Task& task, std::size_t level) {
    static const LevelConstraint none;
    return level < task.constraints.levels.size() ? task.constraints.levels[level] : none;
}

std::size_t home_of(const std::vector<OperandSet>& keeps, Operand o) {
    const auto home = std::find_if(keeps.begin(), keeps.end(),
                                   [o](const OperandSet& set) { return set.contains(o); });
    return home == keeps.end() ? 0 : static_cast<std::size_t>(home - keeps.begin());
}

std::vector<std::size_t> homes_allowed(const Task& task, Operand o) {
    std::vector<std::size_t> homes;
    for (const bool hand_over : {true, false}) {
        const std::size_t home = home_levels(task.problem, task.machine, hand_over)[index(o)];
        bool allowed =
            !rules_of(task, home).bypass.contains(o) && (homes.empty() || homes.front() != home);
        for (std::size_t i = 0; i < home; ++i) {
            allowed = allowed && !rules_of(task, i).keep.contains(o);
        }
        if (allowed) {
            homes.push_back(home);
        }
    }
    return homes;
}

Keeping keeping_of(const Task& task, Operand o, std::size_t home, std::size_t level) {
    const LevelConstraint& rule = rules_of(task, level);
    const Store* store = store_of(task.machine.levels[level], o);
    const bool there = present(task, o);
    const bool can = level >= home && store != nullptr && there && !rule.bypass.contains(o);
    if (!can) {
        return rule.keep.contains(o) && there ? Keeping::never_but_asked : Keeping::never;
    }
    return level == home || !store->may_bypass || rule.keep.contains(o) ? Keeping::must
                                                                        : Keeping::may;
}

namespace {

// Appends every choice of kept operands with these homes.
void add_choices(const Task& task, const PerOperand<std::size_t>& homes,
                 std::vector<std::vector<OperandSet>>& all) {
    std::vector<std::vector<OperandSet>> choices = {{}};
    for (std::size_t i = 0; i < task.machine.levels.size(); ++i) {
        for (const Operand o : kAllOperands) {
            const Keeping keeping = keeping_of(task, o, homes[index(o)], i);
            if (keeping == Keeping::never_but_asked) {
                return;
            }
            const bool must = keeping == Keeping::must;
            const bool can = must || keeping == Keeping::may;
            std::vector<std::vector<OperandSet>> next;
            for (auto choice : choices) {
                choice.resize(i + 1);
                if (!must) {
                    next.push_back(choice);
                }
                if (can) {
                    choice[i].insert(o);
                    next.push_back(choice);
                }
            }
            choices = std::move(next);
        }
    }
    all.insert(all.end(), choices.begin(), choices.end());
}

} // namespace

std::vector<std::vector<OperandSet>> bypass_choices(const Task& task) {
    std::vector<std::vector<OperandSet>> choices;
    for (const std::size_t input : homes_allowed(task, Operand::input)) {
        for (const std::size_t output : homes_allowed(task, Operand::output)) {
            for (const std::size_t weight : homes_allowed(task, Operand::weight)) {
                PerOperand<std::size_t> homes{};
                homes[index(Operand::input)] = input;
                homes[index(Operand::output)] = output;
                homes[index(Operand::weight)] = weight;
                add_choices(task, homes, choices);
            }
        }
    }
    std::stable_sort(choices.begin(), choices.end(), [](const auto& a, const auto& b) {
        const auto size = [](const std::vector<OperandSet>& sets) {
            int n = 0;
            for (const OperandSet& s : sets) {
                n += s.size();
            }
            return n;
        };
        return size(a) > size(b);
    });
    return choices;
}

} // namespace eyeroof::mapper
