// From a speedup and its uncertainty to an interval and the probability of being wrong.
#pragma once

#include "analysis/upgrade/upgrade.hpp"
#include "model/gpu/transfer.hpp"
#include "model/workload/network.hpp"

#include <optional>
#include <string>

namespace eyeroof::analysis {

// "training mixed" and so on, see TransferKind: by the type of most of the step's arithmetic on
// either side, given or the layers' own.
std::string transfer_kind(const model::Network& network, bool training,
                          const std::optional<model::DataType>& from,
                          const std::optional<model::DataType>& to);

// The type of most of the network's arithmetic.
model::DataType main_type(const model::Network& network);

// Standard deviation of ln(speed-up): what whole networks showed, and what the operators' errors
// add where they are larger than they were there: sqrt(spread^2 + max(0, (share sigma)^2 -
// operators^2)).
double transferred_sigma(const model::Transfer& transfer, const model::TransferKind& kind,
                         double operator_sigma);

// Share of Student's distribution below x: the spread itself is known from few families, with four
// more that all kinds together count (see fit_transfer): families + 3 degrees of freedom.
// Abramowitz and Stegun 26.7.8.
double student_below(double x, int families);

// x with share 0.9 below it: half the width of an 80 % interval in standard deviations.
double student_90(int families);

// Chance that the truth lies on the other side of the threshold, `distance` = ln(speed-up /
// threshold) away: Student's, with the families' degrees of freedom. 0.5 at the threshold itself.
double chance_of_wrong(double distance, double sigma, int families);

// Pays off or not where the chance of being wrong is at most 1 - confidence, so wherever an 80 %
// interval lies on one side of the threshold at a confidence of 0.8 or less; else undecided. Equal:
// no distance and no doubt.
UpgradeVerdict verdict_of(double distance, double sigma, int families, double confidence);

} // namespace eyeroof::analysis
