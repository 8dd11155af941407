#include "analysis/upgrade/asked.hpp"

#include "analysis/advice/what_helps.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/scenario/fields.hpp"
#include "analysis/upgrade/default_question.hpp"
#include "analysis/upgrade/surroundings.hpp"
#include "analysis/what_if/parameters.hpp"
#include "formats/any_machine.hpp"
#include "hwdb/fabric_reader.hpp"
#include "model/machine/board.hpp"

#include <algorithm>

namespace eyeroof::analysis {

namespace {

Result<model::Machine> machine_of(const Scenario& scenario, const std::string& name,
                                  const hwdb::Prices& prices, const DataFolders& folders) {
    auto machine = formats::load_any_machine(name, folders.machines, scenario.energies);
    return machine ? changed(hwdb::with_prices(*std::move(machine), prices), scenario.changes)
                   : machine;
}

// By the option, the fleet's file, or what usually joins such GPUs.
Result<std::optional<model::Fabric>> fabric_of(const std::string& option, const std::string& file,
                                               const std::string& gpu, hwdb::Folders folders) {
    using Answer = Result<std::optional<model::Fabric>>;
    const std::string& name = option.empty() ? file : option;
    if (name.empty()) {
        return Answer(hwdb::usual_fabric(gpu, folders));
    }
    auto fabric = hwdb::load_fabric(name, folders);
    return fabric ? Answer(std::optional(*std::move(fabric))) : Answer(fabric.diagnostics());
}

// With the hosts that are asked for; "same" is the old GPU's, also where that is the usual one.
Result<UpgradeOptions> with_hosts(const UpgradeOptions& wanted, const AskedUpgrade& asked,
                                  const FleetOffer& offer, const model::Machine& from,
                                  const model::Machine& to, hwdb::Folders folders) {
    AskedHosts hosts{wanted.from.host.empty() ? asked.fleet.host : wanted.from.host,
                     wanted.to.host.empty() ? offer.host : wanted.to.host};
    const bool in_old_host = hosts.to == "same";
    hosts.to = in_old_host ? hosts.from : hosts.to;
    auto whole = with_surroundings(wanted, from, to, hosts, folders);
    if (whole && in_old_host && hosts.to.empty()) {
        hosts.to = whole->from_host;
        whole = with_surroundings(wanted, from, to, hosts, folders);
    }
    return whole;
}

// What one run of the fleet is, where it is other than the options say.
Diagnostics take_run(const AskedUpgrade& asked, const PurchaseQuestion& question,
                     const FleetRun& run, FleetMember& member) {
    Diagnostics found;
    if (!asked.open && run.fields.empty()) {
        member.largest = run.largest;
        return found;
    }
    const PurchaseCandidate& first = question.candidates.front();
    member.from = first.options.from;
    member.to = first.options.to;
    if (asked.open && !run.has("phase")) {
        train_mixed(member, question.from, first.machine);
    }
    for (Scenario* side : {&*member.from, &*member.to}) {
        for (const auto& [name, value] : run.fields) {
            found.append(find_field(name)->set(*side, {value}));
        }
    }
    if (asked.open && run.has("phase") && !run.has("dtype")) {
        compute_mixed(member, question.from, first.machine);
    }
    member.largest = run.largest || (asked.open && !run.has("batch"));
    return found;
}

} // namespace

Result<FleetMember> member_of(const FleetRun& run, const Scenario& from,
                              const DataFolders& folders) {
    auto network = load_workload(run.network, from.sizes, folders);
    if (!network) {
        return network.diagnostics();
    }
    Diagnostics found = network.diagnostics();
    return {FleetMember{std::move(network->network), run.share, std::move(network->edges)},
            std::move(found)};
}

Result<model::Machine> old_machine(const AskedUpgrade& asked, const DataFolders& folders) {
    return machine_of(asked.from, asked.fleet.gpu, asked.prices, folders);
}

Result<PurchaseCandidate> candidate_of(const AskedUpgrade& asked, const FleetOffer& offer,
                                       const model::Machine& from, const DataFolders& folders) {
    using Answer = Result<PurchaseCandidate>;
    auto machine = machine_of(asked.to, offer.gpu, asked.prices, folders);
    if (!machine) {
        return machine.diagnostics();
    }
    UpgradeOptions wanted;
    wanted.from = asked.from;
    wanted.from.machine = asked.fleet.gpu;
    wanted.to = asked.to;
    wanted.to.machine = offer.gpu;
    if (offer.data_type) {
        wanted.to.data_type = offer.data_type;
    }
    wanted.prices = prices_of(asked.fleet, offer);
    wanted.threshold = asked.threshold;
    wanted.from_rate = asked.from_rate;
    wanted.to_rate = asked.to_rate;
    auto whole = with_hosts(wanted, asked, offer, from, *machine, folders.machines);
    auto old_fabric = fabric_of(asked.from_fabric, asked.fleet.fabric, from.id, folders.machines);
    auto new_fabric = fabric_of(asked.to_fabric, offer.fabric, machine->id, folders.machines);
    Diagnostics all = whole.diagnostics();
    all.append(old_fabric.diagnostics());
    all.append(new_fabric.diagnostics());
    if (all.has_errors()) {
        return all;
    }
    return Answer(PurchaseCandidate{*std::move(machine), *std::move(whole),
                                    ShardFabrics{*std::move(old_fabric), *std::move(new_fabric)}});
}

Result<PurchaseQuestion> with_runs(const AskedUpgrade& asked, PurchaseQuestion question) {
    question.terms = asked.fleet.terms;
    Diagnostics found;
    for (std::size_t i = 0; i < question.fleet.size(); ++i) {
        found.append(take_run(asked, question, asked.fleet.runs[i], question.fleet[i]));
    }
    if (found.has_errors()) {
        return found;
    }
    if (asked.open && asked.fleet.runs.size() == 1 && asked.fleet.runs.front().fields.empty()) {
        question.beside = inference_beside(question);
    }
    return {with_rents(std::move(question)), std::move(found)};
}

std::optional<Unbought> without_buying(const PurchaseQuestion& question,
                                       const PurchaseAnswer& answer, const std::stop_token& stop,
                                       const ProgressCallback& progress) {
    const FleetMember& member = question.fleet.front();
    if (question.fleet.size() > 1 || member.measured || answer.sharded || question.terms.served) {
        return std::nullopt;
    }
    UpgradeOptions options = question.candidates.front().options;
    options.from = member.from.value_or(options.from);
    options.from.batch = answer.upgrade.from_batch;
    options.edges = member.edges;
    const auto helps =
        what_helps(side_of(member.network, question.from, options, true), stop, progress);
    const auto* best = helps ? best_change(helps->changes) : nullptr;
    return best == nullptr ? std::nullopt
                           : std::optional(Unbought{change_text(*best), best->gain, best->time_s});
}

Result<std::vector<SweepPoint>> sweep_of(const PurchaseQuestion& question,
                                         const PurchaseCandidate& candidate,
                                         const std::vector<Count>& batches,
                                         std::vector<DtypePair> types) {
    UpgradeOptions wanted = candidate.options;
    std::vector<FleetMember> plain = question.fleet;
    for (FleetMember& member : plain) {
        wanted.from = member.from.value_or(wanted.from);
        wanted.to = member.to.value_or(wanted.to);
        member.from.reset();
        member.to.reset();
        member.largest = false;
    }
    if (types.empty()) {
        types.push_back({});
    }
    const std::vector<Count> own = {
        wanted.from.batch.value_or(own_batch(question.fleet.front().network))};
    return sweep_upgrade(plain, question.from, candidate.machine, wanted,
                         batches.empty() ? own : batches, types);
}

Diagnostics unused_prices(const std::vector<std::string>& files, const PurchaseQuestion& question) {
    const auto has_own = [](const model::Machine& machine) {
        return std::ranges::any_of(model::price_of(machine).rents, &model::Rent::own);
    };
    Diagnostics found;
    if (!files.empty() && !has_own(question.from) &&
        std::ranges::none_of(question.candidates,
                             [&](const auto& candidate) { return has_own(candidate.machine); })) {
        found.error("no-price", files.front() + " has no price of a GPU of this question",
                    "its keys are names of the catalog (eyeroof hw list), such as " +
                        question.from.id);
    }
    return found;
}

} // namespace eyeroof::analysis
