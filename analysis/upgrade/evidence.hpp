// Published speedups of whole networks as evidence beside a prediction: a table with sources, and
// their weight for a question by similarity.
// Loaded by with_surroundings(); used by upgrade().
#pragma once

#include "base/result.hpp"
#include "hwdb/catalog.hpp"

#include <memory>
#include <string>
#include <vector>

namespace eyeroof::analysis {

// What speed-ups have in common: the network's family, what is run, and the two GPUs.
struct EvidenceKey {
    std::string family;    // leading letters of the network's name: "resnet" of resnet50
    std::string phase;     // "training" or "inference"
    std::string precision; // "mixed" or "full", see TransferKind
    std::string from, to;  // GPUs by name
    std::string from_architecture, to_architecture;

    bool operator==(const EvidenceKey&) const = default;
};

std::string family_of(const std::string& network);

struct EvidenceRow {
    EvidenceKey key;
    std::string source, network;
    int gpus = 1;         // on each side
    double speedup = 1.0; // published: samples per second, new over old
    // Of kernels and hosts, as `validate --pairs` writes it; 0 where the program cannot run it.
    double predicted = 0.0;
    bool recipe = false; // a framework's recipe as it is; else a submission tuned by hand

    bool operator==(const EvidenceRow&) const = default;
};

struct Resemblance {
    const EvidenceRow* row = nullptr;
    double share = 0.0; // correlation of what the model may err by: 1 the same, 0 nothing in common
};

// What the evidence adds to ln(predicted speed-up): a shift, and how much variance it explains.
struct EvidenceShift {
    double ln = 0.0, explained = 0.0;
};

// ln(published / predicted) of two GPUs is f(new) - f(old) + noise, where f is a sum of Gaussian
// effects: of a GPU in a family and phase, of an architecture in a phase, and of an architecture in
// a family (Gaussian process regression, Rasmussen and Williams 2006, eq. 2.25 and 2.26). So a pair
// of the same GPU gives 0 with certainty, pairs chain, and a family that was never published learns
// from others only what GPUs have in common.
class Evidence {
  public:
    // `share`: of ln(predicted) that networks show, see model::Transfer. `scale`: of all effects.
    Evidence(std::vector<EvidenceRow> rows, double share, double scale = 1.0);

    const std::vector<EvidenceRow>& rows() const { return rows_; }
    EvidenceShift shift(const EvidenceKey& key) const;
    // The most alike first, one row of a source, network and pair of GPUs; at most `most`.
    std::vector<Resemblance> nearest(const EvidenceKey& key, std::size_t most) const;

  private:
    std::vector<EvidenceRow> rows_;
    double scale_ = 1.0;
    std::vector<std::size_t> predicted_;      // those with a prediction
    std::vector<std::vector<double>> factor_; // Cholesky's, of their covariance
    std::vector<double> weights_;             // inverse covariance times the rows' residuals
};

// Standard deviation of ln(speed-up) that evidence cannot take away: two submissions of the same.
inline constexpr double kEvidenceNoise = 0.12;

// evidence/*.csv of the nearest machine folder that has some; nothing where there is none. Columns:
// source, network, from, to, from_architecture, to_architecture, phase, precision, gpus, speedup,
// predicted, kind (submission or recipe). Errors: "missing-column", "bad-number", "too-many-rows",
// with the place.
Result<std::vector<EvidenceRow>> parse_evidence(const std::string& text, const std::string& file);
Result<std::shared_ptr<const Evidence>> load_evidence(hwdb::Folders folders, double share);

} // namespace eyeroof::analysis
