#include "study/calibrate/pairs.hpp"

#include "study/text/csv.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>

namespace eyeroof::study {

using model::Result;

namespace {

using Cells = std::map<std::string, read::CsvCell>;

std::string text_of(const Cells& cells, const char* column) {
    const auto found = cells.find(column);
    return found == cells.end() ? "" : std::string(found->second.text);
}

model::SourceLocation place_of(const Cells& cells, const char* column, const std::string& file) {
    const read::CsvCell& cell = cells.at(column);
    return {file, cell.line, cell.column};
}

MeasuredPair pair_of(const Cells& cells, const std::string& file, model::Diagnostics& found) {
    MeasuredPair pair;
    pair.network = text_of(cells, "network");
    pair.from = text_of(cells, "from");
    pair.to = text_of(cells, "to");
    const std::string speedup = text_of(cells, "speedup");
    const auto [end, error] =
        std::from_chars(speedup.data(), speedup.data() + speedup.size(), pair.speedup);
    if (error != std::errc{} || end != speedup.data() + speedup.size() || !(pair.speedup > 0.0)) {
        found.error("bad-speedup", "'" + speedup + "' is no positive speed-up", {},
                    place_of(cells, "speedup", file), "speedup");
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
    pair.from_dtype = text_of(cells, "from_dtype");
    pair.to_dtype = text_of(cells, "to_dtype");
    for (const char* side : {"from_dtype", "to_dtype"}) {
        const std::string name = text_of(cells, side);
        if (!name.empty() && !model::data_type_from_name(name)) {
            found.error("bad-dtype", "'" + name + "' is no data type", {},
                        place_of(cells, side, file), side);
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

Result<PairResult> predicted(const MeasuredPair& pair, const NetworkSource& networks,
                             const MachineSource& machines, model::Launch launch) {
    const auto network = networks(pair.network);
    const auto from = machines(pair.from);
    const auto to = machines(pair.to);
    model::Diagnostics found = network.diagnostics();
    found.append(from.diagnostics());
    found.append(to.diagnostics());
    if (found.has_errors()) {
        return found;
    }
    UpgradeOptions options;
    options.from.launch = options.to.launch = static_cast<LaunchMode>(launch);
    options.from.data_type = type_of(pair.from_dtype);
    options.to.data_type = type_of(pair.to_dtype);
    if (pair.phase == "training") {
        const bool mixed = keeps_fp32_weights(main_type(*network, pair.from_dtype)) ||
                           keeps_fp32_weights(main_type(*network, pair.to_dtype));
        options.training = {pair.optimizer, mixed};
    }
    const auto result = upgrade(*network, *from, *to, options);
    if (!result) {
        return result.diagnostics();
    }
    PairResult row;
    row.pair = pair;
    row.predicted = result->speedup;
    const auto* old_gpu = std::get_if<model::Gpu>(&from->kind);
    const auto* new_gpu = std::get_if<model::Gpu>(&to->kind);
    row.peak_ratio = new_gpu->rate(main_type(*network, pair.to_dtype)).flops_per_s /
                     old_gpu->rate(main_type(*network, pair.from_dtype)).flops_per_s;
    row.bandwidth_ratio = new_gpu->dram_bytes_per_s / old_gpu->dram_bytes_per_s;
    return row;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    return n == 0 ? 1.0 : (values[(n - 1) / 2] + values[n / 2]) / 2.0;
}

std::vector<double> ranks(const std::vector<double>& values) {
    std::vector<double> result;
    for (const double v : values) {
        double rank = 0.5;
        for (const double other : values) {
            rank += other < v ? 1.0 : other == v ? 0.5 : 0.0;
        }
        result.push_back(rank);
    }
    return result;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
    const auto n = static_cast<double>(a.size());
    const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / n;
    const double mean_b = std::accumulate(b.begin(), b.end(), 0.0) / n;
    double ab = 0.0;
    double aa = 0.0;
    double bb = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        ab += (a[i] - mean_a) * (b[i] - mean_b);
        aa += (a[i] - mean_a) * (a[i] - mean_a);
        bb += (b[i] - mean_b) * (b[i] - mean_b);
    }
    return aa > 0.0 && bb > 0.0 ? ab / std::sqrt(aa * bb) : 0.0;
}

void add_figures(PairsValidation& v) {
    std::vector<double> measured;
    std::vector<double> modelled;
    for (const PairResult& row : v.rows) {
        measured.push_back(row.pair.speedup);
        modelled.push_back(row.predicted.value);
    }
    const auto n = static_cast<double>(v.rows.size());
    for (std::size_t i = 0; i < v.rows.size(); ++i) {
        PairResult& row = v.rows[i];
        std::vector<double> others = measured;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
        row.guess = median(std::move(others));
        const auto error = [&](double x) { return std::fabs(x / row.pair.speedup - 1.0) / n; };
        v.mape += error(row.predicted.value);
        v.guess_mape += error(row.guess);
        v.peak_mape += error(row.peak_ratio);
        v.bandwidth_mape += error(row.bandwidth_ratio);
        v.bias += std::log(row.predicted.value / row.pair.speedup) / n;
        const bool inside =
            row.pair.speedup >= row.predicted.low && row.pair.speedup <= row.predicted.high;
        v.inside += inside ? 1.0 / n : 0.0;
    }
    v.bias = std::exp(v.bias) - 1.0;
    v.order = v.rows.size() < 3 ? 0.0 : correlation(ranks(modelled), ranks(measured));
}

} // namespace

Result<std::vector<MeasuredPair>> parse_pairs(const std::string& text, const std::string& file) {
    model::Diagnostics found;
    read::CsvReader reader(text, file);
    read::CsvRecord record;
    std::vector<std::string> header;
    std::vector<MeasuredPair> pairs;
    while (reader.next(record, found) && found.size() < read::kShownErrors) {
        if (header.empty()) {
            for (const read::CsvCell& cell : record.cells) {
                header.emplace_back(cell.text);
            }
            for (const char* needed : {"network", "from", "to", "speedup"}) {
                if (std::find(header.begin(), header.end(), needed) == header.end()) {
                    found.error("missing-column", fmt::format("there is no column '{}'", needed),
                                "a pair is network,from,to,speedup", {file, record.line, 1});
                }
            }
            if (found.has_errors()) {
                return found;
            }
            continue;
        }
        Cells cells;
        for (std::size_t i = 0; i < header.size() && i < record.cells.size(); ++i) {
            cells[header[i]] = record.cells[i];
        }
        for (const std::string& name : header) { // a short row: empty cells at its begin
            cells.try_emplace(name, read::CsvCell{{}, record.line, 1});
        }
        pairs.push_back(pair_of(cells, file, found));
        pairs.back().line = record.line;
    }
    if (!found.has_errors() && pairs.empty()) {
        found.error("no-rows", "there is no pair", "a pair is network,from,to,speedup",
                    {file, 1, 1});
    }
    if (found.has_errors()) {
        return found;
    }
    return pairs;
}

Result<PairsValidation> validate_pairs(const std::vector<MeasuredPair>& pairs,
                                       const NetworkSource& networks, const MachineSource& machines,
                                       model::Launch launch) {
    PairsValidation result;
    model::Diagnostics found;
    for (const MeasuredPair& pair : pairs) {
        const auto row = predicted(pair, networks, machines, launch);
        if (row) {
            result.rows.push_back(*row);
        }
        found.append(row.diagnostics());
    }
    if (found.has_errors()) {
        return found;
    }
    add_figures(result);
    return result;
}

std::string pairs_text(const PairsValidation& v) {
    std::string text = fmt::format("{:<44} {:<15} {:<14} {:>8} {:>9} {:>7}  {:<14}\n", "network",
                                   "from", "to", "measured", "predicted", "error", "80 % interval");
    for (const PairResult& r : v.rows) {
        text += fmt::format("{:<44} {:<15} {:<14} {:>8.2f} {:>9.2f} {:>+6.1f}%  {:.2f} to {:.2f}\n",
                            r.pair.network.substr(0, 44), r.pair.from, r.pair.to, r.pair.speedup,
                            r.predicted.value, 100.0 * (r.predicted.value / r.pair.speedup - 1.0),
                            r.predicted.low, r.predicted.high);
    }
    return text +
           fmt::format(
               "\nmean error of {} speed-ups: {:.1f} % (bias {:+.1f} %, {:.0f} % inside, rank "
               "correlation {:.2f})\nguessing the median of the others: {:.1f} %; ratio of "
               "peaks: {:.1f} %; ratio of bandwidths: {:.1f} %\n",
               v.rows.size(), 100.0 * v.mape, 100.0 * v.bias, 100.0 * v.inside, v.order,
               100.0 * v.guess_mape, 100.0 * v.peak_mape, 100.0 * v.bandwidth_mape);
}

std::string pairs_json(const PairsValidation& v) {
    nlohmann::ordered_json json = {{"schema", "eyeroof/pairs/1"},
                                   {"mape", v.mape},
                                   {"bias", v.bias},
                                   {"inside", v.inside},
                                   {"rank_correlation", v.order},
                                   {"median_guess_mape", v.guess_mape},
                                   {"peak_ratio_mape", v.peak_mape},
                                   {"bandwidth_ratio_mape", v.bandwidth_mape},
                                   {"pairs", nlohmann::ordered_json::array()}};
    for (const PairResult& r : v.rows) {
        json["pairs"].push_back({{"line", r.pair.line},
                                 {"network", r.pair.network},
                                 {"from", r.pair.from},
                                 {"to", r.pair.to},
                                 {"measured", r.pair.speedup},
                                 {"predicted", r.predicted.value},
                                 {"low", r.predicted.low},
                                 {"high", r.predicted.high},
                                 {"median_of_others", r.guess},
                                 {"peak_ratio", r.peak_ratio},
                                 {"bandwidth_ratio", r.bandwidth_ratio}});
    }
    return json.dump(2) + "\n";
}

std::string pairs_csv(const PairsValidation& v) {
    std::string text = "network,from,to,measured,predicted,low,high,median_of_others,peak_ratio,"
                       "bandwidth_ratio\n";
    for (const PairResult& r : v.rows) {
        text += fmt::format("{},{},{},{},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f}\n",
                            read::csv_quoted(r.pair.network), r.pair.from, r.pair.to,
                            r.pair.speedup, r.predicted.value, r.predicted.low, r.predicted.high,
                            r.guess, r.peak_ratio, r.bandwidth_ratio);
    }
    return text;
}

} // namespace eyeroof::study
