// SCALE-Sim's compute cycles beside eyeroof's own, as an answer, eyeroof/scalesim/1.
#pragma once

#include "model/accelerator/accelerator.hpp"
#include "model/workload/network.hpp"
#include "report/answer/answer.hpp"

#include <optional>
#include <vector>

namespace eyeroof::report {

struct ScalesimRow {
    const model::Layer* layer = nullptr;
    Count macs = 0;
    Count cycles = 0; // of one execution
    double utilization = 0.0;
    std::optional<double> own_cycles;
};

Answer scalesim_answer(const model::Network& network, Count rows, Count columns,
                       model::DataflowKind dataflow, const std::vector<ScalesimRow>& layers);

} // namespace eyeroof::report
