// A purchase whose only candidate is an upgrade, for the writers.
#pragma once

#include "analysis/upgrade/purchase.hpp"

namespace eyeroof::tests {

inline analysis::Purchase purchase_of(const analysis::Upgrade& upgrade) {
    analysis::Purchase purchase;
    purchase.answers.resize(1);
    purchase.answers.front().upgrade = upgrade;
    return purchase;
}

} // namespace eyeroof::tests
