// A question about a fleet as a file (`eyeroof upgrade --fleet fleet.yaml`), and as the options of
// `upgrade` fill it: the fleet, its workloads, the candidates, and the terms.
#pragma once

#include "analysis/upgrade/purchase.hpp"
#include "hwdb/yaml.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace eyeroof::analysis {

struct FleetRun {
    std::string network;
    double share = 1.0; // of the old GPUs' time, or hours, up to a common factor
    // Fields of a scenario that are other than the question's: "phase", "optimizer", "dtype",
    // "batch", "launch", "compiled".
    std::vector<std::pair<std::string, std::string>> fields;
    bool largest = false; // batch: largest

    bool has(std::string_view field) const {
        return std::ranges::any_of(fields, [&](const auto& f) { return f.first == field; });
    }
    bool operator==(const FleetRun&) const = default;
};

struct FleetOffer {
    std::string gpu;
    std::optional<double> buy_usd, usd_per_hour; // neither: the catalog's rent
    bool bought = false;
    std::string host; // what launches its kernels; "same": that of the old GPU; empty: see hosts
    std::string fabric = {};                       // what joins several; empty: the GPU's usual one
    std::optional<model::DataType> data_type = {}; // on this GPU alone

    bool operator==(const FleetOffer&) const = default;
};

struct FleetQuestion {
    std::string gpu, host, fabric; // that is there
    bool owned = false;
    std::optional<double> usd_per_hour, resale_usd;
    std::vector<FleetRun> runs;
    std::vector<FleetOffer> offers;
    PurchaseTerms terms;
    std::optional<double> utilization, years, usd_per_kwh, pue, host_usd_per_month;

    bool operator==(const FleetQuestion&) const = default;
};

// "a100-sxm-80gb", "a100-sxm-80gb@16k" (bought), "a100-sxm-80gb@1.39/h" (rented).
Result<FleetOffer> parse_offer(const std::string& text);

// Errors, all in one pass with file, line and column: those of the YAML reader; "bad-amount".
Result<FleetQuestion> read_fleet(hwdb::Document& document);

// A file's question with what options say on top: their values replace the file's, their networks
// and candidates join it.
FleetQuestion overlaid(FleetQuestion file, const FleetQuestion& options);

// The prices of an offer under the question's terms.
UpgradePrices prices_of(const FleetQuestion& question, const FleetOffer& offer);

} // namespace eyeroof::analysis
