#include "analysis/search/mapping_edit.hpp"

#include "analysis/exam/examine.hpp"
#include "analysis/exam/totals.hpp"
#include "analysis/program/lower.hpp"
#include "base/units.hpp"
#include "formats/mapping_yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

std::string mapping_text(const model::Machine& machine, const LayerReport& layer,
                         std::size_t nest) {
    const auto* accelerator = std::get_if<model::Accelerator>(&machine.kind);
    return accelerator == nullptr || nest >= layer.mappings.size()
               ? std::string{}
               : formats::write_mapping_yaml(layer.mappings[nest], *accelerator);
}

Result<model::Mapping> parse_mapping(const model::Machine& machine, std::string text,
                                     const std::string& file) {
    const auto* accelerator = std::get_if<model::Accelerator>(&machine.kind);
    return accelerator != nullptr
               ? formats::parse_mapping_yaml(std::move(text), file, *accelerator)
               : Result<model::Mapping>::failure(
                     "unsupported", machine.name + " is no accelerator: its library maps",
                     "choose an accelerator to change mappings");
}

Result<Report> with_mapping(const Report& report, std::size_t layer, const Question& question,
                            const model::Mapping& mapping, std::stop_token stop, std::size_t nest) {
    const LayerReport& old = report.layers.at(layer);
    if (nest >= old.mappings.size()) {
        return Result<Report>::failure("unsupported", old.layer.name + " has no such mapping",
                                       "it has one for each of its nests, from 0 on");
    }
    model::Network network;
    network.id = report.network_id;
    network.name = report.network_name;
    network.layers = {old.layer};
    Question one = question_of_lowered(question, std::move(network));
    one.scenario.policy = MappingPolicy::given;
    one.nests = old.mappings;
    one.nests[nest] = mapping;
    auto examined = run(one, std::move(stop));
    if (!examined) {
        return examined;
    }
    Report edited = report;
    edited.layers[layer] = std::move(examined->layers.front());
    edited.total = {};
    edited.headline.reset(); // of the mapping before
    edited.worst.clear();
    add_totals(edited);
    return Result<Report>(std::move(edited));
}

std::optional<std::size_t> row_of(const Report& report, const MappingEdit& edit) {
    std::size_t before = 0;
    for (std::size_t row = 0; row < report.layers.size(); ++row) {
        if (report.layers[row].layer.name == edit.layer && before++ == edit.nth) {
            return row;
        }
    }
    return std::nullopt;
}

std::size_t nth_of(const Report& report, std::size_t row) {
    const auto first = report.layers.begin();
    const std::string& name = report.layers.at(row).layer.name;
    return static_cast<std::size_t>(
        std::count_if(first, first + static_cast<std::ptrdiff_t>(row),
                      [&](const LayerReport& layer) { return layer.layer.name == name; }));
}

Diagnostics apply_edits(Report& report, const Question& question,
                        const std::vector<MappingEdit>& edits) {
    Diagnostics problems;
    for (const MappingEdit& edit : edits) {
        const auto mapping = parse_mapping(question.machine, edit.text, "mapping of " + edit.layer);
        problems.append(mapping.diagnostics());
        const auto row = row_of(report, edit);
        if (!row) {
            problems.warning("unknown-layer",
                             "no layer is named '" + edit.layer + "' whose mapping was edited");
        } else if (mapping) {
            auto edited = with_mapping(report, *row, question, *mapping, {}, edit.nest);
            problems.append(edited.diagnostics());
            report = edited ? *std::move(edited) : std::move(report);
        }
    }
    return problems;
}

std::vector<std::string> nest_names(const LayerReport& layer) {
    std::vector<std::string> names;
    const auto problems = model::problems_of(layer.layer);
    for (std::size_t i = 0; problems && i < problems->size(); ++i) {
        names.push_back((*problems)[i].name);
    }
    names.resize(layer.mappings.size());
    return names;
}

Result<mapper::SearchResult> search_mapping(const Question& question, const LayerReport& layer,
                                            const mapper::Objective& objective,
                                            std::stop_token stop, const ProgressCallback& progress,
                                            std::size_t nest) {
    using Found = Result<mapper::SearchResult>;
    const auto* accelerator = std::get_if<model::Accelerator>(&question.machine.kind);
    if (accelerator == nullptr || nest >= layer.mappings.size()) {
        return Found::failure("unsupported", layer.layer.name + " has no mapping to look for",
                              "layers without MACs have none");
    }
    const auto context = accelerator_context(question, *accelerator);
    const auto problems = nests_of(layer.layer);
    if (!context || !problems || nest >= problems->size()) {
        return Found(context ? problems.diagnostics() : context.diagnostics());
    }
    mapper::Task task = task_of((*problems)[nest], *accelerator,
                                question.scenario.free_dataflow ? nullptr : &context->dataflow,
                                question.constraints);
    task.objective = objective;
    task.counting = question.scenario.counting;
    mapper::SearchOptions search;
    search.threads = question.scenario.threads;
    return mapper::search(task, search, std::move(stop), progress);
}

std::string difference_text(const LayerReport& before, const LayerReport& after) {
    const double ratio = before.time_s / after.time_s;
    const std::string now = format_si(after.time_s, "s", 4);
    std::string text = now + ", as before";
    if (std::fabs(ratio - 1.0) > 1e-4) {
        text =
            fmt::format("{} instead of {} ({:.2f} times {})", now, format_si(before.time_s, "s", 4),
                        ratio > 1.0 ? ratio : 1 / ratio, ratio > 1.0 ? "faster" : "slower");
    }
    if (before.energy_j > 0.0 && after.energy_j > 0.0) {
        const double energy = after.energy_j / before.energy_j - 1.0;
        text += std::fabs(energy) < 5e-4
                    ? ", the same energy"
                    : fmt::format(", {:.1f} % {} energy", 100.0 * std::fabs(energy),
                                  energy > 0.0 ? "more" : "less");
    }
    return text;
}

} // namespace eyeroof::analysis
