#include "report/chip/chip_write.hpp"

#include "analysis/chip/chip.hpp"
#include "base/csv.hpp"
#include "base/figures.hpp"
#include "base/json.hpp"
#include "base/lines.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace eyeroof::report {

using Json = nlohmann::ordered_json;

namespace {

std::string watts(double value) {
    return value > 0.0 ? format_si(value, "W") : "";
}

std::string joules(double value) {
    return value > 0.0 ? format_si(value, "J") : "";
}

std::string title_of(const model::ChipPart& part) {
    return masked_controls(part.level.empty() ? part.name : part.level + ": " + part.name);
}

std::string part_line(const analysis::ChipReport& report, const analysis::ChipPartReport& line) {
    return fmt::format("{} {} {:>8.0f} {:>10.4g} {:>6.1f} % {:>10} {:>10}  {}\n",
                       left(title_of(line.part), 30), left(part_name(line.part.kind), 13),
                       line.part.instances, line.part.area_mm2,
                       100.0 * line.part.area_mm2 / report.area_mm2, joules(line.energy_j),
                       watts(line.power_w), confidence_words(line.part.origin.confidence));
}

std::string published_lines(const analysis::ChipReport& report) {
    if (!report.published) {
        return {};
    }
    const model::PublishedChip& chip = *report.published;
    std::string text = "published:";
    if (chip.area_mm2 > 0.0) {
        text += fmt::format(" {:g} mm2 (the estimate is {:.2f} of it)", chip.area_mm2,
                            report.area_mm2 / chip.area_mm2);
    }
    if (chip.power_w > 0.0) {
        text += fmt::format("{} {}", chip.area_mm2 > 0.0 ? "," : "", watts(chip.power_w));
        text += report.power_w > 0.0 ? fmt::format(" ({:.2f} of it)", report.power_w / chip.power_w)
                                     : std::string();
    }
    text += chip.note.empty() ? "" : fmt::format("; {}", masked_controls(chip.note));
    return wrapped(text + fmt::format(" [{}, {}]", masked_controls(chip.origin.source),
                                      confidence_words(chip.origin.confidence)),
                   0, kTextColumns);
}

// Area, power, and the part that takes most of each.
std::string answer_lines(const analysis::ChipReport& report) {
    std::string text = fmt::format("{} in {:g} nm: {:.3g} mm2", masked_controls(report.machine),
                                   report.node.nm, report.area_mm2);
    if (report.time_s > 0.0) {
        text +=
            fmt::format("; {} ({} over {} of {})", watts(report.power_w), joules(report.energy_j),
                        format_si(report.time_s, "s"), masked_controls(report.network));
    }
    text = wrapped(text, 0, kTextColumns);
    const auto largest = [&](double analysis::ChipPartReport::*figure) {
        return std::max_element(
            report.parts.begin(), report.parts.end(),
            [&](const auto& a, const auto& b) { return a.*figure < b.*figure; });
    };
    const auto area = std::max_element(
        report.parts.begin(), report.parts.end(),
        [](const auto& a, const auto& b) { return a.part.area_mm2 < b.part.area_mm2; });
    if (area != report.parts.end() && report.area_mm2 > 0.0) {
        std::string most = fmt::format("Largest area: {} ({:.0f} %)", title_of(area->part),
                                       100.0 * area->part.area_mm2 / report.area_mm2);
        const auto power = largest(&analysis::ChipPartReport::power_w);
        if (report.power_w > 0.0) {
            most += fmt::format("; largest power: {} ({:.0f} %)", title_of(power->part),
                                100.0 * power->power_w / report.power_w);
        }
        text += wrapped(most, 0, kTextColumns);
    }
    return text + published_lines(report);
}

std::string limits_lines() {
    return "\n" + wrapped("Counts cells, macros, and switching: no pads, no controllers of outer "
                          "memory, no leakage, no gating of zeros. Areas are up to 3x smaller than "
                          "those of published chips (5x for a die with package links); powers "
                          "deviate by up to 4x either way.",
                          0, kTextColumns);
}

Json part_json(const analysis::ChipPartReport& line) {
    return {{"level", line.part.level},
            {"name", line.part.name},
            {"kind", part_name(line.part.kind)},
            {"instances", line.part.instances},
            {"bits", line.part.bits},
            {"area_mm2", line.part.area_mm2},
            {"use_pj", line.part.use_pj},
            {"energy_j", line.energy_j},
            {"power_w", line.power_w},
            {"source", line.part.origin.source},
            {"confidence", confidence_name(line.part.origin.confidence)}};
}

Json published_json(const analysis::ChipReport& report) {
    if (!report.published) {
        return nullptr;
    }
    const model::PublishedChip& chip = *report.published;
    return {{"area_mm2", chip.area_mm2 > 0.0 ? Json(chip.area_mm2) : Json(nullptr)},
            {"power_w", chip.power_w > 0.0 ? Json(chip.power_w) : Json(nullptr)},
            {"note", chip.note},
            {"source", chip.origin.source},
            {"confidence", confidence_name(chip.origin.confidence)}};
}

} // namespace

std::string chip_text(const analysis::ChipReport& report) {
    std::string text = fmt::format("{}\n{} {} {:>8} {:>10} {:>8} {:>10} {:>10}  {}\n",
                                   answer_lines(report), left("component", 30), left("kind", 13),
                                   "number", "mm2", "share", "energy", "power", "confidence");
    for (const analysis::ChipPartReport& line : report.parts) {
        text += part_line(report, line);
    }
    for (const analysis::NamedArea& area : report.only_in_table) {
        text += fmt::format("{} {} {:>8.0f} {:>10.4g} {:>6.1f} %\n",
                            left(masked_controls(area.name), 30), left("of the table", 13),
                            area.instances, area.instances * area.um2 * 1e-6,
                            area.instances * area.um2 * 1e-4 / report.area_mm2);
    }
    return text + limits_lines();
}

std::string chip_json(const analysis::ChipReport& report) {
    Json parts = Json::array();
    for (const analysis::ChipPartReport& line : report.parts) {
        parts.push_back(part_json(line));
    }
    Json others = Json::array();
    for (const analysis::NamedArea& area : report.only_in_table) {
        others.push_back({{"name", area.name}, {"instances", area.instances}, {"um2", area.um2}});
    }
    const bool ran = report.time_s > 0.0;
    const Json document = {{"schema", "eyeroof/chip/1"},
                           {"machine", report.machine},
                           {"process_nm", report.node.nm},
                           {"area_mm2", report.area_mm2},
                           {"network", ran ? Json(report.network) : Json(nullptr)},
                           {"time_s", ran ? Json(report.time_s) : Json(nullptr)},
                           {"energy_j", ran ? Json(report.energy_j) : Json(nullptr)},
                           {"power_w", ran ? Json(report.power_w) : Json(nullptr)},
                           {"published", published_json(report)},
                           {"parts", std::move(parts)},
                           {"only_in_table", std::move(others)}};
    return json_document(document);
}

std::string chip_csv(const analysis::ChipReport& report) {
    std::string text =
        "level,name,kind,instances,bits,area_mm2,use_pj,energy_j,power_w,confidence\n";
    for (const analysis::ChipPartReport& line : report.parts) {
        text +=
            fmt::format("{},{},{},{},{},{},{},{},{},{}\n", csv_quoted(line.part.level),
                        csv_quoted(line.part.name), part_name(line.part.kind), line.part.instances,
                        line.part.bits, line.part.area_mm2, line.part.use_pj, line.energy_j,
                        line.power_w, confidence_name(line.part.origin.confidence));
    }
    for (const analysis::NamedArea& area : report.only_in_table) {
        text += fmt::format(",{},table,{},,{},,,,user\n", csv_quoted(area.name), area.instances,
                            area.instances * area.um2 * 1e-6);
    }
    return text;
}

} // namespace eyeroof::report
