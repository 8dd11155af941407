#include "analysis/measured/traced.hpp"
#include "base/lines.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

std::string path_text(const CriticalPath& path) {
    std::string text = "\ncritical path of the step\n";
    const auto line = [&](const char* what, double seconds) {
        text += fmt::format("  {:<24}{:>12}  {}\n", what, format_si(seconds, "s"),
                            share_text(seconds, path.total_s()));
    };
    line("computation", path.computation_s);
    line("communication", path.communication_s);
    line("copies", path.copies_s);
    line("host", path.host_s);
    line("launch latency", path.launch_s);
    line("waits on the device", path.wait_s);
    const double on_path = path.computation_s + path.communication_s;
    constexpr double kTold_s = 1e-9; // less is rounding
    if (path.kernels_s - on_path >= kTold_s) {
        text += fmt::format("  {} of kernels run beside it\n",
                            format_si(path.kernels_s - on_path, "s"));
    }
    constexpr std::size_t kShown = 3;
    for (std::size_t i = 0; i < std::min(kShown, path.longest.size()); ++i) {
        const PathKernel& kernel = path.longest[i];
        text += fmt::format("  {} ×{}  {}\n", format_si(kernel.seconds, "s"), kernel.calls,
                            left(kernel.name, 70));
    }
    return text;
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

// Kernels of no operator of known work, where they take a part of the step.
std::string unknown_text(const Traced& traced) {
    constexpr std::size_t kShown = 15;
    constexpr double kTold = 0.02;
    double all_s = 0.0;
    for (const TracedKernel& kernel : traced.unknown) {
        all_s += kernel.measured_s;
    }
    if (!(all_s > kTold * traced.kernel_s)) {
        return {};
    }
    std::string text = fmt::format("\n{:<26}{:>8}{:>12}{:>9}  {}\n", "kernels by name alone",
                                   "runs", "time", "share", "kernel");
    for (std::size_t i = 0; i < std::min(kShown, traced.unknown.size()); ++i) {
        const TracedKernel& kernel = traced.unknown[i];
        const std::string what = kernel.category + (kernel.says.empty() ? "" : ", " + kernel.says);
        text += fmt::format("{}{:>8}{:>12}{}  {}\n", left(what, 26), kernel.runs,
                            format_si(kernel.measured_s, "s"),
                            share_text(kernel.measured_s, traced.kernel_s), left(kernel.name, 45));
    }
    if (traced.unknown.size() > kShown) {
        text += fmt::format("… and {} more\n", traced.unknown.size() - kShown);
    }
    return text;
}

// The operators whose predictions miss most time.
std::string worst_text(const Traced& traced) {
    constexpr std::size_t kShown = 10;
    std::vector<const TracedRow*> rows;
    for (const TracedRow& row : traced.rows) {
        if (row.ratio()) {
            rows.push_back(&row);
        }
    }
    const auto missed = [](const TracedRow* row) {
        return std::abs(row->alone_s - row->alone_s / *row->ratio());
    };
    std::ranges::stable_sort(rows, std::ranges::greater{}, missed);
    rows.resize(std::min(kShown, rows.size()));
    std::string text = fmt::format("\n{:<38}{:>12}{:>12}{:>9}  {}\n", "largest misses, a run",
                                   "measured", "predicted", "ratio",
                                   "what the prediction does "
                                   "not know");
    for (const TracedRow* row : rows) {
        const double each = row->alone_s / static_cast<double>(row->alone_runs);
        text += fmt::format("{}{:>12}{:>12}{:>8.2f}x  {}\n", left(row->layer, 38),
                            format_si(each, "s"), format_si(each / *row->ratio(), "s"),
                            *row->ratio(), row->doubt.empty() ? "not known" : row->doubt);
    }
    return text + "\n";
}

std::string comparison_text(const Traced& traced) {
    if (traced.comparisons.empty()) {
        return {};
    }
    std::string text = fmt::format("\n{:<16}{:>8}{:>12}{:>12}{:>14}{:>14}{:>11}{:>14}\n",
                                   "predicted", "shapes", "measured", "predicted", "median error",
                                   "median ratio", "inside", "of the model");
    for (const TracedComparison& row : traced.comparisons) {
        text += fmt::format("{:<16}{:>8}{:>12}{:>12}{:>12.0f} %{:>13.2f}x{:>9.0f} %{:>12.0f} %\n",
                            row.name, row.rows, format_si(row.measured_s, "s"),
                            format_si(row.predicted_s, "s"), 100.0 * row.median_error, row.bias,
                            100.0 * row.coverage, 100.0 * row.model_coverage);
    }
    text += wrapped("kernel time of runs that no other stream shares; inside: the 80 % interval "
                    "with what a trace leaves open (clocks, caches, inferred shapes), and the "
                    "model's own",
                    2, kTraceWidth);
    text += worst_text(traced);
    for (const TracedLeftOut& out : traced.left_out) {
        text += wrapped(fmt::format("not compared: {} shapes, {}: {}", out.rows,
                                    format_si(out.measured_s, "s"), out.why),
                        2, kTraceWidth);
    }
    return text;
}

std::string modules_text(const Traced& traced) {
    constexpr double kToldShare = 0.01;
    constexpr std::size_t kMostModules = 30;
    double most = 0.0;
    for (const TracedModule& module : traced.modules) {
        most = std::max(most, module.measured_s());
    }
    if (!(most > 0.0)) {
        return {};
    }
    const bool two = traced.backward_s > 0.0;
    std::string text = fmt::format("\n{:<52}{:>9}{:>9}{:>12}{}{:>9}\n", "module", "modules",
                                   "kernels", two ? "forward" : "time",
                                   two ? fmt::format("{:>12}", "backward") : "", "share");
    std::size_t shown = 0;
    for (const TracedModule& module : traced.modules) {
        const double share = traced.kernel_s > 0.0 ? module.measured_s() / traced.kernel_s : 0.0;
        if (share < kToldShare || shown == kMostModules) {
            continue;
        }
        ++shown;
        const auto depth = static_cast<std::size_t>(std::ranges::count(module.path, '/'));
        const std::string name =
            std::string(2 * depth, ' ') + module.path.substr(module.path.rfind('/') + 1);
        text += fmt::format("{}{:>9}{:>9}{:>12}{}{:>7.1f} %\n", left(name, 52), module.instances,
                            module.kernels, format_si(module.forward_s, "s"),
                            two ? fmt::format("{:>12}", format_si(module.backward_s, "s")) : "",
                            100.0 * share);
    }
    return text;
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
    std::string text = "\n";
    for (const std::string& note : traced.notes) {
        text += wrapped("note: " + note, 2, kTraceWidth);
    }
    text +=
        fmt::format("step: {}; {:.1f} % of {} of kernels belong to {} operators "
                    "of known work, {:.1f} % of these have a place below a roof\n",
                    traced.step, 100.0 * traced.layered_share(), format_si(traced.kernel_s, "s"),
                    traced.rows.size(), 100.0 * traced.placed_share());
    if (traced.device) {
        text += device_text(*traced.device);
    }
    if (traced.path) {
        text += path_text(*traced.path);
    }
    if (traced.backward_s > 0.0) {
        text += fmt::format("\nbackward pass {}, all else {} of kernels and copies\n",
                            format_si(traced.backward_s, "s"), format_si(traced.forward_s, "s"));
    }
    return text + categories_text(traced) + (traced.rows.empty() ? "" : rows_text(traced)) +
           unknown_text(traced) + comparison_text(traced) + modules_text(traced) +
           changes_text(traced);
}

} // namespace eyeroof::analysis
