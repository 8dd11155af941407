#include "analysis/calibrate/networks.hpp"

#include "analysis/calibrate/named_cells.hpp"
#include "analysis/calibrate/validate.hpp"

#include <cmath>
#include <map>
#include <tuple>

namespace eyeroof::analysis {

namespace {

constexpr const char* kHint = "a row is network,gpu,measured_s, measured_s the seconds of a step";

void read_choices(const NamedCells& cells, const std::string& file, MeasuredNetwork& row,
                  Diagnostics& found) {
    const auto refuse = [&](const char* column, const char* code, const char* hint) {
        found.error(code, "'" + text_of(cells, column) + "' is no " + column, hint,
                    place_of(cells, column, file), column);
    };
    if (const std::string phase = text_of(cells, "phase"); !phase.empty()) {
        row.phase = phase;
        if (phase != "training" && phase != "inference") {
            refuse("phase", "bad-phase", "training or inference");
        }
    }
    row.dtype = text_of(cells, "dtype");
    if (!row.dtype.empty() && !model::data_type_from_name(row.dtype)) {
        refuse("dtype", "bad-dtype", "such as fp16");
    }
    if (const std::string batch = text_of(cells, "batch"); !batch.empty()) {
        const double value = positive_number(batch).value_or(0.0);
        row.batch = static_cast<Count>(value <= model::kMaxDimension ? value : 0.0);
        if (*row.batch < 1 || static_cast<double>(*row.batch) != value) {
            refuse("batch", "bad-batch", "a whole number of samples");
        }
    }
    if (const std::string launch = text_of(cells, "launch"); !launch.empty()) {
        row.compiled = launch == "compiled";
        const auto mode = model::launch_from_name(launch == "kernel" ? "none" : launch);
        row.launch = mode.value_or(row.launch);
        if (!mode && !row.compiled) {
            refuse("launch", "bad-launch", "eager, stream, graph, none or compiled");
        }
    }
    if (const std::string layout = text_of(cells, "layout"); !layout.empty()) {
        row.layout = layout_named(layout);
        if (!row.layout) {
            refuse("layout", "bad-layout", "channels-first (nchw) or channels-last (nhwc)");
        }
    }
}

Result<NetworkResult> predicted(const MeasuredNetwork& row, const PairsSources& sources) {
    const auto network = sources.networks(row.network);
    const auto machine = sources.machines(row.gpu);
    Diagnostics found = network.diagnostics();
    found.append(machine.diagnostics());
    if (found.has_errors()) {
        return found;
    }
    const auto* gpu = std::get_if<model::Gpu>(&machine->kind);
    if (gpu == nullptr) {
        return Result<NetworkResult>::failure("not-a-gpu", row.gpu + " is not a GPU",
                                              "`eyeroof hw list` names them");
    }
    Question question;
    question.network = network->network;
    question.edges = network->edges;
    question.machine = *machine;
    question.host = sources.hosts(*machine);
    Scenario& options = question.scenario;
    options.launch = row.launch;
    options.compiled = row.compiled;
    if (!row.compiled) { // most tables are older than fused attention
        options.attention = AttentionForm::written;
    }
    options.layout = row.layout;
    options.batch = row.batch;
    options.data_type = row.dtype.empty() ? std::nullopt : model::data_type_from_name(row.dtype);
    if (row.phase == "training") {
        options.training = TrainingOptions{row.optimizer};
    }
    const auto report = run(question);
    if (!report) {
        return report.diagnostics();
    }
    NetworkResult result{
        row, report->total.time_s, 0.0, 0.0, report->total.host_s, report->total.device_s, 0.0};
    result.low_s = report->total.low_s.value_or(result.predicted_s);
    result.high_s = report->total.high_s.value_or(result.predicted_s);
    for (const LayerReport& layer : report->layers) {
        result.naive_s += static_cast<double>(layer.layer.count) *
                          naive_roofline_s(*gpu, layer.layer, static_cast<double>(layer.flops),
                                           static_cast<double>(layer.bytes));
    }
    return result;
}

NetworkFigures figures_of(const std::vector<const NetworkResult*>& rows) {
    NetworkFigures f;
    f.rows = static_cast<int>(rows.size());
    for (const NetworkResult* r : rows) {
        const double one = 1.0 / static_cast<double>(rows.size());
        const double measured = r->row.measured_s;
        f.mape += one * std::fabs(r->predicted_s / measured - 1.0);
        f.naive_mape += one * std::fabs(r->naive_s / measured - 1.0);
        f.bias += one * std::log(r->predicted_s / measured);
        f.inside += measured >= r->low_s && measured <= r->high_s ? one : 0.0;
    }
    f.bias = std::exp(f.bias) - 1.0;
    return f;
}

} // namespace

Result<std::vector<MeasuredNetwork>> parse_networks(const std::string& text,
                                                    const std::string& file) {
    Diagnostics found;
    std::vector<MeasuredNetwork> rows;
    each_row(text, file, {"network", "gpu", "measured_s"}, kHint, found,
             [&](const NamedCells& cells, int line) {
                 MeasuredNetwork row;
                 row.line = line;
                 row.network = text_of(cells, "network");
                 row.gpu = text_of(cells, "gpu");
                 const std::string time = text_of(cells, "measured_s");
                 row.measured_s = positive_number(time).value_or(0.0);
                 if (!(row.measured_s > 0.0)) {
                     found.error("bad-time", "'" + time + "' is no positive time in seconds", kHint,
                                 place_of(cells, "measured_s", file), "measured_s");
                 }
                 if (const std::string optimizer = text_of(cells, "optimizer");
                     !optimizer.empty()) {
                     row.optimizer = optimizer;
                 }
                 row.family = text_of(cells, "family");
                 row.family =
                     row.family.empty() ? row.network.substr(0, row.network.find(':')) : row.family;
                 read_choices(cells, file, row, found);
                 rows.push_back(std::move(row));
             });
    if (found.has_errors()) {
        return found;
    }
    return rows;
}

Result<NetworksValidation> validate_networks(const std::vector<MeasuredNetwork>& rows,
                                             const PairsSources& sources) {
    NetworksValidation result;
    Diagnostics found;
    for (const MeasuredNetwork& row : rows) {
        const auto one = predicted(row, sources);
        if (one) {
            result.rows.push_back(*one);
        }
        found.append(one.diagnostics());
    }
    if (found.has_errors()) {
        return found;
    }
    std::map<std::tuple<std::string, std::string, std::string>, std::vector<const NetworkResult*>>
        groups;
    std::vector<const NetworkResult*> all;
    for (const NetworkResult& r : result.rows) {
        groups[{r.row.gpu, r.row.phase, r.row.dtype}].push_back(&r);
        all.push_back(&r);
    }
    for (const auto& [key, members] : groups) {
        NetworkFigures f = figures_of(members);
        std::tie(f.gpu, f.phase, f.dtype) = key;
        result.groups.push_back(f);
    }
    result.all = figures_of(all);
    result.all.gpu = "all";
    return result;
}

} // namespace eyeroof::analysis
