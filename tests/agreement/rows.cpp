#include "tests/agreement/rows.hpp"

#include "analysis/scenario/fields.hpp"
#include "analysis/scenario/power_cap.hpp"
#include "tests/agreement/random_scenario.hpp"

#include <algorithm>
#include <utility>

namespace eyeroof::tests {

namespace {

using Words = std::vector<std::string>;

// What is at "a.b.c"; null where there is none.
Json at(const Json& json, const std::string& path) {
    std::string pointer = "/" + path;
    std::ranges::replace(pointer, '.', '/');
    const Json::json_pointer place(pointer);
    return json.contains(place) ? json.at(place) : Json();
}

// Adds to a figure: a network may give several layers one name.
void add(Figures& figures, const std::string& name, double value) {
    Json& figure = figures[name];
    figure = (figure.is_number() ? figure.get<double>() : 0.0) + value;
}

// {"time_s", "total.time_s"}: the exam's name, and where the answer has it.
Figures taken(const Json& answer, const std::vector<std::pair<std::string, std::string>>& places) {
    Figures figures;
    for (const auto& [name, place] : places) {
        figures[name] = at(answer, place);
    }
    return figures;
}

bool any(const Asked& /*asked*/) {
    return true;
}
bool on_gpu(const Asked& asked) {
    return !is_accelerator(asked.scenario.machine);
}
bool on_device(const Asked& asked) {
    return on_gpu(asked) && !is_host(asked.scenario.machine);
}
// `net show` takes no part of a network.
bool all_operators(const Asked& asked) {
    return !asked.scenario.layers && asked.scenario.operators != analysis::Operators::products;
}
bool trains(const Asked& asked) {
    return on_gpu(asked) && asked.scenario.training.has_value();
}
// What one device does not hold, `upgrade` divides over several.
bool fits_one_device(const Asked& asked) {
    return on_device(asked) && (!asked.exam.is_object() || at(asked.exam, "memory.fits") != false);
}
// What a host processor computes too; it takes no power cap.
bool on_device_in_fp32(const Asked& asked) {
    return on_device(asked) && asked.scenario.data_type == model::DataType::fp32 &&
           std::ranges::none_of(asked.scenario.changes, [](const std::string& change) {
               return analysis::power_cap_of(change).has_value();
           });
}
bool infers(const Asked& asked) {
    return !asked.scenario.training.has_value();
}
// `map` searches; so does an exam with --mapping best. Known difference: under Timeloop's counting
// `map` refuses gradients of the input, where an exam takes the dataflow's own mapping.
bool searched(const Asked& asked) {
    return !on_gpu(asked) && asked.scenario.policy == analysis::MappingPolicy::best &&
           asked.scenario.counting == model::Counting::eyeroof && !asked.scenario.training &&
           asked.scenario.density.empty();
}

Words again(const std::string& command, const Asked& asked, Words more = {}) {
    Words words = {command, "--scenario", asked.document, "--format", "json"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

// NETWORK@MACHINE@KEY=VALUE…, as `diff` takes an exam.
std::string reference_of(const analysis::Scenario& scenario) {
    std::string text = scenario.network + "@" + scenario.machine;
    const analysis::Scenario usual;
    for (const analysis::ScenarioField& field : analysis::scenario_fields()) {
        const Words values = field.get(scenario);
        if (field.name == "network" || field.name == "on" || values == field.get(usual)) {
            continue;
        }
        for (const std::string& value : values) {
            text += "@" + field.name + "=" + value;
        }
    }
    return text;
}

// What the scenario has already: where there is no exam, nothing says what its batch is.
Words sweep_words(const Asked& asked) {
    const std::string own =
        asked.exam.is_null()
            ? std::string("phase=") + (asked.scenario.training ? "training" : "inference")
            : "batch=" + asked.exam.at("batch").dump();
    return {"sweep", "--scenario", asked.document, "--vary", own, "--format", "jsonl"};
}

Words net_words(const Asked& asked) {
    Words words = {"net", "show", asked.scenario.network, "--format", "json"};
    for (const std::string& size : asked.scenario.sizes) {
        words.insert(words.end(), {"--dim", size});
    }
    return words;
}

Figures timeline_figures(const Json& answer, const Asked& /*asked*/) {
    Figures figures = taken(answer, {{"time_s", "time_s"},
                                     {"low_s", "low_s"},
                                     {"high_s", "high_s"},
                                     {"device_s", "kernels_s"},
                                     {"host_s", "host_s"}});
    for (const Json& layer : answer.at("layers")) { // all executions
        add(figures, "kernels of " + layer.at("name").get<std::string>(),
            layer.at("kernels_s").get<double>());
    }
    return figures;
}

Figures memory_figures(const Json& answer, const Asked& /*asked*/) {
    return taken(answer, {{"parameters", "parameters"},
                          {"gradient_bytes", "gradient_bytes"},
                          {"peak_bytes", "peak_bytes"},
                          {"limit_bytes", "limit_bytes"},
                          {"fits", "fits"},
                          {"largest_batch", "largest_batch"},
                          {"machine", "machine"},
                          {"network", "network"}});
}

Figures improve_figures(const Json& answer, const Asked& /*asked*/) {
    return taken(answer, {{"time_s", "now.time_s"},
                          {"low_s", "now.low_s"},
                          {"high_s", "now.high_s"},
                          {"peak_bytes", "now.peak_bytes"},
                          {"limit_bytes", "limit_bytes"},
                          {"fits", "now.fits"}});
}

Figures bound_figures(const Json& answer, const Asked& /*asked*/) {
    return taken(answer, {{"time_s", "predicted_s"}, {"low_s", "low_s"}, {"high_s", "high_s"}});
}

Figures upgrade_figures(const Json& answer, const Asked& /*asked*/) {
    Figures figures = taken(answer, {{"time_s", "to_s"},
                                     {"host_s", "steps.to.host_s"},
                                     {"device_s", "steps.to.device_s"},
                                     {"energy_j", "money.to_joules"},
                                     {"peak_bytes", "memory.to.total_bytes"},
                                     {"limit_bytes", "memory.to.gpu_bytes"},
                                     {"fits", "memory.to.fits"}});
    figures["time_s of the old GPU"] = at(answer, "from_s");
    figures["energy_j of the old GPU"] = at(answer, "money.from_joules");
    figures["peak_bytes of the old GPU"] = at(answer, "memory.from.total_bytes");
    return figures;
}

Figures sweep_figures(const Json& answer, const Asked& /*asked*/) {
    return taken(answer, {{"time_s", "time_s"},
                          {"energy_j", "energy_j"},
                          {"outer_bytes", "outer_bytes"},
                          {"macs", "macs"},
                          {"utilization", "utilization"}});
}

Figures scale_figures(const Json& answer, const Asked& /*asked*/) {
    return taken(answer, {{"time_s", "points.0.step_s"},
                          {"batch", "points.0.batch"},
                          {"peak_bytes", "points.0.memory_bytes.total"},
                          {"limit_bytes", "points.0.memory_bytes.capacity"},
                          {"fits", "points.0.memory_bytes.fits"}});
}

// Each point is a layer, and its time that of the layer's kernels; layers of one name together.
Figures roofline_figures(const Json& answer, const Asked& /*asked*/) {
    Figures figures;
    for (const Json& point : answer.at("points")) {
        add(figures, "kernel of " + point.at("name").get<std::string>(),
            point.at("time_s").get<double>());
    }
    return figures;
}

Figures diff_figures(const Json& answer, const Asked& /*asked*/) {
    return taken(answer, {{"time_s", "total.time_s.b"},
                          {"energy_j", "total.energy_j.b"},
                          {"outer_bytes", "total.outer_bytes.b"},
                          {"macs", "total.macs.b"},
                          {"utilization", "total.utilization.b"}});
}

Figures map_figures(const Json& answer, const Asked& /*asked*/) {
    Figures figures;
    for (const Json& layer : answer.at("layers")) {
        figures["cycles of " + layer.at("name").get<std::string>()] = layer.at("cycles");
    }
    return figures;
}

// Layers that only stand between groups are not counted by `fuse`.
Figures fuse_figures(const Json& answer, const Asked& asked) {
    double macs = at(answer, "totals.apart.macs").get<double>();
    for (const Json& layer : asked.exam.is_null() ? Json::array() : asked.exam.at("layers")) {
        const Json& between = answer.at("between");
        if (std::ranges::find(between, layer.at("name")) != between.end()) {
            macs += layer.at("macs").get<double>() * layer.at("count").get<double>();
        }
    }
    return {{"macs", macs}};
}

Figures net_figures(const Json& answer, const Asked& /*asked*/) {
    return taken(answer, {{"parameters", "total.parameters"}});
}

std::vector<Row> all_rows() {
    return {
        {"timeline", "", on_gpu, [](const Asked& a) { return again("timeline", a); },
         timeline_figures},
        {"memory", "", on_gpu, [](const Asked& a) { return again("memory", a); }, memory_figures},
        {"improve", "", on_gpu,
         [](const Asked& a) {
             return again("improve", a, {"--batches", "1"});
         },
         improve_figures},
        {"bound", "", on_gpu, [](const Asked& a) { return again("bound", a); }, bound_figures},
        {"upgrade", "to itself", fits_one_device,
         [](const Asked& a) {
             return again("upgrade", a, {"--from", a.scenario.machine});
         },
         upgrade_figures},
        {"upgrade", "from a host", on_device_in_fp32,
         [](const Asked& a) {
             return again("upgrade", a, {"--from", "server-2x20"});
         },
         [](const Json& answer, const Asked&) {
             return taken(answer, {{"time_s", "gpu_s"}});
         }},
        {"scale", "on one device", trains,
         [](const Asked& a) {
             return again("scale", a, {"--devices", "1"});
         },
         scale_figures},
        {"roofline", "", any, [](const Asked& a) { return again("roofline", a); },
         roofline_figures},
        {"sweep", "of one point", any, sweep_words, sweep_figures, true},
        {"diff", "", any,
         [](const Asked& a) {
             return Words{"diff", a.answer, reference_of(a.scenario), "--format", "json"};
         },
         diff_figures},
        {"map", "", searched, [](const Asked& a) { return again("map", a); }, map_figures},
        {"fuse", "", infers, [](const Asked& a) { return again("fuse", a); }, fuse_figures},
        {"net", "show", all_operators, net_words, net_figures},
    };
}

} // namespace

const std::vector<Row>& rows() {
    static const std::vector<Row> all = all_rows();
    return all;
}

const std::map<std::string, std::string>& without_step() {
    static const std::map<std::string, std::string> all = {
        {"exam", "is what all others are compared with"},
        {"claims", "asks other commands, and prints their figures beside published ones"},
        {"collective", "asks no network: messages of a size on a fabric"},
        {"serve", "gives requests a second from many steps; tests/scale compares one of them"},
        {"profile", "measures"},
        {"import", "reads what was measured"},
        {"measure", "measures"},
        {"validate", "sets measured rows beside predictions; tests/scenario compares one"},
        {"tune", "measures kernels"},
        {"hw", "describes machines"},
        {"completion", "writes a shell's completion"},
        {"manual", "writes the manual page"},
    };
    return all;
}

Figures exam_figures(const Json& exam) {
    Figures figures = taken(exam, {{"parameters", "parameters"},
                                   {"gradient_bytes", "gradient_bytes"},
                                   {"batch", "batch"},
                                   {"machine", "machine.id"},
                                   {"network", "network.id"}});
    for (const auto& [name, value] : exam.at("total").items()) {
        figures[name] = value;
    }
    if (exam.contains("memory")) {
        for (const auto& [name, value] : exam.at("memory").items()) {
            figures[name] = value;
        }
    }
    for (const char* name : {"time_s", "energy_j", "peak_bytes"}) {
        figures[std::string(name) + " of the old GPU"] = figures[name];
    }
    for (const Json& layer : exam.at("layers")) {
        const std::string name = layer.at("name");
        add(figures, "kernel of " + name, layer.at("time_s").get<double>());
        figures["cycles of " + name] = layer.at("cycles");
        add(figures, "kernels of " + name,
            layer.at("time_s").get<double>() * layer.at("count").get<double>());
    }
    return figures;
}

} // namespace eyeroof::tests
