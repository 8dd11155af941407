#include "gui/jobs/upgrade_answer.hpp"

#include "gui/jobs/precisions.hpp"

#include <algorithm>
#include <set>

namespace eyeroof::gui {

namespace {

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
void report_problems(const Diagnostics& problems, const std::string& of, UpgradeAnswer& answer) {
    for (Diagnostic problem : problems) {
        if (problem.where.file.empty()) {
            problem.message = of + ": " + problem.message;
        }
        const auto& known = answer.problems;
        if (std::find(known.begin(), known.end(), problem) == known.end()) {
            answer.problems.add(std::move(problem));
        }
    }
}

std::string pair_of(const analysis::UpgradeQuestion& question, std::size_t gpu) {
    return question.to[gpu].name + " instead of " + question.from.name;
}

// Drops the candidates that cannot be judged, each with the reason.
void drop_unjudged(const analysis::UpgradeQuestion& question, analysis::PurchaseQuestion& whole,
                   const std::stop_token& stop, UpgradeAnswer& answer) {
    std::vector<analysis::PurchaseCandidate> good;
    std::vector<std::size_t> asked;
    for (std::size_t i = 0; i < whole.candidates.size() && !stop.stop_requested(); ++i) {
        analysis::PurchaseQuestion one = whole;
        one.candidates = {whole.candidates[i]};
        const auto bought = analysis::purchase(one);
        report_problems(bought.diagnostics(), pair_of(question, answer.asked[i]), answer);
        if (bought) {
            good.push_back(whole.candidates[i]);
            asked.push_back(answer.asked[i]);
        }
    }
    whole.candidates = std::move(good);
    answer.asked = std::move(asked);
}

// What the first network runs on the old GPU.
analysis::Scenario run_of(const analysis::PurchaseQuestion& whole,
                          const analysis::PurchaseCandidate& candidate,
                          const analysis::Upgrade& upgrade) {
    analysis::Scenario run = whole.fleet.front().from.value_or(candidate.options.from);
    run.batch = upgrade.members.empty() ? upgrade.from_batch : upgrade.members.front().from_batch;
    return run;
}

// The answer over all candidates, as the command line gives it, with the batches and precisions
// that are asked for beside each.
void judge(const analysis::UpgradeQuestion& question, analysis::PurchaseQuestion whole,
           const std::stop_token& stop, const ProgressCallback& progress, UpgradeAnswer& answer) {
    auto bought = analysis::purchase(whole);
    if (!bought) {
        drop_unjudged(question, whole, stop, answer);
        bought = whole.candidates.empty() ? bought : analysis::purchase(whole);
    }
    if (!bought || whole.candidates.empty()) {
        answer.asked.clear();
        return;
    }
    answer.purchase = *std::move(bought);
    for (std::size_t i = 0; i < answer.purchase.answers.size() && !stop.stop_requested(); ++i) {
        analysis::Upgrade& one = answer.purchase.answers[i].upgrade;
        if (!question.sweep_batches.empty() || !question.sweep_types.empty()) {
            auto points = analysis::sweep_of(whole, whole.candidates[i], question.sweep_batches,
                                             question.sweep_types);
            report_problems(points.diagnostics(), pair_of(question, answer.asked[i]), answer);
            one.sweep = points ? *std::move(points) : std::vector<analysis::SweepPoint>{};
        }
        answer.upgrades.push_back(one);
        answer.runs.push_back(run_of(whole, whole.candidates[i], one));
    }
    if (!stop.stop_requested()) {
        answer.purchase.unbought = analysis::without_buying(
            whole, answer.purchase.answers[answer.purchase.best], stop, progress);
    }
}

// The networks of the question; false where one cannot be read.
bool load_fleet(const analysis::AskedUpgrade& asked, const Folders& folders,
                analysis::PurchaseQuestion& whole, UpgradeAnswer& answer) {
    for (const analysis::FleetRun& run : asked.fleet.runs) {
        auto member = analysis::member_of(run, asked.from, folders.data());
        answer.problems.append(member.diagnostics());
        if (member) {
            whole.fleet.push_back(*std::move(member));
        }
    }
    return whole.fleet.size() == asked.fleet.runs.size();
}

void load_candidates(const analysis::AskedUpgrade& asked, const Folders& folders,
                     const std::stop_token& stop, const ProgressCallback& progress,
                     analysis::PurchaseQuestion& whole, UpgradeAnswer& answer) {
    const auto& offers = asked.fleet.offers;
    for (std::size_t i = 0; i < offers.size() && !stop.stop_requested(); ++i) {
        progress({static_cast<double>(i) / static_cast<double>(offers.size()), offers[i].gpu, 0.0,
                  -1.0});
        auto candidate = analysis::candidate_of(asked, offers[i], whole.from, folders.data());
        answer.problems.append(candidate.diagnostics());
        if (!candidate) {
            continue;
        }
        const auto cannot = asked.open
                                ? Diagnostics{}
                                : lacking(whole.fleet, candidate->machine, offers[i].data_type);
        answer.problems.append(cannot);
        if (cannot.empty()) {
            whole.candidates.push_back(*std::move(candidate));
            answer.asked.push_back(i);
        }
    }
}

} // namespace

UpgradeAnswer answer_to(const analysis::UpgradeQuestion& question, const Folders& folders,
                        const std::stop_token& stop, const ProgressCallback& progress) {
    UpgradeAnswer answer;
    auto asked = analysis::asked_of(question);
    auto prices = hwdb::own_prices(question.prices, folders.machines);
    answer.problems.append(asked.diagnostics());
    answer.problems.append(prices.diagnostics());
    if (!asked || !prices) {
        return answer;
    }
    asked->prices = *std::move(prices);
    analysis::PurchaseQuestion whole;
    const auto from = analysis::old_machine(*asked, folders.data());
    answer.problems.append(from.diagnostics());
    const bool loaded = load_fleet(*asked, folders, whole, answer);
    if (!from || !loaded) {
        return answer;
    }
    whole.from = *from;
    if (!asked->open) {
        const auto cannot = lacking(whole.fleet, *from, asked->from.data_type);
        answer.problems.append(cannot);
        if (!cannot.empty()) {
            return answer;
        }
    }
    load_candidates(*asked, folders, stop, progress, whole, answer);
    answer.problems.append(analysis::unused_prices(question.prices, whole));
    if (whole.candidates.empty() || stop.stop_requested()) {
        return answer;
    }
    auto complete = analysis::with_runs(*asked, std::move(whole));
    answer.problems.append(complete.diagnostics());
    if (complete) {
        judge(question, *std::move(complete), stop, progress, answer);
    } else {
        answer.asked.clear();
    }
    return answer;
}

} // namespace eyeroof::gui
