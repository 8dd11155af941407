// Whether a layer is faster on the GPU: host, GPU, and GPU with copies each time.
// `eyeroof upgrade --from HOST`.
#pragma once

#include "analysis/exam/run.hpp"
#include "base/result.hpp"
#include "model/machine/machine.hpp"
#include "model/workload/network.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

struct OffloadLayer { // one execution
    std::string name, op;
    Count count = 1;
    double host_s = 0.0;
    double gpu_s = 0.0; // launch included, tensors on the GPU already
    double in_s = 0.0;  // copies of what it reads, one a tensor
    double out_s = 0.0; // and of what it writes
    double copied_s() const { return in_s + gpu_s + out_s; }

    bool operator==(const OffloadLayer&) const = default;
};

struct Offload {
    std::string words; // of the question
    std::string network, host, gpu;
    std::vector<OffloadLayer> layers;
    double host_s = 0.0, gpu_s = 0.0, copied_s = 0.0; // all executions

    bool operator==(const Offload&) const = default;
};

// The question's machine is the GPU. `host_types`: the host computes in another type (numpy's fp64
// beside a framework's fp32). Errors: "not-a-gpu" for either machine, "no-link"; those of run().
Result<Offload> offload(const Question& question, const model::Machine& host,
                        std::optional<model::DataType> host_types = std::nullopt);

std::string fastest_side(const OffloadLayer& layer); // "host", "GPU, if the data stays there"

} // namespace eyeroof::analysis
