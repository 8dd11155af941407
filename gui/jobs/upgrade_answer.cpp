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

Result<analysis::Upgrade> judged(const analysis::UpgradeQuestion& question,
                                 const std::vector<analysis::FleetMember>& fleet,
                                 const model::Machine& from, const model::Machine& to,
                                 const analysis::UpgradeOptions& options) {
    auto upgrade = analysis::upgrade_fleet(fleet, from, to, options);
    if (!upgrade || (question.sweep_batches.empty() && question.sweep_types.empty())) {
        return upgrade;
    }
    std::vector<Count> batches = question.sweep_batches;
    if (batches.empty()) {
        batches = {question.batch.value_or(analysis::own_batch(fleet.front().network))};
    }
    std::vector<analysis::DtypePair> types = question.sweep_types;
    if (types.empty()) {
        types = {{}};
    }
    auto points = analysis::sweep_upgrade(fleet, from, to, options, batches, types);
    if (!points) {
        return points.diagnostics();
    }
    upgrade->sweep = *std::move(points);
    return upgrade;
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
    for (std::size_t i = 0; i < question.to.size() && !stop.stop_requested(); ++i) {
        const analysis::AskedGpu& gpu = question.to[i];
        progress({static_cast<double>(i) / static_cast<double>(question.to.size()), gpu.name, 0.0,
                  -1.0});
        const auto to = hwdb::load_machine(gpu.name, folders.machines);
        answer.problems.append(to.diagnostics());
        if (!to) {
            continue;
        }
        if (const auto cannot = lacking(fleet, *to, gpu.data_type); !cannot.empty()) {
            answer.problems.append(cannot);
            continue;
        }
        const auto options =
            analysis::with_surroundings(question.options(gpu), *from, *to, {}, folders.machines);
        answer.problems.append(options.diagnostics());
        if (!options) {
            continue;
        }
        auto upgrade = judged(question, fleet, *from, *to, *options);
        tell(upgrade.diagnostics(), gpu.name + " instead of " + question.from.name, answer);
        if (upgrade) {
            answer.upgrades.push_back(*std::move(upgrade));
            answer.asked.push_back(i);
        }
    }
    return answer;
}

} // namespace eyeroof::gui
