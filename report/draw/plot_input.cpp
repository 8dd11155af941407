#include "report/draw/plot_input.hpp"

#include "base/ascii.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

namespace eyeroof::report {

namespace {

std::vector<LevelBytes> bytes_of(const analysis::LayerReport& layer) {
    std::vector<LevelBytes> levels;
    for (const analysis::TrafficRow& row : layer.traffic) {
        auto found = std::find_if(levels.begin(), levels.end(), [&](const LevelBytes& level) {
            return level.level == row.level;
        });
        if (found == levels.end()) {
            found = levels.insert(levels.end(), {row.level, 0.0});
        }
        found->bytes += static_cast<double>(row.read_bytes) + static_cast<double>(row.write_bytes);
    }
    if (levels.empty()) {
        levels.push_back({analysis::kGpuMemory, layer.outer_bytes});
        // Products read tiles through L2; of all others each byte passes it at least once.
        const bool counted = layer.l2_bytes > 0.0;
        levels.push_back({"L2", counted ? layer.l2_bytes : layer.outer_bytes, !counted});
    }
    levels.front().bytes = layer.outer_bytes; // after coding, which the rows may not know
    return levels;
}

bool better_evidence(const analysis::Roof& roof, const analysis::Roof* than) {
    return than == nullptr || (roof.measured && !than->measured) ||
           (roof.measured == than->measured && roof.value > than->value);
}

using Ids = std::set<std::string>;

bool counts(const analysis::Roof& roof, analysis::RoofKind kind, const Ids* visible) {
    return roof.kind == kind && (visible == nullptr || visible->contains(roof.id));
}

const analysis::Roof* compute_roof(const analysis::PlotMachine& machine,
                                   const std::string& precision, const Ids* visible) {
    const analysis::Roof* exact = nullptr;
    const analysis::Roof* highest = nullptr;
    double peak = 0.0; // of all roofs, also of those that do not count
    for (const analysis::Roof& roof : machine.roofs) {
        peak = roof.kind == analysis::RoofKind::compute ? std::max(peak, roof.value) : peak;
        if (!counts(roof, analysis::RoofKind::compute, visible)) {
            continue;
        }
        if (!precision.empty() && roof.key == precision && better_evidence(roof, exact)) {
            exact = &roof;
        }
        if (highest == nullptr || roof.value > highest->value) {
            highest = &roof;
        }
    }
    const bool top = highest != nullptr && highest->value >= peak;
    return exact != nullptr ? exact : top ? highest : nullptr;
}

const analysis::Roof* memory_roof(const analysis::PlotMachine& machine, const std::string& level,
                                  const Ids* visible) {
    const analysis::Roof* found = nullptr;
    for (const analysis::Roof& roof : machine.roofs) {
        const bool outermost = level.empty() && found == nullptr;
        if (counts(roof, analysis::RoofKind::memory, visible) && (roof.key == level || outermost) &&
            better_evidence(roof, found)) {
            found = &roof;
        }
    }
    return found;
}

} // namespace

double PlotPoint::intensity(std::string_view level) const {
    for (const LevelBytes& entry : bytes) {
        if (level.empty() || entry.level == level) {
            return entry.bytes > 0.0 ? flops / entry.bytes : 0.0;
        }
    }
    return 0.0;
}

namespace {

PlotPoint predicted_point(const analysis::Report& report, std::size_t i, std::size_t nth) {
    const analysis::LayerReport& layer = report.layers[i];
    PlotPoint point;
    point.layer = i;
    point.nth = nth;
    point.id = fmt::format("{}/predicted/{}/{}", report.machine.id, i, layer.layer.name);
    point.name = layer.layer.name;
    point.machine = report.machine.id;
    point.flops = static_cast<double>(layer.flops);
    point.time_s = layer.time_s;
    point.low_s = layer.low_s;
    point.high_s = layer.high_s;
    point.count = static_cast<double>(layer.layer.count);
    point.bytes = bytes_of(layer);
    point.precision = model::data_type_name(layer.layer.types.input);
    point.limiter_step = layer.limiter_step;
    point.limiter = layer.limiter;
    point.source = "predicted";
    return point;
}

// What was measured of a layer, in the place of what was predicted.
PlotPoint measured_point(const analysis::PlotMachine& machine, const analysis::LayerMeasurement& m,
                         PlotPoint point) {
    const auto place = point.id.find("/predicted/");
    point.id.replace(place, std::string_view("/predicted/").size(), "/measured/");
    point.measured = true;
    point.time_s = m.kernel_s;
    point.low_s = point.high_s = std::nullopt;
    point.flops = m.flops.value_or(point.flops);
    point.source = m.flops ? "operations counted" : "operations of the layer";
    std::vector<LevelBytes> counted;
    for (const analysis::LevelMeasurement& level : m.bytes) {
        std::string name = level.level;
        for (const analysis::Roof& roof : machine.roofs) {
            name = roof.kind == analysis::RoofKind::memory && same_in_any_case(roof.key, name)
                       ? roof.key
                       : name;
        }
        counted.push_back({name, level.bytes});
    }
    point.source += counted.empty() ? ", bytes as predicted" : ", bytes counted";
    point.source += m.under_replay ? ", time under replay" : "";
    if (!counted.empty()) {
        point.bytes = std::move(counted);
    }
    point.limiter_step = m.disagreements.empty() ? 0 : m.disagreements.front().step;
    point.limiter = m.disagreements.empty() ? "" : m.disagreements.front().quantity;
    return point;
}

} // namespace

std::vector<PlotPoint> points_of(const analysis::Report& report) {
    std::vector<PlotPoint> points;
    std::map<std::string, std::size_t> seen;
    for (std::size_t i = 0; i < report.layers.size(); ++i) {
        points.push_back(predicted_point(report, i, seen[report.layers[i].layer.name]++));
    }
    return points;
}

std::map<std::string, std::string> compared_runs(const PlotInput& input) {
    std::map<std::string, std::string> runs;
    for (const PlotPoint& point : input.points) {
        if (point.measured && point.layer && !point.run.empty()) {
            runs.try_emplace(point.machine, point.run);
        }
    }
    return runs;
}

const analysis::PlotMachine* find_machine(const PlotInput& input, std::string_view id) {
    const auto found =
        std::find_if(input.machines.begin(), input.machines.end(),
                     [&](const analysis::PlotMachine& machine) { return machine.id == id; });
    return found == input.machines.end() ? nullptr : &*found;
}

void add_report(PlotInput& input, const model::Machine& machine, const analysis::Report& report) {
    if (find_machine(input, machine.id) == nullptr) {
        input.machines.push_back(analysis::roofs_of(machine));
    }
    const analysis::PlotMachine& roofs = *find_machine(input, machine.id);
    input.step_s[{machine.id, false}] = report.total.time_s;
    if (report.traced) {
        input.step_s[{machine.id, true}] = report.traced->step_s;
    }
    for (PlotPoint& point : points_of(report)) {
        const auto& measured = report.layers[*point.layer].measured;
        input.points.push_back(point);
        if (measured) {
            input.points.push_back(measured_point(roofs, *measured, std::move(point)));
        }
    }
}

std::optional<RoofLimit> limit_of(const analysis::PlotMachine& machine, const PlotPoint& point,
                                  const Ids* visible) {
    std::optional<RoofLimit> limit;
    const auto lower = [&](double flops_per_s, const analysis::Roof* roof) {
        if (!limit || flops_per_s < limit->flops_per_s) {
            limit = RoofLimit{flops_per_s, roof};
        }
    };
    if (const analysis::Roof* roof = compute_roof(machine, point.precision, visible)) {
        lower(roof->value, roof);
    }
    for (const LevelBytes& entry : point.bytes) {
        if (const analysis::Roof* roof = memory_roof(machine, entry.level, visible);
            roof && entry.bytes > 0.0) {
            lower(roof->value * point.flops / entry.bytes, roof);
        }
    }
    return limit;
}

} // namespace eyeroof::report
