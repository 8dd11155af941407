#include "analysis/trials/measured_best.hpp"

#include <algorithm>
#include <map>

namespace eyeroof::analysis::tune {

namespace {

struct Measured { // a line and what it was
    const TrialLine* line = nullptr;
    Described what;
};

std::vector<Measured> measured_of(const std::vector<const TrialLine*>& lines) {
    std::vector<Measured> all;
    std::map<std::size_t, std::optional<SearchTask>> search_tasks; // by the number of knobs
    for (const TrialLine* line : lines) {
        if (!search_tasks.contains(line->knobs.size())) {
            search_tasks[line->knobs.size()] = search_task_of(*line);
        }
        const auto& search_task = search_tasks[line->knobs.size()];
        if (!search_task || !line->outcome.ok()) {
            continue;
        }
        if (const auto point = point_of(search_task->space, *line)) {
            all.push_back({line, search_task->described(*point)});
        }
    }
    return all;
}

MeasuredBest row_of(const LayerReport& layer, const std::vector<Measured>& all) {
    const auto best = std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return a.line->outcome.cost < b.line->outcome.cost;
    });
    const auto first = std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return a.what.seconds < b.what.seconds;
    });
    MeasuredBest row;
    row.layer = layer.layer.name;
    row.report_s = layer.time_s;
    row.measured_s = best->line->outcome.cost;
    row.gflops_per_s = best->line->work.flops() / row.measured_s / 1e9;
    row.machine = best->line->origin.machine;
    row.target = best->line->origin.target;
    row.trials = all.size();
    row.best = best->what;
    row.predicted_plan = first->what.text;
    row.predicted_plan_s = first->line->outcome.cost;
    return row;
}

} // namespace

Result<std::vector<MeasuredBest>> measured_best(const Report& report,
                                                const std::vector<TrialLine>& lines) {
    std::vector<MeasuredBest> rows;
    for (const LayerReport& layer : report.layers) {
        const auto work = workload_of(layer.layer);
        if (!work) {
            continue;
        }
        std::map<std::array<std::string, 3>, std::vector<const TrialLine*>> by_machine;
        for (const TrialLine& line : lines) {
            if (line.work.same_shape(*work)) {
                by_machine[{line.template_name, line.origin.target, line.origin.machine}].push_back(
                    &line);
            }
        }
        for (const auto& [machine, some] : by_machine) {
            if (const auto all = measured_of(some); !all.empty()) {
                rows.push_back(row_of(layer, all));
            }
        }
    }
    Diagnostics found;
    if (rows.empty()) {
        found.warning("no-trials", "the logs have no trial of these layers that worked",
                      "layers are known by their shape; eyeroof tune measures them");
    }
    return {std::move(rows), std::move(found)};
}

} // namespace eyeroof::analysis::tune
