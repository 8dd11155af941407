// The question of an upgrade as a value: the workload, the present GPU, the candidate, and prices.
// Filled by the form of the explorer, and saved in sessions; command_of() gives the command line.
// upgrade() computes the verdict.
#pragma once

#include "analysis/upgrade/asked.hpp"
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
    // "inference", the optimizer of a training step, or empty: left to the program, which trains in
    // mixed precision at the largest batch that fits both GPUs. Batch, types, launch, layout, and
    // compiled are then its choice, too.
    std::string phase = "inference";
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
    bool largest_batch = false; // a power of two that fits both GPUs, in place of `batch`
    double pue = UpgradePrices{}.pue;
    double kg_co2_per_kwh = PurchaseTerms{}.kg_co2_per_kwh;
    std::optional<double> age_years, budget_usd, samples, deadline_days; // see PurchaseTerms
    std::optional<double> threshold;                  // speed-up that must be reached
    std::optional<double> measured_old, measured_new; // samples a second, the user's own
    std::vector<std::string> prices;                  // files: the user's own tables of rents
    std::string more; // other options as the command line spells them: "--library cudnn-8"

    bool complete() const { return !networks.empty() && !from.name.empty() && !to.empty(); }
    bool open() const { return phase.empty(); }
    bool operator==(const UpgradeQuestion&) const = default;
};

// The same as the command line asks it. Errors: those of more_options_of(); "usage" where an option
// of `more` says what runs and the question leaves that to the program.
Result<AskedUpgrade> asked_of(const UpgradeQuestion& question);

// Options of the command line that have no member of their own above.
struct MoreOption {
    std::string name; // without dashes: "library", "to-set", "from-fabric"
    std::string value;
};
// "--library cudnn-8 --to-set clock=1.2GHz"; quotes as in a shell. Errors: "usage" where a word is
// no option, one of a field of its own, or its value is wrong.
Result<std::vector<MoreOption>> more_options_of(const std::string& text);
// The names that more_options_of() takes.
std::vector<std::string> more_names();

// What asks `eyeroof upgrade` the same about one of the GPUs.
std::string command_of(const UpgradeQuestion& question, std::size_t gpu);

// "1, 8, 64" and "fp32, fp16:bf16"; nothing where a word is no batch or no data type.
std::optional<std::vector<Count>> read_batches(const std::string& text);
std::optional<std::vector<DtypePair>> read_types(const std::string& text);
std::string batches_text(const std::vector<Count>& batches);
std::string types_text(const std::vector<DtypePair>& types);

} // namespace eyeroof::analysis
