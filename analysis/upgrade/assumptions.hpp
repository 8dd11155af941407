// The assumptions of an upgrade's verdict, and the verdict without each of them.
#pragma once

#include "analysis/upgrade/upgrade.hpp"

namespace eyeroof::analysis {

// "training step in fp16, sgd_momentum, batch as given, eager": what is compared.
std::string run_text(const model::Network& network, const UpgradeOptions& options);

// Host, framework (launch mode), attention and batch, each with the speed-up that the other choice
// gives. Choices that cannot be examined are left out.
std::vector<Assumption> assumptions_of(const model::Network& network, const model::Machine& from,
                                       const model::Machine& to, const UpgradeOptions& options);

// Notes on prices of machine files and purchases whose source names no date, or one more than
// kOldPriceDays before options.today.
void add_price_warnings(const UpgradeOptions& options, Upgrade& upgrade);

} // namespace eyeroof::analysis
