// What other trials teach, as one model.
#include "analysis/tune/tuner.hpp"

#include <algorithm>
#include <map>

namespace eyeroof::analysis::tune {

namespace {

struct Group { // of one shape on one machine
    Subject subject;
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
            auto subject = subject_of(line);
            if (!subject) {
                continue;
            }
            groups[key].subject = *std::move(subject);
        }
        Group& group = groups[key];
        if (const auto point = point_of(group.subject.space, line)) {
            group.costs.emplace_back(*point, line.outcome.ok() ? line.outcome.cost : kNoCost);
        }
    }
    return groups;
}

} // namespace

GlobalModel learn_global(const std::vector<TrialLine>& lines, unsigned features,
                         const TreeOptions& trees, std::string_view template_name) {
    constexpr std::size_t kFewest = 16;
    Lesson lesson;
    for (const auto& [key, group] : grouped(lines)) {
        if (group.subject.template_name != template_name) {
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
    if (!model) {
        return {};
    }
    return [model, columns](const Table& table) {
        return table.columns == columns ? model->predict(table)
                                        : std::vector<float>(table.rows(), 0.0F);
    };
}

} // namespace eyeroof::analysis::tune
