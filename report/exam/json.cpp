#include "report/exam/json.hpp"

#include "analysis/exam/report_figures.hpp"
#include "analysis/scenario/fields.hpp"
#include "base/json.hpp"
#include "report/exam/cells.hpp"
#include "report/exam/chip_words.hpp"
#include "report/exam/json_measured.hpp"
#include "report/exam/memory_fit_json.hpp"

#include <algorithm>

namespace eyeroof::report {

namespace {

using Json = nlohmann::ordered_json;

Json chain_json(const model::Chain& chain) {
    Json steps = Json::array();
    for (std::size_t i = 0; i < model::kSteps; ++i) {
        steps.push_back({{"step", i + 1},
                         {"name", model::kStepNames[i]},
                         {"bound_macs_per_cycle", chain[i].macs_per_cycle},
                         {"limit", chain[i].limit},
                         {"reason", chain[i].reason}});
    }
    return steps;
}

Json level_json(const model::LevelMapping& level) {
    Json keeps = Json::array();
    for (const model::Operand operand : model::kAllOperands) {
        if (level.keeps.contains(operand)) {
            keeps.push_back(model::operand_name(operand));
        }
    }
    Json temporal = Json::array();
    for (const model::TemporalLoop& loop : level.temporal) {
        temporal.push_back({{"dim", std::string(1, letter(loop.dim))}, {"bound", loop.bound}});
    }
    Json spatial = Json::array();
    for (const model::SpatialLoop& loop : level.spatial) {
        spatial.push_back({{"dim", std::string(1, letter(loop.dim))},
                           {"bound", loop.bound},
                           {"axis", static_cast<int>(loop.axis)}});
    }
    return {{"keeps", keeps}, {"temporal", temporal}, {"spatial", spatial}};
}

Json kernel_json(const model::KernelForm& form) {
    Json json = {{"algorithm", form.algorithm}};
    if (form.mapping) {
        json["cta"] = {{"m", form.mapping->tile.tm},
                       {"n", form.mapping->tile.tn},
                       {"k_slices", form.mapping->tile.slices}};
        json["k_splits"] = form.mapping->splits;
    }
    if (form.product) {
        json["product"] = {{"batch", form.product->batch},
                           {"m", form.product->m},
                           {"n", form.product->n},
                           {"k", form.product->k}};
    }
    if (form.waves) {
        json["ctas"] = form.waves->ctas;
        json["waves"] = form.waves->full;
        json["wave_efficiency"] = form.waves->efficiency;
        json["tile_efficiency"] = form.waves->tile_efficiency;
    }
    return json;
}

// nests: one per loop nest of the layer, each a list of levels, outermost first.
Json layer_mapping_json(const analysis::LayerReport& layer) {
    Json nests = Json::array();
    for (const model::Mapping& mapping : layer.mappings) {
        Json levels = Json::array();
        for (const model::LevelMapping& level : mapping.levels) {
            levels.push_back(level_json(level));
        }
        nests.push_back({{"levels", levels}});
    }
    Json json = {{"text", layer.mapping_text}, {"nests", nests}};
    if (layer.kernel) {
        json["kernel"] = kernel_json(*layer.kernel);
    }
    return json;
}

Json certificates_json(const analysis::LayerReport& layer) {
    Json list = Json::array();
    for (const mapper::Certificate& c : layer.certificates) {
        list.push_back({{"objective", c.objective},
                        {"value", c.value},
                        {"lower_bound", c.lower_bound},
                        {"gap", c.gap},
                        {"proved", c.proved},
                        {"space", c.space},
                        {"note", c.note}});
    }
    return list;
}

Json traffic_json(const std::vector<analysis::TrafficRow>& rows) {
    Json traffic = Json::array();
    for (const analysis::TrafficRow& row : rows) {
        traffic.push_back({{"level", row.level},
                           {"tensor", row.tensor},
                           {"read_bytes", row.read_bytes},
                           {"write_bytes", row.write_bytes},
                           {"energy_j", row.energy_j},
                           {"tile_bytes", row.tile_bytes}});
    }
    return traffic;
}

// What binds, and seconds of the counterfactuals and of the order-free shares; with units_at_work_s
// the shares add up to time_s.
Json limits_json(const analysis::LayerReport& layer) {
    const model::Limits& limits = layer.limits;
    Json steps = Json::array();
    for (std::size_t i = 0; i < model::kSteps; ++i) {
        steps.push_back(
            {{"step", i + 1}, {"time_without_s", limits.without[i]}, {"share_s", limits.share[i]}});
    }
    return {{"binding_step", layer.limiter_step},
            {"binding", model::limit_name(layer.limit)},
            {"units_at_work_s", limits.at_work},
            {"steps", steps}};
}

Json layer_json(const analysis::MachineSummary& machine, const analysis::LayerReport& layer) {
    Json json = {{"name", layer.layer.name},
                 {"op", model::op_name(layer.layer.op)},
                 {"direction", model::direction_name(layer.layer.direction)},
                 {"dtype", model::data_type_name(layer.layer.types.input)},
                 {"count", layer.layer.count},
                 {"macs", layer.macs},
                 {"flops", layer.flops},
                 {"compulsory_bytes", layer.bytes},
                 {"steps", chain_json(layer.steps)},
                 {"machine_steps", chain_json(layer.machine_steps)},
                 {"units", analysis::units_of(machine, layer)},
                 {"active_pes",
                  {{"allocated", layer.active.allocated}, {"averaged", layer.active.averaged}}},
                 {"cycles", layer.cycles},
                 {"time_s", layer.time_s},
                 {"processing_time_s", layer.processing_time_s}};
    add_interval(json, layer.low_s, layer.high_s);
    json["time_split"] = {{"compute_s", layer.split.compute_s},
                          {"on_chip_stall_s", layer.split.on_chip_stall_s},
                          {"dram_stall_s", layer.split.dram_stall_s},
                          {"overhead_s", layer.split.overhead_s}};
    json["utilization"] = layer.utilization;
    json["limiter"] = layer.limiter;
    json["limiter_step"] = layer.limiter_step;
    json["limits"] = limits_json(layer);
    json["energy_j"] = layer.energy_j;
    if (layer.leakage_j > 0.0) {
        json["leakage_j"] = layer.leakage_j;
    }
    json["outer_bytes"] = layer.outer_bytes;
    json["traffic"] = traffic_json(layer.traffic);
    json["mapping"] = layer_mapping_json(layer);
    if (!layer.certificates.empty()) {
        json["certificates"] = certificates_json(layer);
    }
    json["notes"] = layer.notes;
    if (layer.measured) {
        json["measured"] = measured_json(*layer.measured);
    }
    if (layer.roof) {
        json["measured_roof"] = {{"time_s", layer.roof->time_s}, {"by", layer.roof->by}};
    }
    return json;
}

Json machine_json(const analysis::MachineSummary& machine) {
    return {{"id", machine.id},
            {"name", machine.name},
            {"kind", machine.kind},
            {"units", machine.units},
            {"clock_hz", machine.clock_hz},
            {"peak_macs_per_s", machine.peak_macs_per_s},
            {"outer_bytes_per_s", machine.outer_bytes_per_s},
            {"dataflow", machine.dataflow},
            {"energy_basis", analysis::energy_is_upper_bound(machine)
                                 ? "board power x time, an upper bound"
                                 : "accesses"},
            {"weak_sources", machine.weak_sources}};
}

Json total_json(const analysis::Total& total) {
    Json json = {{"macs", total.macs},
                 {"flops", total.flops},
                 {"time_s", total.time_s},
                 {"processing_time_s", total.processing_time_s}};
    add_interval(json, total.low_s, total.high_s);
    if (total.device_s > 0.0) {
        json["host_s"] = total.host_s;
        json["device_s"] = total.device_s;
    }
    json["utilization"] = total.utilization;
    json["averaged_pes"] = total.averaged_units;
    json["energy_j"] = total.energy_j;
    if (total.leakage_j > 0.0) {
        json["leakage_j"] = total.leakage_j;
    }
    json["outer_bytes"] = total.outer_bytes;
    return json;
}

Json worst_json(const analysis::Report& report) {
    Json worst = Json::array();
    for (const analysis::Loss& loss : report.worst) {
        worst.push_back({{"layer", report.layers[loss.layer].layer.name},
                         {"layer_index", loss.layer},
                         {"step", loss.step},
                         {"lost_s", loss.lost_s}});
    }
    return worst;
}

std::string dumped(const Json& json) {
    std::string text = json_document(json);
    text.pop_back();
    return text;
}

// An object of the document's list, with the indentation that it has there.
std::string listed(const Json& json) {
    const std::string text = dumped(json);
    std::string indented;
    indented.reserve(text.size() + text.size() / 4);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        indented.append("    ").append(text, at, end - at).append(end < text.size() ? "\n" : "");
        at = end + 1;
    }
    return indented;
}

// One at a time: a tree of 100,000 layers would take eight times the memory of its text.
bool write_layers(const analysis::Report& report, const TextSink& sink) {
    for (std::size_t i = 0; i < report.layers.size(); ++i) {
        const std::string layer = listed(layer_json(report.machine, report.layers[i]));
        if (!sink(i == 0 ? "\n" : ",\n") || !sink(layer)) {
            return false;
        }
    }
    return sink(report.layers.empty() ? "" : "\n  ");
}

} // namespace

bool write_json(const analysis::Report& report, const Json& more, const TextSink& sink) {
    const Json head = {{"schema", "eyeroof/exam/1"},
                       {"scenario", parse_json(analysis::scenario_json(report.scenario))},
                       {"words", report.words},
                       {"machine", machine_json(report.machine)},
                       {"network", {{"id", report.network_id}, {"name", report.network_name}}}};
    Json json = {{"total", total_json(report.total)},
                 {"batch", report.batch},
                 {"host", report.host},
                 {"uncosted_share", report.uncosted_share},
                 {"worst", worst_json(report)}};
    if (report.headline && !report.headline->resource.empty()) {
        const analysis::Headline& h = *report.headline;
        json["headline"] = {{"bound_by", h.resource},
                            {"doubled_by", h.option},
                            {"time_s", h.time_s},
                            {"saved_s", h.saved_s}};
    }
    if (report.memory) {
        json["parameters"] = report.memory->parameters;
        json["gradient_bytes"] = report.memory->gradients;
    }
    if (report.fit) {
        json["memory"] = memory_fit_json(*report.fit);
    }
    if (report.chip) {
        json["chip"] = chip_json(*report.chip);
    }
    if (report.measured) {
        json["measured"] = measured_json(*report.measured);
    }
    if (!report.ceilings.empty()) {
        json["ceilings"] = ceilings_json(report.ceilings);
    }
    json.update(more);
    std::string start = dumped(head);
    start.resize(start.size() - 2);                        // the line of its closing brace
    const std::string end = json_document(json).substr(2); // without the line of its opening brace
    return sink(start + ",\n  \"layers\": [") && write_layers(report, sink) && sink("],\n" + end);
}

std::string to_json(const analysis::Report& report) {
    std::string text;
    write_json(report, Json::object(), [&text](std::string_view piece) {
        text += piece;
        return true;
    });
    return text;
}

} // namespace eyeroof::report
