#include "analysis/calibrate/pairs.hpp"

#include "analysis/calibrate/named_cells.hpp"
#include "analysis/scenario/fields.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace eyeroof::analysis {

namespace {

// Columns that are fields of a scenario, of both sides or of one.
void read_fields(const NamedCells& cells, const std::string& file, MeasuredPair& pair,
                 Diagnostics& found) {
    for (const char* name : {"batch", "launch", "compiled", "operators", "attention"}) {
        for (const std::string side : {"", "from_", "to_"}) {
            const std::string column = side + name;
            const std::string text = text_of(cells, column.c_str());
            if (text.empty()) {
                continue;
            }
            Scenario tried;
            for (const Diagnostic& why : find_field(name)->set(tried, {text})) {
                found.error(why.code, why.message, why.hint, place_of(cells, column.c_str(), file),
                            column);
            }
            if (side != "to_") {
                pair.from_fields.emplace_back(name, text);
            }
            if (side != "from_") {
                pair.to_fields.emplace_back(name, text);
            }
        }
    }
}

void set_fields(const std::vector<std::pair<std::string, std::string>>& fields,
                Scenario& scenario) {
    for (const auto& [name, text] : fields) {
        find_field(name)->set(scenario, {text});
    }
}

MeasuredPair pair_of(const NamedCells& cells, const std::string& file, Diagnostics& found) {
    MeasuredPair pair;
    pair.network = text_of(cells, "network");
    pair.from = text_of(cells, "from");
    pair.to = text_of(cells, "to");
    const std::string speedup = text_of(cells, "speedup");
    pair.speedup = positive_number(speedup).value_or(0.0);
    if (!(pair.speedup > 0.0)) {
        found.error("bad-speedup", "'" + speedup + "' is not a positive speedup",
                    "a number above 0: time before by time after", place_of(cells, "speedup", file),
                    "speedup");
    }
    pair.to_network = text_of(cells, "to_network");
    if (const std::string items = text_of(cells, "to_items"); !items.empty()) {
        pair.to_items = positive_number(items).value_or(0.0);
        if (!(pair.to_items > 0.0)) {
            found.error("bad-items", "'" + items + "' is no positive number of items",
                        "how many times the items of `network` a run of `to_network` has",
                        place_of(cells, "to_items", file), "to_items");
        }
    }
    pair.match = text_of(cells, "match");
    pair.family = text_of(cells, "family");
    if (pair.family.empty()) {
        pair.family = pair.network.substr(0, pair.network.find(':'));
    }
    if (const std::string phase = text_of(cells, "phase"); !phase.empty()) {
        pair.phase = phase;
    }
    if (pair.phase != "training" && pair.phase != "inference") {
        found.error("bad-phase", "'" + pair.phase + "' is no phase", "training or inference",
                    place_of(cells, "phase", file), "phase");
    }
    if (const std::string optimizer = text_of(cells, "optimizer"); !optimizer.empty()) {
        pair.optimizer = optimizer;
    }
    read_fields(cells, file, pair, found);
    pair.from_dtype = text_of(cells, "from_dtype");
    pair.to_dtype = text_of(cells, "to_dtype");
    for (const char* side : {"from_dtype", "to_dtype"}) {
        const std::string name = text_of(cells, side);
        if (!name.empty() && !model::data_type_from_name(name)) {
            found.error("bad-dtype", "'" + name + "' is no data type",
                        "as in fp32, tf32, fp16, bf16, fp8 or int8", place_of(cells, side, file),
                        side);
        }
    }
    return pair;
}

std::optional<model::DataType> type_of(const std::string& name) {
    return name.empty() ? std::nullopt : model::data_type_from_name(name);
}

// The type that most of the network's arithmetic has on one side.
model::DataType main_type(const model::Network& network, const std::string& dtype) {
    if (const auto given = type_of(dtype)) {
        return *given;
    }
    std::map<model::DataType, double> macs;
    for (const model::Layer& layer : network.layers) {
        const auto work = model::work_of(layer);
        macs[layer.types.input] += work ? static_cast<double>(work->macs) : 0.0;
    }
    const auto most = std::max_element(
        macs.begin(), macs.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == macs.end() ? model::DataType::fp16 : most->first;
}

UpgradeOptions options_of(const MeasuredPair& pair, const model::Machine& from,
                          const model::Machine& to, const PairsSources& sources,
                          const Scenario& scenario) {
    UpgradeOptions options;
    options.assumptions = false;
    options.threshold = 1.0;
    options.from = options.to = scenario;
    set_fields(pair.from_fields, options.from);
    set_fields(pair.to_fields, options.to);
    for (Scenario* side : {&options.from, &options.to}) { // most are older than fused attention
        if (!side->compiled && !side->attention) {
            side->attention = AttentionForm::written;
        }
    }
    options.from_issue = sources.hosts(from);
    options.to_issue = sources.hosts(to);
    options.from.data_type = type_of(pair.from_dtype);
    options.to.data_type = type_of(pair.to_dtype);
    if (pair.phase == "training") {
        options.from.training = options.to.training = TrainingOptions{pair.optimizer};
    }
    return options;
}

Result<PairResult> predicted(const MeasuredPair& pair, const PairsSources& sources,
                             const Scenario& scenario) {
    const auto network = sources.networks(pair.network);
    const auto after = pair.to_network.empty() ? network : sources.networks(pair.to_network);
    const auto from = sources.machines(pair.from);
    const auto to = sources.machines(pair.to);
    Diagnostics found = network.diagnostics();
    if (!pair.to_network.empty()) {
        found.append(after.diagnostics());
    }
    found.append(from.diagnostics());
    found.append(to.diagnostics());
    if (found.has_errors()) {
        return found;
    }
    const auto* old_gpu = std::get_if<model::Gpu>(&from->kind);
    const auto* new_gpu = std::get_if<model::Gpu>(&to->kind);
    if (old_gpu == nullptr || new_gpu == nullptr) {
        return Result<PairResult>::failure("not-a-gpu", "a pair is of two GPUs",
                                           "`eyeroof hw list` names them");
    }
    UpgradeOptions options = options_of(pair, *from, *to, sources, scenario);
    options.edges = network->edges;
    const auto first = upgrade(network->network, *from, *to, options);
    options.edges = after->edges;
    const auto second =
        pair.to_network.empty() ? first : upgrade(after->network, *from, *to, options);
    if (!first || !second) {
        return first ? second.diagnostics() : first.diagnostics();
    }
    PairResult row;
    row.pair = pair;
    row.kind = first->kind;
    row.kernel_speedup =
        first->from_s / second->to_s * pair.to_items * static_cast<double>(second->to_batch) /
        static_cast<double>(pair.to_network.empty() ? first->from_batch : second->to_batch);
    row.operator_sigma = first->operator_sigma;
    row.peak_ratio = new_gpu->rate(main_type(after->network, pair.to_dtype)).flops_per_s /
                     old_gpu->rate(main_type(network->network, pair.from_dtype)).flops_per_s;
    row.bandwidth_ratio = new_gpu->dram_bytes_per_s / old_gpu->dram_bytes_per_s;
    return row;
}

} // namespace

Result<std::vector<MeasuredPair>> parse_pairs(const std::string& text, const std::string& file) {
    Diagnostics found;
    std::vector<MeasuredPair> pairs;
    each_row(text, file, {"network", "from", "to", "speedup"}, "a pair is network,from,to,speedup",
             found, [&](const NamedCells& cells, int line) {
                 if (cells.contains("predicted") && text_of(cells, "predicted").empty()) {
                     return;
                 }
                 pairs.push_back(pair_of(cells, file, found));
                 pairs.back().line = line;
             });
    if (found.has_errors()) {
        return found;
    }
    return pairs;
}

Result<PairsValidation> validate_pairs(const std::vector<MeasuredPair>& pairs,
                                       const PairsSources& sources, const Scenario& scenario) {
    PairsValidation result;
    Diagnostics found;
    for (const MeasuredPair& pair : pairs) {
        const auto row = predicted(pair, sources, scenario);
        if (row) {
            result.rows.push_back(*row);
        }
        found.append(row.diagnostics());
    }
    if (found.has_errors()) {
        return found;
    }
    judge_pairs(result);
    return result;
}

} // namespace eyeroof::analysis
