// Predicted beside measured speed-ups of whole networks from one GPU to another.
// Called by `eyeroof validate --pairs`.
// Knows no file of machines or networks: they come through functions.
#pragma once

#include "study/calibrate/validate.hpp"
#include "study/upgrade/upgrade.hpp"

#include <functional>
#include <string>
#include <vector>

namespace eyeroof::study {

struct MeasuredPair {
    std::string network; // reference, with parameters: "transformer-xl:batch=32"
    std::string from, to;
    std::string phase = "training"; // or "inference"
    std::string optimizer = "sgd_momentum";
    std::string from_dtype, to_dtype; // empty: the layers' own
    double speedup = 1.0;
    int line = 0;

    bool operator==(const MeasuredPair&) const = default;
};

// A table with the columns network, from, to, speedup and perhaps phase, optimizer, from_dtype,
// to_dtype; others are passed over. Errors, with their places: "missing-column", "bad-speedup",
// "bad-phase", "bad-dtype".
model::Result<std::vector<MeasuredPair>> parse_pairs(const std::string& text,
                                                     const std::string& file);

struct PairResult {
    MeasuredPair pair;
    Interval predicted;
    double peak_ratio = 1.0;      // of the data types' peaks
    double bandwidth_ratio = 1.0; // of DRAM
    double guess = 1.0;           // median of the other pairs' measured speed-ups

    bool operator==(const PairResult&) const = default;
};

// Mean |x / measured - 1| of each way to answer; inside: share within the 80 % intervals; order:
// rank correlation of predicted and measured (Spearman), 0 for fewer than three pairs.
struct PairsValidation {
    std::vector<PairResult> rows;
    double mape = 0.0, guess_mape = 0.0, peak_mape = 0.0, bandwidth_mape = 0.0;
    double inside = 0.0, order = 0.0, bias = 0.0;

    bool operator==(const PairsValidation&) const = default;
};

using NetworkSource = std::function<model::Result<model::Network>(const std::string&)>;

// Errors: those of the networks, the machines and upgrade().
model::Result<PairsValidation> validate_pairs(const std::vector<MeasuredPair>& pairs,
                                              const NetworkSource& networks,
                                              const MachineSource& machines, model::Launch launch);

std::string pairs_text(const PairsValidation& result);
std::string pairs_json(const PairsValidation& result); // eyeroof/pairs/1
std::string pairs_csv(const PairsValidation& result);

} // namespace eyeroof::study
