#include "gui/jobs/questions.hpp"

#include "analysis/what_if/parameters.hpp"
#include "report/draw/plot_make.hpp"

namespace eyeroof::gui {

namespace {

// The fields that decide which files a machine's question is read from.
report::Session files_of(const report::Session& session) {
    report::Session files;
    files.machines = session.machines;
    const analysis::Scenario& s = session.scenario;
    files.scenario.network = s.network; // what it calls its dimensions
    files.scenario.energies = s.energies;
    files.scenario.host = s.host;
    files.scenario.policy = s.policy;
    files.scenario.mapping_file = s.mapping_file;
    files.scenario.constraints_file = s.constraints_file;
    return files;
}

} // namespace

void Questions::know(const std::string& path, std::shared_ptr<const formats::TraceNetwork> trace) {
    trace_path_ = path;
    trace_ = std::move(trace);
}

void Questions::load(const report::Session& session) {
    const analysis::Scenario& s = session.scenario;
    network_.reset();
    network_problems_ = {};
    own_ = trace_ != nullptr && s.network == trace_path_ && s.sizes.empty();
    if (own_) {
        network_ = model::NetworkGraph{trace_->network, {}};
        network_problems_.append(model::uncosted_warning(trace_->network, s.network));
    } else if (!s.network.empty()) {
        auto network = analysis::load_workload(s.network, s.sizes, folders_);
        network_problems_ = network.diagnostics();
        if (network) {
            network_ = *std::move(network);
        }
    }
    resolve_machines(session);
}

void Questions::resolve_machines(const report::Session& session) {
    read_ = files_of(session);
    problems_ = network_problems_;
    bases_.clear();
    for (std::size_t i = 0; i < session.machines.size(); ++i) {
        analysis::Scenario scenario = report::scenario_on(session, i);
        scenario.changes.clear();
        auto question =
            analysis::resolve(scenario, network_.value_or(model::NetworkGraph{}), folders_);
        problems_.append(question.diagnostics());
        if (question) {
            bases_.push_back({i, *std::move(question)});
        }
    }
    std::vector<model::Machine> machines = this->machines();
    report::make_distinct(machines);
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

std::vector<analysis::Question> Questions::of(const report::Session& session,
                                              Diagnostics& problems) {
    if (files_of(session) != read_) {
        resolve_machines(session);
    }
    std::vector<analysis::Question> questions;
    for (const Base& base : bases_) {
        analysis::Question question = base.question;
        question.scenario = report::scenario_on(session, base.machine);
        question.uncapped = analysis::uncapped(question.machine, question.scenario.changes);
        auto machine = analysis::changed(question.machine, question.scenario.changes);
        problems.append(machine.diagnostics());
        if (machine) {
            question.machine = *std::move(machine);
            questions.push_back(std::move(question));
        }
    }
    return questions;
}

} // namespace eyeroof::gui
