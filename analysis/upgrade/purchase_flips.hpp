// What would turn the verdict of a purchase over.
#pragma once

#include "analysis/upgrade/purchase.hpp"

namespace eyeroof::analysis {

// The price of a bought GPU: the question's, else the machine's own.
std::optional<double> buy_price(const model::Machine& machine, const UpgradePrices& prices);

// The verdict at another speed-up, or another one that is needed.
UpgradeVerdict verdict_at(const Upgrade& u, double speedup, double needed, double confidence);

// Assumptions, prices, and the utilization.
void add_flips(const PurchaseQuestion& question, const PurchaseCandidate& candidate,
               PurchaseAnswer& answer);
// Also the batch and the host: of the answer that is quoted, as each takes some predictions.
void add_run_flips(const PurchaseQuestion& question, const PurchaseCandidate& candidate,
                   PurchaseAnswer& answer);

} // namespace eyeroof::analysis
