// The best logged result of each layer of a report, beside its prediction.
#pragma once

#include "analysis/exam/report.hpp"
#include "analysis/trials/log.hpp"

namespace eyeroof::analysis::tune {

struct MeasuredBest {
    std::string layer;
    double report_s = 0.0;   // what the report predicts of its machine
    double measured_s = 0.0; // least of the logs' trials of this shape
    double gflops_per_s = 0.0;
    std::string machine; // that it was measured on
    std::string target;
    std::size_t trials = 0;        // of this shape on this machine and target
    Described best;                // what it is, and its seven bounds
    std::string predicted_plan;    // what the closed form prefers, of the trials …
    double predicted_plan_s = 0.0; // … and what was measured of that
};

// A row for each layer of the report that some log knows and each machine and target that measured
// it. Layers are known by their shape. Warning "no-trials": the logs have none of them.
Result<std::vector<MeasuredBest>> measured_best(const Report& report,
                                                const std::vector<TrialLine>& lines);

} // namespace eyeroof::analysis::tune
