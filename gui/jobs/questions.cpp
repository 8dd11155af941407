#include "gui/jobs/questions.hpp"

#include "study/draw/plot_make.hpp"
#include "study/what_if/knobs.hpp"

namespace eyeroof::gui {

namespace {

// The fields that decide which files a machine's question is read from.
study::Session files_of(const study::Session& session) {
    study::Session files;
    files.machines = session.machines;
    const study::Scenario& s = session.scenario;
    files.scenario.network = s.network; // what it calls its dimensions
    files.scenario.energies = s.energies;
    files.scenario.host = s.host;
    files.scenario.policy = s.policy;
    files.scenario.mapping_file = s.mapping_file;
    files.scenario.constraints_file = s.constraints_file;
    return files;
}

} // namespace

void Questions::load(const study::Session& session) {
    const study::Scenario& s = session.scenario;
    network_.reset();
    network_problems_ = {};
    if (!s.network.empty()) {
        auto network = study::load_workload(s.network, s.sizes, folders_);
        network_problems_ = network.diagnostics();
        if (network) {
            network_ = *std::move(network);
        }
    }
    resolve_machines(session);
}

void Questions::resolve_machines(const study::Session& session) {
    read_ = files_of(session);
    problems_ = network_problems_;
    bases_.clear();
    for (std::size_t i = 0; i < session.machines.size(); ++i) {
        study::Scenario scenario = study::scenario_on(session, i);
        scenario.changes.clear();
        auto question =
            study::resolve(scenario, network_.value_or(model::WiredNetwork{}), folders_);
        problems_.append(question.diagnostics());
        if (question) {
            bases_.push_back({i, *std::move(question)});
        }
    }
    std::vector<model::Machine> machines = this->machines();
    study::make_distinct(machines);
    for (std::size_t i = 0; i < bases_.size(); ++i) {
        bases_[i].question.machine = std::move(machines[i]);
    }
}

std::vector<model::Machine> Questions::machines() const {
    std::vector<model::Machine> machines;
    for (const Base& base : bases_) {
        machines.push_back(base.question.machine);
    }
    return machines;
}

const model::Machine* Questions::first() const {
    return bases_.empty() || bases_.front().machine > 0 ? nullptr
                                                        : &bases_.front().question.machine;
}

std::vector<study::Question> Questions::of(const study::Session& session,
                                           model::Diagnostics& problems) {
    if (files_of(session) != read_) {
        resolve_machines(session);
    }
    std::vector<study::Question> questions;
    for (const Base& base : bases_) {
        study::Question question = base.question;
        question.scenario = study::scenario_on(session, base.machine);
        auto machine = study::changed(question.machine, question.scenario.changes);
        problems.append(machine.diagnostics());
        if (machine) {
            question.machine = *std::move(machine);
            questions.push_back(std::move(question));
        }
    }
    return questions;
}

} // namespace eyeroof::gui
