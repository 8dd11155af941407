#include "analysis/diff/run_diff.hpp"

#include "profiles/device_time.hpp"
#include "profiles/matching.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace eyeroof::analysis {

using profiles::Launch;
using profiles::Operator;
using profiles::Profile;

namespace {

constexpr const char* kNoPart = "(none)";

// "aten::mm [64, 128] [128, 256]": an operator's calls with other shapes are other work.
std::string operator_text(const Operator& op) {
    std::string text = op.name;
    for (const auto& dims : op.input_dims) {
        if (!dims.empty()) {
            text += fmt::format(" [{}]", fmt::join(dims, ", "));
        }
    }
    return text;
}

std::string part_of(const Profile& profile, const Launch& launch, RunPart by) {
    if (by == RunPart::kernel) {
        return profile.kernel_of(launch).name;
    }
    if (by == RunPart::op) {
        const Operator* op = profile.operator_of(launch);
        return op == nullptr ? kNoPart : operator_text(*op);
    }
    std::string range(profile.range_of(launch));
    if (by == RunPart::layer && range.starts_with(profiles::kTracedLayer)) {
        range.erase(0, profiles::kTracedLayer.size());
    }
    return range.empty() ? kNoPart : range;
}

class Rows {
  public:
    explicit Rows(RunDiff& diff) : diff_(diff) {}

    void add(const Profile& profile, double BothSides::*side) {
        for (const Launch& launch : profile.launches) {
            const auto calls = static_cast<double>(launch.calls);
            if (launch.duration_ns < 0.0) {
                diff_.untimed.*side += calls;
                continue;
            }
            const double seconds = launch.duration_ns * 1e-9;
            RunRow& row = row_of(part_of(profile, launch, diff_.by));
            row.calls.*side += calls;
            row.time_s.*side += seconds;
            diff_.calls.*side += calls;
            diff_.time_s.*side += seconds;
        }
    }

  private:
    RunRow& row_of(const std::string& name) {
        const auto [at, fresh] = index_.emplace(name, diff_.rows.size());
        if (fresh) {
            diff_.rows.push_back({name, {}, {}});
        }
        return diff_.rows[at->second];
    }

    RunDiff& diff_;
    std::unordered_map<std::string, std::size_t> index_;
};

std::string side_name(const Profile& profile, const std::string& file) {
    return profile.run.gpu.empty() ? file : fmt::format("{} ({})", file, profile.run.gpu);
}

std::vector<RunRow> category_rows(const std::vector<RunRow>& rows,
                                  const PartCategories& categories) {
    std::map<std::string, RunRow> sums;
    for (const RunRow& row : rows) {
        const auto at = categories.find(row.name);
        RunRow& sum = sums[at == categories.end() ? "not known" : at->second];
        sum.calls.a += row.calls.a;
        sum.calls.b += row.calls.b;
        sum.time_s.a += row.time_s.a;
        sum.time_s.b += row.time_s.b;
    }
    std::vector<RunRow> made;
    for (auto& [name, sum] : sums) {
        sum.name = name;
        made.push_back(std::move(sum));
    }
    std::ranges::stable_sort(made, std::ranges::greater{},
                             [](const RunRow& row) { return std::abs(row.adds_s()); });
    return made;
}

std::vector<std::optional<double>> gate_values(const BothSides& time_s, const BothSides& calls) {
    return {time_s.a, time_s.b, time_s.change(), calls.a, calls.b, calls.change()};
}

} // namespace

std::string_view run_part_name(RunPart part) {
    for (const auto& [name, value] : kRunParts) {
        if (value == part) {
            return name;
        }
    }
    return "";
}

RunDiff diff_runs(const Profile& a, const std::string& name_a, const Profile& b,
                  const std::string& name_b, RunPart by, const PartCategories& categories) {
    RunDiff diff{side_name(a, name_a), side_name(b, name_b), by, {}, {}, {}, {}, {}, {}};
    Rows rows(diff);
    rows.add(a, &BothSides::a);
    rows.add(b, &BothSides::b);
    const auto before = profiles::device_time(a), after = profiles::device_time(b);
    if (before && after) {
        diff.window_s = {before->total_s, after->total_s};
    }
    std::stable_sort(diff.rows.begin(), diff.rows.end(), [](const RunRow& x, const RunRow& y) {
        return std::abs(x.adds_s()) > std::abs(y.adds_s());
    });
    if (!categories.empty()) {
        diff.categories = category_rows(diff.rows, categories);
    }
    return diff;
}

const GateKeys& run_gate_keys() {
    static const GateKeys keys = [] {
        GateKeys made;
        made.net = {"time_s_a", "time_s_b", change_key("time_s"),
                    "calls_a",  "calls_b",  change_key("calls")};
        made.layers = made.net;
        return made;
    }();
    return keys;
}

GateFigures run_gate_figures(const RunDiff& diff) {
    GateFigures figures{run_gate_keys(), gate_values(diff.time_s, diff.calls), {}, {}};
    for (const RunRow& row : diff.rows) {
        figures.layers.push_back({row.name, gate_values(row.time_s, row.calls)});
    }
    figures.why_none = [](const std::string&) { return "it is 0 on the first side"; };
    return figures;
}

} // namespace eyeroof::analysis
