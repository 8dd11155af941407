#include "analysis/measured/traced.hpp"
#include "base/lines.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis {

namespace {

constexpr std::size_t kTraceRows = 20;
constexpr std::size_t kTraceWidth = 98;

std::string share_text(double part, double whole) {
    return fmt::format("{:>5.1f} %", whole > 0.0 ? 100.0 * part / whole : 0.0);
}

std::string device_text(const profiles::DeviceTime& t) {
    std::string text = "\nwhere the GPU's time goes\n";
    const auto line = [&](const char* what, double seconds) {
        text += fmt::format("  {:<24}{:>12}  {}\n", what, format_si(seconds, "s"),
                            share_text(seconds, t.total_s));
    };
    line("computation", t.computation_s);
    line("exposed communication", t.exposed_communication_s);
    line("exposed copies", t.exposed_copies_s);
    line("idle", t.idle_s);
    line("  waiting for the host", t.host_bound_s);
    line("  launch latency", t.launch_latency_s);
    line("total", t.total_s);
    return text + fmt::format("  {} gaps of 1 us and more, the longest {}\n", t.gaps,
                              format_si(t.longest_gap_s, "s"));
}

std::string categories_text(const Traced& traced) {
    std::string text =
        fmt::format("\n{:<16}{:>8}{:>12}{:>9}\n", "operators", "runs", "time", "share");
    for (const TracedCategory& row : traced.categories) {
        text += fmt::format("{:<16}{:>8}{:>12}{:>7.1f} %\n", row.name, row.runs,
                            format_si(row.measured_s, "s"), 100.0 * row.share);
    }
    return text;
}

std::string rows_text(const Traced& traced) {
    const bool predicted = std::ranges::any_of(
        traced.rows, [](const TracedRow& row) { return row.predicted_s.has_value(); });
    std::string text =
        fmt::format("\n{:<38}{:>6}{:>11}{}{:>11}{:>13}{:>11}  {}\n", "operator and shape", "runs",
                    "measured", predicted ? fmt::format("{:>11}", "predicted") : "", "bound",
                    "FLOP/s", "B/s", "bound by; what keeps it from there");
    for (std::size_t i = 0; i < std::min(kTraceRows, traced.rows.size()); ++i) {
        const TracedRow& row = traced.rows[i];
        const auto optional = [](const std::optional<double>& s) {
            return s ? format_si(*s, "s") : std::string("-");
        };
        const auto rate = [&](double amount, const char* unit) {
            return amount > 0.0 && row.measured_s > 0.0 ? format_si(amount / row.measured_s, unit)
                                                        : std::string("-");
        };
        const std::string mark = row.found == formats::Found::exact     ? ""
                                 : row.found == formats::Found::assumed ? " ~"
                                                                        : " ≥";
        text += fmt::format(
            "{}{}{:>6}{:>11}{}{:>11}{:>13}{:>11}  {}\n", left(row.layer, 35), left(mark, 3),
            row.count, format_si(row.measured_s, "s"),
            predicted ? fmt::format("{:>11}", optional(row.predicted_s)) : "",
            optional(row.bound_s), rate(row.flops, "FLOP/s"), rate(row.bytes, "B/s"),
            row.bound_by.empty() ? ""
                                 : fmt::format("{}{}; {}", row.bound_by,
                                               row.above_roof() ? " (above it)" : "", row.cause));
    }
    if (traced.rows.size() > kTraceRows) {
        text += fmt::format("… and {} more\n", traced.rows.size() - kTraceRows);
    }
    const bool marked = std::ranges::any_of(
        traced.rows, [](const TracedRow& row) { return row.found != formats::Found::exact; });
    return text + (marked ? "~ something of its shape is assumed; ≥ a bound from its tensors' "
                            "bytes alone\n"
                          : "");
}

std::string changes_text(const Traced& traced) {
    if (traced.changes.empty()) {
        return {};
    }
    const double step_s = traced.device ? traced.device->total_s : traced.kernel_s;
    std::string text = "\nchanges, and at most what each alone saves of the step\n";
    std::size_t rank = 0;
    for (const TracedChange& change : traced.changes) {
        text +=
            wrapped(fmt::format("{}. {}: {} ({:.1f} %). {}", ++rank, change.what,
                                format_si(change.saves_s, "s"),
                                step_s > 0.0 ? 100.0 * change.saves_s / step_s : 0.0, change.why),
                    2, kTraceWidth);
    }
    return text;
}

} // namespace

std::string traced_text(const Traced& traced) {
    std::string text =
        fmt::format("\nstep: {}; {:.1f} % of {} of kernels belong to {} operators "
                    "of known work, {:.1f} % of these have a place below a roof\n",
                    traced.step, 100.0 * traced.layered_share(), format_si(traced.kernel_s, "s"),
                    traced.rows.size(), 100.0 * traced.placed_share());
    if (traced.device) {
        text += device_text(*traced.device);
    }
    return text + categories_text(traced) + rows_text(traced) + changes_text(traced);
}

} // namespace eyeroof::analysis
