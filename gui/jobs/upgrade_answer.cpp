#include "gui/jobs/upgrade_answer.hpp"

#include "analysis/program/lower.hpp"
#include "analysis/upgrade/surroundings.hpp"
#include "formats/catalog.hpp"
#include "gui/jobs/precisions.hpp"
#include "hwdb/catalog.hpp"

#include <algorithm>
#include <set>

namespace eyeroof::gui {

namespace {

// The other batches and precisions that are asked for.
Result<std::vector<analysis::SweepPoint>> swept(const analysis::UpgradeQuestion& question,
                                                const analysis::PurchaseQuestion& whole,
                                                const analysis::PurchaseCandidate& candidate) {
    if (question.sweep_batches.empty() && question.sweep_types.empty()) {
        return std::vector<analysis::SweepPoint>{};
    }
    std::vector<Count> batches = question.sweep_batches;
    if (batches.empty()) {
        batches = {question.batch.value_or(analysis::own_batch(whole.fleet.front().network))};
    }
    std::vector<analysis::DtypePair> types = question.sweep_types;
    if (types.empty()) {
        types = {{}};
    }
    return analysis::sweep_upgrade(whole.fleet, whole.from, candidate.machine, candidate.options,
                                   batches, types);
}

// With the hosts that are asked for; "same" is the old GPU's also where that is the usual one.
Result<analysis::UpgradeOptions> options_of(const analysis::UpgradeQuestion& question,
                                            const analysis::AskedGpu& gpu,
                                            const model::Machine& from, const model::Machine& to,
                                            const Folders& folders) {
    auto options = analysis::with_surroundings(question.options(gpu), from, to,
                                               {question.from_host, {}}, folders.machines);
    if (!options) {
        return options;
    }
    const analysis::HostNames hosts = analysis::hosts_of(question, options->from_host);
    return analysis::with_surroundings(question.options(gpu), from, to, {hosts.from, hosts.to},
                                       folders.machines);
}

// Why the machine cannot run all of the fleet in the precision that is asked for.
Diagnostics lacking(const std::vector<analysis::FleetMember>& fleet, const model::Machine& machine,
                    const std::optional<model::DataType>& asked) {
    Diagnostics found;
    std::set<model::DataType> types;
    for (const analysis::FleetMember& member : fleet) {
        for (const model::Layer& layer : member.network.layers) {
            const auto work = model::work_of(layer);
            if (work && work->macs > 0) {
                types.insert(asked.value_or(layer.types.input));
            }
        }
    }
    for (const model::DataType type : types) {
        const QString reason = why_not(machine, type);
        if (!reason.isEmpty()) {
            found.error("unsupported-type", reason.toStdString(),
                        "choose another precision for it on the left");
        }
    }
    return found;
}

// Each problem once, with the GPUs that it is about unless it names its place itself.
void tell(const Diagnostics& problems, const std::string& of, UpgradeAnswer& answer) {
    for (Diagnostic problem : problems) {
        if (problem.where.file.empty()) {
            problem.message = of + ": " + problem.message;
        }
        const auto& told = answer.problems;
        if (std::find(told.begin(), told.end(), problem) == told.end()) {
            answer.problems.add(std::move(problem));
        }
    }
}

// All candidates together; those that cannot be judged are left out with the reason.
void judge_all(const analysis::UpgradeQuestion& question, analysis::PurchaseQuestion whole,
               const std::stop_token& stop, UpgradeAnswer& answer) {
    std::vector<std::size_t> asked;
    for (std::size_t i = 0; i < whole.candidates.size() && !stop.stop_requested(); ++i) {
        analysis::PurchaseQuestion one = whole;
        one.candidates = {whole.candidates[i]};
        auto bought = analysis::purchase(one);
        const std::string what =
            question.to[answer.asked[i]].name + " instead of " + question.from.name;
        tell(bought.diagnostics(), what, answer);
        if (!bought) {
            continue;
        }
        auto points = swept(question, whole, whole.candidates[i]);
        tell(points.diagnostics(), what, answer);
        bought->answers.front().upgrade.sweep =
            points ? *std::move(points) : std::vector<analysis::SweepPoint>{};
        answer.upgrades.push_back(bought->answers.front().upgrade);
        if (answer.purchase.answers.empty()) {
            answer.purchase = *std::move(bought);
        } else {
            answer.purchase.answers.push_back(std::move(bought->answers.front()));
        }
        asked.push_back(answer.asked[i]);
    }
    answer.asked = std::move(asked);
}

} // namespace

UpgradeAnswer answer_to(const analysis::UpgradeQuestion& question, const Folders& folders,
                        const std::stop_token& stop, const ProgressCallback& progress) {
    UpgradeAnswer answer;
    std::vector<analysis::FleetMember> fleet;
    for (const analysis::AskedNetwork& asked : question.networks) {
        auto network = formats::load_wired_network(asked.name, folders.networks);
        answer.problems.append(network.diagnostics());
        if (network) {
            fleet.push_back(
                {std::move(network->network), asked.weight, std::move(network->wiring)});
        }
    }
    const auto from = hwdb::load_machine(question.from.name, folders.machines);
    answer.problems.append(from.diagnostics());
    if (!from || fleet.size() != question.networks.size()) {
        return answer;
    }
    if (const auto cannot = lacking(fleet, *from, question.from.data_type); !cannot.empty()) {
        answer.problems.append(cannot);
        return answer;
    }
    analysis::PurchaseQuestion whole;
    whole.from = *from;
    whole.fleet = std::move(fleet);
    whole.terms.count = question.count;
    for (std::size_t i = 0; i < question.to.size() && !stop.stop_requested(); ++i) {
        const analysis::AskedGpu& gpu = question.to[i];
        progress({static_cast<double>(i) / static_cast<double>(question.to.size()), gpu.name, 0.0,
                  -1.0});
        const auto to = hwdb::load_machine(gpu.name, folders.machines);
        answer.problems.append(to.diagnostics());
        if (!to) {
            continue;
        }
        if (const auto cannot = lacking(whole.fleet, *to, gpu.data_type); !cannot.empty()) {
            answer.problems.append(cannot);
            continue;
        }
        const auto options = options_of(question, gpu, *from, *to, folders);
        answer.problems.append(options.diagnostics());
        if (!options) {
            continue;
        }
        whole.candidates.push_back({*to, *options});
        answer.asked.push_back(i);
    }
    judge_all(question, std::move(whole), stop, answer);
    return answer;
}

} // namespace eyeroof::gui
