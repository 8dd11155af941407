#include "report/search/map_answer.hpp"

#include "base/figures.hpp"
#include "base/statistics.hpp"
#include "base/units.hpp"
#include "report/draw/chart.hpp"
#include "report/search/map_columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace eyeroof::report {

namespace {

constexpr double kLeastTime_s = 1e-5; // a logarithmic axis has no zero

// A layer, and the one of the same shape that was searched for it.
struct MappedRow {
    const analysis::MappedLayer* layer = nullptr;
    const analysis::MappedLayer* source = nullptr;
};

std::vector<MappedRow> mapped_rows(const analysis::MapReport& report) {
    std::vector<MappedRow> rows;
    for (const analysis::MappedLayer& layer : report.layers) {
        rows.push_back({&layer, layer.same_as ? &report.layers[*layer.same_as] : &layer});
    }
    return rows;
}

std::optional<std::string> failure_of(const MappedRow& row) {
    if (row.source->found) {
        return std::nullopt;
    }
    std::string text;
    for (const Diagnostic& d : row.source->why) {
        text += (text.empty() ? "" : "; ") + d.message;
    }
    return text;
}

std::string remark_of(const MappedRow& row) {
    const auto failure = failure_of(row);
    return row.layer->same_as ? "as " + row.source->name
           : failure          ? "no mapping: " + *failure
                              : std::string();
}

// A figure of the mapping; nullopt where there is none.
template <class Get> auto of_found(Get get) {
    return [get](const MappedRow& row) {
        return row.source->found ? std::optional(get(*row.source->found)) : std::nullopt;
    };
}

struct PrunedNodes {
    std::string rule;
    std::uint64_t nodes = 0;
};

// What a search took; nothing where that is not asked for.
void add_effort(std::vector<Column<MappedRow>>& columns, bool details) {
    const auto of = [details](const MappedRow& row) {
        return details && row.source->found ? &row.source->found->certificate : nullptr;
    };
    const auto pruned = [of](const MappedRow& row) {
        std::vector<PrunedNodes> rules;
        for (const auto& [rule, nodes] :
             of(row) == nullptr ? decltype(mapper::Certificate::pruned)() : of(row)->pruned) {
            rules.push_back({rule, nodes});
        }
        return rules;
    };
    const auto figure = [of](auto member) {
        return [of, member](const MappedRow& row) {
            return of(row) == nullptr ? std::nullopt : std::optional(of(row)->*member);
        };
    };
    const unsigned where = details ? kAll : kPrograms;
    columns.emplace_back("effort.nodes", "nodes", Unit::count, figure(&mapper::Certificate::nodes),
                         where, "mappings that were bounded or costed; null without --details");
    columns.emplace_back("effort.time_s", "searched", Unit::seconds,
                         figure(&mapper::Certificate::time_s), where);
    columns.push_back(
        nested<MappedRow, PrunedNodes>("effort.pruned", "", pruned,
                                       {{"rule", "", Unit::none, &PrunedNodes::rule},
                                        {"nodes", "", Unit::count, &PrunedNodes::nodes}},
                                       kPrograms, "nodes by the rule that left them out"));
}

AnswerTable mapped_layers(const analysis::MapReport& report, const model::Accelerator& accelerator,
                          bool details) {
    using Found = const mapper::SearchResult&;
    const auto cycles = of_found([](Found found) { return found.latency.total_cycles(); });
    const auto used = of_found([units = report.units](Found found) {
        return static_cast<double>(found.cost.macs) / (units * found.latency.total_cycles());
    });
    const auto gain = [](const MappedRow& row) {
        return row.source->found && row.source->preset_value > 0.0
                   ? std::optional(row.source->preset_value / row.source->found->certificate.value)
                   : std::nullopt;
    };
    std::vector<Column<MappedRow>> columns = {
        {"name", "layer", Unit::none, [](const MappedRow& row) { return row.layer->name; }},
        {"count", "runs", Unit::count, [](const MappedRow& row) { return row.layer->count; }},
        {"same_as", "", Unit::none,
         [](const MappedRow& row) {
             return row.layer->same_as ? std::optional(row.source->name) : std::nullopt;
         },
         kPrograms, "the layer of the same shape that was searched"},
        {"failure", "", Unit::none, failure_of, kPrograms, "why there is no mapping"},
        {"", "remark", Unit::sentence, remark_of, kPeople},
        {"energy_pj", "", Unit::none, of_found([](Found found) { return found.cost.energy_pj; })},
        {"", "energy", Unit::joules,
         of_found([](Found found) { return 1e-12 * found.cost.energy_pj; }), kPeople},
        {"cycles", "cycles", Unit::none, cycles},
        {"cycles_limit", "", Unit::none,
         of_found([](Found found) { return std::string(found.latency.limit); }), kPrograms,
         "what the cycles are spent on"},
        {"utilization", "util.", Unit::share, used, kAll, "MACs / (units * cycles)"},
        {"gain_over_dataflow", "gain", Unit::times, gain, kAll,
         "value of the dataflow's own mapping over this one's; null where it has none"}};
    add_certificate(columns, [](const MappedRow& row) {
        return row.source->found ? &row.source->found->certificate : nullptr;
    });
    add_effort(columns, details);
    columns.push_back(nest_column<MappedRow>(
        [&](const MappedRow& row) {
            const auto& found = row.source->found;
            return found ? nest_of(found->mapping, found->machine.value_or(accelerator))
                         : std::vector<NestLevel>();
        },
        details ? kAll : kPrograms));
    return make_table("layers", "Layers", mapped_rows(report), columns);
}

// What the searches proved together, and what they won.
std::string proofs_of(const analysis::MapReport& report) {
    std::size_t searches = 0, proved = 0;
    std::vector<double> gains;
    double worst_gap = 0.0;
    bool uneven = false;
    for (const analysis::MappedLayer& layer : report.layers) {
        if (!layer.found) {
            continue;
        }
        const mapper::Certificate& c = layer.found->certificate;
        ++searches;
        worst_gap = std::max(worst_gap, c.gap);
        uneven = uneven || c.space.find("uneven") != std::string::npos;
        proved += c.proved ? 1 : 0;
        if (layer.preset_value > 0.0) {
            gains.push_back(layer.preset_value / c.value);
        }
    }
    if (searches < 2) {
        return {};
    }
    const char* among = uneven ? "even and uneven" : "even";
    std::string text =
        proved == searches
            ? fmt::format("all {} mappings proven optimal among {} mappings", searches, among)
            : fmt::format("{} of {} mappings proven optimal among {} mappings; optimality gap at "
                          "most {:.2g} %",
                          proved, searches, among, 100.0 * worst_gap);
    return gains.empty() ? text
                         : text + fmt::format("; gain over the dataflow's own mapping: median "
                                              "{:.2f}x ({:.2f}x to {:.2f}x)",
                                              median(gains), std::ranges::min(gains),
                                              std::ranges::max(gains));
}

// What a certificate's bound does not hold for, once for all layers of which it is true.
std::vector<std::string> map_remarks(const analysis::MapReport& report) {
    std::map<std::string, std::vector<std::string>> layers_of;
    for (const analysis::MappedLayer& layer : report.layers) {
        if (layer.found && !layer.found->certificate.note.empty()) {
            layers_of[layer.found->certificate.note].push_back(layer.name);
        }
    }
    std::vector<std::string> notes = {"gain: over the dataflow's own mapping"};
    for (const auto& [note, layers] : layers_of) {
        constexpr std::size_t most = 6;
        const std::size_t shown = std::min(most, layers.size());
        notes.push_back(fmt::format(
            "{}{}: {}", fmt::join(layers.begin(), layers.begin() + static_cast<long>(shown), ", "),
            layers.size() > shown ? fmt::format(" and {} more", layers.size() - shown) : "", note));
    }
    return notes;
}

} // namespace

std::vector<NestLevel> nest_of(const model::Mapping& mapping,
                               const model::Accelerator& accelerator) {
    std::vector<NestLevel> nest;
    for (std::size_t i = 0; i < mapping.levels.size(); ++i) {
        const model::Level& level = accelerator.levels[i];
        NestLevel& made = nest.emplace_back();
        made.name = level.name;
        for (const model::Operand o : model::kAllOperands) {
            if (mapping.levels[i].keeps.contains(o)) {
                made.keep.emplace_back(operand_name(o));
            }
        }
        for (const model::TemporalLoop& loop : mapping.levels[i].temporal) {
            made.temporal.push_back(fmt::format("{}{}", letter(loop.dim), loop.bound));
        }
        for (const model::SpatialLoop& loop : mapping.levels[i].spatial) {
            made.spatial.push_back(
                fmt::format("{}{} {}", letter(loop.dim), loop.bound, level.fanout[loop.axis].name));
        }
    }
    return nest;
}

std::string nest_text(const NestLevel& level) {
    std::string text =
        level.keep.empty() ? "keeps nothing" : fmt::format("keeps {}", fmt::join(level.keep, ", "));
    text +=
        level.temporal.empty() ? "" : fmt::format("; in time {}", fmt::join(level.temporal, " "));
    return text + (level.spatial.empty()
                       ? ""
                       : fmt::format("; in space {}", fmt::join(level.spatial, ", ")));
}

std::string titled(const std::string& layer, const std::vector<std::string>& equals) {
    return equals.empty() ? layer : fmt::format("{} (and {} like it)", layer, equals.size());
}

Answer map_answer(const analysis::MapReport& report, const model::Accelerator& accelerator,
                  bool details) {
    const auto found = std::ranges::find_if(
        report.layers, [](const analysis::MappedLayer& layer) { return layer.found.has_value(); });
    Answer a;
    a.schema = "eyeroof/map/1";
    a.title = "Mappings of " + report.network;
    a.sentences = {
        fmt::format(
            "{}, {} cycles, {}; {}", format_si(report.energy_pj * 1e-12, "J"),
            amount(report.cycles),
            format_si(accelerator.clock_hz > 0.0 ? report.cycles / accelerator.clock_hz : 0.0, "s"),
            report.cancelled ? "cancelled: of what was mapped" : "one pass of the network"),
        fmt::format("{} search for the least {}{}", report.strategy, report.objective,
                    found == report.layers.end() ? "" : ", " + found->found->certificate.space)};
    if (std::string proofs = proofs_of(report); !proofs.empty()) {
        a.sentences.push_back(std::move(proofs));
    }
    a.figures = {{"network", "", report.network},
                 {"machine", "", report.machine},
                 {"objective", "", report.objective, Unit::none, kPrograms,
                  "latency, energy, edp or energy^a*delay^b"},
                 {"strategy", "", report.strategy},
                 {"energy_pj", "", report.energy_pj, Unit::none, kPrograms,
                  "of one pass of the network, counts included"},
                 {"cycles", "", report.cycles, Unit::none, kPrograms,
                  "of one pass of the network, counts included"},
                 {"cancelled", "", report.cancelled, Unit::none, kPrograms,
                  "the search was ended by hand: layers hold the best so far"}};
    a.tables = {mapped_layers(report, accelerator, details)};
    a.bars = "energy_pj";
    a.notes = map_remarks(report);
    return a;
}

std::string convergence_svg(const std::string& layer, const std::vector<Convergence>& runs) {
    Chart chart{"best value found over time, " + layer,
                "seconds",
                "value of the objective",
                {},
                {},
                TickText::si,
                TickText::si};
    double bound = 0.0;
    for (const Convergence& run : runs) {
        const mapper::Certificate& c = run.result.certificate;
        ChartLine line{"", {}, true, false};
        for (const mapper::Improvement& step : run.result.history) {
            line.points.emplace_back(std::max(step.time_s, kLeastTime_s), step.value);
        }
        line.points.emplace_back(std::max(c.time_s, kLeastTime_s), c.value);
        line.label = fmt::format("{} {:.4g}", run.strategy, c.value);
        if (c.proved) {
            bound = std::max(bound, c.lower_bound);
            line.label += ", proved";
        }
        chart.lines.push_back(std::move(line));
    }
    if (bound > 0.0) {
        chart.marks.push_back({bound, fmt::format("proven bound {:.4g}", bound), false});
    }
    return chart_svg(chart);
}

} // namespace eyeroof::report
