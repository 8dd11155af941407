// Compares predictions with the kernels of a trace: comparable rows, their errors, and the modules
// that launched them.
#pragma once

#include "analysis/measured/traced.hpp"

namespace eyeroof::analysis {

// Executions of each layer during which no kernel of another stream ran on its device for more than
// 5 % of their time, and the time of these.
struct RunsAlone {
    Count runs = 0;
    double seconds = 0.0;
};
std::vector<RunsAlone> runs_alone(const formats::TraceNetwork& trace);

// Time and interval of the layer's runs, and why they cannot be compared where they cannot.
void add_prediction(TracedRow& row, const model::Layer& layer, const LayerReport& predicted);

// What the names of its kernels and its dimensions say that the model does not count.
std::string doubt_of(const TracedRow& row, const model::Layer& layer,
                     const std::vector<std::string>& kernels);

std::vector<TracedComparison> comparisons_of(const std::vector<TracedRow>& rows);
std::vector<TracedLeftOut> left_out_of(const std::vector<TracedRow>& rows);

// The step's timeline, and what kernels take longer beside those of other streams.
void add_launches(const formats::TraceNetwork& trace, Traced& traced);

// Modules, and the times of the forward and the backward pass.
void add_modules(const formats::TraceNetwork& trace, Traced& traced);

} // namespace eyeroof::analysis
