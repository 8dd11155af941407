#include "study/diff/run_diff_write.hpp"

#include "study/diff/run_diff.hpp"
#include "study/draw/geometry.hpp"
#include "study/text/csv.hpp"
#include "study/text/markup.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace eyeroof::study {

namespace {

constexpr std::size_t kMostRows = 30; // in text and Markdown
constexpr std::size_t kLongestName = 60;

bool differs(const RunRow& row, const RunDiff& diff) {
    const double all = std::max(diff.time_s.a, diff.time_s.b);
    return row.calls.a != row.calls.b || std::abs(row.adds_s()) > kToldChange * all;
}

// Rows stand by what they add: those that differ come first.
std::size_t told(const RunDiff& diff) {
    const auto count = std::count_if(diff.rows.begin(), diff.rows.end(),
                                     [&](const RunRow& row) { return differs(row, diff); });
    return std::min(static_cast<std::size_t>(count), kMostRows);
}

std::string calls_text(const BothSides& calls) {
    return calls.a == calls.b ? fmt::format("{}", calls.a)
                              : fmt::format("{} -> {}", calls.a, calls.b);
}

std::string untimed_text(const RunDiff& diff) {
    return diff.untimed == BothSides{}
               ? ""
               : fmt::format("without a known duration, in no row: {} launches of a, {} of b\n",
                             diff.untimed.a, diff.untimed.b);
}

nlohmann::ordered_json sides_json(const BothSides& figure) {
    nlohmann::ordered_json json = {{"a", figure.a}, {"b", figure.b}};
    if (const auto change = figure.change()) {
        json["change"] = *change;
    }
    return json;
}

} // namespace

std::string run_diff_text(const RunDiff& diff) {
    std::string text =
        fmt::format("a: {}\nb: {}\n\ntime  {} -> {}  {}\ncalls {}\n{}\n", diff.name_a, diff.name_b,
                    seconds_text(diff.time_s.a), seconds_text(diff.time_s.b),
                    change_text(diff.time_s), calls_text(diff.calls), untimed_text(diff));
    const std::size_t rows = told(diff);
    text += rows == 0 ? "no time is another\n"
                      : fmt::format("{:>10} {:>10} {:>10} {:>10} {:>12}  {}\n", "added", "a", "b",
                                    "change", "calls", run_part_name(diff.by));
    for (std::size_t i = 0; i < rows; ++i) {
        const RunRow& row = diff.rows[i];
        text += fmt::format("{:>10} {:>10} {:>10} {:>10} {:>12}  {}\n", added_text(row.adds_s()),
                            seconds_text(row.time_s.a), seconds_text(row.time_s.b),
                            change_text(row.time_s), calls_text(row.calls),
                            shortened(row.name, kLongestName));
    }
    return text + (rows < diff.rows.size()
                       ? fmt::format("{} more in --format csv\n", diff.rows.size() - rows)
                       : "");
}

std::string run_diff_markdown(const RunDiff& diff) {
    std::string text =
        fmt::format("| | {} | {} | change |\n|---|---|---|---|\n| time | {} | {} | {} |\n"
                    "| calls | {} | {} | {} |\n",
                    markdown_cell(diff.name_a), markdown_cell(diff.name_b),
                    seconds_text(diff.time_s.a), seconds_text(diff.time_s.b),
                    change_text(diff.time_s), diff.calls.a, diff.calls.b, change_text(diff.calls));
    const std::size_t rows = told(diff);
    text += rows == 0 ? ""
                      : fmt::format("\n| {} | added | before | after | change | calls |\n"
                                    "|---|---|---|---|---|---|\n",
                                    run_part_name(diff.by));
    for (std::size_t i = 0; i < rows; ++i) {
        const RunRow& row = diff.rows[i];
        text +=
            fmt::format("| {} | {} | {} | {} | {} | {} |\n", markdown_cell(row.name),
                        added_text(row.adds_s()), seconds_text(row.time_s.a),
                        seconds_text(row.time_s.b), change_text(row.time_s), calls_text(row.calls));
    }
    return text;
}

std::string run_diff_json(const RunDiff& diff) {
    nlohmann::ordered_json json = {{"schema", "eyeroof/run-diff/1"},
                                   {"a", diff.name_a},
                                   {"b", diff.name_b},
                                   {"by", run_part_name(diff.by)},
                                   {"time_s", sides_json(diff.time_s)},
                                   {"calls", sides_json(diff.calls)},
                                   {"untimed", sides_json(diff.untimed)},
                                   {"rows", nlohmann::ordered_json::array()}};
    for (const RunRow& row : diff.rows) {
        json["rows"].push_back({{"name", row.name},
                                {"adds_s", row.adds_s()},
                                {"time_s", sides_json(row.time_s)},
                                {"calls", sides_json(row.calls)}});
    }
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string run_diff_csv(const RunDiff& diff) {
    std::string text =
        fmt::format("{},adds_s,time_s_a,time_s_b,calls_a,calls_b\n", run_part_name(diff.by));
    for (const RunRow& row : diff.rows) {
        text += fmt::format("{},{},{},{},{},{}\n", read::csv_quoted(row.name), row.adds_s(),
                            row.time_s.a, row.time_s.b, row.calls.a, row.calls.b);
    }
    return text;
}

} // namespace eyeroof::study
