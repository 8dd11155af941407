#include "analysis/exam/report_warnings.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

OpenSearches open_searches(const Report& report) {
    OpenSearches open;
    for (std::size_t row = 0; row < report.layers.size(); ++row) {
        bool proved = true;
        for (const mapper::Certificate& c : report.layers[row].certificates) {
            proved = proved && c.proved;
            open.gap = std::max(open.gap, c.gap);
            open.effort = open.effort || (!c.proved && c.open_by == mapper::OpenBy::effort);
            open.stream = open.stream || c.open_by == mapper::OpenBy::stream;
        }
        if (!proved) {
            open.layers.push_back(row);
        }
    }
    return open;
}

std::string open_searches_text(const Report& report, const OpenSearches& open) {
    const auto searched =
        std::count_if(report.layers.begin(), report.layers.end(),
                      [](const LayerReport& layer) { return !layer.certificates.empty(); });
    return fmt::format(
        "{} of {} searched mappings are not proven optimal among even mappings (first: "
        "{}): optimality gap at most {:.1f} %{}",
        open.layers.size(), searched, report.layers.at(open.layers.front()).layer.name,
        100.0 * open.gap, open.stream ? "; the bound takes the DRAM as a stream" : "");
}

std::string open_searches_hint(const OpenSearches& open) {
    if (open.effort) {
        return open.stream ? "increase --search-nodes; the gap to a stream's rate stays"
                           : "increase --search-nodes";
    }
    return open.stream ? "no search closes this gap: for a proof at one rate, state the DRAM's "
                         "`run` in place of `pattern: mapping`"
                       : "limit the mappings with --constraints: not all of them were looked at";
}

std::string no_fit_text(const Report& report) {
    return !report.fit || report.fit->fits()
               ? std::string()
               : fmt::format("{} needs more memory than {} has: times are of a run that would fit",
                             report.network_name, report.machine.name);
}

Diagnostics fit_warning(const Report& report) {
    Diagnostics said;
    if (const std::string what = no_fit_text(report); !what.empty()) {
        said.warning("does-not-fit", what,
                     "fewer bits of weights (--dtype fp8, --weight-type int4), or several devices "
                     "(`eyeroof scale`, `eyeroof serve`); `eyeroof memory` shows what holds it");
    }
    return said;
}

std::string step_sum_text(const Report& report) {
    const Total& total = report.total;
    double kernels_s = 0.0;
    for (const LayerReport& layer : report.layers) {
        kernels_s += layer.time_s * static_cast<double>(layer.layer.count);
    }
    if (std::abs(kernels_s - total.time_s) <= 1e-3 * total.time_s) {
        return {};
    }
    const char* why = kernels_s > total.time_s ? "kernels of several streams overlap"
                      : total.host_s > total.device_s
                          ? "the rest is waiting for the CPU's launches"
                          : "the rest is waiting for launches, operands, "
                            "and copies";
    return fmt::format("the kernels of the layers add up to {} of the step's {}: {}",
                       format_si(kernels_s, "s"), format_si(total.time_s, "s"), why);
}

std::string uncosted_share_text(const Report& report) {
    return report.uncosted_share > 0.0
               ? fmt::format(
                     "{:.2g} % of the network's operators have no cost and are not in these "
                     "figures",
                     100.0 * report.uncosted_share)
               : std::string();
}

} // namespace eyeroof::analysis
