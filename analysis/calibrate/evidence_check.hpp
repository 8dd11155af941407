// The value of published speedups beside the model: both, and each alone, on rows whose family,
// source, or GPU was held out. Called by `eyeroof validate --evidence` and by tests.
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

struct EvidenceCheck {
    int rows = 0, families = 0, sources = 0, gpus = 0;
    std::vector<EvidenceFigures> figures;
    std::vector<ReliabilityBin> reliability; // with the source held out

    bool operator==(const EvidenceCheck&) const = default;
};

// Rows without a prediction are passed over. "evidence" alone knows the published rows and not the
// model: its effects are three times as wide, as speed-ups are beside their residuals.
EvidenceCheck check_evidence(const std::vector<EvidenceRow>& rows, const model::Transfer& transfer);
std::string evidence_text(const EvidenceCheck& check);

} // namespace eyeroof::analysis
