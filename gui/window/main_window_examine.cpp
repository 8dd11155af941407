// From names to answers: loading, examining, and what the panes receive.
#include "analysis/program/lower.hpp"
#include "analysis/what_if/headline.hpp"
#include "gui/jobs/as_in_view.hpp"
#include "gui/jobs/report_warnings.hpp"
#include "gui/views/discard.hpp"
#include "gui/views/qt_text.hpp"
#include "gui/window/main_window.hpp"
#include "report/draw/roofline_build.hpp"

#include <QDockWidget>
#include <QLabel>
#include <QStackedWidget>
#include <QStatusBar>
#include <algorithm>

namespace eyeroof::gui {

void MainWindow::load() {
    questions_.load(session_);
    const auto trace = questions_.trace();
    measurements_.set_own(session_.scenario.network,
                          trace ? std::shared_ptr<const profiles::Profile>(trace, &trace->profile)
                                : nullptr);
    run_->show_sizes(session_.scenario, folders_);
    run_->show_machines(questions_.machines());
}

// The scenario in its fields; their signals are blocked.
void MainWindow::show_scenario() {
    const QSignalBlocker one(what_if_), two(run_);
    run_->show_scenario(
        scenario(), has_network() ? analysis::own_batch(questions_.network()->network) : Count{1});
    const model::Machine* machine = questions_.first();
    if (machine == nullptr) {
        return;
    }
    if (*machine != what_if_->machine()) {
        what_if_->set_machine(*machine);
    }
    std::vector<analysis::Change> changes;
    for (const std::string& text : scenario().changes) {
        if (const auto change = analysis::parse_change(*machine, text)) {
            changes.push_back(*change);
        }
    }
    what_if_->set_changes(changes, scenario().host_speed);
}

// The names in the row at the top.
void MainWindow::load_and_examine() {
    const std::string network = choices_->network().toStdString();
    if (is_unread_trace(network)) { // typed: as if it were opened
        return open(choices_->network());
    }
    if (network != scenario().network ||
        choices_->machines().value(0).toStdString() != scenario().machine) {
        end_search_of_other();
    }
    if (network != scenario().network) {
        scenario().network = network;
        scenario().sizes.clear();
        session_.mappings.clear();
        view_->set_selection({});
    }
    const std::string before = scenario().machine;
    choose_machines(choices_->machines());
    load();
    const bool other = questions_.first() != nullptr && *questions_.first() != what_if_->machine();
    if (other || scenario().machine != before) {
        scenario().changes.clear(); // they are of the machine that was there, even of an equal one
        session_.mappings.clear();
        history_.clear(scenario());
    }
    show_scenario();
    examine();
}

void MainWindow::choose_machines(const QStringList& names) {
    session_.machines.clear();
    for (const QString& name : names) {
        session_.machines.push_back(name.toStdString());
    }
    scenario().machine = session_.machines.empty() ? std::string() : session_.machines.front();
}

void MainWindow::change_scenario(const std::function<void(analysis::Scenario&)>& change,
                                 const std::string& what) {
    change(scenario());
    history_.push(scenario(), what);
    examine();
}

// What was turned and chosen; names stay.
void MainWindow::go_back_to(analysis::Scenario before) {
    before.network = scenario().network;
    before.sizes = scenario().sizes;
    before.machine = scenario().machine;
    scenario() = std::move(before);
    show_scenario();
    examine();
}

void MainWindow::set_sizes(const QString& network, const std::vector<std::string>& sizes) {
    scenario().sizes = sizes;
    scenario().network = network.toStdString();
    choices_->set_network(network);
    load_and_examine();
}

QString MainWindow::network_words() const {
    const QStringList sizes = texts(session_.scenario.sizes);
    const QString name = QString::fromStdString(session_.scenario.network);
    return sizes.isEmpty() ? name : name + ":" + sizes.join(",");
}

void MainWindow::undo() {
    if (history_.can_undo()) {
        go_back_to(history_.undo());
    }
}

void MainWindow::redo() {
    if (history_.can_redo()) {
        go_back_to(history_.redo());
    }
}

void MainWindow::examine() {
    {
        const QSignalBlocker quiet(headliner_); // of the answer before
        headliner_.cancel();
    }
    Diagnostics problems;
    std::vector<analysis::Question> questions = questions_.of(session_, problems);
    if (problems.has_errors()) { // no legal machine: what is on screen stays
        problems.append(questions_.problems());
        plot_problems_ = std::move(problems);
        return tell_all_problems();
    }
    Asked asked{std::move(questions),
                has_network(),
                plot_title(),
                session_.mappings,
                {questions_.trace(), folders_.machines},
                measurements_.measured()};
    if (!has_network() && measurements_.all().empty()) { // roofs alone: at once
        examiner_.cancel();
        return show_answer(answer_to(std::move(asked), {}, {}));
    }
    if (!examiner_.busy()) {
        asked_at_.start();
    }
    examiner_.examine(std::move(asked));
}

std::string MainWindow::plot_title() const {
    if (!has_network()) {
        return {};
    }
    const model::Network& network = questions_.network()->network;
    return network.name.empty() ? network.id : network.name;
}

// What is chosen, saved and copied is what is on screen: the choices that asked for more go back.
void MainWindow::cancel_examination() {
    if (reader_.busy()) {
        reader_.cancel();
    }
    if (!examiner_.busy()) {
        return;
    }
    examiner_.cancel();
    session_ = shown_session_;
    choices_->set_network(text(scenario().network));
    choices_->set_machines(texts(session_.machines));
    load();
    while (history_.can_undo() && history_.now() != scenario()) {
        history_.undo(); // doing it again asks again
    }
    show_scenario();
}

void MainWindow::show_answer(Answer answer) {
    hide_progress();
    shown_session_ = session_;
    asked_ = std::move(answer.questions);
    own_times_ = answer.own_times;
    answer.originals.merge(originals_);
    originals_ = std::move(answer.originals);
    reports_ = freed_in_background(std::move(answer.reports));
    answer_problems_ = std::move(answer.diagnostics);
    what_if_->await_gains();
    show_plot(std::move(answer.plot));
    tell_work();
    if (what_if_->is_held() || reports().empty()) {
        analyse_pause_.start();
        emit shown();
    } else {
        find_headlines();
    }
}

// What bounds each step takes some twenty examinations: the answer is on screen before. While a
// slider is held it waits until that rests. Twice a resource would be searched for its own
// mappings: a machine whose mappings are edited has none.
void MainWindow::find_headlines() {
    headliner_.run([this, reports = reports_, asked = asked_, first = first_with_headline()](
                       const std::stop_token& stop, const ProgressCallback&) -> Background::Show {
        std::vector<std::optional<analysis::Headline>> found(reports->size());
        for (std::size_t i = first; i < reports->size(); ++i) {
            analysis::Report report = (*reports)[i];
            analysis::find_headline(report, asked[i], stop);
            found[i] = report.headline;
        }
        return [this, reports, found] {
            for (std::size_t i = 0; i < found.size(); ++i) {
                (*reports)[i].headline = found[i];
            }
            show_totals();
            steps_->show_ladder();
            analyse_pause_.start();
            emit shown();
        };
    });
}

// What was examined, in all panes.
void MainWindow::show_plot(Result<report::PlotInput> plot) {
    Diagnostics problems = answer_problems_;
    LayerMarks marks;
    for (const analysis::Report& report : reports()) {
        add_warnings(report, problems, marks);
    }
    rows_.set_marks(std::move(marks));
    problems.append(not_opened_);
    problems.append(questions_.problems());
    problems.append(measurements_.problems());
    problems.append(plot.diagnostics());
    follow_content();
    if (plot || asked_.empty()) { // a trace of an unknown GPU alone is no plot
        start_->setCurrentIndex(plot && !plot->machines.empty() ? 1 : 0);
    }
    ask_gpu();
    ask_sizes();
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
    Diagnostics all;
    for (const Diagnostics* list : {&plot_problems_, &upgrade_problems_}) {
        for (const Diagnostic& problem : *list) {
            if (std::find(all.begin(), all.end(), problem) == all.end()) {
                all.add(problem);
            }
        }
    }
    show_problems(all);
}

// A choice of roofs is one of machines that were there: those that come later bring the roofs that
// their points need, and with the last of them gone there is no choice any more.
void MainWindow::keep_chosen_roofs(const report::PlotInput& plot) {
    std::set<std::string> all;
    for (const analysis::PlotMachine& machine : plot.machines) {
        all.insert(machine.id);
    }
    const std::set<std::string> chosen_for = roofs_of_.value_or(all); // a session's are for all
    roofs_of_ = all;
    if (!view_->view().roofs) {
        return;
    }
    report::ViewState fresh = view_->view();
    fresh.roofs.reset();
    const std::set<std::string> needed = report::needed_roofs(plot, fresh);
    std::set<std::string> roofs;
    bool known = false;
    for (const analysis::PlotMachine& machine : plot.machines) {
        const bool chosen = chosen_for.contains(machine.id);
        known = known || chosen;
        for (const analysis::Roof& roof : machine.roofs) {
            if ((chosen ? *view_->view().roofs : needed).contains(roof.id)) {
                roofs.insert(roof.id);
            }
        }
    }
    if (!known || roofs != *view_->view().roofs) {
        change_view([&](report::ViewState& view) {
            view.roofs = known ? std::optional(roofs) : std::nullopt;
        });
    }
}

// What every parameter is worth, and what stands behind the steps of the layer in view. The sliders
// are those of the first machine; the ladder may be another one's.
void MainWindow::analyse() {
    if (reports().empty()) {
        what_if_->show_gains({});
        return;
    }
    const std::size_t first = first_with_headline();
    if (first < reports().size() && !reports()[first].headline) {
        return find_headlines();
    }
    const auto where = shown_layer_;
    std::optional<model::Layer> layer;
    if (where) {
        layer = reports()[where->report].layers[where->layer].layer;
    }
    const analysis::Examine as_shown = as_in_view(session_.mappings);
    const analysis::Examine of_layer = as_in_view(
        !where || where->report > 0 ? std::vector<analysis::MappingEdit>{}
                                    : edits_of(session_.mappings, reports().front(), where->layer));
    what_if_->await_gains();
    analyser_.run([this, first = asked_.front(), where, layer, as_shown, of_layer,
                   beside = asked_[where ? where->report : 0]](
                      const std::stop_token& stop,
                      const ProgressCallback& progress) -> Background::Show {
        using Gains = std::vector<analysis::Sensitivity>;
        const auto help = layer ? analysis::help_for(*layer, beside, stop, of_layer)
                                : Result<analysis::LayerHelp>::failure("none", "");
        const auto gains = gains_of(first, stop, progress, as_shown);
        const auto own =
            where && where->report > 0 ? gains_of(beside, stop, progress, as_in_view({})) : gains;
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
