#include "cli/fail_if.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace eyeroof::cli {

using analysis::GateFigures;
using Value = std::optional<double>;

GateFigures gate_figures(const analysis::MapReport& report) {
    GateFigures figures;
    figures.keys = {{"energy_pj", "cycles"},
                    {"energy_pj", "cycles", "utilization", "gap", "proved", "gain_over_dataflow"}};
    figures.net = {report.energy_pj, report.cycles};
    for (const analysis::MappedLayer& layer : report.layers) {
        const analysis::MappedLayer& source = layer.same_as ? report.layers[*layer.same_as] : layer;
        figures.layers.push_back({layer.name, {}});
        if (!source.found) {
            continue;
        }
        const mapper::SearchResult& found = *source.found;
        const double cycles = found.latency.total_cycles();
        const double value = found.certificate.value;
        figures.layers.back().values = {
            found.cost.energy_pj,
            cycles,
            static_cast<double>(found.cost.macs) / (report.units * cycles),
            found.certificate.gap,
            found.certificate.proved ? 1.0 : 0.0,
            source.preset_value > 0.0 ? Value(std::max(1.0, source.preset_value / value))
                                      : Value()};
    }
    figures.why_none = [](const std::string& key) -> std::string {
        return key == "gain_over_dataflow" ? "the dataflow has no mapping of its own there"
                                           : "no mapping was found there";
    };
    return figures;
}

GateFigures gate_figures(const analysis::Upgrade& result) {
    GateFigures figures;
    figures.keys = {{"from_s", "to_s", "speedup", "low", "high", "threshold", "probability_wrong",
                     "pays_off", "from_fits", "to_fits", "break_even_months", "outlay_usd",
                     "owned_usd_per_hour"},
                    {"from_s", "to_s", "speedup", "share_of_from"}};
    const auto yes = [](bool is) { return is ? 1.0 : 0.0; };
    figures.net = {result.from_s,
                   result.to_s,
                   result.speedup.value,
                   result.speedup.low,
                   result.speedup.high,
                   result.threshold,
                   result.probability_wrong,
                   yes(result.verdict == analysis::UpgradeVerdict::pays_off),
                   yes(result.memory.from_fits()),
                   yes(result.memory.to_fits()),
                   result.money.break_even_months,
                   result.money.outlay_usd,
                   result.money.owned_usd_per_hour};
    for (const analysis::UpgradeLayer& layer : result.layers) {
        figures.layers.push_back(
            {layer.name, {layer.from_s, layer.to_s, layer.speedup, layer.share_of_from}});
    }
    figures.why_none = [](const std::string&) -> std::string {
        return "it follows from prices: give --buy, or a GPU whose price is known";
    };
    return figures;
}

GateFigures gate_figures(const analysis::Offload& result) {
    GateFigures figures;
    figures.keys = {{"host_s", "gpu_s", "copied_s"},
                    {"host_s", "gpu_s", "in_s", "out_s", "copied_s"}};
    figures.net = {result.host_s, result.gpu_s, result.copied_s};
    for (const analysis::OffloadLayer& layer : result.layers) {
        figures.layers.push_back(
            {layer.name, {layer.host_s, layer.gpu_s, layer.in_s, layer.out_s, layer.copied_s()}});
    }
    return figures;
}

namespace {

std::vector<Value> values_of(const analysis::ErrorFigures& f) {
    return {static_cast<double>(f.rows),      f.mape, f.median, f.bias, f.naive_mape, f.coverage,
            static_cast<double>(f.unphysical)};
}

} // namespace

GateFigures gate_figures(const analysis::Validation& result) {
    GateFigures figures;
    figures.keys.layers = {"rows",       "mape",     "median",    "bias",
                           "naive_mape", "coverage", "unphysical"};
    figures.keys.net = figures.keys.layers;
    figures.keys.net.emplace_back("mean_of_groups");
    figures.net = values_of(result.all);
    figures.net.emplace_back(result.mean_of_groups);
    for (const analysis::ValidationGroup& group : result.groups) {
        figures.layers.push_back(
            {fmt::format("{}/{}/{}/{}", group.gpu, group.op, group.dtype, group.direction),
             values_of(group.figures)});
    }
    return figures;
}

GateFigures gate_figures(const analysis::PairsValidation& result) {
    const auto values = [](const analysis::PairsFigures& f) -> std::vector<Value> {
        return {static_cast<double>(f.rows), f.mape, f.guess_mape, f.inside, f.bias};
    };
    GateFigures figures;
    figures.keys.net = figures.keys.layers = {"rows", "mape", "guess_mape", "coverage", "bias"};
    figures.net = values(result.all);
    for (const analysis::PairsFigures& group : result.groups) {
        figures.layers.push_back({group.kind + "/" + group.match, values(group)});
    }
    return figures;
}

GateFigures gate_figures(const analysis::ClusterValidation& result) {
    const auto values = [](const analysis::ClusterFigures& f) -> std::vector<Value> {
        return {static_cast<double>(f.rows), f.error, f.worst, f.inside, f.within};
    };
    GateFigures figures;
    figures.keys.net = figures.keys.layers = {"rows", "mape", "worst", "coverage", "within"};
    figures.net = values(result.all);
    for (const analysis::ClusterFigures& group : result.groups) {
        figures.layers.push_back({fmt::format("{}/{}", group.table, group.metric), values(group)});
    }
    return figures;
}

GateFigures gate_figures(const analysis::NetworksValidation& result) {
    const auto values = [](const analysis::NetworkFigures& f) -> std::vector<Value> {
        return {static_cast<double>(f.rows), f.mape, f.naive_mape, f.inside, f.bias};
    };
    GateFigures figures;
    figures.keys.net = figures.keys.layers = {"rows", "mape", "naive_mape", "coverage", "bias"};
    figures.net = values(result.all);
    for (const analysis::NetworkFigures& group : result.groups) {
        figures.layers.push_back(
            {fmt::format("{}/{}/{}", group.gpu, group.phase, group.dtype), values(group)});
    }
    return figures;
}

GateFigures gate_figures(const std::vector<analysis::MachineTable>& result) {
    GateFigures figures;
    figures.keys = {{"rows"}, {"rows", "mape", "unseen_mape"}};
    double rows = 0.0;
    for (const analysis::MachineTable& table : result) {
        const auto own = static_cast<double>(table.rows.size());
        rows += own;
        figures.layers.push_back({table.id, {own, table.mape, table.unseen_mape}});
    }
    figures.net = {rows};
    figures.why_none = [](const std::string&) -> std::string {
        return "the table has no row that counts for it";
    };
    return figures;
}

void add_fail_if(CLI::App& app, std::string& expression) {
    app.add_option(
           "--fail-if", expression,
           "Exit 1 when this condition holds, such as 'time > 5 ms' or 'any.utilization < 10 %': "
           "KEY, layer.NAME.KEY, any.KEY, or all.KEY, joined by and, or; a wrong key lists all")
        ->type_name("EXPR");
}

Result<FailIf> FailIf::parse(const std::string& expression, const analysis::GateKeys& keys) {
    FailIf condition;
    condition.expression_ = expression;
    if (!expression.empty()) {
        auto gate = analysis::parse_gate(expression, keys);
        if (!gate) {
            Diagnostics wrong;
            for (Diagnostic d : gate.diagnostics()) {
                d.code = "usage";
                wrong.add(std::move(d));
            }
            return Result<FailIf>(std::move(wrong));
        }
        condition.gate_ = *std::move(gate);
    }
    return Result<FailIf>(std::move(condition));
}

Exit FailIf::write(Context& context, std::string_view text, const std::string& file,
                   const GateFigures& figures, Exit otherwise) const {
    if (!gate_ || otherwise != Exit::done) {
        return context.write(text, file, otherwise);
    }
    const auto verdict = analysis::evaluate(*gate_, figures);
    if (!verdict) {
        return context.fail(verdict.diagnostics());
    }
    const Exit exit = context.write(text, file, verdict->holds ? Exit::says_no : Exit::done);
    if (exit == Exit::says_no) {
        tell(context, *verdict);
    }
    return exit;
}

void FailIf::tell(Context& context, const analysis::Verdict& verdict) const {
    Diagnostics because;
    because.error("fail-if",
                  fmt::format("{} holds: {}", expression_, fmt::join(verdict.because, ", ")));
    context.report(because);
}

} // namespace eyeroof::cli
