#include "report/exam/text.hpp"

#include "analysis/exam/report_figures.hpp"
#include "base/lines.hpp"
#include "base/units.hpp"
#include "report/exam/answer.hpp"
#include "report/exam/chip_words.hpp"
#include "report/exam/ladder_text.hpp"
#include "report/exam/words.hpp"
#include "report/measured/measured_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

namespace eyeroof::report {

namespace {

using model::kSteps;

constexpr std::size_t kNameColumn = 19;  // of the table of layers
constexpr std::size_t kBoundColumn = 24; // the same

std::string heading(const analysis::Report& report, const TextStyle& style) {
    return wrapped(masked_controls(report.words), 0, style.width);
}

// The answer: time with its interval and the totals, the bottleneck, the largest saving.
std::string answer(const analysis::Report& report, const TextStyle& style) {
    std::string text = wrapped_parts(total_parts(report), 0, style.width);
    for (const std::string& line : answer_lines(report)) {
        text += wrapped(line, 0, style.width);
    }
    return text;
}

std::string further_totals(const analysis::Report& report, const TextStyle& style) {
    const std::vector<std::string> parts = further_parts(report);
    std::string text = "\n" + (parts.empty() ? "" : wrapped_parts(parts, 0, style.width)) +
                       wrapped_parts(machine_parts(report), 0, style.width);
    for (const std::string& line : library_lines(report)) {
        text += wrapped(line, 0, style.width);
    }
    return text + (report.chip ? wrapped(chip_text(*report.chip), 0, style.width) : std::string());
}

// Columns of the table's bar: what the other columns leave.
std::size_t table_bar_cells(const TextStyle& style) {
    constexpr std::size_t others = kNameColumn + 10 + 8 + 2 + 2 + kBoundColumn;
    constexpr std::size_t least = 10;
    constexpr std::size_t most = 40;
    return std::clamp(style.width, others + least, others + most) - others;
}

// What a cell of the table's bar shows, from the left: done, or the step that took it.
char cell_of(const analysis::LayerReport& layer, double units, double place) {
    if (place < layer.utilization) {
        return '#';
    }
    for (std::size_t step = 1; step <= kSteps; ++step) {
        if (place >= analysis::share_after(layer.steps, units, step)) {
            return step == 1 && layer.macs == 0 ? '.' : static_cast<char>('0' + step);
        }
    }
    return '.'; // below the chain: overhead, and stalls that no step counts; work without MACs
}

std::string overview_bar(const analysis::LayerReport& layer, double units, const TextStyle& style) {
    const std::size_t columns = table_bar_cells(style);
    std::string cells;
    for (std::size_t i = 0; i < columns; ++i) {
        const double place = (static_cast<double>(i) + 0.5) / static_cast<double>(columns);
        cells += cell_of(layer, units, place);
    }
    std::string out;
    for (std::size_t begin = 0; begin < cells.size();) {
        const std::size_t end =
            std::min(cells.find_first_not_of(cells[begin], begin), cells.size());
        std::string run;
        for (std::size_t i = begin; i < end; ++i) {
            run += cells[i] == '#' ? "█" : cells[i] == '.' ? "·" : std::string(1, cells[i]);
        }
        const bool worst = cells[begin] == static_cast<char>('0' + layer.limiter_step);
        const Ink ink = cells[begin] == '#' ? Ink::good : worst ? Ink::bad : Ink::warn;
        out += inked(run, ink, style.colour);
        begin = end;
    }
    return out;
}

// A row of the table: layers whose cells are equal, under the first one's name.
struct Row {
    std::string name;
    std::string cells;   // after the name
    double time_s = 0.0; // of all runs
    Count runs = 0;
};

std::vector<Row> rows_of(const analysis::Report& report, const TextStyle& style) {
    std::vector<Row> rows;
    std::map<std::string, std::size_t> known;
    for (const analysis::LayerReport& layer : report.layers) {
        const std::string cells =
            fmt::format("{}{}  {}  {}", right(format_si(layer.time_s, "s"), 10),
                        right(percent(layer.utilization), 8),
                        overview_bar(layer, analysis::units_of(report.machine, layer), style),
                        clipped(bound_label(layer), kBoundColumn));
        const std::string key = fmt::format("{} {}", static_cast<int>(layer.layer.op), cells);
        const auto [at, is_new] = known.emplace(key, rows.size());
        if (is_new) {
            rows.push_back({masked_controls(layer.layer.name), cells, 0.0, 0});
        }
        rows[at->second].time_s += layer.time_s * static_cast<double>(layer.layer.count);
        rows[at->second].runs += layer.layer.count;
    }
    return rows;
}

// Drops the rows that take least time beyond `most`; the line that says so, if any.
std::string shorten(std::vector<Row>& rows, std::size_t most, double all_s) {
    if (rows.size() <= most) {
        return {};
    }
    std::vector<double> times;
    for (const Row& row : rows) {
        times.push_back(row.time_s);
    }
    std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(most - 1),
                             std::greater<>());
    const double least = times[most - 1];
    std::size_t kept = 0;
    double dropped_s = 0.0;
    Count dropped = 0;
    std::erase_if(rows, [&](const Row& row) {
        if (row.time_s >= least && kept < most) {
            ++kept;
            return false;
        }
        dropped_s += row.time_s;
        dropped += row.runs;
        return true;
    });
    return fmt::format("and {} more layers: {:.1f} % of the time; --steps all lists them\n",
                       dropped, all_s > 0.0 ? 100.0 * dropped_s / all_s : 0.0);
}

std::string table(const analysis::Report& report, bool all, const TextStyle& style) {
    constexpr std::size_t most = 32; // with what surrounds them a screen
    std::vector<Row> rows = rows_of(report, style);
    const std::string rest = shorten(rows, all ? rows.size() : most, layers_time(report));
    const std::string bar_title =
        table_bar_cells(style) >= 28 ? "utilization, loss by step" : "by step";
    std::string text =
        "\n" +
        inked(fmt::format("{}{}{}  {}  {}", left("layer", kNameColumn), right("time", 10),
                          right("util.", 8), left(bar_title, table_bar_cells(style)),
                          "(step) bound by"),
              Ink::faint, style.colour) +
        "\n";
    for (const Row& row : rows) {
        const std::string count = row.runs > 1 ? fmt::format(" ×{}", row.runs) : "";
        const std::string name = clipped(row.name, kNameColumn - display_width(count)) + count;
        text += left(name, kNameColumn) + row.cells + "\n";
    }
    return text + rest;
}

std::string saving_lines(const analysis::Report& report, const Saving& saving, std::size_t rank,
                         const TextStyle& style) {
    return wrapped(fmt::format("{}. {}", rank, saving_text(report, saving)), 2, style.width) +
           wrapped(saving_reason(report, saving), 5, style.width);
}

std::string largest_savings(const analysis::Report& report, const TextStyle& style) {
    if (report.worst.empty()) {
        return report.total.host_s > report.total.device_s
                   ? "\nThe kernels that lose most do not shorten the step: CPU launches hide "
                     "them.\n"
                   : "";
    }
    std::string text =
        "\n" + inked("potential savings from removing one bottleneck", Ink::bold, style.colour) +
        "\n";
    std::size_t rank = 0;
    for (const Saving& saving : savings_of(report)) {
        text += saving_lines(report, saving, ++rank, style);
    }
    return text;
}

std::string weak_sources(const analysis::Report& report, const TextStyle& style) {
    const std::string line = weak_sources_text(report);
    return line.empty() ? line : "\n" + wrapped(line, 0, style.width);
}

bool is_worst(const analysis::Report& report, std::size_t layer) {
    return std::any_of(report.worst.begin(), report.worst.end(),
                       [layer](const analysis::Loss& loss) { return loss.layer == layer; });
}

std::string ladders(const analysis::Report& report, const TextStyle& style) {
    constexpr std::size_t few = 2;
    const bool all = style.ladders == Ladders::all ||
                     (style.ladders == Ladders::automatic && report.layers.size() <= few);
    if (!all && style.ladders == Ladders::automatic) {
        return "\n" + wrapped("--steps worst shows the seven steps of the layers with the largest "
                              "savings, --steps all of every layer",
                              0, style.width);
    }
    std::string text;
    for (std::size_t i = 0; i < report.layers.size(); ++i) {
        if (all || is_worst(report, i)) {
            text += ladder_text(report, report.layers[i], style);
        }
    }
    return text;
}

} // namespace

std::string to_text(const analysis::Report& report, const TextStyle& style) {
    return heading(report, style) + answer(report, style) +
           table(report, style.ladders == Ladders::all, style) + further_totals(report, style) +
           largest_savings(report, style) + measured_overview(report, style.colour) +
           ceilings_table(report, style.colour) + ladders(report, style) +
           weak_sources(report, style);
}

} // namespace eyeroof::report
