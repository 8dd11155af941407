#include "study/mapping_edit.hpp"

#include "model/base/units.hpp"
#include "study/examine.hpp"
#include "study/read/mapping_yaml.hpp"
#include "study/totals.hpp"

#include <fmt/format.h>

#include <cmath>

namespace eyeroof::study {

using model::Result;

std::string mapping_text(const model::Machine& machine, const LayerReport& layer,
                         std::size_t nest) {
    const auto* accelerator = std::get_if<model::Accelerator>(&machine.kind);
    return accelerator == nullptr || nest >= layer.mappings.size()
               ? std::string{}
               : read::write_mapping_yaml(layer.mappings[nest], *accelerator);
}

Result<model::Mapping> parse_mapping(const model::Machine& machine, std::string text,
                                     const std::string& file) {
    const auto* accelerator = std::get_if<model::Accelerator>(&machine.kind);
    return accelerator != nullptr
               ? read::parse_mapping_yaml(std::move(text), file, *accelerator)
               : Result<model::Mapping>::failure(
                     "unsupported", machine.name + " is no accelerator: its library maps");
}

Result<Report> with_mapping(const Report& report, std::size_t layer, const model::Machine& machine,
                            const model::Mapping& mapping, const StudyOptions& options,
                            std::stop_token stop) {
    const LayerReport& old = report.layers.at(layer);
    if (old.mappings.size() != 1) {
        return Result<Report>::failure(
            "unsupported", old.mappings.empty() ? old.layer.name + " has no mapping"
                                                : old.layer.name + " is several nests at once");
    }
    model::Network network;
    network.id = report.network_id;
    network.name = report.network_name;
    network.layers = {old.layer}; // batch and data type are in it already
    StudyOptions one = options;
    one.policy = MappingPolicy::given;
    one.mapping = mapping;
    one.batch.reset();
    one.data_type.reset();
    one.layers.reset();
    auto examined = run(network, machine, one, std::move(stop));
    if (!examined) {
        return examined;
    }
    Report edited = report;
    edited.layers[layer] = std::move(examined->layers.front());
    edited.total = {};
    edited.worst.clear();
    add_totals(edited);
    return Result<Report>(std::move(edited));
}

Result<mapper::SearchResult> search_mapping(const model::Machine& machine, const LayerReport& layer,
                                            const mapper::Objective& objective,
                                            const StudyOptions& options, std::stop_token stop,
                                            const model::ProgressCallback& progress) {
    using Found = Result<mapper::SearchResult>;
    const auto* accelerator = std::get_if<model::Accelerator>(&machine.kind);
    if (accelerator == nullptr || layer.mappings.size() != 1) {
        return Found::failure("unsupported",
                              layer.layer.name + " has no single mapping to look for");
    }
    const auto context = accelerator_context(machine, *accelerator, options);
    const auto problems = nests_of(layer.layer);
    if (!context || !problems) {
        return Found(context ? problems.diagnostics() : context.diagnostics());
    }
    mapper::Task task =
        task_of(problems->front(), *accelerator,
                options.free_dataflow ? nullptr : &context->dataflow, options.constraints);
    task.objective = objective;
    task.counting = options.counting;
    mapper::SearchOptions search;
    search.threads = options.threads;
    return mapper::search(task, search, std::move(stop), progress);
}

std::string difference_text(const LayerReport& before, const LayerReport& after) {
    const double ratio = before.time_s / after.time_s;
    const std::string now = model::format_si(after.time_s, "s", 4);
    std::string text = now + ", as before";
    if (std::fabs(ratio - 1.0) > 1e-4) {
        text = fmt::format("{} instead of {} ({:.2f} times {})", now,
                           model::format_si(before.time_s, "s", 4), ratio > 1.0 ? ratio : 1 / ratio,
                           ratio > 1.0 ? "faster" : "slower");
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

} // namespace eyeroof::study
