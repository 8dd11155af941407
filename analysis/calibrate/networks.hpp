// Predicted beside measured times of whole networks, inference and training.
#pragma once

#include "analysis/calibrate/pairs.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

struct MeasuredNetwork {
    std::string network; // reference, with parameters: "bert-large:seq=512"
    std::string gpu;
    double measured_s = 0.0; // of one step
    std::string phase = "inference";
    std::string optimizer = "sgd_momentum";
    std::string dtype; // empty: the layers' own
    std::optional<Count> batch;
    model::Launch launch = model::Launch::eager;
    bool compiled = false;
    std::optional<model::Layout> layout;
    std::string family; // empty: the network without parameters
    int line = 0;

    bool operator==(const MeasuredNetwork&) const = default;
};

// A table with the columns network, gpu, measured_s and perhaps phase, optimizer, dtype, batch,
// launch, family; others are passed over. Errors, with their places: "missing-column", "bad-time",
// "bad-phase", "bad-dtype", "bad-batch", "bad-launch".
Result<std::vector<MeasuredNetwork>> parse_networks(const std::string& text,
                                                    const std::string& file);

struct NetworkResult {
    MeasuredNetwork row;
    double predicted_s = 0.0, low_s = 0.0, high_s = 0.0;
    double host_s = 0.0, device_s = 0.0;
    double naive_s = 0.0; // sum of the layers' rooflines by data sheet

    bool operator==(const NetworkResult&) const = default;
};

// Mean and median |predicted / measured - 1|, bias as exp(mean ln) - 1, share inside low … high.
struct NetworkFigures {
    std::string gpu, phase, dtype;
    int rows = 0;
    double mape = 0.0, naive_mape = 0.0, bias = 0.0, inside = 0.0;

    bool operator==(const NetworkFigures&) const = default;
};

struct NetworksValidation {
    std::vector<NetworkResult> rows;
    std::vector<NetworkFigures> groups; // by gpu, phase and type
    NetworkFigures all;

    bool operator==(const NetworksValidation&) const = default;
};

// Errors: those of the networks, the machines and run(); "not-a-gpu".
Result<NetworksValidation> validate_networks(const std::vector<MeasuredNetwork>& rows,
                                             const PairsSources& sources);

} // namespace eyeroof::analysis
