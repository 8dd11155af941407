// Inputs of an upgrade from the machine folders beside the two GPUs: hosts, and the errors of
// predicted speedups. Computes no verdict.
#pragma once

#include "analysis/upgrade/upgrade.hpp"
#include "hwdb/catalog.hpp"

namespace eyeroof::analysis {

struct AskedHosts { // names; empty: the usual server of the GPU
    std::string from, to;

    bool operator==(const AskedHosts&) const = default;
};

// The options with hosts, with what whole networks showed, and with the year of today. Errors:
// those of load_host() and load_transfer().
Result<UpgradeOptions> with_surroundings(UpgradeOptions options, const model::Machine& from,
                                         const model::Machine& to, const AskedHosts& hosts,
                                         hwdb::Folders folders);

} // namespace eyeroof::analysis
