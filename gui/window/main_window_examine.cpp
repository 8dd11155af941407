// From names to answers: loading, examining, and what the panes are told.
#include "gui/window/main_window.hpp"
#include "study/draw/plot_make.hpp"
#include "study/draw/roofline_build.hpp"
#include "study/formats/any_machine.hpp"
#include "study/formats/catalog.hpp"
#include "study/upgrade/surroundings.hpp"

#include <QDockWidget>
#include <QLabel>
#include <QStackedWidget>
#include <QStatusBar>
#include <algorithm>

namespace eyeroof::gui {

void MainWindow::load_network(const QString& name) {
    network_name_ = name;
    loaded_network_.reset();
    loaded_wiring_.reset();
    network_problems_ = {};
    run_->show_network(name, folders_);
    if (!name.isEmpty()) {
        auto wired = study::read::load_wired_network(name.toStdString(), folders_.networks);
        network_problems_ = wired.diagnostics();
        if (wired) {
            loaded_network_ = std::move(wired->network);
            loaded_wiring_ = std::move(wired->wiring);
        }
    }
}

void MainWindow::load_machines() {
    const std::string before = loaded_machines_.empty() ? "" : loaded_machines_.front().id;
    machine_names_ = choices_->machines();
    loaded_machines_.clear();
    machine_problems_ = {};
    for (const QString& name : machine_names_) {
        auto machine = study::read::load_any_machine(name.toStdString(), folders_.machines);
        machine_problems_.append(machine.diagnostics());
        if (machine) {
            loaded_machines_.push_back(std::move(*machine));
        }
    }
    study::make_distinct(loaded_machines_);
    hosts_.clear();
    for (const model::Machine& machine : loaded_machines_) {
        const auto host = study::host_issue({}, machine, folders_.machines);
        hosts_.push_back(host ? *host : model::HostIssue{});
    }
    run_->show_machines(loaded_machines_);
    if (!loaded_machines_.empty() && loaded_machines_.front() != what_if_->machine()) {
        const QSignalBlocker block(what_if_);
        what_if_->set_machine(loaded_machines_.front());
        edits_.clear();
        history_.clear(experiment());
    }
}

void MainWindow::load_and_examine() {
    if (choices_->network() != network_name_) {
        edits_.clear();
        view_->set_selection({});
    }
    load_network(choices_->network());
    load_machines();
    examine();
}

Experiment MainWindow::experiment() const {
    return {what_if_->changes(), run_->chosen()};
}

void MainWindow::experiment_changed(const std::string& what) {
    history_.push(experiment(), what == "options" ? std::string{} : what);
    examine();
}

void MainWindow::show_experiment(const Experiment& state) {
    const QSignalBlocker one(what_if_), two(run_);
    what_if_->set_changes(state.changes);
    run_->set_chosen(state.run);
    examine();
}

void MainWindow::set_network_name(const QString& name) {
    choices_->set_network(name);
    load_and_examine();
}

void MainWindow::undo() {
    if (history_.can_undo()) {
        show_experiment(history_.undo());
    }
}

void MainWindow::redo() {
    if (history_.can_redo()) {
        show_experiment(history_.redo());
    }
}

study::StudyOptions MainWindow::options() const {
    study::StudyOptions options = study::study_options(chosen());
    options.host = hosts_.empty() ? model::HostIssue{} : hosts_.front();
    return options;
}

void MainWindow::examine() {
    std::vector<model::Machine> machines = loaded_machines_;
    if (!machines.empty()) {
        machines.front() = what_if_->changed_machine();
    }
    if (!loaded_network_) { // roofs and measurements alone
        examiner_.cancel();
        show_answer({std::move(machines), {}, {}});
        return;
    }
    examiner_.examine({*loaded_network_, std::move(machines), hosts_, options()});
}

// What is chosen, saved and copied is what is on screen: the choices that asked for more go back.
void MainWindow::cancel_examination() {
    if (!examiner_.busy()) {
        return;
    }
    examiner_.cancel();
    const Asked asked = asked_;
    choices_->set_network(asked.network);
    choices_->set_machines(asked.machines);
    load_network(asked.network);
    load_machines();
    while (history_.can_undo() && history_.now() != asked.experiment) {
        history_.undo(); // doing it again asks again
    }
    const QSignalBlocker one(what_if_), two(run_);
    what_if_->set_changes(asked.experiment.changes);
    run_->set_chosen(asked.experiment.run);
    edits_ = asked.edits;
}

void MainWindow::show_answer(Answer answer) {
    hide_progress();
    asked_ = {network_name_, machine_names_, experiment(), edits_};
    model::Diagnostics problems = std::move(answer.diagnostics);
    machines_ = std::move(answer.machines);
    reports_ = std::make_shared<std::vector<study::Report>>(std::move(answer.reports));
    if (!reports().empty() && !edits_.empty()) {
        for (const study::MappingEdit& edit : edits_) {
            if (const auto row = study::row_of(reports()[0], edit)) {
                originals_[*row] = reports()[0].layers[*row];
            }
        }
        problems.append(study::apply_edits(reports_->front(), machines_[0], edits_, options()));
    }
    show_plot(std::move(problems));
    analyse_pause_.start();
    tell_work();
    emit shown();
}

// What was examined, in all panes.
void MainWindow::show_plot(model::Diagnostics problems) {
    problems.append(not_opened_);
    problems.append(network_problems_);
    problems.append(machine_problems_);
    problems.append(measurements_.problems());
    const std::string title = !loaded_network_                ? std::string{}
                              : loaded_network_->name.empty() ? loaded_network_->id
                                                              : loaded_network_->name;
    auto plot = study::make_plot(title, machines_, *reports_, measurements_.measured());
    problems.append(plot.diagnostics());
    if (plot || machines_.empty()) { // a trace of an unknown GPU alone is no plot
        start_->setCurrentIndex(plot && !plot->machines.empty() ? 1 : 0);
    }
    ask_gpu();
    if (plot) {
        keep_chosen_roofs(*plot);
        view_->set_plot(std::move(*plot));
    }
    show_totals();
    plot_problems_ = std::move(problems);
    tell_all_problems();
    telling_answer_ = true;
    view_changed();
    telling_answer_ = false;
    tell_panes(true);
}

// What is wrong with the plot and with the upgrade, each once, as long as it is so.
void MainWindow::tell_all_problems() {
    model::Diagnostics all;
    for (const model::Diagnostics* list : {&plot_problems_, &upgrade_problems_}) {
        for (const model::Diagnostic& problem : *list) {
            if (std::find(all.begin(), all.end(), problem) == all.end()) {
                all.add(problem);
            }
        }
    }
    show_problems(all);
}

// A choice of roofs is one of machines that were there: those that come later bring the roofs that
// their points need, and with the last of them gone there is no choice any more.
void MainWindow::keep_chosen_roofs(const study::PlotInput& plot) {
    std::set<std::string> all;
    for (const study::PlotMachine& machine : plot.machines) {
        all.insert(machine.id);
    }
    const std::set<std::string> chosen_for = roofs_of_.value_or(all); // a session's are for all
    roofs_of_ = all;
    if (!view_->view().roofs) {
        return;
    }
    study::ViewState fresh = view_->view();
    fresh.roofs.reset();
    const std::set<std::string> needed = study::needed_roofs(plot, fresh);
    std::set<std::string> roofs;
    bool known = false;
    for (const study::PlotMachine& machine : plot.machines) {
        const bool chosen = chosen_for.contains(machine.id);
        known = known || chosen;
        for (const study::Roof& roof : machine.roofs) {
            if ((chosen ? *view_->view().roofs : needed).contains(roof.id)) {
                roofs.insert(roof.id);
            }
        }
    }
    if (!known || roofs != *view_->view().roofs) {
        change_view([&](study::ViewState& view) {
            view.roofs = known ? std::optional(roofs) : std::nullopt;
        });
    }
}

// What every parameter is worth, and what stands behind the steps of the layer in view. The sliders
// are those of the first machine; the ladder may be another one's.
void MainWindow::analyse() {
    if (!loaded_network_ || reports().empty() || machines_.empty()) {
        what_if_->show_gains({});
        return;
    }
    const auto where = shown_layer_;
    std::optional<model::Layer> layer;
    model::Machine machine = machines_.front();
    if (where) {
        layer = reports()[where->report].layers[where->layer].layer;
        machine = machines_[where->report];
    }
    study::StudyOptions quick = options();
    if (quick.policy != study::MappingPolicy::dataflow) { // a search for every bar: too long
        quick.policy = study::MappingPolicy::dataflow;
    }
    study::StudyOptions beside = quick; // the other machine stands in a host of its own
    if (where && where->report > 0) {
        beside.host = where->report < hosts_.size() ? hosts_[where->report] : model::HostIssue{};
    }
    analyser_.run([this, network = *loaded_network_, first = machines_.front(), where, layer,
                   machine, quick,
                   beside](const std::stop_token& stop,
                           const model::ProgressCallback& progress) -> Background::Show {
        using Gains = std::vector<study::Sensitivity>;
        const auto help = layer ? study::help_for(*layer, machine, beside, stop)
                                : model::Result<study::LayerHelp>::failure("none", "");
        const auto gains = study::sensitivities(network, first, quick, stop, progress);
        const auto own = where && where->report > 0
                             ? study::sensitivities(network, machine, beside, stop, progress)
                             : gains;
        return [this, help, gains, own, where] {
            what_if_->show_gains(gains ? *gains : Gains{});
            if (shown_layer_ == where) {
                steps_->show_gains(own ? *own : Gains{});
            }
            if (help && where && shown_layer_ == where) {
                steps_->show_help(*help);
            }
            emit analysed();
        };
    });
}

} // namespace eyeroof::gui
