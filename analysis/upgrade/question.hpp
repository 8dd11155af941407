// The question of an upgrade as a value: the workload, the present GPU, the candidate, and prices.
// Filled by the form of the explorer, and saved in sessions; command_of() gives the command line.
// upgrade() computes the verdict.
#pragma once

#include "analysis/upgrade/upgrade.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

struct AskedNetwork {
    std::string name;    // of the catalog, or a path
    double weight = 1.0; // share of the old GPU's time, up to a common factor

    bool operator==(const AskedNetwork&) const = default;
};

struct AskedGpu {
    std::string name;                         // the same
    std::optional<model::DataType> data_type; // nullopt: the layers' own
    std::optional<double> usd_per_hour, buy_usd;

    bool operator==(const AskedGpu&) const = default;
};

struct UpgradeQuestion {
    std::vector<AskedNetwork> networks;
    AskedGpu from; // buy_usd: what it brings
    std::vector<AskedGpu> to;
    std::string phase = "inference"; // or the optimizer of a training step
    std::optional<Count> batch;
    double utilization = UpgradePrices{}.utilization; // share of the month that a bought GPU works
    // Costs of ownership: electricity, share of server and space, and years of depreciation.
    double power_usd_per_kwh = UpgradePrices{}.power_usd_per_kwh;
    double host_usd_per_month = UpgradePrices{}.host_usd_per_month;
    double years = UpgradePrices{}.years;
    std::vector<Count> sweep_batches;
    std::vector<DtypePair> sweep_types;
    bool from_owned = false;  // the old GPUs are paid for: they cost power, no rent
    std::optional<int> count; // how many there are; nullopt: per GPU
    std::string from_host,
        to_host;                // what launches; empty: the server of its years. "same": from_host
    std::string launch, layout; // as scenarios name them; empty: the usual one
    bool compiled = false;

    bool complete() const { return !networks.empty() && !from.name.empty() && !to.empty(); }
    UpgradeOptions options(const AskedGpu& gpu) const;
    bool operator==(const UpgradeQuestion&) const = default;
};

// The hosts of both sides as names: "same" is the old one's, or the server of the old GPU's years.
struct HostNames {
    std::string from, to;
};
HostNames hosts_of(const UpgradeQuestion& question, const std::string& usual_of_old);

// What asks `eyeroof upgrade` the same about one of the GPUs.
std::string command_of(const UpgradeQuestion& question, std::size_t gpu);

// "1, 8, 64" and "fp32, fp16:bf16"; nothing where a word is no batch or no data type.
std::optional<std::vector<Count>> read_batches(const std::string& text);
std::optional<std::vector<DtypePair>> read_types(const std::string& text);
std::string batches_text(const std::vector<Count>& batches);
std::string types_text(const std::vector<DtypePair>& types);

} // namespace eyeroof::analysis
