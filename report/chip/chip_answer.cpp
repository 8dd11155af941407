#include "report/chip/chip_answer.hpp"

#include "base/figures.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::report {

namespace {

using analysis::ChipPartReport;
using analysis::ChipReport;

std::optional<double> where_known(double value, bool known) {
    return known ? std::optional(value) : std::nullopt;
}

std::string title_of(const model::ChipPart& part) {
    return part.level.empty() ? part.name : part.level + ": " + part.name;
}

// Published area and power, and the estimate as a share of each.
std::string published_text(const ChipReport& report) {
    const model::PublishedChip& chip = *report.published;
    std::string text = "Published:";
    if (chip.area_mm2 > 0.0) {
        text += fmt::format(" {:g} mm2 (the estimate is {:.2f} of it)", chip.area_mm2,
                            report.area_mm2 / chip.area_mm2);
    }
    if (chip.power_w > 0.0) {
        text += (chip.area_mm2 > 0.0 ? ", " : " ") + format_si(chip.power_w, "W");
        text += report.power_w > 0.0 ? fmt::format(" ({:.2f} of it)", report.power_w / chip.power_w)
                                     : std::string();
    }
    text += chip.note.empty() ? "" : "; " + chip.note;
    return text +
           fmt::format(" [{}, {}]", chip.origin.source, confidence_words(chip.origin.confidence));
}

std::string largest_text(const ChipReport& report) {
    const auto most = [&](const auto& figure) -> const ChipPartReport& {
        return *std::ranges::max_element(report.parts, {}, figure);
    };
    const auto share = [](const ChipPartReport& part, double of_all) {
        return fmt::format("{} ({:.0f} %)", title_of(part.part), 100.0 * of_all);
    };
    const auto area_of = [](const ChipPartReport& line) { return line.part.area_mm2; };
    const ChipPartReport& area = most(area_of);
    std::string text = "Largest area: " + share(area, area_of(area) / report.area_mm2);
    if (report.power_w > 0.0) {
        const ChipPartReport& power = most(&ChipPartReport::power_w);
        text += "; largest power: " + share(power, power.power_w / report.power_w);
    }
    return text;
}

std::vector<std::string> chip_sentences(const ChipReport& report) {
    std::string chip =
        fmt::format("{} in {:g} nm: {:.3g} mm2", report.machine, report.node.nm, report.area_mm2);
    if (report.time_s > 0.0) {
        chip += fmt::format("; {} ({} over {} of {})", format_si(report.power_w, "W"),
                            format_si(report.energy_j, "J"), format_si(report.time_s, "s"),
                            report.network);
    }
    std::vector<std::string> sentences = {std::move(chip)};
    if (!report.parts.empty() && report.area_mm2 > 0.0) {
        sentences.push_back(largest_text(report));
    }
    if (report.published) {
        sentences.push_back(published_text(report));
    }
    return sentences;
}

std::vector<Figure> figures_of(const ChipReport& report) {
    const bool ran = report.time_s > 0.0;
    const model::PublishedChip chip = report.published.value_or(model::PublishedChip{});
    const auto published = [&](const std::string& text) {
        return report.published ? std::optional(text) : std::nullopt;
    };
    return {{"machine", "", report.machine},
            {"process_nm", "", report.node.nm},
            {"area_mm2", "", report.area_mm2, Unit::none, kAll, "of all dies"},
            {"network", "", ran ? std::optional(report.network) : std::nullopt, Unit::none, kAll,
             "null: none was examined"},
            {"time_s", "", where_known(report.time_s, ran), Unit::seconds},
            {"energy_j", "", where_known(report.energy_j, ran), Unit::joules, kAll,
             "of the chip, switching alone"},
            {"power_w", "", where_known(report.power_w, ran), Unit::watts},
            {"published.area_mm2", "", where_known(chip.area_mm2, chip.area_mm2 > 0.0), Unit::none,
             kAll, "null, as all of it: no figure of this chip in this process is known"},
            {"published.power_w", "", where_known(chip.power_w, chip.power_w > 0.0), Unit::watts},
            {"published.note", "", published(chip.note)},
            {"published.source", "", published(chip.origin.source)},
            {"published.confidence", "",
             published(std::string(confidence_name(chip.origin.confidence)))}};
}

// A component of the estimate, or one that a table of areas has and the machine has not.
struct ChipRow {
    const ChipPartReport* part = nullptr;
    const analysis::NamedArea* area = nullptr;
};

template <class Get> auto of_part(Get get) {
    return [get](const ChipRow& row) {
        return row.part ? std::optional(std::invoke(get, *row.part)) : std::nullopt;
    };
}

AnswerTable parts_of(const ChipReport& report) {
    std::vector<ChipRow> rows;
    for (const ChipPartReport& line : report.parts) {
        rows.push_back({&line, nullptr});
    }
    for (const analysis::NamedArea& area : report.only_in_table) {
        rows.push_back({nullptr, &area});
    }
    const auto area = [](const ChipRow& r) {
        return r.part ? r.part->part.area_mm2 : r.area->instances * r.area->um2 * 1e-6;
    };
    const bool ran = report.time_s > 0.0;
    const auto name = [](const ChipRow& r) { return r.part ? r.part->part.name : r.area->name; };
    using Line = const ChipPartReport&;
    return make_table<ChipRow>(
        "parts", "Components", rows,
        {{"", "component", Unit::none,
          [](const ChipRow& r) { return r.part ? title_of(r.part->part) : r.area->name; }, kPeople},
         {"level", "", Unit::none, of_part([](Line line) { return line.part.level; }), kPrograms,
          "of the machine; empty: of the whole chip"},
         {"name", "", Unit::none, name},
         {"kind", "kind", Unit::none,
          [](const ChipRow& r) {
              return std::string(r.part ? part_name(r.part->part.kind) : "of the table");
          },
          kAll, "\"of the table\": in the table of areas, and no level of the machine"},
         {"instances", "number", Unit::count,
          [](const ChipRow& r) { return r.part ? r.part->part.instances : r.area->instances; }},
         {"bits", "", Unit::count, of_part([](Line line) { return line.part.bits; }), kPrograms,
          "of one instance"},
         {"area_mm2", "mm2", Unit::none, area, kAll, "of all instances"},
         {"", "share", Unit::share,
          [area, all = report.area_mm2](const ChipRow& r) { return area(r) / all; }, kPeople},
         {"use_pj", "", Unit::none, of_part([](Line line) { return line.part.use_pj; }), kPrograms,
          "of a bit, a MAC, or a cycle of all pipeline registers"},
         {"energy_j", "energy", Unit::joules,
          [ran](const ChipRow& r) {
              return where_known(r.part ? r.part->energy_j : 0.0, ran && r.part);
          }},
         {"power_w", "power", Unit::watts,
          [ran](const ChipRow& r) {
              return where_known(r.part ? r.part->power_w : 0.0, ran && r.part);
          }},
         {"source", "", Unit::none, of_part([](Line line) { return line.part.origin.source; })},
         {"confidence", "", Unit::none, of_part([](Line line) {
              return std::string(confidence_name(line.part.origin.confidence));
          })},
         {"", "confidence", Unit::none,
          of_part([](Line line) { return confidence_words(line.part.origin.confidence); })}});
}

} // namespace

Answer chip_answer(const ChipReport& report) {
    Answer a;
    a.schema = "eyeroof/chip/2";
    a.title = "Area and power of " + report.machine;
    a.sentences = chip_sentences(report);
    a.figures = figures_of(report);
    a.tables = {parts_of(report)};
    a.notes = {"Counts cells, macros, and switching: no pads, no controllers of outer memory, no "
               "leakage, no gating of zeros. Areas are up to 3x smaller than those of published "
               "chips (5x for a die with package links); powers deviate by up to 4x either way."};
    return a;
}

} // namespace eyeroof::report
