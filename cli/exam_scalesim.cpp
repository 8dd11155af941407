// `exam --compat scalesim`: SCALE-Sim's compute cycles beside eyeroof's own, and why they differ.
#include "analysis/exam/run.hpp"
#include "base/text_file.hpp"
#include "cli/answer.hpp"
#include "cli/exam_options.hpp"
#include "formats/scalesim.hpp"
#include "model/compat/scalesim.hpp"
#include "report/exam/scalesim_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace eyeroof::cli {

namespace {

using model::DataflowKind;

struct Array {
    Count rows = 0;
    Count cols = 0;
    DataflowKind dataflow = DataflowKind::ws;
    std::optional<model::Machine> machine; // for the comparison; a cfg has none
    bool sparse = false;
    std::map<std::string, formats::KeptWeights> kept; // by layer, where it is sparse
};

using Row = report::ScalesimRow;

bool is_row_axis(const std::string& name) {
    return name.find("row") != std::string::npos || name == "y" || name.ends_with(".y");
}

// The two sides of a machine's only array; SCALE-Sim has no other shape.
Result<Array> array_of(const model::Machine& machine) {
    Array array{1, 1, DataflowKind::ws, machine, false, {}};
    std::size_t sides = 0;
    if (const auto* accelerator = std::get_if<model::Accelerator>(&machine.kind)) {
        for (const model::Level& level : accelerator->levels) {
            for (const model::Axis& axis : level.fanout) {
                if (axis.size > 1) {
                    ++sides;
                    (is_row_axis(axis.name) ? array.rows : array.cols) *= axis.size;
                }
            }
        }
        if (!accelerator->dataflows.empty()) {
            array.dataflow = accelerator->dataflows.front().kind;
        }
    }
    if (sides < 1 || sides > 2) {
        return Result<Array>::failure(
            "unsupported",
            fmt::format("SCALE-Sim models arrays of rows and columns; {} has another shape",
                        machine.name),
            "use systolic:ROWSxCOLS, or a SCALE-Sim cfg file");
    }
    return array;
}

Result<Array> array_named(Context& context, const analysis::Scenario& scenario) {
    Result<Array> array = Array{};
    if (scenario.machine.ends_with(".cfg")) {
        const auto config = formats::load_scalesim_cfg(scenario.machine);
        if (!config) {
            return Result<Array>(config.diagnostics());
        }
        array =
            Array{config->rows, config->cols, config->dataflow, std::nullopt, config->sparse, {}};
    } else {
        const auto machine = load_machine(context, scenario.machine);
        array = machine ? array_of(*machine) : Result<Array>(machine.diagnostics());
    }
    if (array) {
        array->dataflow = scenario.dataflow.value_or(array->dataflow);
    }
    return array;
}

// The layer as its array runs it: rows of the weights that hold zeros alone are left out.
model::Layer without_zeros(const model::Layer& layer, const Array& array) {
    const auto work = model::compat::scalesim_work(layer);
    const auto at = array.kept.find(layer.name);
    if (!array.sparse || !work || at == array.kept.end()) {
        return layer;
    }
    model::Layer shorter = layer;
    const auto rows = checked_mul(work->window, at->second.kept);
    shorter.op = model::Op::bmm;
    shorter.shape = model::GemmShape{work->runs, work->pixels, work->filters,
                                     rows ? ceil_div(*rows, at->second.of) : work->window};
    return shorter;
}

// Layers that SCALE-Sim cannot count become a warning with their number.
Result<std::vector<Row>> rows_of(const model::Network& network, const Array& array) {
    std::vector<Row> rows;
    std::vector<std::pair<Diagnostic, std::vector<std::string>>> skipped; // by equal reason
    for (const model::Layer& layer : network.layers) {
        const model::Layer kept = without_zeros(layer, array);
        const auto work = model::compat::scalesim_work(kept);
        const auto cycles =
            model::compat::scalesim_compute_cycles(kept, array.rows, array.cols, array.dataflow);
        if (work && cycles) {
            rows.push_back(
                {&layer, work->macs(), *cycles,
                 model::compat::scalesim_utilization(*work, *cycles, array.rows, array.cols),
                 std::nullopt});
            continue;
        }
        for (const Diagnostic& d : cycles.diagnostics()) {
            auto at = std::find_if(skipped.begin(), skipped.end(), [&](const auto& group) {
                return group.first.message == d.message;
            });
            if (at == skipped.end()) {
                at = skipped.insert(skipped.end(), {d, {}});
            }
            at->second.push_back(layer.name);
        }
    }
    Diagnostics left_out;
    for (const auto& [d, names] : skipped) {
        left_out.warning(d.code,
                         names.size() == 1
                             ? fmt::format("{} is skipped: {}", names.front(), d.message)
                             : fmt::format("{} layers are skipped (first: {}): {}", names.size(),
                                           names.front(), d.message),
                         d.hint);
    }
    if (rows.empty()) {
        return Result<std::vector<Row>>::failure(
            "unsupported", fmt::format("SCALE-Sim can count no layer of {}", network.name),
            left_out.empty() ? "" : left_out.items().front().message);
    }
    return Result<std::vector<Row>>(std::move(rows), std::move(left_out));
}

// eyeroof's own cycles for the same layers, one execution each.
Diagnostics add_own(const model::Network& network, const Array& array,
                    const analysis::Scenario& scenario, Context& context, std::vector<Row>& rows) {
    if (!array.machine) {
        return {};
    }
    model::Network same = network;
    same.layers.clear();
    for (const Row& row : rows) {
        same.layers.push_back(*row.layer);
    }
    analysis::Scenario wanted;
    wanted.operators = analysis::Operators::all;       // the layers as they are
    wanted.policy = analysis::MappingPolicy::dataflow; // as SCALE-Sim's, its own
    wanted.dataflow = array.dataflow;
    wanted.threads = scenario.threads;
    const auto report =
        analysis::run(same, *array.machine, wanted, context.stop(), context.progress());
    if (!report) {
        return report.diagnostics();
    }
    for (std::size_t i = 0; i < rows.size() && i < report->layers.size(); ++i) {
        rows[i].own_cycles = report->layers[i].cycles;
    }
    return {};
}

} // namespace

Exit exam_scalesim(Context& context, const ExamOptions& options,
                   const analysis::Scenario& scenario) {
    const auto wired =
        analysis::load_workload(scenario.network, scenario.sizes, folders_of(context));
    auto array = array_named(context, scenario);
    if (array && array->sparse) {
        const auto text = read_text_file(scenario.network);
        array->kept = formats::scalesim_sparsity(text ? *text : std::string());
    }
    Diagnostics all = wired.diagnostics();
    all.append(array.diagnostics());
    if (all.has_errors()) {
        return context.fail(all);
    }
    const model::Network& network = wired->network;
    auto rows = rows_of(network, *array);
    if (!rows) {
        return context.fail(rows.diagnostics());
    }
    context.report(rows.diagnostics());
    const auto problems = add_own(network, *array, scenario, context, *rows);
    if (!problems.empty()) {
        return context.fail(problems);
    }
    return write_answer(
        context, report::scalesim_answer(network, array->rows, array->cols, array->dataflow, *rows),
        options.output);
}

} // namespace eyeroof::cli
