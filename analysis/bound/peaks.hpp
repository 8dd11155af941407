// Rates and stores of a machine that no execution exceeds.
#pragma once

#include "analysis/exam/report.hpp"
#include "analysis/scenario/question.hpp"

#include <algorithm>
#include <string>

namespace eyeroof::analysis::bound {

// Rates of a machine that no execution exceeds.
struct Peaks {
    const model::Gpu* gpu = nullptr;                 // one of the two
    const model::Accelerator* accelerator = nullptr; //
    double outer_bytes_per_s = 0.0;
    double port_bytes_per_s = 0.0; // 0: not bounded
    double cache_bytes = 0.0;      // that may hold data from the run before
    double chip_bytes = 0.0;       // all of the chip's stores
    double start_s = 0.0;          // of a kernel of products; GPUs only

    double outer_s(double bytes) const {
        return outer_bytes_per_s > 0.0 ? std::max(bytes - cache_bytes, 0.0) / outer_bytes_per_s
                                       : 0.0;
    }
    double port_s(double bytes) const {
        return port_bytes_per_s > 0.0 ? bytes / port_bytes_per_s : 0.0;
    }
};

Peaks peaks_of(const Question& question, const MachineSummary& machine);

// At which peaks, clock, and cache state the bounds of such a machine hold.
std::string assumptions_of(const Peaks& peaks);

} // namespace eyeroof::analysis::bound
