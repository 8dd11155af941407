#include "report/sparse/sparse_report.hpp"

#include "base/csv.hpp"
#include "base/json.hpp"
#include "base/lines.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace eyeroof::report {

using Json = nlohmann::ordered_json;

namespace {

// Cycles that one constraint adds in all layers.
struct LinkLoss {
    int step = 0;
    std::string name;
    double cycles = 0.0;
};

LinkLoss largest_loss(const analysis::SparseExam& e) {
    std::vector<LinkLoss> losses(1);
    for (const analysis::SparseLayer& layer : e.layers) {
        for (std::size_t i = 1; i < layer.cost.chain.size(); ++i) {
            const model::sparse::Link& link = layer.cost.chain[i];
            auto at = std::find_if(losses.begin(), losses.end(), [&](const LinkLoss& l) {
                return l.step == link.step && l.name == link.name;
            });
            if (at == losses.end()) {
                at = losses.insert(losses.end(), {link.step, link.name, 0.0});
            }
            at->cycles +=
                static_cast<double>(layer.count) * (link.cycles - layer.cost.chain[i - 1].cycles);
        }
    }
    return *std::max_element(losses.begin(), losses.end(),
                             [](const auto& a, const auto& b) { return a.cycles < b.cycles; });
}

// The time and the speedup by sparsity, what costs most, and what removing it would save.
std::string answer_lines(const analysis::SparseExam& e) {
    const auto seconds = [&](double cycles) { return format_si(cycles / e.clock_hz, "s"); };
    std::vector<std::string> parts = {
        seconds(e.cycles),
        fmt::format("{:.3g}x the speed of the same multipliers on dense tensors", e.speed_up())};
    if (e.energy_j > 0.0) {
        parts.push_back(fmt::format("{} ({:.3g}x less than dense)", format_si(e.energy_j, "J"),
                                    e.dense_energy_j / e.energy_j));
    }
    std::string text = wrapped_parts(parts, 0, kTextColumns);
    const LinkLoss loss = largest_loss(e);
    const double share = loss.cycles / e.cycles;
    text += loss.cycles > 0.0
                ? wrapped(fmt::format("Largest loss: {} (step {}), {:.1f} % of the cycles; {} "
                                      "without it",
                                      loss.name, loss.step, 100.0 * share,
                                      seconds(e.cycles - loss.cycles)),
                          0, kTextColumns)
                : std::string("Bound by the multipliers: no cycle is lost\n");
    return text;
}

std::string total_lines(const analysis::SparseExam& e) {
    std::string text = fmt::format("\ntotal: {} of {} are effectual; {} cycles at {}\n",
                                   format_si(e.effectual, "MAC"), format_si(e.macs, "MAC"),
                                   format_si(e.cycles, ""), format_si(e.clock_hz, "Hz"));
    if (!e.left_out.empty()) {
        text +=
            fmt::format("not counted: {} without multiplications or unsupported by the machine\n",
                        e.left_out.size());
    }
    return text;
}

std::string chain_lines(const analysis::SparseLayer& layer) {
    std::string text;
    for (const model::sparse::Link& link : layer.cost.chain) {
        text += fmt::format("    {}  {} {:>12.0f} cycles  {}\n", link.step, left(link.name, 22),
                            link.cycles, link.why);
    }
    return text;
}

} // namespace

std::string sparse_text(const analysis::SparseExam& e, bool details) {
    std::string text = fmt::format("{}\n{} {:>5} {:>6} {:>6} {:>11} {:>12} {:>6} {:>7}  {}\n",
                                   answer_lines(e), left("layer", 20), "count", "inputs", "weights",
                                   "MACs", "cycles", "busy", "speedup", "largest loss");
    for (const analysis::SparseLayer& l : e.layers) {
        const double ideal = l.cost.chain.front().cycles;
        const std::size_t worst = l.costliest_link();
        const model::sparse::Link& link = l.cost.chain[worst];
        text += fmt::format(
            "{} {:>5} {:>6.2f} {:>6.2f}  {:>11} {:>12.0f} {:>5.1f}% {:>6.2f}x  {}\n",
            left(masked_controls(l.name), 20), l.count, l.densities.input, l.densities.weight,
            format_si(static_cast<double>(l.cost.macs), ""), l.cost.cycles(),
            100.0 * ideal / l.cost.cycles(), l.cost.dense_cycles / l.cost.cycles(),
            worst == 0 ? std::string("nothing")
                       : fmt::format("{} {} (x {:.2f}){}", link.step, link.name,
                                     link.cycles / l.cost.chain[worst - 1].cycles,
                                     l.cost.fits ? "" : ", activations do not fit"));
        if (details) {
            text += chain_lines(l);
        }
    }
    return text + total_lines(e);
}

std::string sparse_json(const analysis::SparseExam& e) {
    Json layers = Json::array();
    for (const analysis::SparseLayer& l : e.layers) {
        Json chain = Json::array();
        for (const model::sparse::Link& link : l.cost.chain) {
            chain.push_back({{"step", link.step},
                             {"name", link.name},
                             {"cycles", link.cycles},
                             {"why", link.why}});
        }
        layers.push_back({{"name", l.name},
                          {"count", l.count},
                          {"input_density", l.densities.input},
                          {"weight_density", l.densities.weight},
                          {"output_density", l.densities.output},
                          {"macs", l.cost.macs},
                          {"effectual_macs", l.cost.effectual},
                          {"cycles", l.cost.cycles()},
                          {"dense_cycles", l.cost.dense_cycles},
                          {"dram_bytes", l.cost.dram_bytes},
                          {"energy_j", l.cost.energy_j},
                          {"dense_energy_j", l.cost.dense_energy_j},
                          {"activations_fit", l.cost.fits},
                          {"chain", std::move(chain)}});
    }
    const Json document = {{"schema", "eyeroof/sparse/1"},
                           {"network", e.network},
                           {"machine", e.machine_id},
                           {"clock_hz", e.clock_hz},
                           {"layers", std::move(layers)},
                           {"left_out", e.left_out},
                           {"totals",
                            {{"macs", e.macs},
                             {"effectual_macs", e.effectual},
                             {"cycles", e.cycles},
                             {"time_s", e.cycles / e.clock_hz},
                             {"dense_cycles", e.dense_cycles},
                             {"energy_j", e.energy_j},
                             {"dense_energy_j", e.dense_energy_j},
                             {"speed_up", e.speed_up()}}}};
    return json_document(document);
}

std::string sparse_csv(const analysis::SparseExam& e) {
    std::string text =
        "layer,count,input_density,weight_density,output_density,macs,effectual_macs,"
        "cycles,dense_cycles,dram_bytes,energy_j,dense_energy_j,activations_fit\n";
    for (const analysis::SparseLayer& l : e.layers) {
        text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_quoted(l.name), l.count,
                            l.densities.input, l.densities.weight, l.densities.output, l.cost.macs,
                            l.cost.effectual, l.cost.cycles(), l.cost.dense_cycles,
                            l.cost.dram_bytes, l.cost.energy_j, l.cost.dense_energy_j, l.cost.fits);
    }
    return text;
}

std::string density_curve_text(const analysis::SparseMachine& machine, const std::string& network,
                               const std::vector<analysis::DensityPoint>& curve) {
    const auto even = analysis::break_even(curve);
    std::string text =
        even ? fmt::format("Pays off below a density of {:.2f}", *even)
             : std::string(curve.front().speed_up >= 1.0 ? "Never slower than the dense machine"
                                                         : "Always slower than the dense machine");
    text += fmt::format(": {:.3g}x at density {:.2g}, {:.3g}x at {:.2g}\n", curve.front().speed_up,
                        curve.front().density, curve.back().speed_up, curve.back().density);
    text += wrapped(fmt::format("All tensors of {} are equally dense; speedup over the same "
                                "multipliers of {} on dense tensors",
                                masked_controls(network), masked_controls(machine.name)),
                    0, kTextColumns) +
            "\ndensity  speedup\n";
    const double most = curve.back().speed_up;
    for (const analysis::DensityPoint& point : curve) {
        text += fmt::format("{:>7.2f}  {:>7.2f}  {}\n", point.density, point.speed_up,
                            bar(point.speed_up / most, point.speed_up / most, 40));
    }
    return text;
}

std::string density_curve_json(const analysis::SparseMachine& machine, const std::string& network,
                               const std::vector<analysis::DensityPoint>& curve) {
    Json points = Json::array();
    for (const analysis::DensityPoint& point : curve) {
        points.push_back({{"density", point.density}, {"speed_up", point.speed_up}});
    }
    const auto even = analysis::break_even(curve);
    const Json document = {{"schema", "eyeroof/sparse-curve/1"},
                           {"network", network},
                           {"machine", machine.id},
                           {"points", std::move(points)},
                           {"break_even_density", even ? Json(*even) : Json(nullptr)}};
    return json_document(document);
}

std::string density_curve_csv(const std::vector<analysis::DensityPoint>& curve) {
    std::string text = "density,speed_up\n";
    for (const analysis::DensityPoint& point : curve) {
        text += fmt::format("{},{}\n", point.density, point.speed_up);
    }
    return text;
}

} // namespace eyeroof::report
