#include "report/step/memory_write.hpp"

#include "analysis/scenario/fields.hpp"
#include "base/csv.hpp"
#include "base/json.hpp"
#include "base/lines.hpp"
#include "base/units.hpp"
#include "report/draw/svg.hpp"
#include "report/step/step_scenes.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <iterator>

namespace eyeroof::report {

namespace {

using Json = nlohmann::ordered_json;
using Out = std::back_insert_iterator<std::string>;

constexpr std::array<const char*, analysis::step::kHolders> kKeys = {
    "inputs",      "state",     "weights",          "optimizer",
    "activations", "gradients", "weight_gradients", "workspace"};

std::string gb(Count bytes) {
    return format_si(static_cast<double>(bytes), "B", 4);
}

Json bytes_json(const analysis::step::Bytes& bytes) {
    Json json = Json::object();
    for (std::size_t h = 0; h < analysis::step::kHolders; ++h) {
        json[std::string(kKeys[h]) + "_bytes"] = bytes[h];
    }
    return json;
}

std::string verdict_text(const MemoryReport& r) {
    const Count peak = r.memory().peak;
    std::string text = r.fits()
                           ? fmt::format("It fits: {} of {} free", gb(r.limit - peak), gb(r.limit))
                           : fmt::format("It does not fit: {} over the {} available",
                                         gb(peak - r.limit), gb(r.limit));
    if (!r.fits() && r.memory().resident > r.limit) {
        text += fmt::format("; weights and states alone are {}", gb(r.memory().resident));
    }
    // Allocators lose 5 to 15 % to fragmentation (recalled).
    const bool tight = r.fits() && static_cast<double>(peak) * 1.1 > static_cast<double>(r.limit);
    text += tight ? ". With a tenth lost to fragmentation it would not.\n" : ".\n";
    if (r.largest_batch) {
        text += *r.largest_batch > 0
                    ? fmt::format("Largest batch that fits: {}.\n", *r.largest_batch)
                    : std::string("No batch fits.\n");
    }
    return text;
}

std::string_view operand_text(analysis::step::Operand operand) {
    return operand == analysis::step::Operand::weights ? "weights" : "activations";
}

std::string streamed_text(const MemoryReport& r) {
    const analysis::step::Streamed& s = r.streamed;
    const std::string_view what = operand_text(*r.operand);
    if (s.streamed == 0) {
        return fmt::format("\nNo {} need to stream from the host.\n", what);
    }
    std::string text = fmt::format(
        "\nstreamed from the host: {} of {} of {}, over {}\n"
        "  step                    {:>10}   {} without copies\n"
        "  exposed copies          {:>10}   {:5.1f} % of the step\n"
        "  host to device          {:>10}   per step\n",
        gb(s.streamed), gb(s.of), what, format_si(r.link_bytes_per_s, "B/s", 3),
        format_si(s.time_s, "s", 3), format_si(s.alone_s, "s", 3), format_si(s.exposed_s(), "s", 3),
        100.0 * s.exposed_s() / s.time_s, gb(s.to_device));
    if (s.to_host > 0) {
        text += fmt::format("  device to host          {:>10}   per step\n", gb(s.to_host));
    }
    text += fmt::format("  largest copy            {:>10}\n", gb(s.part));
    for (std::size_t i = 0; i < std::min<std::size_t>(s.waits.size(), 5); ++i) {
        text += fmt::format("  {:<23} {:>10}   waits for copies\n",
                            r.graph().name_of(r.graph().operators[s.waits[i].first]),
                            format_si(s.waits[i].second, "s", 3));
    }
    return text;
}

Json streamed_json(const MemoryReport& r) {
    const analysis::step::Streamed& s = r.streamed;
    Json waits = Json::array();
    for (const auto& [op, wait_s] : s.waits) {
        waits.push_back(
            {{"operator", r.graph().name_of(r.graph().operators[op])}, {"wait_s", wait_s}});
    }
    return {{"operand", operand_text(*r.operand)},
            {"streamed_bytes", s.streamed},
            {"operand_bytes", s.of},
            {"tensors", s.tensors},
            {"largest_copy_bytes", s.part},
            {"to_device_bytes", s.to_device},
            {"to_host_bytes", s.to_host},
            {"link_bytes_per_s", r.link_bytes_per_s},
            {"time_s", s.time_s},
            {"alone_s", s.alone_s},
            {"exposed_s", s.exposed_s()},
            {"waits", waits}};
}

} // namespace

std::string memory_text(const MemoryReport& r) {
    const analysis::step::Memory& m = r.memory();
    std::string text = wrapped(fmt::format("{}; {}, {} parameters", r.report.words,
                                           counted(r.graph().operators.size(), "operator"),
                                           format_si(static_cast<double>(m.parameters), "")),
                               0, kTextColumns);
    if (r.graph().chain) {
        text += "The network has no graph: its layers form a chain, and no tensor is kept for a "
                "later addition.\n";
    }
    text += verdict_text(r);
    text += fmt::format("\npeak                      {:>10}   at {}\n", gb(m.peak),
                        r.graph().operators.empty()
                            ? "nothing"
                            : r.graph().name_of(r.graph().operators[m.peak_at]));
    for (std::size_t h = 0; h < analysis::step::kHolders; ++h) {
        if (m.at_peak[h] > 0) {
            text += fmt::format(
                "  {:<24}{:>10}   {:5.1f} %\n", analysis::step::holder_text(h), gb(m.at_peak[h]),
                100.0 * static_cast<double>(m.at_peak[h]) / static_cast<double>(m.peak));
        }
    }
    text += (r.operand ? streamed_text(r) : "") + "\nlargest at the peak\n";
    for (std::size_t i = 0; i < std::min<std::size_t>(m.holders.size(), 10); ++i) {
        text += fmt::format("  {:>10}  {}\n", gb(m.holders[i].bytes),
                            r.graph().name_of(r.graph().tensors[m.holders[i].tensor]));
    }
    return text;
}

std::string memory_json(const MemoryReport& r) {
    const analysis::step::Memory& m = r.memory();
    Json json = {{"schema", "eyeroof/memory/1"},
                 {"scenario", parse_json(analysis::scenario_json(r.report.scenario))},
                 {"words", r.report.words},
                 {"network", r.graph().id},
                 {"machine", r.report.machine.id},
                 {"phase", r.report.scenario.training ? "training" : "inference"},
                 {"chain", r.graph().chain},
                 {"parameters", m.parameters},
                 {"gradient_bytes", m.gradients},
                 {"peak_bytes", m.peak},
                 {"resident_bytes", m.resident},
                 {"limit_bytes", r.limit},
                 {"fits", r.fits()},
                 {"largest_batch", nullptr},
                 {"peak_at", r.graph().operators.empty()
                                 ? ""
                                 : r.graph().name_of(r.graph().operators[m.peak_at])},
                 {"at_peak", bytes_json(m.at_peak)},
                 {"holders", Json::array()},
                 {"curve", Json::array()}};
    if (r.largest_batch) {
        json["largest_batch"] = *r.largest_batch;
    }
    for (const analysis::step::Holder& holder : m.holders) {
        json["holders"].push_back({{"name", r.graph().name_of(r.graph().tensors[holder.tensor])},
                                   {"bytes", holder.bytes}});
    }
    for (std::size_t i = 0; i < m.at.size(); ++i) {
        Json point = {{"operator", r.graph().name_of(r.graph().operators[i])},
                      {"bytes", analysis::step::total_of(m.at[i])}};
        point.update(bytes_json(m.at[i]));
        json["curve"].push_back(std::move(point));
    }
    if (r.operand) {
        json["streamed"] = streamed_json(r);
    }
    return json_document(json);
}

std::string memory_csv(const MemoryReport& r) {
    std::string text = "operator,bytes";
    for (const char* key : kKeys) {
        text += fmt::format(",{}_bytes", key);
    }
    text += '\n';
    for (std::size_t i = 0; i < r.memory().at.size(); ++i) {
        const std::string name = r.graph().name_of(r.graph().operators[i]);
        fmt::format_to(Out(text), "{},{}", csv_quoted(name),
                       analysis::step::total_of(r.memory().at[i]));
        for (const Count bytes : r.memory().at[i]) {
            fmt::format_to(Out(text), ",{}", bytes);
        }
        text += '\n';
    }
    return text;
}

std::string memory_svg(const MemoryReport& r) {
    return to_svg(draw_memory(r, {1100.0, 460.0}), SvgTheme::automatic);
}

} // namespace eyeroof::report
