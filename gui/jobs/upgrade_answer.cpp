#include "gui/jobs/upgrade_answer.hpp"

#include "hwdb/catalog.hpp"
#include "study/formats/catalog.hpp"
#include "study/upgrade/surroundings.hpp"

namespace eyeroof::gui {

namespace {

model::Result<study::Upgrade> judged(const study::UpgradeQuestion& question,
                                     const std::vector<study::FleetMember>& fleet,
                                     const model::Machine& from, const model::Machine& to,
                                     const study::UpgradeOptions& options) {
    auto upgrade = fleet.size() == 1 ? study::upgrade(fleet.front().network, from, to, options)
                                     : study::upgrade_fleet(fleet, from, to, options);
    if (!upgrade || (question.sweep_batches.empty() && question.sweep_types.empty())) {
        return upgrade;
    }
    std::vector<model::Count> batches = question.sweep_batches;
    if (batches.empty()) {
        batches = {question.batch.value_or(1)};
    }
    std::vector<study::DtypePair> types = question.sweep_types;
    if (types.empty()) {
        types = {{}};
    }
    auto points = study::sweep_upgrade(fleet, from, to, options, batches, types);
    if (!points) {
        return points.diagnostics();
    }
    upgrade->sweep = *std::move(points);
    return upgrade;
}

} // namespace

UpgradeAnswer answer_to(const study::UpgradeQuestion& question, const Folders& folders,
                        const std::stop_token& stop, const model::ProgressCallback& progress) {
    UpgradeAnswer answer;
    std::vector<study::FleetMember> fleet;
    for (const study::AskedNetwork& asked : question.networks) {
        auto network = study::read::load_network(asked.name, folders.networks);
        answer.problems.append(network.diagnostics());
        if (network) {
            fleet.push_back({*std::move(network), asked.weight});
        }
    }
    const auto from = hwdb::load_machine(question.from.name, folders.machines);
    answer.problems.append(from.diagnostics());
    if (!from || fleet.size() != question.networks.size()) {
        return answer;
    }
    for (std::size_t i = 0; i < question.to.size() && !stop.stop_requested(); ++i) {
        const study::AskedGpu& gpu = question.to[i];
        progress({static_cast<double>(i) / static_cast<double>(question.to.size()), gpu.name, 0.0,
                  -1.0});
        const auto to = hwdb::load_machine(gpu.name, folders.machines);
        answer.problems.append(to.diagnostics());
        if (!to) {
            continue;
        }
        const auto options =
            study::with_surroundings(question.options(gpu), *from, *to, {}, folders.machines);
        answer.problems.append(options.diagnostics());
        if (!options) {
            continue;
        }
        auto upgrade = judged(question, fleet, *from, *to, *options);
        answer.problems.append(upgrade.diagnostics());
        if (upgrade) {
            answer.upgrades.push_back(*std::move(upgrade));
            answer.asked.push_back(i);
        }
    }
    return answer;
}

} // namespace eyeroof::gui
