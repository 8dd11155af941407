#include "report/sparse/sparse_answer.hpp"

#include "base/lines.hpp"
#include "base/units.hpp"
#include "report/draw/chart_scene.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::report {

namespace {

using analysis::DensityPoint;
using analysis::SparseExam;
using analysis::SparseLayer;
using model::sparse::Cost;
using model::sparse::Densities;
using model::sparse::Link;

// Cycles that one constraint adds in all layers.
struct LinkLoss {
    int step = 0;
    std::string name;
    double cycles = 0.0;
};

LinkLoss largest_loss(const SparseExam& e) {
    std::vector<LinkLoss> losses(1);
    for (const SparseLayer& layer : e.layers) {
        for (std::size_t i = 1; i < layer.cost.chain.size(); ++i) {
            const Link& link = layer.cost.chain[i];
            auto at = std::ranges::find_if(losses, [&](const LinkLoss& l) {
                return l.step == link.step && l.name == link.name;
            });
            if (at == losses.end()) {
                at = losses.insert(losses.end(), {link.step, link.name, 0.0});
            }
            at->cycles +=
                static_cast<double>(layer.count) * (link.cycles - layer.cost.chain[i - 1].cycles);
        }
    }
    return *std::ranges::max_element(losses, {}, &LinkLoss::cycles);
}

// The time and the speedup by sparsity, what costs most, and what removing it would save.
std::vector<std::string> exam_sentences(const SparseExam& e) {
    const auto seconds = [&](double cycles) { return format_si(cycles / e.clock_hz, "s"); };
    std::vector<std::string> lines = {
        seconds(e.cycles) +
        fmt::format(", {:.3g}x the speed of the same multipliers on dense tensors", e.speed_up())};
    if (e.energy_j > 0.0) {
        lines.push_back(fmt::format("{}, {:.3g}x less than dense", format_si(e.energy_j, "J"),
                                    e.dense_energy_j / e.energy_j));
    }
    const LinkLoss loss = largest_loss(e);
    lines.push_back(loss.cycles > 0.0
                        ? fmt::format("Largest loss: {} (step {}), {:.1f} % of the cycles; {} "
                                      "without it",
                                      loss.name, loss.step, 100.0 * loss.cycles / e.cycles,
                                      seconds(e.cycles - loss.cycles))
                        : std::string("Bound by the multipliers: no cycle is lost"));
    return lines;
}

std::string loss_text(const SparseLayer& l) {
    const std::size_t worst = l.costliest_link();
    const Link& link = l.cost.chain[worst];
    return worst == 0 ? std::string("nothing")
                      : fmt::format("{} {} (x {:.2f})", link.step, link.name,
                                    link.cycles / l.cost.chain[worst - 1].cycles);
}

// A column of the layer's cost.
Column<SparseLayer> cost(const char* key, const char* title, Unit unit, double Cost::*member,
                         const char* meaning = "") {
    return {key,
            title,
            unit,
            [member](const SparseLayer& l) { return l.cost.*member; },
            static_cast<unsigned>(*title == '\0' ? kPrograms : kAll),
            meaning};
}

Column<SparseLayer> density(const char* key, const char* title, double Densities::*member) {
    return {key,
            title,
            Unit::none,
            [member](const SparseLayer& l) { return l.densities.*member; },
            static_cast<unsigned>(*title == '\0' ? kPrograms : kAll),
            "share of values that are not zero"};
}

AnswerTable layers_of(const SparseExam& e, bool details) {
    constexpr const char* kNoEnergies = "0: the machine names no energies";
    const std::vector<Column<Link>> links = {
        {"step", "step", Unit::count, &Link::step, kAll, "of Eyexam's seven"},
        {"name", "constraint", Unit::none, &Link::name},
        {"cycles", "cycles", Unit::none, &Link::cycles, kAll,
         "at least, with this constraint and all before it; never falls along the chain"},
        {"why", "why", Unit::sentence, &Link::why}};
    const auto chain = [links](const SparseLayer& l) {
        return make_table<Link>({}, {}, l.cost.chain, links);
    };
    std::vector<Column<SparseLayer>> columns = {
        {"name", "layer", Unit::none, &SparseLayer::name},
        {"count", "count", Unit::count, &SparseLayer::count, kAll,
         "executions in the network; all else is of one"},
        density("input_density", "inputs", &Densities::input),
        density("weight_density", "weights", &Densities::weight),
        density("output_density", "", &Densities::output),
        {"macs", "MACs", Unit::macs, [](const SparseLayer& l) { return l.cost.macs; }},
        cost("effectual_macs", "", Unit::macs, &Cost::effectual, "with neither operand zero"),
        {"cycles", "cycles", Unit::none, [](const SparseLayer& l) { return l.cost.cycles(); }},
        {"", "busy", Unit::share,
         [](const SparseLayer& l) { return l.cost.chain.front().cycles / l.cost.cycles(); },
         kPeople, "multipliers, of the cycles"},
        cost("dense_cycles", "", Unit::none, &Cost::dense_cycles,
             "of as many multipliers on dense tensors"),
        {"", "speedup", Unit::times,
         [](const SparseLayer& l) { return l.cost.dense_cycles / l.cost.cycles(); }, kPeople},
        cost("dram_bytes", "", Unit::bytes, &Cost::dram_bytes),
        cost("energy_j", "", Unit::joules, &Cost::energy_j, kNoEnergies),
        cost("dense_energy_j", "", Unit::joules, &Cost::dense_energy_j, kNoEnergies),
        {"activations_fit", "fits", Unit::none, [](const SparseLayer& l) { return l.cost.fits; },
         kAll, "activations stay on the chip"},
        {"", "largest loss", Unit::none, loss_text, kPeople},
        {"chain", "chain", Unit::none, chain, kPrograms | (details ? kText : 0U)}};
    columns.back().head.columns = make_table<Link>({}, {}, {}, links).columns;
    return make_table("layers", "", e.layers, columns);
}

} // namespace

Answer sparse_answer(const SparseExam& e, bool details) {
    Answer a;
    a.schema = "eyeroof/sparse/1";
    a.title = e.network + " on " + e.machine + " with zeros";
    if (!e.layers.empty()) {
        a.sentences = exam_sentences(e);
    }
    a.figures = {{"network", "", e.network},
                 {"machine", "", e.machine_id},
                 {"clock_hz", "clock", e.clock_hz, Unit::hertz},
                 {"left_out", "", e.left_out, Unit::none, kPrograms,
                  "layers that do not multiply or that the machine does not run"},
                 {"totals.macs", "MACs", e.macs, Unit::macs},
                 {"totals.effectual_macs", "effectual", e.effectual, Unit::macs, kAll,
                  "with neither operand zero"},
                 {"totals.cycles", "cycles", e.cycles},
                 {"totals.time_s", "", e.cycles / e.clock_hz, Unit::seconds, kPrograms},
                 {"totals.dense_cycles", "", e.dense_cycles, Unit::none, kPrograms},
                 {"totals.energy_j", "", e.energy_j, Unit::joules, kPrograms,
                  "0: the machine names no energies"},
                 {"totals.dense_energy_j", "", e.dense_energy_j, Unit::joules, kPrograms},
                 {"totals.speed_up", "", e.speed_up(), Unit::times, kPrograms}};
    a.tables = {layers_of(e, details)};
    const auto unfit =
        std::ranges::count_if(e.layers, [](const SparseLayer& l) { return !l.cost.fits; });
    if (unfit > 0) {
        a.warnings.push_back("activations of " + counted(unfit, "layer") +
                             " do not fit on the chip");
    }
    if (!e.left_out.empty()) {
        a.notes.push_back(fmt::format("not counted: {} without multiplications or unsupported by "
                                      "the machine",
                                      counted(e.left_out.size(), "layer")));
    }
    return a;
}

namespace {

std::vector<std::string> curve_sentences(const analysis::SparseMachine& machine,
                                         const std::string& network,
                                         const std::vector<DensityPoint>& curve) {
    if (curve.empty()) {
        return {};
    }
    const auto even = analysis::break_even(curve);
    const DensityPoint& dense = curve.front();
    const DensityPoint& sparse = curve.back();
    return {(even ? fmt::format("Pays off below a density of {:.2f}", *even)
                  : std::string(dense.speed_up >= 1.0 ? "Never slower than the dense machine"
                                                      : "Always slower than the dense machine")) +
                fmt::format(": {:.3g}x at density {:.2g}, {:.3g}x at {:.2g}", dense.speed_up,
                            dense.density, sparse.speed_up, sparse.density),
            "All tensors of " + network +
                " are equally dense; speedup over the same multipliers of " + machine.name +
                " on dense tensors"};
}

Chart density_chart(const std::string& title, const std::vector<DensityPoint>& curve) {
    Chart chart;
    chart.title = title;
    chart.x_title = "share of values that are not zero";
    chart.y_title = "speedup over dense";
    ChartLine line{"one density for all tensors", {}, false, true};
    for (const DensityPoint& point : curve) {
        line.points.emplace_back(point.density, point.speed_up);
    }
    chart.lines = {std::move(line)};
    chart.marks = {{1.0, "as fast as dense", false}};
    chart.x_ticks = TickText::plain;
    chart.y_ticks = TickText::plain;
    return chart;
}

} // namespace

Answer density_curve_answer(const analysis::SparseMachine& machine, const std::string& network,
                            const std::vector<DensityPoint>& curve) {
    Answer a;
    a.schema = "eyeroof/sparse-curve/1";
    a.title = network + " on " + machine.name + ": speedup by density";
    a.sentences = curve_sentences(machine, network, curve);
    const double most = curve.empty() ? 1.0 : curve.back().speed_up;
    a.figures = {{"network", "", network},
                 {"machine", "", machine.id},
                 {"break_even_density", "",
                  curve.empty() ? std::nullopt : analysis::break_even(curve), Unit::none, kPrograms,
                  "null: there is none"}};
    a.tables = {make_table<DensityPoint>(
        "points", "", curve,
        {{"density", "density", Unit::none, &DensityPoint::density},
         {"speed_up", "speedup", Unit::times, &DensityPoint::speed_up},
         {"", "of the largest", Unit::bar,
          [most](const DensityPoint& p) { return std::min(1.0, p.speed_up / most); }, kText}})};
    a.picture = [chart = density_chart(a.title, curve)](const Canvas& canvas) {
        return draw_chart(chart, canvas);
    };
    return a;
}

} // namespace eyeroof::report
