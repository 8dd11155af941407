#include "report/measured/measured_text.hpp"

#include "analysis/exam/report_figures.hpp"
#include "base/lines.hpp"
#include "base/operation_rate.hpp"
#include "base/units.hpp"
#include "model/eyexam/chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace eyeroof::report {

namespace {

constexpr std::size_t kMostUnmatched = 5;

std::string figure(double value, const std::string& unit) {
    return unit == "%" ? fmt::format("{:.0f} %", value) : format_si(value, unit);
}

// Cut at `width`, without blanks behind.
std::string clipped(std::string_view text, std::size_t width) {
    return left(text, std::min(display_width(masked_controls(text)), width));
}

std::string executions_text(const analysis::LayerMeasurement& m) {
    if (m.executions == 1) {
        return "one execution";
    }
    return fmt::format("{}{} executions", m.executions_assumed ? "what is taken for " : "",
                       m.executions);
}

std::string check_text(const analysis::LayerReport& layer, const analysis::LayerMeasurement& m) {
    const double macs = static_cast<double>(layer.macs);
    const double needed = macs > 0.0 ? 2.0 * macs : static_cast<double>(layer.flops);
    const char* const meaning = m.work_check == profiles::WorkCheck::fits      ? "fits"
                                : m.work_check == profiles::WorkCheck::padding ? "padding of tiles"
                                : m.work_check == profiles::WorkCheck::fewer
                                    ? "fewer: kernels are missing, or an algorithm that needs fewer"
                                    : "more: other work is mixed in, or another algorithm";
    return fmt::format("counted operations{}: {}, {:.2f} of {} ({})",
                       m.pipe.empty() ? "" : " (mostly " + m.pipe + ")",
                       format_si(*m.flops, "FLOP"), *m.flops / needed,
                       macs > 0.0 ? "2MNK" : "the layer's", meaning);
}

} // namespace

std::string signed_time(double seconds) {
    return (seconds < 0.0 ? "−" : "+") + format_si(std::abs(seconds), "s");
}

std::string signed_share(double difference, double of) {
    if (!(of > 0.0)) {
        return {};
    }
    const double percent = 100.0 * difference / of;
    return fmt::format("{}{:.{}f} %", percent < 0.0 ? "−" : "+", std::abs(percent),
                       std::abs(percent) < 10.0 ? 1 : 0);
}

std::string disagreement_text(const analysis::Disagreement& d) {
    const std::string share = signed_share(d.measured - d.predicted, d.predicted);
    return fmt::format("step {} {}: {} {}, {} predicted{}{}", d.step, model::kStepNames[d.step - 1],
                       d.quantity, figure(d.measured, d.unit), figure(d.predicted, d.unit),
                       share.empty() ? "" : " (" + share + ")",
                       d.accounts_s ? ": " + signed_time(*d.accounts_s) : "");
}

std::string main_disagreement(const analysis::LayerMeasurement& m) {
    if (m.disagreements.empty()) {
        return "no counter disagrees";
    }
    const analysis::Disagreement& d = m.disagreements.front();
    return fmt::format("{} {}", d.step, d.quantity);
}

std::vector<std::string> measured_lines(const analysis::LayerReport& layer) {
    const analysis::LayerMeasurement& m = *layer.measured;
    std::vector<std::string> lines;
    std::string kernels =
        fmt::format("measured {} in {} kernel{} of {}, found by {} ({:.2f})",
                    format_si(m.time_s, "s"), m.launches, m.launches == 1 ? "" : "s",
                    executions_text(m), profiles::match_method_name(m.method), m.confidence);
    if (m.gap_s) {
        kernels += fmt::format(", {} of it gaps", format_si(*m.gap_s, "s"));
    }
    kernels += m.under_replay ? "; times under replay" : "";
    lines.push_back(kernels);
    std::string against =
        fmt::format("predicted {}{}: {} ({}) unexplained", format_si(m.predicted_s, "s"),
                    m.gap_s ? "" : " without launches", signed_time(m.unexplained_s),
                    signed_share(m.unexplained_s, m.predicted_s));
    if (m.in_interval) {
        against += *m.in_interval ? ", inside the prediction's interval"
                                  : ", outside the prediction's interval";
    }
    lines.push_back(against);
    for (const analysis::Disagreement& d : m.disagreements) {
        lines.push_back(disagreement_text(d));
    }
    if (m.disagreements.empty() && !m.flops && m.bytes.empty() && !m.clock_hz && !m.gap_s) {
        lines.emplace_back("the profile has no counters of this layer: it cannot say which step");
    } else {
        lines.push_back("no counter accounts for " + signed_time(m.remaining_s));
    }
    if (m.work_check != profiles::WorkCheck::unknown) {
        lines.push_back(check_text(layer, m));
    }
    return lines;
}

std::vector<std::string> measurement_lines(const analysis::Measurement& all) {
    std::vector<std::string> lines;
    if (!all.facts.empty()) {
        lines.push_back("profile: " + fmt::format("{}", fmt::join(all.facts, " · ")));
    }
    lines.push_back(
        fmt::format("{:.0f} % of the kernels' time belongs to layers", 100.0 * all.matched_share));
    for (std::size_t i = 0; i < std::min(all.unmatched.size(), kMostUnmatched); ++i) {
        const analysis::UnmatchedKernel& kernel = all.unmatched[i];
        lines.push_back(fmt::format("no layer: {} in {} launch{} of {}",
                                    format_si(kernel.time_s, "s"), kernel.calls,
                                    kernel.calls == 1 ? "" : "es", kernel.name.substr(0, 80)));
    }
    if (all.unmatched.size() > kMostUnmatched) {
        lines.push_back(fmt::format("no layer: {} more; {} in all",
                                    counted(all.unmatched.size() - kMostUnmatched, "kernel"),
                                    format_si(all.unmatched_s, "s")));
    }
    for (const std::string& note : all.notes) {
        lines.push_back("note: " + note);
    }
    return lines;
}

std::string ceiling_text(const analysis::CeilingRow& row) {
    const std::string_view unit = !row.level.empty()       ? "B/s"
                                  : !row.precision.empty() ? operation_rate_unit(row.precision)
                                                           : "s";
    std::string text = format_si(row.measured, unit);
    if (row.described > 0.0) {
        text += fmt::format(", {:.0f} % of {}", 100.0 * row.measured / row.described,
                            format_si(row.described, unit));
    }
    return text;
}

std::string measured_ladder_rows(const analysis::Report& report, const analysis::LayerReport& layer,
                                 bool colour) {
    if (!layer.measured) {
        return {};
    }
    const analysis::LayerMeasurement& m = *layer.measured;
    const analysis::WorkFigure work = analysis::work_of(layer);
    const double macs = work.unit == "MAC" ? work.amount : work.amount / 2.0;
    const double rate = macs / (m.time_s * report.machine.clock_hz);
    const double kept = m.predicted_s / m.time_s;
    const double units = analysis::units_of(report.machine, layer);
    const double share = units > 0.0 ? std::min(1.0, rate / units) : 0.0;
    const Ink ink = kept < 0.9 ? Ink::bad : Ink::warn;
    std::string text = fmt::format("  · {}{}{}  ", left("unexplained (measured)", 24),
                                   right(format_si(rate, "", 4), 9), right("", 9));
    text += bar(share, share, 20);
    text += inked(right(signed_share(m.predicted_s - m.time_s, m.time_s), 9), ink, colour) + "  " +
            clipped(main_disagreement(m), 21) + "\n";
    for (const std::string& line : measured_lines(layer)) {
        text += wrapped(line, 4, kTextColumns);
    }
    return text;
}

namespace {

// Layers with the most unexplained time over all runs, at most a dozen, in the network's order; how
// many measured ones are left.
std::vector<const analysis::LayerReport*> most_unexplained(const analysis::Report& report,
                                                           std::size_t& more) {
    constexpr std::size_t shown = 12;
    const auto unexplained = [](const analysis::LayerReport* layer) {
        return layer->measured ? std::abs(layer->measured->unexplained_s) *
                                     static_cast<double>(layer->layer.count)
                               : 0.0;
    };
    std::vector<const analysis::LayerReport*> layers;
    for (const analysis::LayerReport& layer : report.layers) {
        layers.push_back(&layer);
    }
    more = layers.size() - std::min(shown, layers.size());
    if (more > 0) {
        std::ranges::stable_sort(layers, std::ranges::greater(), unexplained);
        layers.resize(shown);
        std::ranges::sort(layers); // their order in the report
    }
    return layers;
}

std::string measured_row(const analysis::LayerReport& layer) {
    const std::string name = left(masked_controls(layer.layer.name), 18);
    if (!layer.measured) {
        return name + right("not measured", 20) + "\n";
    }
    const analysis::LayerMeasurement& m = *layer.measured;
    return fmt::format("{}{}{}{}{}  {}\n", name, right(format_si(m.predicted_s, "s"), 10),
                       right(format_si(m.time_s, "s"), 10), right(signed_time(m.unexplained_s), 12),
                       right(signed_share(m.unexplained_s, m.predicted_s), 8),
                       clipped(main_disagreement(m), 20));
}

} // namespace

std::string measured_overview(const analysis::Report& report, bool colour) {
    if (!report.measured) {
        return {};
    }
    const analysis::Measurement& all = *report.measured;
    const bool gaps = std::ranges::any_of(report.layers, [](const analysis::LayerReport& layer) {
        return layer.measured && layer.measured->gap_s.value_or(0.0) > 0.0;
    });
    const std::string title = std::string("measured, below step seven") +
                              (gaps ? ": kernels with the idle time before each" : "");
    std::string text =
        "\n" + inked(title, Ink::bold, colour) + "\n" +
        inked(fmt::format("{}{}{}{}{}  {}", left("layer", 18), right("predicted", 10),
                          right("measured", 10), right("unexplained", 12), right("", 8),
                          "step that disagrees"),
              Ink::faint, colour) +
        "\n";
    std::size_t more = 0;
    for (const analysis::LayerReport* layer : most_unexplained(report, more)) {
        text += measured_row(*layer);
    }
    if (more > 0) {
        text += fmt::format("and {} more layers; --format csv has all\n", more);
    }
    text += fmt::format(
        "{}{}{}{}{}\n", left("total", 18), right(format_si(all.predicted_s, "s"), 10),
        right(format_si(all.measured_s, "s"), 10), right(signed_time(all.unexplained_s), 12),
        right(signed_share(all.unexplained_s, all.predicted_s), 8));
    for (const analysis::Disagreement& d : all.by_step) {
        if (d.accounts_s) {
            text += wrapped(fmt::format("step {} {}, {}: {}", d.step, model::kStepNames[d.step - 1],
                                        d.quantity, signed_time(*d.accounts_s)),
                            2, kTextColumns);
        }
    }
    text += wrapped("no counter accounts for " + signed_time(all.remaining_s), 2, kTextColumns);
    for (const std::string& line : measurement_lines(all)) {
        text += wrapped(line, 2, kTextColumns);
    }
    return text;
}

std::string ceilings_table(const analysis::Report& report, bool colour) {
    if (report.ceilings.empty()) {
        return {};
    }
    std::string text =
        "\n" + inked("measured ceilings beside the description's", Ink::bold, colour) + "\n";
    for (const analysis::CeilingRow& row : report.ceilings) {
        text += fmt::format("  {}{}  spread {:.1f} %\n", left(masked_controls(row.name), 26),
                            left(ceiling_text(row), 40), 100.0 * row.spread);
    }
    for (const analysis::LayerReport& layer : report.layers) {
        if (!layer.roof) {
            continue;
        }
        const bool beyond = layer.time_s < layer.roof->time_s;
        text +=
            fmt::format("  {}{} predicted, measured ceilings allow {} ({}){}\n",
                        left(masked_controls(layer.layer.name), 24),
                        right(format_si(layer.time_s, "s"), 9), format_si(layer.roof->time_s, "s"),
                        masked_controls(layer.roof->by), beyond ? "  ! too fast" : "");
    }
    return text;
}

} // namespace eyeroof::report
