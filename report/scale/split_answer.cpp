#include "report/scale/split_answer.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

namespace eyeroof::report {

namespace {

using analysis::HeterogeneousAnswer;
using analysis::HeterogeneousDeviceShare;
using analysis::HeterogeneousStage;

std::string pipeline_text(const HeterogeneousAnswer& a) {
    std::string what = "Many requests, in a pipeline";
    if (a.training) {
        what = fmt::format("A step of {} microbatch{}, in a pipeline (1F1B)", a.microbatches,
                           a.microbatches == 1 ? "" : "es");
    }
    if (a.stages.empty()) {
        return what + ": the network fits in no division of the layers";
    }
    const auto gain = a.pipeline_gain();
    return what + ": " +
           (a.training ? fmt::format("{}; no pipeline is below {}", format_si(a.pipeline_s, "s"),
                                     format_si(a.pipeline_bound_s, "s"))
                       : fmt::format("{:.4g} requests a second", 1.0 / a.pipeline_s)) +
           (gain ? fmt::format(", {:.2f} times the fastest device alone", *gain)
                 : std::string("; no device alone holds the network"));
}

std::vector<std::string> split_sentences(const HeterogeneousAnswer& a) {
    if (a.devices.empty()) {
        return {};
    }
    const std::string proof =
        a.best.proved ? std::string("proven: no division is faster")
                      : fmt::format("at most {:.1f} % slower than the best: none is below {}",
                                    100.0 * (a.best.time_s / a.best.bound_s - 1.0),
                                    format_si(a.best.bound_s, "s"));
    return {fmt::format("{}, divided: {} ({}); by list scheduling {}",
                        a.training ? "One training step" : "One request",
                        format_si(a.best.time_s, "s"), proof,
                        a.listed.found() ? format_si(a.listed.time_s, "s") : "it fits in none"),
            pipeline_text(a)};
}

void add_schedule(std::vector<Figure>& figures, const std::string& name,
                  const analysis::Schedule& s, const char* meaning) {
    figures.emplace_back(name + ".time_s", "", s.found() ? std::optional(s.time_s) : std::nullopt,
                         Unit::seconds, kPrograms, meaning);
    figures.emplace_back(name + ".bound_s", "", s.bound_s, Unit::seconds, kPrograms,
                         "no division is faster");
    figures.emplace_back(name + ".proved", "", s.proved);
    figures.emplace_back(name + ".nodes", "", s.nodes, Unit::count, kPrograms,
                         "that the search looked at");
}

std::vector<Figure> split_figures(const HeterogeneousAnswer& a) {
    const bool stages = !a.stages.empty();
    const auto where = [](bool known, auto value) {
        return known ? std::optional(value) : std::nullopt;
    };
    std::vector<Figure> figures = {{"network", "", a.network},
                                   {"run", "run", a.run, Unit::none, kAll, "what runs, in words"},
                                   {"link", "between devices:", a.link},
                                   {"phase", "", a.training ? "training" : "inference"}};
    add_schedule(figures, "request.listed", a.listed,
                 "by list scheduling; null: none was found that fits");
    add_schedule(figures, "request.best", a.best, "null: none was found that fits");
    figures.emplace_back("request.sent_bytes", "sent", a.sent_bytes, Unit::bytes, kAll,
                         "between devices");
    figures.emplace_back("pipeline.microbatches", "", where(a.training, a.microbatches),
                         Unit::count, kPrograms, "of a training step; null: inference");
    figures.emplace_back("pipeline.step_s", "", where(a.training && stages, a.pipeline_s),
                         Unit::seconds, kPrograms,
                         "all microbatches and the update; null: inference, or no division fits");
    figures.emplace_back("pipeline.bound_s", "", where(stages, a.pipeline_bound_s), Unit::seconds,
                         kPrograms, "no pipeline's slowest stage is faster");
    figures.emplace_back("pipeline.slowest_s", "",
                         where(stages, stages ? analysis::slowest_of(a.stages) : 0.0),
                         Unit::seconds);
    figures.emplace_back("pipeline.gain", "", stages ? a.pipeline_gain() : std::nullopt,
                         Unit::times, kPrograms,
                         "over the fastest device alone that holds the network; null: none does");
    return figures;
}

AnswerTable devices_of(const HeterogeneousAnswer& a) {
    using Device = HeterogeneousDeviceShare;
    const auto full = [](const Device& d) {
        return d.capacity_bytes > 0.0 && d.held_bytes + d.live_bytes > d.capacity_bytes
                   ? "more than its " + format_si(d.capacity_bytes, "B")
                   : std::string();
    };
    const auto step = [training = a.training](const Device& d) {
        return training ? std::optional(d.alone_step_s) : std::nullopt;
    };
    return make_table<Device>(
        "devices", "Devices", a.devices,
        {{"device", "device", Unit::none, &Device::device},
         {"alone_s", "alone", Unit::seconds, &Device::alone_s, kAll, "the whole network on it"},
         {"alone_step_s", "", Unit::seconds, step, kPrograms,
          "all microbatches of a training step and its update on it; null: inference"},
         {"holds_all", "holds all", Unit::none, &Device::holds_all, kAll,
          "its memory holds the whole network: weights, activations, workspace"},
         {"operators", "operators", Unit::count, &Device::operators, kAll,
          "of the divided request"},
         {"busy_s", "busy", Unit::seconds, &Device::busy_s},
         {"held_bytes", a.training ? "weights, states" : "weights", Unit::bytes,
          &Device::held_bytes, kAll, "of its operators, in training with optimizer states"},
         {"live_bytes", "live", Unit::bytes, &Device::live_bytes, kAll,
          "activations and workspace while one of its operators runs, at most"},
         {"whole_bytes", "", Unit::bytes, &Device::whole_bytes, kPrograms,
          "peak of the whole network on it"},
         {"capacity_bytes", "", Unit::bytes, &Device::capacity_bytes, kPrograms,
          "for tensors; 0: not known"},
         {"", "memory", Unit::sentence, full, kPeople}});
}

struct Stage {
    const HeterogeneousStage* stage = nullptr;
    double received = 0.0;
};

AnswerTable stages_of(const HeterogeneousAnswer& a) {
    std::vector<Stage> rows;
    for (std::size_t i = 0; i < a.stages.size(); ++i) {
        rows.push_back({&a.stages[i], a.stage_bytes[i]});
    }
    const auto first = [&](const Stage& s) { return a.operators[s.stage->first]; };
    const auto last = [&](const Stage& s) { return a.operators[s.stage->end - 1]; };
    return make_table<Stage>(
        "pipeline.stages", "Stages of the pipeline", rows,
        {{"device", "device", Unit::none,
          [&](const Stage& s) { return a.devices[s.stage->device].device; }},
         {"first", "first", Unit::none, first},
         {"last", "last", Unit::none, last},
         {"operators", "operators", Unit::count,
          [](const Stage& s) { return s.stage->end - s.stage->first; }},
         {"time_s", a.training ? "busy" : "a request", Unit::seconds,
          [](const Stage& s) { return s.stage->time_s; }, kAll, "its operators, and receiving"},
         {"memory_bytes", "memory", Unit::bytes,
          [](const Stage& s) { return s.stage->memory_bytes; }, kAll,
          "weights, and what is live beside them at most"},
         {"received_bytes", "receives", Unit::bytes, &Stage::received}});
}

AnswerTable placed_of(const HeterogeneousAnswer& a) {
    std::vector<std::pair<std::string, std::string>> rows;
    for (std::size_t op = 0; op < a.tasks.size(); ++op) {
        rows.emplace_back(a.tasks[op], a.devices[a.best.device[op]].device);
    }
    using Row = std::pair<std::string, std::string>;
    return make_table<Row>(
        "request.placed", "", rows,
        {{"operator", "", Unit::none, &Row::first}, {"device", "", Unit::none, &Row::second}});
}

} // namespace

Answer split_answer(const HeterogeneousAnswer& split) {
    Answer a;
    a.schema = "eyeroof/split/1";
    a.title = split.network + " on devices that differ";
    a.sentences = split_sentences(split);
    a.figures = split_figures(split);
    a.tables = {devices_of(split), stages_of(split), placed_of(split)};
    a.notes = {"kernels and copies; times exclude CPU launch overhead (eyeroof timeline)"};
    return a;
}

} // namespace eyeroof::report
