// A network divided over devices that differ, for people and for programs.
#include "analysis/scale/heterogeneous.hpp"
#include "base/json.hpp"
#include "base/lines.hpp"
#include "base/units.hpp"
#include "report/scale/heterogeneous_write.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace eyeroof::report {

namespace {

using Json = nlohmann::ordered_json;

std::string seconds(double s) {
    return format_si(s, "s");
}

std::string bytes(double b) {
    return format_si(b, "B");
}

std::size_t widest(const analysis::HeterogeneousAnswer& answer) {
    std::size_t width = 6;
    for (const analysis::HeterogeneousDeviceShare& device : answer.devices) {
        width = std::max(width, device.device.size());
    }
    return width;
}

std::string request_text(const analysis::HeterogeneousAnswer& a) {
    const std::size_t width = widest(a);
    const std::size_t label = std::max<std::size_t>(width + 6, 15); // "… alone" and what follows
    std::string text = a.training ? "\none training step\n" : "\none request\n";
    for (const analysis::HeterogeneousDeviceShare& d : a.devices) {
        text += fmt::format("  {} {:>10}{}\n", left(masked_controls(d.device) + " alone", label),
                            seconds(d.alone_s),
                            d.holds_all ? "" : "   its memory does not hold the network");
    }
    text += fmt::format("  {} {:>10}\n", left("list scheduling", label),
                        a.listed.found() ? seconds(a.listed.time_s) : "fits not");
    text += fmt::format("  {} {:>10}   {}\n", left("best found", label), seconds(a.best.time_s),
                        a.best.proved
                            ? std::string("proved: no division is quicker")
                            : fmt::format("at most {:.1f} % slower than the best: none is below {}",
                                          100.0 * (a.best.time_s / a.best.bound_s - 1.0),
                                          seconds(a.best.bound_s)));
    text += fmt::format("\n  {} operators       busy {:>10}      live\n", left("device", width),
                        a.training ? "w. + states" : "weights");
    for (const analysis::HeterogeneousDeviceShare& d : a.devices) {
        text += fmt::format("  {} {:>9} {:>10} {:>10} {:>9}{}\n",
                            left(masked_controls(d.device), width), d.operators, seconds(d.busy_s),
                            bytes(d.held_bytes), bytes(d.live_bytes),
                            d.capacity_bytes > 0.0 && d.held_bytes + d.live_bytes > d.capacity_bytes
                                ? " (!) of " + bytes(d.capacity_bytes)
                                : "");
    }
    return text + fmt::format("  sent between devices: {}\n", bytes(a.sent_bytes));
}

std::string pipeline_rate(const analysis::HeterogeneousAnswer& a) {
    std::string text = a.training ? fmt::format("  {} a step; no pipeline is below {}",
                                                seconds(a.pipeline_s), seconds(a.pipeline_bound_s))
                                  : fmt::format("  {:.4g} requests a second", 1.0 / a.pipeline_s);
    const auto gain = a.pipeline_gain();
    return text + (gain ? fmt::format("{} {:.2f} times the quickest device alone\n",
                                      a.training ? ";" : ",", *gain)
                        : std::string("; no device alone holds the network\n"));
}

std::string pipeline_text(const analysis::HeterogeneousAnswer& a) {
    const std::string what =
        a.training
            ? fmt::format("{} a step, in a pipeline (1F1B)",
                          a.microbatches == 1 ? "1 microbatch"
                                              : fmt::format("{} microbatches", a.microbatches))
            : std::string("many requests, in a pipeline");
    if (a.stages.empty()) {
        return fmt::format("\n{}: the network fits in no division of the layers\n", what);
    }
    const std::size_t width = widest(a);
    std::string text =
        fmt::format("\n{}\n  {} {:>10} {:>10} {:>10}  layers\n", what, left("device", width),
                    a.training ? "busy" : "a request", "receives", "memory");
    for (std::size_t i = 0; i < a.stages.size(); ++i) {
        const analysis::HeterogeneousStage& s = a.stages[i];
        text += fmt::format("  {} {:>10} {:>10} {:>10}  {} … {} ({})\n",
                            left(masked_controls(a.devices[s.device].device), width),
                            seconds(s.time_s), bytes(a.stage_bytes[i]), bytes(s.memory_bytes),
                            masked_controls(a.operators[s.first]),
                            masked_controls(a.operators[s.end - 1]), s.end - s.first);
    }
    return text + pipeline_rate(a);
}

Json schedule_json(const analysis::Schedule& s) {
    return {{"time_s", s.found() ? Json(s.time_s) : Json()},
            {"bound_s", s.bound_s},
            {"proved", s.proved},
            {"nodes", s.nodes}};
}

} // namespace

std::string heterogeneous_text(const analysis::HeterogeneousAnswer& a) {
    return fmt::format("{}, {}: {}; between devices: {}\n", masked_controls(a.network), a.run,
                       counted(a.tasks.size(), "operator"), masked_controls(a.link)) +
           request_text(a) + pipeline_text(a) +
           "\nkernels and copies; times exclude CPU launch overhead (eyeroof timeline)\n";
}

std::string heterogeneous_json(const analysis::HeterogeneousAnswer& a) {
    Json devices = Json::array();
    for (const analysis::HeterogeneousDeviceShare& d : a.devices) {
        devices.push_back({{"device", d.device},
                           {"alone_s", d.alone_s},
                           {"alone_step_s", a.training ? Json(d.alone_step_s) : Json()},
                           {"holds_all", d.holds_all},
                           {"operators", d.operators},
                           {"busy_s", d.busy_s},
                           {"held_bytes", d.held_bytes},
                           {"live_bytes", d.live_bytes},
                           {"whole_bytes", d.whole_bytes},
                           {"capacity_bytes", d.capacity_bytes}});
    }
    Json placed = Json::array();
    for (std::size_t op = 0; op < a.tasks.size(); ++op) {
        placed.push_back(
            {{"operator", a.tasks[op]}, {"device", a.devices[a.best.device[op]].device}});
    }
    Json stages = Json::array();
    for (std::size_t i = 0; i < a.stages.size(); ++i) {
        const analysis::HeterogeneousStage& s = a.stages[i];
        stages.push_back({{"device", a.devices[s.device].device},
                          {"first", a.operators[s.first]},
                          {"last", a.operators[s.end - 1]},
                          {"operators", s.end - s.first},
                          {"time_s", s.time_s},
                          {"memory_bytes", s.memory_bytes},
                          {"received_bytes", a.stage_bytes[i]}});
    }
    const auto gain = a.pipeline_gain();
    const Json json = {
        {"schema", "eyeroof/split/1"},
        {"network", a.network},
        {"run", a.run},
        {"link", a.link},
        {"phase", a.training ? "training" : "inference"},
        {"devices", devices},
        {"request",
         {{"listed", schedule_json(a.listed)},
          {"best", schedule_json(a.best)},
          {"sent_bytes", a.sent_bytes},
          {"placed", placed}}},
        {"pipeline",
         {{"stages", stages},
          {"microbatches", a.training ? Json(a.microbatches) : Json()},
          {"step_s", a.training && !a.stages.empty() ? Json(a.pipeline_s) : Json()},
          {"bound_s", a.stages.empty() ? Json() : Json(a.pipeline_bound_s)},
          {"slowest_s", a.stages.empty() ? Json() : Json(analysis::slowest_of(a.stages))},
          {"gain", gain ? Json(*gain) : Json()}}}};
    return json_document(json);
}

} // namespace eyeroof::report
