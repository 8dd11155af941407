// From names to answers: loading, examining, trying things out, and what the panes are told.
#include "gui/window/main_window.hpp"
#include "hwdb/catalog.hpp"
#include "model/base/units.hpp"
#include "study/draw/plot_make.hpp"
#include "study/formats/catalog.hpp"
#include "study/formats/mapping_yaml.hpp"

#include <fmt/format.h>

#include <QDockWidget>
#include <QLabel>
#include <QStackedWidget>
#include <QStatusBar>

namespace eyeroof::gui {

void MainWindow::load_network(const QString& name) {
    network_name_ = name;
    loaded_network_.reset();
    network_problems_ = {};
    if (!name.isEmpty()) {
        auto network = study::read::load_network(name.toStdString(), folders_.networks);
        network_problems_ = network.diagnostics();
        if (network) {
            loaded_network_ = std::move(*network);
        }
    }
}

void MainWindow::load_machines() {
    const std::string before = loaded_machines_.empty() ? "" : loaded_machines_.front().id;
    machine_names_ = choices_->machines();
    loaded_machines_.clear();
    machine_problems_ = {};
    for (const QString& name : machine_names_) {
        auto machine = hwdb::load_machine(name.toStdString(), folders_.machines);
        machine_problems_.append(machine.diagnostics());
        if (machine) {
            loaded_machines_.push_back(std::move(*machine));
        }
    }
    study::make_distinct(loaded_machines_);
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
    return {what_if_->changes(), choices_->batch(), choices_->data_type(),
            choices_->best_mapping()};
}

void MainWindow::experiment_changed(const std::string& what) {
    history_.push(experiment(), what == "options" ? std::string{} : what);
    examine();
}

void MainWindow::show_experiment(const Experiment& state) {
    const QSignalBlocker one(what_if_), two(choices_);
    what_if_->set_changes(state.changes);
    choices_->set_experiment(static_cast<int>(state.batch), state.data_type, state.best_mapping);
    examine();
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
    study::StudyOptions options;
    if (choices_->batch() > 1) {
        options.batch = choices_->batch();
    }
    options.data_type = model::data_type_from_name(choices_->data_type());
    options.policy =
        choices_->best_mapping() ? study::MappingPolicy::best : study::MappingPolicy::dataflow;
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
    examiner_.examine({*loaded_network_, std::move(machines), options()});
}

void MainWindow::show_answer(const Answer& answer) {
    hide_progress();
    model::Diagnostics problems = answer.diagnostics;
    machines_ = answer.machines;
    reports_ = answer.reports;
    if (!reports_.empty() && !edits_.empty()) {
        for (const study::LayerReport& layer : reports_[0].layers) {
            originals_[layer.layer.name] = layer;
        }
        problems.append(study::apply_edits(reports_[0], machines_[0], edits_, options()));
    }
    show_plot(std::move(problems));
    analyse_pause_.start();
    emit shown();
}

// What was examined, in all panes.
void MainWindow::show_plot(model::Diagnostics problems) {
    problems.append(not_opened_);
    problems.append(network_problems_);
    problems.append(machine_problems_);
    problems.append(profile_problems_);
    const std::string title = !loaded_network_                ? std::string{}
                              : loaded_network_->name.empty() ? loaded_network_->id
                                                              : loaded_network_->name;
    auto plot = study::make_plot(title, machines_, reports_,
                                 {profiles_, ceilings_, assignments_, families_});
    problems.append(plot.diagnostics());
    if (plot) {
        const bool something = !plot->machines.empty();
        start_->setCurrentIndex(something ? 1 : 0);
        forget_other_roofs(*plot);
        view_->set_plot(std::move(*plot));
    }
    show_totals();
    show_problems(problems);
    view_changed();
}

// Roofs that a view asked for by id, of machines that are gone.
void MainWindow::forget_other_roofs(const study::PlotInput& plot) {
    if (!view_->view().roofs || view_->view().roofs->empty()) {
        return;
    }
    for (const study::PlotMachine& machine : plot.machines) {
        for (const study::Roof& roof : machine.roofs) {
            if (view_->view().roofs->contains(roof.id)) {
                return;
            }
        }
    }
    change_view([](study::ViewState& view) { view.roofs.reset(); });
}

void MainWindow::show_totals() {
    QStringList lines;
    for (const study::Report& report : reports_) {
        const study::Total& total = report.total;
        std::string line = fmt::format("<b>{}</b>: {}", report.machine.name,
                                       model::format_si(total.time_s, "s", 4));
        if (total.low_s && total.high_s) {
            line += fmt::format(" ({} … {})", model::format_si(*total.low_s, "s"),
                                model::format_si(*total.high_s, "s"));
        }
        line += fmt::format(", {:.1f} % of the peak", 100.0 * total.utilization);
        if (!report.worst.empty() && reports_.size() == 1) {
            const study::Loss& worst = report.worst.front();
            line += fmt::format("; most is lost in {} at step {} (mended alone {:.0f} % less time)",
                                report.layers[worst.layer].layer.name, worst.step,
                                100.0 * worst.lost_s / total.time_s);
        }
        lines << QString::fromStdString(line);
    }
    if (reports_.size() == 2) {
        const double ratio = reports_[0].total.time_s / reports_[1].total.time_s;
        const auto& faster = reports_[ratio > 1.0 ? 1 : 0].machine.name;
        lines << tr("%1 is %2 times faster")
                     .arg(QString::fromStdString(faster))
                     .arg(ratio > 1.0 ? ratio : 1.0 / ratio, 0, 'f', 2);
    }
    totals_->setText(lines.join("<br>"));
    totals_->setVisible(!lines.isEmpty());
}

// What every parameter is worth, and what stands behind the steps of the layer in view.
void MainWindow::analyse() {
    if (!loaded_network_ || reports_.empty() || machines_.empty()) {
        what_if_->show_gains({});
        return;
    }
    std::optional<model::Layer> layer;
    std::optional<model::Machine> machine;
    if (shown_layer_) {
        layer = reports_[shown_layer_->report].layers[shown_layer_->layer].layer;
        machine = machines_[shown_layer_->report];
    }
    analyser_.run([this, network = *loaded_network_, first = machines_.front(), layer, machine,
                   options =
                       options()](const std::stop_token& stop,
                                  const model::ProgressCallback& progress) -> Background::Show {
        study::StudyOptions quick = options;
        if (quick.policy == study::MappingPolicy::best) { // a search for every bar takes too long
            quick.policy = study::MappingPolicy::dataflow;
        }
        const auto help = layer ? study::help_for(*layer, *machine, quick, stop)
                                : model::Result<study::LayerHelp>::failure("none", "");
        const auto gains = study::sensitivities(network, first, quick, stop, progress);
        return [this, help, gains, name = layer ? layer->name : std::string{}] {
            what_if_->show_gains(gains ? *gains : std::vector<study::Sensitivity>{});
            steps_->show_gains(gains ? *gains : std::vector<study::Sensitivity>{});
            if (help && shown_layer_ &&
                reports_[shown_layer_->report].layers[shown_layer_->layer].layer.name == name) {
                steps_->show_help(*help);
            }
            emit analysed();
        };
    });
}

void MainWindow::use_report(study::Report report, const Shown& where) {
    reports_[where.report] = std::move(report);
    show_plot({});
    analyse_pause_.start();
}

void MainWindow::try_mapping(const model::Mapping& mapping) {
    if (!shown_layer_) {
        return;
    }
    const Shown where = *shown_layer_;
    const study::LayerReport before = reports_[where.report].layers[where.layer];
    auto edited = study::with_mapping(reports_[where.report], where.layer, machines_[where.report],
                                      mapping, options(), {}, mapping_->nest());
    if (!edited) {
        return mapping_->show_problems(edited.diagnostics());
    }
    const study::LayerReport after = edited->layers[where.layer];
    if (where.report == 0) {
        originals_.try_emplace(before.layer.name, before);
        keep_edit(before.layer.name, mapping);
    }
    use_report(std::move(*edited), where);
    const auto original = originals_.find(before.layer.name);
    mapping_->show_tried(original == originals_.end() ? before : original->second, after);
}

void MainWindow::keep_edit(const std::string& layer, const model::Mapping& mapping) {
    const auto& accelerator = std::get<model::Accelerator>(machines_.front().kind);
    const study::MappingEdit edit{layer, mapping_->nest(),
                                  study::read::write_mapping_yaml(mapping, accelerator)};
    for (study::MappingEdit& known : edits_) {
        if (known.layer == edit.layer && known.nest == edit.nest) {
            known.text = edit.text;
            return;
        }
    }
    edits_.push_back(edit);
}

void MainWindow::restore_mapping() {
    if (shown_layer_) {
        const std::string name =
            reports_[shown_layer_->report].layers[shown_layer_->layer].layer.name;
        std::erase_if(edits_, [&](const study::MappingEdit& e) { return e.layer == name; });
        originals_.erase(name);
        mapping_->clear();
        examine();
    }
}

void MainWindow::search_mapping(const mapper::Objective& objective) {
    if (!shown_layer_) {
        return mapping_->end_search(tr("Select a layer first."));
    }
    const study::LayerReport layer = reports_[shown_layer_->report].layers[shown_layer_->layer];
    searcher_.run(
        [this, layer, machine = machines_[shown_layer_->report], objective, nest = mapping_->nest(),
         options = options()](const std::stop_token& stop,
                              const model::ProgressCallback& progress) -> Background::Show {
            const auto found =
                study::search_mapping(machine, layer, objective, options, stop, progress, nest);
            return [this, found, name = layer.layer.name] { end_search(found, name); };
        });
}

// Cancelled or not, the best mapping that was found is used.
void MainWindow::end_search(const model::Result<mapper::SearchResult>& found,
                            const std::string& layer) {
    if (!found) {
        const model::Diagnostic& why = found.diagnostics().items().front();
        const bool cancelled = why.code == "cancelled" || why.code == "no-mapping";
        mapping_->end_search(cancelled ? tr("Cancelled before a mapping was found.")
                                       : QString::fromStdString(why.message));
    } else {
        const mapper::Certificate& c = found->certificate;
        const QString objective = QString::fromStdString(c.objective);
        mapping_->end_search(c.proved
                                 ? tr("Found in %1 s: no mapping has a lower %2 (%3 looked at).")
                                       .arg(c.time_s, 0, 'f', 2)
                                       .arg(objective)
                                       .arg(c.nodes)
                                 : tr("The best so far: at most %1 % above the best %2.")
                                       .arg(100.0 * c.gap, 0, 'f', 1)
                                       .arg(objective));
        if (shown_layer_ &&
            reports_[shown_layer_->report].layers[shown_layer_->layer].layer.name == layer) {
            try_mapping(found->mapping);
        }
    }
    emit searched();
}

} // namespace eyeroof::gui
