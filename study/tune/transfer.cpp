// What other trials teach, as one model.
#include "study/tune/tuner.hpp"

#include <algorithm>
#include <map>

namespace eyeroof::study::tune {

namespace {

struct Group { // of one shape on one machine
    Subject subject;
    std::vector<std::pair<Point, double>> costs; // kNoCost: failed
};

// Same shape and same machine, whatever the layer is called.
std::string group_key(const TrialLine& line) {
    TrialLine key;
    key.work = line.work;
    key.work.name.clear();
    key.origin.target = line.origin.target;
    key.origin.machine = line.origin.machine;
    key.origin.lanes = line.origin.lanes;
    key.outcome.cost = 1.0;
    return trial_text(key);
}

std::map<std::string, Group> grouped(const std::vector<TrialLine>& lines) {
    std::map<std::string, Group> groups;
    for (const TrialLine& line : lines) {
        if (line.template_name != kCpuTemplate) {
            continue;
        }
        Group& group = groups[group_key(line)];
        if (group.subject.name.empty()) {
            const auto threads =
                std::find_if(line.knobs.begin(), line.knobs.end(),
                             [](const auto& knob) { return knob.first == "threads"; });
            group.subject =
                cpu_subject(line.work, machine_of(line.origin),
                            threads == line.knobs.end() ? 1 : std::max(2, line.origin.cores));
            group.subject.name = "transfer";
        }
        if (const auto point = point_of(group.subject.space, line)) {
            group.costs.emplace_back(*point, line.outcome.ok() ? line.outcome.cost : kNoCost);
        }
    }
    return groups;
}

} // namespace

CpuMachine machine_of(const TrialOrigin& origin) {
    CpuMachine machine;
    machine.name = origin.machine;
    machine.cores = std::max(1, origin.cores);
    machine.lanes = origin.lanes > 0 ? origin.lanes : machine.lanes;
    machine.registers = origin.registers > 0 ? origin.registers : machine.registers;
    const auto set = [](double& to, Count bytes) {
        to = bytes > 0 ? static_cast<double>(bytes) : to;
    };
    set(machine.l1_bytes, origin.l1_bytes);
    set(machine.l2_bytes, origin.l2_bytes);
    set(machine.l3_bytes, origin.l3_bytes);
    return machine;
}

GlobalModel learn_global(const std::vector<TrialLine>& lines, unsigned features,
                         const TreeOptions& trees) {
    constexpr std::size_t kFewest = 16;
    Lesson lesson;
    for (const auto& [key, group] : grouped(lines)) {
        double best = kNoCost;
        for (const auto& [point, cost] : group.costs) {
            best = std::min(best, cost);
        }
        if (best == kNoCost) {
            continue;
        }
        for (const auto& [point, cost] : group.costs) {
            group.subject.features(point, features, lesson.table.values);
            lesson.targets.push_back(static_cast<float>(best / cost));
        }
        lesson.groups.push_back(static_cast<unsigned>(group.costs.size()));
    }
    if (lesson.targets.size() < kFewest) {
        return {};
    }
    lesson.table.columns = lesson.table.values.size() / lesson.targets.size();
    TreeOptions more = trees;
    more.rounds = 2 * trees.rounds; // there is more to learn from
    const std::size_t columns = lesson.table.columns;
    const std::shared_ptr<const Trees> model = fit_trees(lesson, more);
    return [model, columns](const Table& table) {
        return table.columns == columns ? model->predict(table)
                                        : std::vector<float>(table.rows(), 0.0F);
    };
}

} // namespace eyeroof::study::tune
