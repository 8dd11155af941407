#include "report/exam/answer.hpp"

#include "analysis/exam/report_figures.hpp"
#include "analysis/exam/report_warnings.hpp"
#include "analysis/what_if/headline.hpp"
#include "report/exam/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::report {

namespace {

// The part of the layers' time that one limit binds.
struct Bottleneck {
    std::size_t step = 0;
    std::string limit;
    std::size_t layers = 0;
    double time_s = 0.0;
};

// The limit that binds the layers which together take longest.
Bottleneck bottleneck(const analysis::Report& report) {
    std::vector<Bottleneck> found;
    for (const analysis::LayerReport& layer : report.layers) {
        const auto same = [&](const Bottleneck& b) {
            return b.step == layer.limiter_step && b.limit == layer.limiter;
        };
        auto at = std::ranges::find_if(found, same);
        if (at == found.end()) {
            at = found.insert(found.end(), {layer.limiter_step, layer.limiter, 0, 0.0});
        }
        at->layers += static_cast<std::size_t>(layer.layer.count);
        at->time_s += layer.time_s * static_cast<double>(layer.layer.count);
    }
    const auto worst = std::ranges::max_element(found, {}, &Bottleneck::time_s);
    return worst == found.end() ? Bottleneck{} : *worst;
}

bool alike(const analysis::Report& report, const analysis::Loss& a, const analysis::Loss& b) {
    const auto reason = [&](const analysis::Loss& loss) -> const std::string& {
        return report.layers[loss.layer].steps[loss.step - 1].reason;
    };
    return a.step == b.step && a.lost_s == b.lost_s && reason(a) == reason(b);
}

} // namespace

std::string bottleneck_text(const analysis::Report& report) {
    if (report.headline) {
        return analysis::bound_by_text(*report.headline);
    }
    const analysis::Total& total = report.total;
    if (total.host_s > total.device_s) {
        return fmt::format("Bound by CPU launch overhead: {} for {} of kernels",
                           format_si(total.host_s, "s"), format_si(total.device_s, "s"));
    }
    const Bottleneck worst = bottleneck(report);
    const double all = layers_time(report);
    if (worst.layers == 0 || !(all > 0.0)) {
        return {};
    }
    std::size_t layers = 0;
    for (const analysis::LayerReport& layer : report.layers) {
        layers += static_cast<std::size_t>(layer.layer.count);
    }
    std::string text = fmt::format("Bound by {} (step {})", worst.limit, worst.step);
    if (layers > 1) {
        text += fmt::format(": {:.0f} % of the {}, {} of {} layers", 100.0 * worst.time_s / all,
                            total.device_s > 0.0 ? "kernel time" : "time", worst.layers, layers);
    }
    return text;
}

std::string largest_saving_text(const analysis::Report& report) {
    if (report.headline) {
        return analysis::largest_saving_text(*report.headline, report.total.time_s);
    }
    const analysis::Total& total = report.total;
    if (report.worst.empty() || !(total.time_s > 0.0)) {
        return {};
    }
    const analysis::Loss& loss = report.worst.front();
    const auto saving = [&](double seconds) {
        return fmt::format("Largest saving: {} ({})", format_si(seconds, "s"),
                           percent(seconds / total.time_s));
    };
    if (total.host_s > total.device_s && total.time_s - total.device_s > loss.lost_s) {
        return saving(total.time_s - total.device_s) + " without CPU launch overhead";
    }
    const analysis::LayerReport& layer = report.layers[loss.layer];
    return fmt::format("{} in {} without its step {} loss ({})", saving(loss.lost_s),
                       layer.layer.name, loss.step, layer.steps[loss.step - 1].limit);
}

double layers_time(const analysis::Report& report) {
    double all = 0.0;
    for (const analysis::LayerReport& layer : report.layers) {
        all += layer.time_s * static_cast<double>(layer.layer.count);
    }
    return all;
}

std::vector<std::string> total_parts(const analysis::Report& report) {
    const analysis::Total& total = report.total;
    std::vector<std::string> parts = {time_text(total.time_s, total.low_s, total.high_s)};
    if (total.macs > 0.0) {
        parts.push_back(percent(total.utilization) + " utilization");
    }
    parts.push_back(total.macs > 0.0 ? format_si(total.macs, "MAC", 4)
                                     : format_si(total.flops, "op", 4));
    parts.push_back(format_si(total.outer_bytes, "B") + " moved");
    if (total.energy_j > 0.0) {
        parts.push_back(energy_text(report, total.energy_j, total.leakage_j));
    }
    return parts;
}

std::string measured_line(const analysis::Report& report) {
    if (report.traced) {
        const analysis::TracedStep& t = *report.traced;
        std::string text = fmt::format("Measured: a step of {}, the GPU busy for {}",
                                       format_si(t.step_s, "s"), format_si(t.kernels_s, "s"));
        if (t.compared_s > 0.0) {
            const bool few = 2.0 * t.compared_s < t.kernels_s;
            text += fmt::format("; of its kernels {}{} can be compared, predicted {} ({:.2f}x)",
                                few ? "only " : "", format_si(t.compared_s, "s"),
                                format_si(t.predicted_s, "s"), t.predicted_s / t.compared_s);
        }
        return text;
    }
    if (!report.measured || !(report.measured->measured_s > 0.0)) {
        return {};
    }
    const analysis::Measurement& m = *report.measured;
    return fmt::format("Measured: {} for the layers predicted at {} ({:.2f}x)",
                       format_si(m.measured_s, "s"), format_si(m.predicted_s, "s"),
                       m.predicted_s / m.measured_s);
}

std::vector<std::string> answer_lines(const analysis::Report& report) {
    std::vector<std::string> lines = {measured_line(report), bottleneck_text(report),
                                      largest_saving_text(report),
                                      analysis::uncosted_share_text(report)};
    std::erase(lines, std::string());
    return lines;
}

std::vector<Saving> savings_of(const analysis::Report& report) {
    std::vector<Saving> savings;
    for (const analysis::Loss& loss : report.worst) {
        if (!savings.empty() && alike(report, savings.back().loss, loss)) {
            ++savings.back().equal;
        } else {
            savings.push_back({loss});
        }
    }
    return savings;
}

std::string saving_text(const analysis::Report& report, const Saving& saving) {
    const analysis::Loss& loss = saving.loss;
    const analysis::LayerReport& layer = report.layers[loss.layer];
    const double share = report.total.time_s > 0.0 ? loss.lost_s / report.total.time_s : 0.0;
    const std::string others =
        saving.equal > 1
            ? fmt::format(" (and {} equal layer{})", saving.equal - 1, saving.equal > 2 ? "s" : "")
            : "";
    return fmt::format("{}{}: {} ({}), step {} {}, {}", layer.layer.name, others,
                       format_si(loss.lost_s, "s"), percent(share), loss.step,
                       model::kStepNames[loss.step - 1], layer.steps[loss.step - 1].limit);
}

const std::string& saving_reason(const analysis::Report& report, const Saving& saving) {
    return report.layers[saving.loss.layer].steps[saving.loss.step - 1].reason;
}

} // namespace eyeroof::report
