#include "report/scale/scale_answer.hpp"

#include "base/lines.hpp"
#include "base/units.hpp"
#include "report/answer/write.hpp"
#include "report/draw/chart_scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::report {

namespace {

using analysis::DeviceMemory;
using analysis::ScaleParts;
using analysis::ScalePoint;
using analysis::ScaleResult;
using analysis::ScaleStep;
using analysis::ScaleVolume;

// "21.4 ksamples/s" would be misread.
std::string pace_text(double per_s, const ScaleResult& result) {
    const std::string value = format_si(per_s, "");
    return value + (value.ends_with(' ') ? "" : " ") + result.unit + "/s";
}

std::string part_text(const char* name, double seconds, const ScalePoint& point) {
    return std::abs(seconds) / point.step_s < 0.005
               ? std::string()
               : fmt::format("{} {:.0f} %", name, 100.0 * seconds / point.step_s);
}

// Where the time of a step goes.
std::string parts_text(const ScalePoint& p) {
    std::string text;
    for (const std::string& one :
         {part_text("compute", p.parts.compute_s, p),
          part_text("small batch", p.parts.small_batch_s, p),
          part_text("recompute", p.parts.recompute_s, p), part_text("idle", p.parts.idle_s, p),
          part_text("communication", p.parts.exposed_s, p),
          part_text("waiting", p.parts.waiting_s, p)}) {
        text += one.empty() ? "" : (text.empty() ? "" : ", ") + one;
    }
    return text;
}

std::string interval_of(const ScalePoint& p) {
    return range_text(p.low_s, p.high_s, Unit::seconds);
}

// Of the largest number of devices asked for that fits; the first where none does.
std::vector<std::string> scale_sentences(const ScaleResult& result) {
    if (result.points.empty()) {
        return {};
    }
    const auto last = std::find_if(result.points.rbegin(), result.points.rend(),
                                   [](const auto& point) { return point.memory.fits(); });
    const ScalePoint& p = last == result.points.rend() ? result.points.front() : *last;
    const std::string interval = interval_of(p);
    return {
        fmt::format("{}: {} per step{}, {}, {:.3g}x one device", counted(p.devices, "device"),
                    format_si(p.step_s, "s"), interval.empty() ? "" : " (" + interval + ")",
                    pace_text(p.samples_per_s, result), p.speedup),
        fmt::format("{:.0f} % efficiency, MFU {:.1f} %, {} of memory per device; {}",
                    100 * p.efficiency, 100 * p.mfu, format_si(p.memory.total(), "B"),
                    parts_text(p)),
        result.pays_to
            ? fmt::format("At least 80 % efficiency up to {}", counted(*result.pays_to, "device"))
            : std::string("None of the requested device counts fits and reaches 80 % "
                          "efficiency")};
}

std::vector<Column<ScaleStep>> step_columns(const std::string& unit) {
    return {{"step", "step", Unit::count, &ScaleStep::number},
            {"name", "constraint", Unit::none, &ScaleStep::name},
            {"samples_per_s", unit + "/s", Unit::none, &ScaleStep::samples_per_s, kAll,
             "no constraint up to this one allows more"},
            {"lost", "lost", Unit::share, &ScaleStep::lost, kAll,
             "share of what the step before allowed"},
            {"reason", "why", Unit::sentence, &ScaleStep::reason}};
}

void add_parts(std::vector<Column<ScalePoint>>& columns) {
    const auto add = [&](const char* key, double ScaleParts::*part) {
        columns.emplace_back(
            std::string("parts_s.") + key, "", Unit::seconds,
            [part](const ScalePoint& p) { return p.parts.*part; }, kPrograms,
            "the parts add up to step_s");
    };
    add("compute", &ScaleParts::compute_s);
    add("small_batch", &ScaleParts::small_batch_s);
    add("idle", &ScaleParts::idle_s);
    add("recompute", &ScaleParts::recompute_s);
    add("communication", &ScaleParts::exposed_s);
    add("waiting", &ScaleParts::waiting_s);
}

void add_memory(std::vector<Column<ScalePoint>>& columns, unsigned where) {
    const auto add = [&](const char* key, double DeviceMemory::*part, const char* meaning) {
        columns.emplace_back(
            std::string("memory_bytes.") + key, key, Unit::bytes,
            [part](const ScalePoint& p) { return p.memory.*part; }, where, meaning);
    };
    add("weights", &DeviceMemory::weights, "of the device that has most");
    add("gradients", &DeviceMemory::gradients, "");
    add("optimizer", &DeviceMemory::optimizer, "");
    add("activations", &DeviceMemory::activations, "");
    add("buffers", &DeviceMemory::buffers, "");
    add("capacity", &DeviceMemory::capacity, "0: not known");
}

// Of all samples, where they were asked for.
void add_run(std::vector<Column<ScalePoint>>& columns, const ScaleResult& result) {
    const double samples = result.samples;
    const auto hours = [samples](const ScalePoint& p) {
        return samples > 0.0 ? std::optional(samples / p.samples_per_s / 3600.0) : std::nullopt;
    };
    const unsigned where = samples > 0.0 ? kAll : kPrograms;
    columns.emplace_back("run.hours", "hours of the run", Unit::none, hours, where,
                         "of all samples; null: they were not asked for");
    columns.emplace_back(
        "run.kwh_at_most", "kWh at most", Unit::none,
        [hours](const ScalePoint& p) {
            const auto h = hours(p);
            return h && p.watts ? std::optional(*h * *p.watts / 1e3) : std::nullopt;
        },
        where, "null: the power of the devices is unknown");
    columns.emplace_back(
        "run.usd", "cost from", Unit::usd,
        [hours](const ScalePoint& p) {
            const auto h = hours(p);
            return h && p.usd_per_hour ? std::optional(*h * *p.usd_per_hour) : std::nullopt;
        },
        where, "at the lowest price that is known");
}

AnswerTable points_table(const ScaleResult& result, bool details) {
    const unsigned detail = kPrograms | (details ? kText : 0U);
    std::vector<Column<ScalePoint>> columns = {
        {"devices", "devices", Unit::count, &ScalePoint::devices},
        {"batch", "batch", Unit::count, &ScalePoint::batch, kAll, "of a step, all devices"},
        {"step_s", "step", Unit::seconds, &ScalePoint::step_s},
        {"", "80 % interval", Unit::none, interval_of, kPeople,
         "eight measured steps in ten lie within"},
        {"step_low_s", "", Unit::seconds, &ScalePoint::low_s, kPrograms,
         "one measured step in ten is shorter"},
        {"step_high_s", "", Unit::seconds, &ScalePoint::high_s, kPrograms,
         "one measured step in ten is longer"},
        {"samples_per_s", result.unit + "/s", Unit::none, &ScalePoint::samples_per_s},
        {"speedup", "speedup", Unit::times, &ScalePoint::speedup, kAll, "over one device"},
        {"efficiency", "eff.", Unit::share, &ScalePoint::efficiency, kAll, "speedup / devices"},
        {"mfu", "MFU", Unit::share, &ScalePoint::mfu, kAll,
         "useful FLOP/s over the devices' peaks"},
        {"memory_bytes.total", "memory", Unit::bytes,
         [](const ScalePoint& p) { return p.memory.total(); }, kAll, "of the device that has most"},
        {"memory_bytes.fits", "fits", Unit::none,
         [](const ScalePoint& p) { return p.memory.fits(); }},
        {"strategy", "strategy", Unit::sentence, &ScalePoint::strategy},
        {"", "where the time goes", Unit::sentence, parts_text, kPeople},
        {"batch_per_device", "", Unit::none, &ScalePoint::batch_per_device, kPrograms},
        {"collective", "", Unit::none, &ScalePoint::collective, kPrograms,
         "algorithm that carries the largest gradients"},
        {"staleness", "", Unit::none, &ScalePoint::staleness, kPrograms,
         "updates; asynchronous only"}};
    add_parts(columns);
    add_memory(columns, detail);
    columns.emplace_back("watts_at_most", "", Unit::watts, &ScalePoint::watts, kPrograms,
                         "board power of all devices; null: unknown");
    columns.emplace_back("usd_per_hour", "", Unit::usd, &ScalePoint::usd_per_hour, kPrograms,
                         "lowest price known, all devices");
    add_run(columns, result);
    columns.emplace_back("notes", "notes", Unit::sentence, &ScalePoint::notes, detail | kPages);
    columns.push_back(nested<ScalePoint, ScaleStep>(
        "steps", "Steps", &ScalePoint::steps, step_columns(result.unit), detail | kPages,
        "7 and what is above the device; never rising"));
    columns.push_back(nested<ScalePoint, ScaleVolume>(
        "volumes", "Volumes", &ScalePoint::volumes,
        {{"level", "level", Unit::none, &ScaleVolume::level},
         {"bytes", "bytes", Unit::bytes, &ScaleVolume::bytes, kAll,
          "of one step, over all links of the level"},
         {"messages", "messages", Unit::none, &ScaleVolume::messages}},
        detail));
    return make_table("points", "", result.points, columns);
}

} // namespace

Answer scale_answer(const ScaleResult& result, bool details) {
    Answer a;
    a.schema = "eyeroof/scale/1";
    a.title = fmt::format("{} on {}, {}", result.network, result.gpu, result.fabric);
    a.question = result.baseline;
    a.sentences = scale_sentences(result);
    const auto unfit =
        std::ranges::count_if(result.points, [](const ScalePoint& p) { return !p.memory.fits(); });
    if (unfit > 0) {
        a.warnings.push_back(fmt::format("{} of {} need more memory than a device has", unfit,
                                         counted(result.points.size(), "device count")));
    }
    a.figures = {
        {"network", "", result.network},
        {"machine", "on", result.gpu},
        {"fabric", "over", result.fabric},
        {"unit", "", result.unit, Unit::none, kPrograms,
         "what a batch counts: samples, or sequences"},
        {"baseline.what", "", result.baseline, Unit::none, kPrograms,
         "one device, which speedups are over"},
        {"baseline.samples_per_s", "one device alone, " + result.unit + "/s",
         result.baseline_samples_per_s},
        {"baseline.batch", "", result.baseline_batch, Unit::none, kPrograms},
        {"samples", "", result.samples, Unit::none, kPrograms, "of the whole run; 0: not asked"},
        {"pays_to", "", result.pays_to, Unit::count, kPrograms,
         "largest count with an efficiency of 0.8 or more; null: none"}};
    a.tables = {points_table(result, details || result.points.size() == 1)};
    a.notes = result.notes;
    if (result.points.size() > 1) { // one alone has no curve
        a.picture = [chart = scale_chart(result)](const Canvas& canvas) {
            return draw_chart(chart, canvas);
        };
    }
    return a;
}

Chart scale_chart(const analysis::ScaleResult& result) {
    Chart chart;
    chart.title = fmt::format("{} on {}, {}", result.network, result.gpu, result.fabric);
    chart.x_title = "devices";
    chart.x_ticks = TickText::whole;
    chart.y_title = result.unit + "/s";
    std::vector<std::pair<int, std::string>> bounds;
    for (const analysis::ScalePoint& p : result.points) {
        for (const analysis::ScaleStep& s : p.steps) {
            const std::pair bound(s.number, s.name);
            if (std::find(bounds.begin(), bounds.end(), bound) == bounds.end()) {
                bounds.push_back(bound);
            }
        }
    }
    for (const auto& [number, name] : bounds) {
        ChartLine line;
        line.label = fmt::format("step {}: {}", number, name);
        for (const analysis::ScalePoint& p : result.points) {
            for (const analysis::ScaleStep& s : p.steps) {
                if (s.number == number) {
                    line.points.emplace_back(static_cast<double>(p.devices), s.samples_per_s);
                }
            }
        }
        chart.lines.push_back(line);
    }
    ChartLine step{"the step", {}, false, true};
    for (const analysis::ScalePoint& p : result.points) {
        step.points.emplace_back(static_cast<double>(p.devices), p.samples_per_s);
    }
    chart.lines.push_back(step);
    if (result.pays_to) {
        chart.marks.push_back({static_cast<double>(*result.pays_to), "80 % efficiency", true});
    }
    return chart;
}

} // namespace eyeroof::report
