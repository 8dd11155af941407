// What other trials teach, as one model.
#include "analysis/tune/tuner.hpp"

#include <algorithm>
#include <map>

namespace eyeroof::analysis::tune {

namespace {

struct Group { // of one shape on one machine
    SearchTask search_task;
    std::vector<std::pair<Point, double>> costs; // kNoCost: failed
};

// Same shape and same machine, whatever the layer is called.
std::string group_key(const TrialLine& line) {
    TrialLine key;
    key.template_name = line.template_name;
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
        const std::string key = group_key(line);
        if (!groups.contains(key)) {
            auto search_task = search_task_of(line);
            if (!search_task) {
                continue;
            }
            groups[key].search_task = *std::move(search_task);
        }
        Group& group = groups[key];
        if (const auto point = point_of(group.search_task.space, line)) {
            group.costs.emplace_back(*point, line.outcome.ok() ? line.outcome.cost : kNoCost);
        }
    }
    return groups;
}

} // namespace

GlobalModel learn_global(const std::vector<TrialLine>& lines, unsigned features,
                         const TreeOptions& trees, std::string_view template_name) {
    constexpr std::size_t kFewest = 16;
    TrainingSet training_set;
    for (const auto& [key, group] : grouped(lines)) {
        if (group.search_task.template_name != template_name) {
            continue;
        }
        double best = kNoCost;
        for (const auto& [point, cost] : group.costs) {
            best = std::min(best, cost);
        }
        if (best == kNoCost) {
            continue;
        }
        for (const auto& [point, cost] : group.costs) {
            group.search_task.features(point, features, training_set.table.values);
            training_set.targets.push_back(static_cast<float>(best / cost));
        }
        training_set.groups.push_back(static_cast<unsigned>(group.costs.size()));
    }
    if (training_set.targets.size() < kFewest) {
        return {};
    }
    training_set.table.columns = training_set.table.values.size() / training_set.targets.size();
    TreeOptions more = trees;
    more.rounds = 2 * trees.rounds; // there is more to learn from
    const std::size_t columns = training_set.table.columns;
    const std::shared_ptr<const Trees> model = fit_trees(training_set, more);
    return [model, columns](const Table& table) {
        return table.columns == columns ? model->predict(table)
                                        : std::vector<float>(table.rows(), 0.0F);
    };
}

} // namespace eyeroof::analysis::tune
