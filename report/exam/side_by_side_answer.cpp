#include "base/units.hpp"
#include "report/answer/write.hpp"
#include "report/exam/answer.hpp"
#include "report/exam/chip_words.hpp"
#include "report/exam/memory_fit.hpp"
#include "report/exam/side_by_side.hpp"
#include "report/exam/words.hpp"

#include <fmt/format.h>

#include <map>

namespace eyeroof::report {

namespace {

using analysis::LayerReport;
using analysis::Report;
using analysis::Total;

std::vector<Column<Total>> total_columns() {
    return absent_if_unknown<Total>({{"time_s", &Total::time_s},
                                     {"low_s", &Total::low_s},
                                     {"high_s", &Total::high_s},
                                     {"utilization", &Total::utilization},
                                     {"energy_j", &Total::energy_j},
                                     {"outer_bytes", &Total::outer_bytes}});
}

AnswerTable machines_table(const std::vector<Report>& sides) {
    const auto of = [](auto analysis::MachineSummary::*member) {
        return [member](const Report& side) { return side.machine.*member; };
    };
    using M = analysis::MachineSummary;
    const double first_s = sides.empty() ? 0.0 : sides.front().total.time_s;
    const auto time = [](const Report& side) { return side.total.time_s; };
    const auto interval = [](const Report& side) {
        return range_text(side.total.low_s, side.total.high_s, Unit::seconds);
    };
    const auto speedup = [first_s](const Report& side) { return first_s / side.total.time_s; };
    const auto energy = [](const Report& side) {
        return side.total.energy_j > 0.0 ? energy_text(analysis::energy_is_upper_bound(side),
                                                       side.total.energy_j, side.total.leakage_j)
                                         : std::string("-");
    };
    const auto fit = [](const Report& side) {
        return side.fit ? memory_fit_text(*side.fit) : std::string();
    };
    return make_table<Report>(
        "machines", "Machines", sides,
        {{"id", "machine", Unit::none, of(&M::id), kJson | kPeople},
         {"name", "name", Unit::none, of(&M::name), kJson | kPages},
         {"kind", of(&M::kind), kJson},
         {"units", of(&M::units), kJson, "MAC per cycle at most"},
         {"clock_hz", of(&M::clock_hz), kJson},
         {"peak_macs_per_s", "peak", Unit::macs_per_s, of(&M::peak_macs_per_s), kJson | kPeople},
         {"dataflow", of(&M::dataflow), kJson},
         object<Report, Total>(
             "total", [](const Report& side) { return std::optional(side.total); },
             total_columns()),
         object<Report, analysis::MemoryFit>("memory", &Report::fit, memory_fit_columns()),
         object<Report, analysis::ChipFigures>("chip", &Report::chip, chip_columns()),
         {"", "time", Unit::seconds, time, kPeople},
         {"", "interval", Unit::none, interval, kPeople},
         {"", "speedup", Unit::times, speedup, kPeople},
         {"", "utilization", Unit::share, [](const Report& s) { return s.total.utilization; },
          kPeople},
         {"", "energy", Unit::none, energy, kPeople},
         {"", "moved", Unit::bytes, [](const Report& s) { return s.total.outer_bytes; }, kPeople},
         {"", "bound by", Unit::sentence, bottleneck_text, kPeople},
         {"", "largest saving", Unit::sentence, largest_saving_text, kPeople},
         {"", "memory", Unit::sentence, fit, kPeople}});
}

std::vector<double> bounds_of(const LayerReport& layer) {
    std::vector<double> bounds;
    for (const model::StepBound& bound : layer.steps) {
        bounds.push_back(bound.macs_per_cycle);
    }
    return bounds;
}

// As many as machines; null where one has no such layer.
Column<SideRow> on_column() {
    const std::vector<Column<LayerReport>> columns =
        absent_if_unknown<LayerReport>({{"time_s", &LayerReport::time_s},
                                        {"low_s", &LayerReport::low_s},
                                        {"high_s", &LayerReport::high_s},
                                        {"utilization", &LayerReport::utilization},
                                        {"limiter_step", &LayerReport::limiter_step},
                                        {"limiter", &LayerReport::limiter},
                                        {"energy_j", &LayerReport::energy_j},
                                        {"outer_bytes", &LayerReport::outer_bytes},
                                        {"bounds_macs_per_cycle", bounds_of}});
    const AnswerTable empty = make_table<LayerReport>({}, {}, {}, columns, Form::list_with_gaps);
    const auto get = [columns, empty](const SideRow& row) {
        AnswerTable table = empty;
        for (const LayerReport* layer : row.on) {
            table.rows.push_back(layer == nullptr ? std::vector<Value>()
                                                  : cells_of(*layer, columns));
        }
        return table;
    };
    Column<SideRow> on("on", get, kJson, "in the order of the machines; null: fused away there");
    on.head.columns = empty.columns;
    on.head.form = empty.form;
    return on;
}

AnswerTable layers_table(const std::vector<Report>& sides, const std::vector<SideRow>& rows) {
    const auto of = [](const auto& get) {
        return [get](const SideRow& row) { return get(row.any->layer); };
    };
    using model::Layer;
    const auto quickest = [&sides](const SideRow& row) {
        const auto best = row.quickest();
        return best ? std::optional(sides[*best].machine.id) : std::nullopt;
    };
    return make_table<SideRow>(
        "layers", "", rows,
        {{"name", of([](const Layer& l) { return l.name; }), kJson},
         {"op", of([](const Layer& l) { return model::op_name(l.op); }), kJson},
         {"count", of([](const Layer& l) { return l.count; }), kJson},
         {"quickest", quickest, kJson, "the machine that takes least time"},
         on_column()});
}

// A layer on a machine, or all of them.
struct Cell {
    const Report* side = nullptr;
    const LayerReport* layer = nullptr; // null: the total
};

AnswerTable cells_table(const std::vector<Report>& sides, const std::vector<SideRow>& rows) {
    std::vector<Cell> cells;
    for (const SideRow& row : rows) {
        for (std::size_t i = 0; i < sides.size(); ++i) {
            if (row.on[i] != nullptr) {
                cells.push_back({&sides[i], row.on[i]});
            }
        }
    }
    for (const Report& side : sides) {
        cells.push_back({&side, nullptr});
    }
    const auto either = [](auto of_layer, auto of_total) {
        return [of_layer, of_total](const Cell& cell) {
            return cell.layer != nullptr ? std::invoke(of_layer, *cell.layer)
                                         : std::invoke(of_total, cell.side->total);
        };
    };
    const auto text = [](auto get, const char* otherwise) {
        return [get, otherwise](const Cell& cell) {
            return cell.layer != nullptr ? std::string(get(*cell.layer)) : otherwise;
        };
    };
    const auto of_layer = [](auto get) {
        return [get](const Cell& cell) {
            return cell.layer != nullptr ? std::optional(get(*cell.layer)) : std::nullopt;
        };
    };
    const auto of_fit = [](auto get) {
        return [get](const Cell& cell) {
            return cell.layer == nullptr && cell.side->fit
                       ? std::optional<Count>(get(*cell.side->fit))
                       : std::nullopt;
        };
    };
    using L = LayerReport;
    using analysis::MemoryFit;
    return make_table<Cell>(
        "cells", "", cells,
        {{"machine", [](const Cell& c) { return c.side->machine.id; }, kCsv},
         {"layer", text([](const L& l) { return l.layer.name; }, "total"), kCsv},
         {"op", text([](const L& l) { return model::op_name(l.layer.op); }, "total"), kCsv},
         {"count", of_layer([](const L& l) { return l.layer.count; }), kCsv},
         {"macs", either([](const L& l) { return static_cast<double>(l.macs); }, &Total::macs),
          kCsv},
         {"time_s", either(&L::time_s, &Total::time_s), kCsv},
         {"low_s", either(&L::low_s, &Total::low_s), kCsv},
         {"high_s", either(&L::high_s, &Total::high_s), kCsv},
         {"utilization", either(&L::utilization, &Total::utilization), kCsv},
         {"limiter_step", of_layer([](const L& l) { return l.limiter_step; }), kCsv},
         {"limiter", text([](const L& l) { return l.limiter; }, ""), kCsv},
         {"energy_j", either(&L::energy_j, &Total::energy_j), kCsv},
         {"outer_bytes", either(&L::outer_bytes, &Total::outer_bytes), kCsv},
         {"memory_bytes", of_fit([](const MemoryFit& fit) { return fit.peak_bytes; }), kCsv},
         {"largest_batch",
          [](const Cell& c) {
              return c.layer == nullptr && c.side->fit ? c.side->fit->largest_batch : std::nullopt;
          },
          kCsv}});
}

// Layers whose shown figures are equal on every machine, under the first one's name.
struct Line {
    const SideRow* row = nullptr;
    Count runs = 0;
};

std::vector<Line> equal_rows(const std::vector<SideRow>& rows) {
    std::vector<Line> lines;
    std::map<std::string, std::size_t> known;
    for (const SideRow& row : rows) {
        std::string key = std::string(model::op_name(row.any->layer.op));
        for (const LayerReport* on : row.on) {
            key += on == nullptr ? " -"
                                 : fmt::format(" {} {} {}", format_si(on->time_s, "s"),
                                               percent(on->utilization), on->limiter);
        }
        const auto [at, is_new] = known.emplace(key, lines.size());
        if (is_new) {
            lines.push_back({&row});
        }
        lines[at->second].runs += row.any->layer.count;
    }
    return lines;
}

AnswerTable pages_table(const std::vector<Report>& sides, const std::vector<SideRow>& rows) {
    std::vector<Column<Line>> columns = {
        {"", "layer", Unit::none, [](const Line& l) { return l.row->any->layer.name; }, kPeople},
        {"", "runs", Unit::count, &Line::runs, kPeople, "of this and of equal layers"},
        {"", "operator", Unit::none,
         [](const Line& l) { return model::op_name(l.row->any->layer.op); }, kPeople}};
    const auto on = [](std::size_t i, auto get) {
        return [i, get](const Line& line) {
            const LayerReport* layer = line.row->on[i];
            return layer != nullptr ? std::optional(std::invoke(get, *layer)) : std::nullopt;
        };
    };
    for (std::size_t i = 0; i < sides.size(); ++i) { // beside each other
        columns.push_back({"", sides[i].machine.id + ", time", Unit::seconds,
                           on(i, &LayerReport::time_s), kPeople});
    }
    columns.push_back({"", "fastest", Unit::none,
                       [&sides](const Line& line) {
                           const auto best = line.row->quickest();
                           return best ? sides[*best].machine.id : std::string("-");
                       },
                       kPeople});
    for (std::size_t i = 0; i < sides.size(); ++i) {
        const std::string& id = sides[i].machine.id;
        columns.push_back(
            {"", id + ", utilization", Unit::share, on(i, &LayerReport::utilization), kPeople});
        columns.push_back({"", id + ", (step) bound by", Unit::none, on(i, &bound_label), kPeople});
    }
    return make_table("", "Layers", equal_rows(rows), columns);
}

std::string title_of(const std::vector<Report>& sides) {
    std::string title = sides.empty() ? "Several machines" : sides.front().network_name + " on ";
    for (std::size_t i = 0; i < sides.size(); ++i) {
        title += (i == 0 ? "" : i + 1 == sides.size() ? " and " : ", ") + sides[i].machine.name;
    }
    return title;
}

} // namespace

Answer side_by_side_answer(const std::vector<Report>& sides) {
    Answer a;
    a.schema = "eyeroof/exams/1";
    a.title = title_of(sides);
    const bool any = !sides.empty();
    if (any) {
        a.question = fastest(sides).words;
        a.sentences = side_by_side_sentences(sides);
    }
    a.figures = {{"network.id", "", any ? sides.front().network_id : ""},
                 {"network.name", "", any ? sides.front().network_name : ""}};
    const std::vector<SideRow> rows = side_rows(sides);
    a.tables = {machines_table(sides), layers_table(sides, rows), cells_table(sides, rows),
                pages_table(sides, rows)};
    a.rows = "cells";
    return a;
}

} // namespace eyeroof::report
