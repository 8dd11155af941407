// The panes that follow one pattern (gui/panes/pane.hpp): made, fed, and gathered in the report.
#include "analysis/scenario/fields.hpp"
#include "base/file.hpp"
#include "base/shell.hpp"
#include "gui/jobs/window_report.hpp"
#include "gui/panes/fitting_scroll.hpp"
#include "gui/panes/table_html.hpp"
#include "gui/panes/upgrade_form.hpp"
#include "gui/window/main_window.hpp"
#include "gui/window/pane_list.hpp"
#include "report/draw/svg.hpp"

#include <QDockWidget>
#include <QFileDialog>
#include <QLabel>
#include <QRegularExpression>
#include <QStatusBar>
#include <QTabWidget>
#include <QTableView>
#include <QTextEdit>
#include <map>

namespace eyeroof::gui {

namespace {

constexpr int kRest_ms = 150; // a slider that has not moved for so long rests

QString svg_of(const Picture& picture) {
    return picture.size.isEmpty()
               ? QString()
               : QString::fromStdString(picture.svg(report::SvgTheme::automatic));
}

// What Qt writes as a whole document, without its head.
QString body_of(const QString& html) {
    const auto from = html.indexOf('>', html.indexOf("<body"));
    const auto to = html.lastIndexOf("</body>");
    return from < 0 || to < from ? html : html.mid(from + 1, to - from - 1);
}

} // namespace

void MainWindow::make_pattern_panes() {
    waiting_pause_.setSingleShot(true);
    waiting_pause_.setInterval(kRest_ms);
    connect(&waiting_pause_, &QTimer::timeout, this, &MainWindow::show_all_waiting);
    PaneActions actions;
    actions.look = [this] { return pane_input(); };
    actions.change_scenario = [this](const std::function<void(analysis::Scenario&)>& change) {
        change_scenario(change, {});
        show_scenario(); // its fields in the toolbar say the same
    };
    actions.open_files = [this] { open_dialog(); };
    actions.close_file = [this](const std::string& path) { close_measurement(path); };
    actions.replace_file = [this](const std::string& path) { replace_measurement(path); };
    actions.compare_run = [this](const std::string& path) {
        if (measurements_.compare(path)) {
            examine();
        }
    };
    actions.select_layer = [this](std::size_t report, std::size_t layer) {
        shown_layer_ = Shown{report, layer};
        select_layer(layer);
    };
    actions.tell = [this](const QString& message) { statusBar()->showMessage(message, 8000); };
    actions.show_before = [this](const std::map<std::string, report::Place>& before) {
        view_->show_before(before);
    };
    for (const MakePane make : all_panes()) {
        Pane* pane = make(actions, this);
        pane->setObjectName(pane->name() + " pane");
        panes_.push_back(pane);
        if (pane->place() == PanePlace::middle) {
            pane->setMinimumSize(300, 160); // small windows stay small, whatever it holds
            const int at = pages_->addTab(pane, pane->tab());
            pages_->setTabToolTip(at, pane->title());
            pages_->setTabVisible(at, pane->belongs(pane_input()));
        } else {
            add_pane(pane->tab(), qPrintable(pane->name()), new FittingScroll(pane, this),
                     Qt::BottomDockWidgetArea);
        }
    }
    tabify_pattern_panes(docks_["layers"]); // never below each other: they would not fit
}

PaneInput MainWindow::pane_input() const {
    PaneInput input;
    input.network = questions_.network();
    input.scenario = &session_.scenario;
    input.questions = &asked_;
    input.folders = &folders_;
    input.reports = reports_;
    input.files = &measurements_.all();
    input.edits = &session_.mappings;
    input.pooled = measurements_.pooled();
    if (shown_layer_ && shown_layer_->report < reports().size() &&
        shown_layer_->layer < reports()[shown_layer_->report].layers.size()) {
        input.report = shown_layer_->report;
        input.layer = shown_layer_->layer;
        input.selected = !view_->view().selection.empty();
    }
    return input;
}

void MainWindow::tell_panes(bool answer) {
    if (telling_answer_ && !answer) {
        return;
    }
    const auto tell = [this, answer](Pane* pane) {
        const PaneInput input = pane_input();
        answer ? pane->show_answer(input) : pane->show_selection(input);
    };
    show_tabs();
    for (Pane* pane : panes_) {
        if (pane->place() == PanePlace::middle) { // those look themselves whether they are seen
            tell(pane);
        } else if (answer || !waiting_.contains(pane->name())) {
            show_in_dock(pane->name(), [tell, pane] { tell(pane); });
        }
    }
}

// While a slider is held only what can be seen follows.
void MainWindow::show_in_dock(const QString& dock, std::function<void()> show) {
    if (front_docks_.contains(dock) || !what_if_->is_held()) {
        waiting_.erase(dock);
        return show();
    }
    waiting_[dock] = std::move(show);
    waiting_pause_.start();
}

void MainWindow::show_waiting_in(const QString& dock) {
    if (const auto found = waiting_.extract(dock)) {
        found.mapped()();
    }
}

void MainWindow::show_all_waiting() {
    while (!waiting_.empty()) {
        show_waiting_in(waiting_.begin()->first);
    }
}

// Called inside a layout of the window, in which nothing may ask for another.
void MainWindow::dock_moved(const QString& dock, bool in_front) {
    if (!in_front) {
        front_docks_.erase(dock);
        return;
    }
    front_docks_.insert(dock);
    QMetaObject::invokeMethod(
        this, [this, dock] { show_waiting_in(dock); }, Qt::QueuedConnection);
}

namespace {

// Links of the window lead nowhere from a page.
QString without_links(QString html) {
    static const QRegularExpression tag("</?a\\b[^>]*>");
    return html.remove(tag);
}

// The plot as it stands, laid out for the width of a page: scaled down its texts would be too
// small.
QString page_svg(const RooflineView& view) {
    const report::PlotArea before = view.scene().area;
    report::RooflineScene scene = view.scene();
    report::lay_out(scene, view.view(), {1160.0, 640.0});
    const auto moved = [&](report::Place place) {
        return scene.area.place_of(before.x_at(place.x), before.y_at(place.y));
    };
    std::vector<report::BeforeArrow> arrows;
    for (const report::BeforeArrow& arrow : view.arrows()) {
        arrows.push_back({moved(arrow.from), moved(arrow.to)});
    }
    return QString::fromStdString(
        report::to_svg(with_arrows(drawn(scene), arrows), report::SvgTheme::automatic));
}

} // namespace

// Every pane as it stands.
std::string MainWindow::report_html() const {
    std::vector<ReportSection> sections = {
        {tr("Times"), without_links(totals_->text()) + "<p>" +
                          totals_->toolTip().toHtmlEscaped().replace("\n", "<br>") + "</p>"},
        {tr("Roofline"), asked_.empty() ? QString() : page_svg(*view_)},
        {tr("Seven steps"), svg_of(picture_of(steps_->ladder(), "steps")) + "<p>" +
                                without_links(steps_->text()) + "</p>"},
        {tr("Layers"), table_html(*table_view_)},
    };
    QString turned;
    for (const std::string& set : session_.scenario.changes) {
        turned += "<li>" + QString::fromStdString(set).toHtmlEscaped() + "</li>";
    }
    sections.push_back({tr("What if"), turned.isEmpty() ? QString() : "<ul>" + turned + "</ul>"});
    sections.push_back({tr("Mapping"), svg_of(picture_of(mapping_->picture(), "mapping"))});
    sections.push_back({tr("Details"), details_->toPlainText().isEmpty()
                                           ? QString()
                                           : body_of(details_->toHtml())});
    for (const Pane* pane : panes_) {
        sections.push_back({pane->title(), pane->html()});
    }
    if (!upgrade_->upgrades().empty()) {
        QString html = without_links(upgrade_->headline()) + table_html(upgrade_->verdicts());
        for (const DrawingView* picture : upgrade_->pictures()) {
            html += svg_of(picture_of(*picture, "upgrade"));
        }
        sections.push_back(
            {tr("Does another GPU pay off?"), html + table_html(upgrade_->layers())});
    }
    QString problems;
    for (int i = 0; i < errors_->topLevelItemCount(); ++i) {
        problems += "<li>" + errors_->topLevelItem(i)->toolTip(0).toHtmlEscaped() + "</li>";
    }
    sections.push_back(
        {tr("Diagnostics"), problems.isEmpty() ? QString() : "<ul>" + problems + "</ul>"});
    return window_report(QString(windowTitle()).remove("[*]"), sections);
}

void MainWindow::save_report(const QString& file) {
    show_all_waiting();
    const auto written = write_file(file.toStdString(), report_html());
    if (!written) {
        show_problems(written.diagnostics());
    }
}

void MainWindow::save_report_dialog() {
    const QString file = QFileDialog::getSaveFileName(this, tr("Save the report"), "report.html",
                                                      tr("Reports (*.html)"));
    if (!file.isEmpty()) {
        save_report(file);
    }
}

namespace {

// Options of a scenario that an upgrade takes and its page has no field for, as the command line
// spells them. What was turned is the old GPU's.
std::string more_of(const analysis::Scenario& scenario) {
    const std::vector<std::string> known = analysis::more_names();
    std::string line;
    for (const analysis::ScenarioField& field : analysis::scenario_fields()) {
        const std::string name = field.name == "set" ? "from-set" : field.name;
        const auto values = field.get(scenario);
        if (field.name == "dim" || values == field.get({}) ||
            std::find(known.begin(), known.end(), name) == known.end()) {
            continue; // sizes stand behind the network's name
        }
        for (const std::string& value : values) {
            line += (line.empty() ? "--" : " --") + name;
            line += field.kind == analysis::FieldKind::flag ? "" : " " + shell_quoted(value);
        }
    }
    return line;
}

std::string field_text(const char* name, const analysis::Scenario& scenario) {
    const auto values = analysis::find_field(name)->get(scenario);
    return values.empty() || values == analysis::find_field(name)->get({}) ? std::string()
                                                                           : values.front();
}

} // namespace

// From the plot to the question whether another pays, and back to why: as it is asked there.
void MainWindow::ask_upgrade() {
    const analysis::Scenario& now = session_.scenario;
    analysis::UpgradeQuestion question = upgrade_->form().question();
    question.networks = {{network_words().toStdString(), 1.0}};
    question.from.name = now.machine;
    question.from.data_type = now.data_type;
    question.batch = now.batch;
    question.largest_batch = false;
    question.phase = now.training ? now.training->optimizer : "inference";
    question.launch = field_text("launch", now);
    question.layout = field_text("layout", now);
    question.compiled = now.compiled;
    question.from_host = now.host;
    question.to_host = now.host;
    question.more = more_of(now);
    question.to.clear();
    for (std::size_t i = 1; i < session_.machines.size(); ++i) {
        question.to.push_back({session_.machines[i], now.data_type, {}, {}});
    }
    upgrade_->ask(question);
    show_page("upgrade");
}

void MainWindow::explain_upgrade(const QString& network, const QString& from, const QString& to) {
    const analysis::Scenario run = upgrade_->shown_run(); // as the upgrade view asks
    scenario() = run;
    choices_->set_network(network);
    choices_->set_machines({from, to});
    show_page("roofline");
    load_and_examine();
    if (!run.changes.empty()) { // another machine's are dropped; these are of this one
        scenario().changes = run.changes;
        show_scenario();
        examine();
    }
    history_.push(scenario(), {});
}

} // namespace eyeroof::gui
