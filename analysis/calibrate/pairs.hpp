// Predicted beside measured speedups of whole networks from one GPU to another.
#pragma once

#include "analysis/calibrate/validate.hpp"
#include "analysis/upgrade/upgrade.hpp"
#include "model/gpu/transfer.hpp"

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

struct MeasuredPair {
    std::string network;    // reference, with parameters: "transformer-xl:batch=32"
    std::string to_network; // on the new GPU, where its best batch is another; empty: the same
    double to_items = 1.0;  // how many times the items a run of to_network has
    std::string from, to;
    std::string phase = "training"; // or "inference"
    std::string optimizer = "sgd_momentum";
    std::string from_dtype, to_dtype; // empty: the layers' own
    double speedup = 1.0;             // items a second, new over old
    std::string family;               // left out together; empty: the network without parameters
    // Fields of a scenario of either side: batch, launch, compiled, operators.
    std::vector<std::pair<std::string, std::string>> from_fields, to_fields;
    std::string match; // "same-batch", "best-vs-best", or nothing
    int line = 0;

    bool operator==(const MeasuredPair&) const = default;
};

// A table with the columns network, from, to, speedup and perhaps to_network, to_items, phase,
// optimizer, from_dtype, to_dtype, family, match, batch, launch, compiled, operators (also
// from_batch … of one side); others are passed over, and so are rows whose column `predicted` is
// there and empty: the catalog cannot run them. Errors, with their places: "missing-column",
// "bad-speedup", "bad-items", "bad-phase", "bad-dtype".
Result<std::vector<MeasuredPair>> parse_pairs(const std::string& text, const std::string& file);

struct PairResult {
    MeasuredPair pair;
    std::string kind;             // "training mixed": see model/gpu/transfer.hpp
    double kernel_speedup = 1.0;  // of kernels and hosts, before any transfer
    double operator_sigma = 0.0;  // of ln, by the operators' errors
    double peak_ratio = 1.0;      // of the data types' peaks
    double bandwidth_ratio = 1.0; // of DRAM
    // By a transfer that was fitted without the pair's family:
    Interval predicted;
    double sigma = 0.0;
    int families = 0;   // that sigma rests on
    double guess = 1.0; // median of the other families' measured speed-ups of this kind

    bool operator==(const PairResult&) const = default;
};

inline constexpr std::array<double, 3> kPriceRatios = {1.34, 1.64, 2.0};
inline constexpr double kStatedWrong = 1.0 - kUsualConfidence; // more: "too close to call"

// Figures of one kind and match. Mean |x / measured - 1| of each way to answer, every family
// counted once; inside: share within the 80 % intervals; order: rank correlation of predicted and
// measured (Spearman), 0 for fewer than three pairs.
struct PairsFigures {
    std::string kind, match;
    int rows = 0, families = 0;
    double mape = 0.0, kernel_mape = 0.0, guess_mape = 0.0, peak_mape = 0.0, bandwidth_mape = 0.0;
    double inside = 0.0, order = 0.0, bias = 0.0;
    // At each price ratio: share of rows on the right side of it, by prediction and by guess; the
    // mean stated chance of being wrong; the share of rows that a verdict is given of, since that
    // chance is at most kStatedWrong, and the share of those that is right (0 where there are
    // none).
    std::array<double, 3> right{}, guess_right{}, stated_wrong{}, called{}, called_right{};

    bool operator==(const PairsFigures&) const = default;
};

struct PairsValidation {
    std::vector<PairResult> rows;
    std::vector<PairsFigures> groups; // by kind and match
    PairsFigures all;
    model::Transfer transfer; // fitted on all rows

    bool operator==(const PairsValidation&) const = default;
};

using NetworkSource = std::function<Result<model::NetworkGraph>(const std::string&)>;
using HostSource = std::function<model::HostIssue(const model::Machine&)>; // of a GPU

struct PairsSources {
    NetworkSource networks;
    MachineSource machines;
    HostSource hosts;
};

// `scenario`: launch and software, on both sides. Errors: those of the networks, the machines and
// upgrade().
Result<PairsValidation> validate_pairs(const std::vector<MeasuredPair>& pairs,
                                       const PairsSources& sources, const Scenario& scenario);

// The share with the least mean |ln error|, rows of a family, kind and match counted once, drawn to
// 1 (kernels and hosts alone), and what is left as spread: a kind's own, drawn towards that of all
// kinds as if these had been four more families of it (empirical Bayes). `without`: a family that
// is left out.
model::Transfer fit_transfer(const std::vector<PairResult>& rows, const std::string& without = {});

// Fits without each family in turn, then judges it; fills the rows, groups and all.
void judge_pairs(PairsValidation& result);

} // namespace eyeroof::analysis
