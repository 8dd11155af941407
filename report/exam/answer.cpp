#include "report/exam/answer.hpp"

#include "analysis/exam/report_figures.hpp"
#include "analysis/exam/report_warnings.hpp"
#include "analysis/what_if/headline.hpp"
#include "model/gpu/serving_library.hpp"
#include "report/exam/memory_fit.hpp"
#include "report/exam/words.hpp"
#include "report/search/proofs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

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

// Traffic of the outermost memory without zero coding.
double uncoded_bytes(const analysis::Report& report) {
    double bytes = 0.0;
    for (const analysis::LayerReport& layer : report.layers) {
        bytes += static_cast<double>(layer.layer.count) * (layer.outer_bytes + layer.zeros_bytes);
    }
    return bytes;
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
        parts.push_back(
            energy_text(analysis::energy_is_upper_bound(report), total.energy_j, total.leakage_j));
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

std::vector<std::string> further_parts(const analysis::Report& report) {
    const analysis::Total& total = report.total;
    std::vector<std::string> parts;
    if (total.host_s > 0.0) {
        parts.push_back(fmt::format("CPU launch overhead {}, kernels {}",
                                    format_si(total.host_s, "s"), format_si(total.device_s, "s")));
    } else {
        parts.push_back(analysis::step_sum_text(report));
    }
    if (total.averaged_units > 0.0) {
        const bool one_type = report.machine.kind == "accelerator"; // a GPU has pipes for each type
        const std::string active =
            one_type ? percent(total.averaged_units / report.machine.units) + " of"
                     : amount(total.averaged_units);
        parts.push_back(fmt::format("{} {} active on average", active, unit_name(report)));
    }
    if (const double uncoded = uncoded_bytes(report); uncoded > 1.005 * total.outer_bytes) {
        parts.push_back(format_si(uncoded, "B") + " before zero compression");
    }
    parts.push_back(proofs_text(report));
    parts.push_back(report.fit ? memory_fit_text(*report.fit) : std::string());
    std::erase(parts, std::string());
    return parts;
}

std::vector<std::string> machine_parts(const analysis::Report& report) {
    const analysis::MachineSummary& m = report.machine;
    std::vector<std::string> facts = {"machine: " + amount(m.units) + " MAC/cycle",
                                      format_si(m.clock_hz, "Hz"),
                                      format_si(m.peak_macs_per_s, "MAC/s")};
    if (std::isfinite(m.outer_bytes_per_s) && m.outer_bytes_per_s > 0.0) {
        facts.push_back(format_si(m.outer_bytes_per_s, "B/s") + " outermost memory");
    }
    if (!m.dataflow.empty()) {
        facts.push_back("dataflow " + masked_controls(m.dataflow));
    }
    return facts;
}

std::vector<std::string> library_lines(const analysis::Report& report) {
    std::map<std::string, std::vector<std::string>> served;
    std::vector<std::string> others;
    for (const analysis::LayerReport& layer : report.layers) {
        if (!layer.kernel) {
            continue;
        }
        const bool own = !layer.kernel->served.empty();
        auto& names = own ? served[layer.kernel->served] : others;
        const bool product = own || layer.kernel->mapping.has_value();
        const std::string name = masked_controls(layer.layer.name);
        if (product && std::find(names.begin(), names.end(), name) == names.end()) {
            names.push_back(name);
        }
    }
    std::vector<std::string> lines;
    for (const auto& [library, names] : served) {
        lines.push_back(
            fmt::format("kernels of {}: {}", masked_controls(library), fmt::join(names, ", ")));
    }
    const std::string asked = model::serving_words(model::serving_library(report.scenario.library));
    if (!others.empty() && !(lines.empty() && asked.empty())) {
        const std::string none =
            lines.empty() ? "no measured kernels of " + masked_controls(asked) + "; " : "";
        lines.push_back(
            fmt::format("{}constants of their class: {}", none, fmt::join(others, ", ")));
    }
    return lines;
}

std::string weak_sources_text(const analysis::Report& report) {
    std::vector<std::string> fields = report.machine.weak_sources;
    std::ranges::replace(fields, std::string(), std::string("all without a source of their own"));
    return fields.empty()
               ? std::string()
               : fmt::format("Unsourced values of this machine: {}.", fmt::join(fields, ", "));
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
