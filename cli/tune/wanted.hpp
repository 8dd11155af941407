// What the options of `tune` mean for the search.
#pragma once

#include "analysis/tune/tuner.hpp"
#include "cli/tune_options.hpp"

#include <string>
#include <vector>

namespace eyeroof::cli {

namespace tuning = analysis::tune;

tuning::StrategyOptions strategy_of(const TuneCommand& options);
tuning::TuneOptions tune_options(const TuneCommand& options);
// Logs as one. Errors: those of every file.
Result<std::vector<tuning::TrialLine>> load_logs(Context& context,
                                                 const std::vector<std::string>& files);
// The network as the program of --end-to-end runs it. Errors: those of net_plan().
Result<tuning::NetPlan> whole_network(Context& context, const TuneCommand& options);
// The network's layers that --layers names. Error "no-layers": none.
Result<model::Network> chosen_layers(Context& context, const TuneCommand& options);

} // namespace eyeroof::cli
