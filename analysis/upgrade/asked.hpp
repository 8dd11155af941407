// An upgrade as it is asked for, by names: from it the machines, hosts, prices, and scenarios of
// purchase(). The command line and the window both ask through it, so that both get one answer.
#pragma once

#include "analysis/resolve/resolve.hpp"
#include "analysis/upgrade/fleet_file.hpp"
#include "analysis/upgrade/purchase.hpp"
#include "base/progress.hpp"
#include "hwdb/price_reader.hpp"

#include <array>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::analysis {

// Fields of a scenario that may differ between the two GPUs: --from-dtype, --to-dtype.
inline constexpr std::array<std::string_view, 9> kFieldsOfASide = {
    "dtype", "host", "host-speed", "set", "power-cap", "library", "layout", "compiled", "launch"};

// Fields that no upgrade has: a GPU's kernels are not mapped, and inputs come from no host.
inline constexpr std::array<std::string_view, 13> kFieldsOfNoUpgrade = {
    "on",      "energies", "density",     "mapping",      "dataflow", "objective", "time-limit",
    "factors", "counting", "constraints", "search-nodes", "copies",   "pageable"};

struct AskedUpgrade {
    FleetQuestion fleet;
    Scenario from, to; // of the two sides; their machines are the fleet's
    bool open = false; // what runs is left to the program: see train_mixed()
    std::optional<double> threshold, from_rate, to_rate;
    std::string from_fabric, to_fabric; // "": those of the fleet, else the GPUs' usual ones
    hwdb::Prices prices;                // of the user's own tables

    bool operator==(const AskedUpgrade&) const = default;
};

// The network of each run by its name, without what a trace measured. Errors: load_workload()'s.
Result<FleetMember> member_of(const FleetRun& run, const Scenario& from,
                              const DataFolders& folders);

// The GPU that runs it now, with its changes. Errors: load_machine()'s.
Result<model::Machine> old_machine(const AskedUpgrade& asked, const DataFolders& folders);

// One GPU in question with hosts, prices, fabrics, and what runs on it. Errors, all in one pass:
// those of its machine, hosts, and fabrics.
Result<PurchaseCandidate> candidate_of(const AskedUpgrade& asked, const FleetOffer& offer,
                                       const model::Machine& from, const DataFolders& folders);

// `question` has machine, candidates, and a member for each run: on return also the terms, and
// what each network runs on either GPU. Errors: those of the runs' fields.
Result<PurchaseQuestion> with_runs(const AskedUpgrade& asked, PurchaseQuestion question);

// "no-price": tables of the user's that say nothing of this question are a mistake in its names.
Diagnostics unused_prices(const std::vector<std::string>& files, const PurchaseQuestion& question);

// What would help on the old GPU without a new one, of one network that one GPU holds.
std::optional<Unbought> without_buying(const PurchaseQuestion& question,
                                       const PurchaseAnswer& answer, const std::stop_token& stop,
                                       const ProgressCallback& progress);

// The networks at other batches and data types on one candidate; without batches at the one that is
// asked for, without types at the scenario's. Errors: those of sweep_upgrade().
Result<std::vector<SweepPoint>> sweep_of(const PurchaseQuestion& question,
                                         const PurchaseCandidate& candidate,
                                         const std::vector<Count>& batches,
                                         std::vector<DtypePair> types);

} // namespace eyeroof::analysis
