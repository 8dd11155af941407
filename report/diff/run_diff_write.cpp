#include "report/diff/run_diff_write.hpp"

#include "analysis/diff/run_diff.hpp"
#include "base/csv.hpp"
#include "base/json.hpp"
#include "base/markup.hpp"
#include "report/draw/geometry.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace eyeroof::report {

namespace {

constexpr std::size_t kMostRows = 30; // in text and Markdown
constexpr std::size_t kLongestName = 60;

bool differs(const analysis::RunRow& row, const analysis::RunDiff& diff) {
    const double all = std::max(diff.time_s.a, diff.time_s.b);
    return row.calls.a != row.calls.b || std::abs(row.adds_s()) > analysis::kToldChange * all;
}

// Rows stand by what they add: those that differ come first.
std::size_t told(const analysis::RunDiff& diff) {
    const auto count =
        std::count_if(diff.rows.begin(), diff.rows.end(),
                      [&](const analysis::RunRow& row) { return differs(row, diff); });
    return std::min(static_cast<std::size_t>(count), kMostRows);
}

std::string calls_text(const analysis::BothSides& calls) {
    return calls.a == calls.b ? fmt::format("{}", calls.a)
                              : fmt::format("{} -> {}", calls.a, calls.b);
}

std::string untimed_text(const analysis::RunDiff& diff) {
    return diff.untimed == analysis::BothSides{}
               ? ""
               : fmt::format("without a known duration, in no row: {} launches of a, {} of b\n",
                             diff.untimed.a, diff.untimed.b);
}

nlohmann::ordered_json sides_json(const analysis::BothSides& figure) {
    nlohmann::ordered_json json = {{"a", figure.a}, {"b", figure.b}};
    if (const auto change = figure.change()) {
        json["change"] = *change;
    }
    return json;
}

} // namespace

std::string run_diff_text(const analysis::RunDiff& diff) {
    std::string text =
        fmt::format("a: {}\nb: {}\n\ntime  {} -> {}  {}\ncalls {}\n{}\n", diff.name_a, diff.name_b,
                    analysis::seconds_text(diff.time_s.a), analysis::seconds_text(diff.time_s.b),
                    analysis::change_text(diff.time_s), calls_text(diff.calls), untimed_text(diff));
    if (!diff.categories.empty()) {
        text += fmt::format("{:>10} {:>10} {:>10} {:>10} {:>12}  {}\n", "added", "a", "b", "change",
                            "calls", "category");
        for (const analysis::RunRow& row : diff.categories) {
            text += fmt::format(
                "{:>10} {:>10} {:>10} {:>10} {:>12}  {}\n", analysis::added_text(row.adds_s()),
                analysis::seconds_text(row.time_s.a), analysis::seconds_text(row.time_s.b),
                analysis::change_text(row.time_s), calls_text(row.calls), row.name);
        }
        text += "\n";
    }
    const std::size_t rows = told(diff);
    text += rows == 0 ? "no time is another\n"
                      : fmt::format("{:>10} {:>10} {:>10} {:>10} {:>12}  {}\n", "added", "a", "b",
                                    "change", "calls", analysis::run_part_name(diff.by));
    for (std::size_t i = 0; i < rows; ++i) {
        const analysis::RunRow& row = diff.rows[i];
        text +=
            fmt::format("{:>10} {:>10} {:>10} {:>10} {:>12}  {}\n",
                        analysis::added_text(row.adds_s()), analysis::seconds_text(row.time_s.a),
                        analysis::seconds_text(row.time_s.b), analysis::change_text(row.time_s),
                        calls_text(row.calls), shortened(row.name, kLongestName));
    }
    return text + (rows < diff.rows.size()
                       ? fmt::format("{} more in --format csv\n", diff.rows.size() - rows)
                       : "");
}

std::string run_diff_markdown(const analysis::RunDiff& diff) {
    std::string text =
        fmt::format("| | {} | {} | change |\n|---|---|---|---|\n| time | {} | {} | {} |\n"
                    "| calls | {} | {} | {} |\n",
                    markdown_cell(diff.name_a), markdown_cell(diff.name_b),
                    analysis::seconds_text(diff.time_s.a), analysis::seconds_text(diff.time_s.b),
                    analysis::change_text(diff.time_s), diff.calls.a, diff.calls.b,
                    analysis::change_text(diff.calls));
    if (!diff.categories.empty()) {
        text +=
            "\n| category | added | before | after | change | calls |\n|---|---|---|---|---|---|\n";
    }
    for (const analysis::RunRow& row : diff.categories) {
        text +=
            fmt::format("| {} | {} | {} | {} | {} | {} |\n", markdown_cell(row.name),
                        analysis::added_text(row.adds_s()), analysis::seconds_text(row.time_s.a),
                        analysis::seconds_text(row.time_s.b), analysis::change_text(row.time_s),
                        calls_text(row.calls));
    }
    const std::size_t rows = told(diff);
    text += rows == 0 ? ""
                      : fmt::format("\n| {} | added | before | after | change | calls |\n"
                                    "|---|---|---|---|---|---|\n",
                                    analysis::run_part_name(diff.by));
    for (std::size_t i = 0; i < rows; ++i) {
        const analysis::RunRow& row = diff.rows[i];
        text +=
            fmt::format("| {} | {} | {} | {} | {} | {} |\n", markdown_cell(row.name),
                        analysis::added_text(row.adds_s()), analysis::seconds_text(row.time_s.a),
                        analysis::seconds_text(row.time_s.b), analysis::change_text(row.time_s),
                        calls_text(row.calls));
    }
    return text;
}

std::string run_diff_json(const analysis::RunDiff& diff) {
    nlohmann::ordered_json json = {{"schema", "eyeroof/run-diff/1"},
                                   {"a", diff.name_a},
                                   {"b", diff.name_b},
                                   {"by", analysis::run_part_name(diff.by)},
                                   {"time_s", sides_json(diff.time_s)},
                                   {"calls", sides_json(diff.calls)},
                                   {"untimed", sides_json(diff.untimed)},
                                   {"rows", nlohmann::ordered_json::array()}};
    const auto put = [&json](const char* key, const std::vector<analysis::RunRow>& rows) {
        for (const analysis::RunRow& row : rows) {
            json[key].push_back({{"name", row.name},
                                 {"adds_s", row.adds_s()},
                                 {"time_s", sides_json(row.time_s)},
                                 {"calls", sides_json(row.calls)}});
        }
    };
    put("rows", diff.rows);
    put("categories", diff.categories);
    return json_document(json);
}

std::string run_diff_csv(const analysis::RunDiff& diff) {
    std::string text = fmt::format("{},adds_s,time_s_a,time_s_b,calls_a,calls_b\n",
                                   analysis::run_part_name(diff.by));
    for (const analysis::RunRow& row : diff.rows) {
        text += fmt::format("{},{},{},{},{},{}\n", csv_quoted(row.name), row.adds_s(), row.time_s.a,
                            row.time_s.b, row.calls.a, row.calls.b);
    }
    return text;
}

} // namespace eyeroof::report
