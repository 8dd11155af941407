// The value of published speedups beside the model: both, and each alone, on rows whose family,
// source, or GPU was held out.
#pragma once

#include "analysis/calibrate/pairs.hpp"
#include "analysis/upgrade/evidence.hpp"
#include "model/gpu/transfer.hpp"

#include <array>
#include <string>
#include <vector>

namespace eyeroof::analysis {

// Of one way to answer, with one thing held out. Means count each family, phase and precision once.
struct EvidenceFigures {
    std::string held_out;            // "family", "source", "GPU"
    std::string way;                 // "model", "evidence", "both"
    double mape = 0.0, median = 0.0; // |answer / published - 1|; the median counts rows
    double inside = 0.0;             // share within the 80 % interval
    // At each price ratio: share on the right side; share that a verdict is given of, and of those
    // the share that is right.
    std::array<double, 3> right{}, called{}, called_right{};

    bool operator==(const EvidenceFigures&) const = default;
};

// Verdicts of `both` at the three price ratios by the chance that they state: how many, how many
// right.
struct ReliabilityBin {
    double low = 0.0, high = 1.0;
    int verdicts = 0;
    double stated = 0.0, right = 0.0; // means

    bool operator==(const ReliabilityBin&) const = default;
};

// What a decision at one price ratio can reach, with the family held out: how many published
// speedups lie so close to the ratio that an error of the stated size turns the decision.
struct DecisionLimit {
    double near = 0.0;      // share within kNearRatio of the ratio, either way
    double far_right = 0.0; // of the others: share on the right side, by model and evidence
    // Share on the right side for predictions without bias whose errors have the stated standard
    // deviation: the mean of Phi(|ln(published / ratio)| / sigma).
    double unbiased = 0.0;

    bool operator==(const DecisionLimit&) const = default;
};
inline constexpr double kNearRatio = 0.15;

struct EvidenceCheck {
    int rows = 0, families = 0, sources = 0, gpus = 0;
    std::vector<EvidenceFigures> figures;
    std::array<DecisionLimit, 3> limits;     // at each price ratio
    std::vector<ReliabilityBin> reliability; // with the source held out

    bool operator==(const EvidenceCheck&) const = default;
};

// Rows without a prediction are passed over. "evidence" alone knows the published rows and not the
// model: its effects are three times as wide, as speed-ups are beside their residuals.
EvidenceCheck check_evidence(const std::vector<EvidenceRow>& rows, const model::Transfer& transfer);
std::string evidence_text(const EvidenceCheck& check);

} // namespace eyeroof::analysis
