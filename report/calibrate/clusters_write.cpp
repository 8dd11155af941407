#include "report/calibrate/clusters_write.hpp"

#include "base/csv.hpp"
#include "base/json.hpp"
#include "base/lines.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace eyeroof::report {

namespace {

using Json = nlohmann::ordered_json;
constexpr double kRunPercent = 100.0;

std::string figures_line(const analysis::ClusterFigures& f) {
    return fmt::format("{:<34} {:<12} {:>5} {:>7.1f} {:>7.1f} {:>7.2f} {:>7.0f} {:>7.0f}\n",
                       masked_controls(f.table).substr(0, 34), f.metric, f.rows,
                       kRunPercent * f.error, kRunPercent * f.worst, f.median,
                       kRunPercent * f.within, kRunPercent * f.inside);
}

Json figures_json(const analysis::ClusterFigures& f) {
    return {{"table", f.table},   {"metric", f.metric}, {"rows", f.rows},
            {"error", f.error},   {"worst", f.worst},   {"median_ratio", f.median},
            {"within", f.within}, {"inside", f.inside}, {"too_large", f.too_large}};
}

// Ways to leave rows out that any kind of prediction has, in order of the letters.
std::vector<std::string> ways_of(const analysis::ClusterValidation& v) {
    std::set<std::string> ways;
    for (const analysis::RunBand& band : v.bands) {
        for (const auto& [way, share] : band.held_out) {
            ways.insert(way);
        }
    }
    return {ways.begin(), ways.end()};
}

std::string held_text(const analysis::RunBand& band, const std::string& way) {
    const auto found = band.held_out.find(way);
    return found == band.held_out.end() ? "-" : fmt::format("{:.0f}", kRunPercent * found->second);
}

std::string bands_text(const analysis::ClusterValidation& v) {
    const std::vector<std::string> ways = ways_of(v);
    if (ways.empty()) {
        return {};
    }
    std::string text =
        fmt::format("\nintervals by kind: fitted, rows inside it, rows inside the "
                    "program's own, and held-out\nrows inside an interval fitted "
                    "without their value, in %\n{:<24} {:>5} {:>14} {:>6} {:>7} {:>7}",
                    "kind", "rows", "interval", "width", "inside", "own");
    for (const std::string& way : ways) {
        text += fmt::format(" {:>6}", way);
    }
    text += "\n";
    for (const analysis::RunBand& b : v.bands) {
        text += fmt::format("{:<24} {:>5} {:>14} {:>5.2f}x {:>7.0f} {:>7.0f}",
                            masked_controls(b.kind).substr(0, 24), b.rows,
                            fmt::format("{:.2f} … {:.2f}", b.low, b.high), b.width(),
                            kRunPercent * b.inside, kRunPercent * b.shipped);
        for (const std::string& way : ways) {
            text += fmt::format(" {:>6}", held_text(b, way));
        }
        text += "\n";
    }
    return text;
}

// "llama-3-8b, 8 devices, tensor 1"
std::string words_of(const analysis::ClusterRow& row) {
    std::string words;
    for (const char* column : {"network", "machine", "operation", "devices", "tensor", "prompt",
                               "answer", "users", "bytes"}) {
        const auto cell = row.cells.find(column);
        if (cell != row.cells.end() && !cell->second.empty()) {
            const bool name = std::string_view(column) == "network" ||
                              std::string_view(column) == "machine" ||
                              std::string_view(column) == "operation";
            words += (words.empty() ? "" : ", ") + (name ? "" : std::string(column) + " ") +
                     cell->second;
        }
    }
    return masked_controls(words);
}

} // namespace

std::string clusters_text(const analysis::ClusterValidation& v, std::size_t worst) {
    std::string text = fmt::format(
        "{} of published runs held out: mean error {:.1f} %, {:.0f} % inside the 80 % interval\n",
        counted(v.all.rows, "row"), kRunPercent * v.all.error, kRunPercent * v.all.inside);
    text += fmt::format("\n{:<34} {:<12} {:>5} {:>7} {:>7} {:>7} {:>7} {:>7}\n", "table", "metric",
                        "rows", "error %", "worst %", "median", "1.5x %", "80 % in");
    for (const analysis::ClusterFigures& f : v.groups) {
        text += figures_line(f);
    }
    text += figures_line(v.all);
    text += v.all.too_large == 0
                ? std::string()
                : fmt::format("{} that ran need more than a device's memory by this model\n",
                              counted(v.all.too_large, "row"));
    text += bands_text(v);
    std::vector<const analysis::ClusterResult*> rows;
    for (const analysis::ClusterResult& r : v.rows) {
        rows.push_back(&r);
    }
    std::ranges::sort(rows, std::ranges::greater{}, [](const analysis::ClusterResult* r) {
        return std::fabs(std::log(r->ratio()));
    });
    rows.resize(std::min(rows.size(), worst));
    text += rows.empty() ? "" : "\nfarthest off\n";
    for (const analysis::ClusterResult* r : rows) {
        text += wrapped(fmt::format("{} {}: {:.4g} predicted, {:.4g} published: {}",
                                    masked_controls(r->row.table), r->row.metric, r->predicted,
                                    r->row.published, words_of(r->row)),
                        2, kTextColumns);
    }
    return text;
}

std::string clusters_markdown(const analysis::ClusterValidation& v) {
    std::string text =
        "| table | metric | rows | mean error | worst | median ratio | within 1.5x | "
        "inside 80 % |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    const auto add = [&](const analysis::ClusterFigures& f) {
        text += fmt::format(
            "| {} | {} | {} | {:.1f} % | {:.1f} % | {:.2f} | {:.0f} % | {:.0f} % |\n",
            masked_controls(f.table), f.metric, f.rows, kRunPercent * f.error,
            kRunPercent * f.worst, f.median, kRunPercent * f.within, kRunPercent * f.inside);
    };
    for (const analysis::ClusterFigures& f : v.groups) {
        add(f);
    }
    add(v.all);
    const std::vector<std::string> ways = ways_of(v);
    if (ways.empty()) {
        return text;
    }
    text += "\n| kind | rows | interval | width | inside | inside the program's own |";
    std::string line = "\n| --- | ---: | --- | ---: | ---: | ---: |";
    for (const std::string& way : ways) {
        text += fmt::format(" {} left out |", way);
        line += " ---: |";
    }
    text += line + "\n";
    for (const analysis::RunBand& b : v.bands) {
        text += fmt::format("| {} | {} | {:.2f} to {:.2f} | {:.2f}x | {:.0f} % | {:.0f} % |",
                            masked_controls(b.kind), b.rows, b.low, b.high, b.width(),
                            kRunPercent * b.inside, kRunPercent * b.shipped);
        for (const std::string& way : ways) {
            const std::string share = held_text(b, way);
            text += fmt::format(" {}{} |", share, share == "-" ? "" : " %");
        }
        text += "\n";
    }
    return text;
}

std::string clusters_json(const analysis::ClusterValidation& v) {
    Json json = {{"schema", "eyeroof/clusters/1"},
                 {"all", figures_json(v.all)},
                 {"groups", Json::array()},
                 {"bands", Json::array()},
                 {"rows", Json::array()}};
    for (const analysis::ClusterFigures& f : v.groups) {
        json["groups"].push_back(figures_json(f));
    }
    for (const analysis::RunBand& b : v.bands) {
        json["bands"].push_back({{"kind", b.kind},
                                 {"rows", b.rows},
                                 {"low", b.low},
                                 {"high", b.high},
                                 {"inside", b.inside},
                                 {"inside_own", b.shipped},
                                 {"held_out", b.held_out}});
    }
    for (const analysis::ClusterResult& r : v.rows) {
        json["rows"].push_back({{"line", r.row.line},
                                {"table", r.row.table},
                                {"metric", r.row.metric},
                                {"held_out", r.row.held_out},
                                {"published", r.row.published},
                                {"predicted", r.predicted},
                                {"low", r.low},
                                {"high", r.high}});
        if (r.memory > 0.0) {
            json["rows"].back()["memory_bytes"] = r.memory;
            json["rows"].back()["capacity_bytes"] = r.capacity;
        }
    }
    return json_document(json);
}

std::string clusters_csv(const analysis::ClusterValidation& v) {
    std::string text = "line,table,metric,held_out,published,predicted,low,high,memory_bytes,"
                       "capacity_bytes\n";
    for (const analysis::ClusterResult& r : v.rows) {
        text += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", r.row.line, csv_quoted(r.row.table),
                            r.row.metric, r.row.held_out, r.row.published, r.predicted, r.low,
                            r.high, r.memory, r.capacity);
    }
    return text;
}

} // namespace eyeroof::report
