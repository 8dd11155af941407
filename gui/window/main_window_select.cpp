// One selection for all panes, and what they show of it.
#include "analysis/what_if/parameter_map.hpp"
#include "base/units.hpp"
#include "gui/jobs/as_in_view.hpp"
#include "gui/views/qt_text.hpp"
#include "gui/window/main_window.hpp"
#include "report/measured/measured_text.hpp"

#include <QDockWidget>
#include <QItemSelectionModel>
#include <QMenu>
#include <QRegularExpression>
#include <QStatusBar>
#include <QTableView>
#include <QTextEdit>
#include <algorithm>

namespace eyeroof::gui {

// Other points or roofs are in view.
void MainWindow::view_changed() {
    syncing_ = true;
    rows_.set_time_unit(text(view_->view().time_unit));
    const bool same_points = rows_.set_rows(view_->shared_plot(), view_->scene(), reports());
    syncing_ = false;
    if (!same_points) {
        const auto& points = view_->plot().points;
        const bool measured = std::any_of(points.begin(), points.end(),
                                          [](const auto& point) { return point.measured; });
        table_view_->setColumnHidden(LayerTable::machine, view_->plot().machines.size() < 2);
        table_view_->setColumnHidden(LayerTable::faster, view_->plot().machines.size() < 2);
        table_view_->setColumnHidden(LayerTable::kind, !measured);
        table_view_->setColumnHidden(LayerTable::runs, !rows_.repeats());
        const bool compared = std::any_of(reports().begin(), reports().end(),
                                          [](const auto& report) { return report.measured; });
        table_view_->setColumnHidden(LayerTable::measured, !compared);
        table_view_->setColumnHidden(LayerTable::unexplained, !compared);
        table_view_->setColumnHidden(LayerTable::measured_of_roof, !compared);
        table_view_->resizeColumnsToContents();
    }
    plot_bar_->show_view(view_->plot(), view_->scene(), view_->view());
    selection_from_plot();
}

void MainWindow::change_view(const std::function<void(report::ViewState&)>& change) {
    report::ViewState view = view_->view();
    change(view);
    view_->set_view(view);
}

// The selected points go; a chip above the plot brings them back.
void MainWindow::hide_selected() {
    const std::set<std::string> chosen = view_->view().selection;
    if (chosen.empty()) {
        return statusBar()->showMessage(tr("Select what is to be hidden"), 5000);
    }
    change_view([&](report::ViewState& view) {
        view.hidden.insert(chosen.begin(), chosen.end());
        view.selection.clear();
    });
}

void MainWindow::show_selected_alone() {
    const std::set<std::string> chosen = view_->view().selection;
    if (chosen.empty()) {
        return statusBar()->showMessage(tr("Select what is to be shown alone"), 5000);
    }
    change_view([&](report::ViewState& view) { view.only = chosen; });
}

void MainWindow::show_hidden() {
    change_view([](report::ViewState& view) {
        view.hidden.clear();
        view.only.clear();
        view.hidden_machines.clear();
        view.hidden_series.clear();
    });
}

// What can be done with the selection: of the table, and of the plot.
void MainWindow::fill_selection_menu(QMenu& menu) {
    menu.setObjectName("row menu");
    const bool some = !view_->view().selection.empty();
    const auto add = [&](const QString& name, bool of_selection, auto action) {
        menu.addAction(name, this, action)->setEnabled(some || !of_selection);
    };
    add(tr("Copy rows"), false, &MainWindow::copy_rows);
    add(tr("Show its steps"), true, [this] {
        steps_->show_network(false);
        show_page("steps");
    });
    add(tr("Zoom to it"), true, [this] {
        if (!view_->fit(true)) {
            statusBar()->showMessage(tr("It has no place on the plot"), 5000);
        }
    });
    menu.addSeparator();
    add(tr("Filter by its name"), true, &MainWindow::filter_to_selected);
    add(tr("Show alone"), true, &MainWindow::show_selected_alone);
    add(tr("Hide"), true, &MainWindow::hide_selected);
    add(tr("Show all again"), false, &MainWindow::show_hidden);
    add(tr("Fit the axes to the points"), false, [this] { view_->fit(false); });
    add_assign_menu(menu);
}

void MainWindow::filter_to_selected() {
    QStringList names;
    for (const report::PlotPoint& point : view_->plot().points) {
        if (view_->view().selection.contains(point.id)) {
            names << "^" + QRegularExpression::escape(text(point.name)) + "$";
        }
    }
    names.removeDuplicates();
    change_view([&](report::ViewState& view) { view.filter = names.join('|').toStdString(); });
}

void MainWindow::selection_from_plot() {
    if (!syncing_) {
        syncing_ = true;
        QItemSelection selection;
        QModelIndex first;
        const bool some = !view_->view().selection.empty(); // else no row need be looked at
        for (int row = 0; some && row < rows_.rowCount(); ++row) {
            const QModelIndex index = rows_.index(row, 0);
            const auto ids = rows_.ids_of(row);
            if (std::any_of(ids.begin(), ids.end(), [&](const std::string& id) {
                    return view_->view().selection.contains(id);
                })) {
                selection.select(index, index);
                first = first.isValid() ? first : index;
            }
        }
        table_view_->selectionModel()->select(selection, QItemSelectionModel::ClearAndSelect |
                                                             QItemSelectionModel::Rows);
        if (first.isValid()) {
            table_view_->scrollTo(first);
        }
        syncing_ = false;
    }
    show_details();
}

void MainWindow::selection_from_table() {
    if (syncing_) {
        return;
    }
    syncing_ = true;
    std::set<std::string> ids;
    for (const QModelIndex& index : table_view_->selectionModel()->selectedRows()) {
        const auto of_row = rows_.ids_of(index.row());
        ids.insert(of_row.begin(), of_row.end());
    }
    view_->set_selection(ids);
    syncing_ = false;
}

// The heaviest selected point, predictions first; or the heaviest of all when nothing is selected.
std::optional<report::ScenePoint> MainWindow::chosen_point() const {
    const auto& points = view_->plot().points;
    const auto& selection = view_->view().selection;
    const report::ScenePoint* chosen = nullptr;
    for (const report::ScenePoint& point : view_->scene().points) { // the last is the heaviest
        const bool wanted = selection.empty() || selection.contains(point.id);
        const bool behind = chosen != nullptr && points.at(point.source).measured &&
                            !points.at(chosen->source).measured && !selection.empty();
        chosen = wanted && !behind ? &point : chosen;
    }
    if (chosen != nullptr) {
        return *chosen;
    }
    for (const report::SceneRest& rest : view_->scene().rest) { // rows without a place on the plot
        if (selection.contains(points.at(rest.source).id)) {
            report::ScenePoint point;
            point.source = rest.source;
            point.share = rest.share;
            return point;
        }
    }
    return std::nullopt;
}

void MainWindow::show_details() {
    const auto chosen = chosen_point();
    if (!chosen) {
        shown_layer_.reset();
        steps_->clear();
        mapping_->clear();
        waiting_.erase("details");
        details_->clear();
        tell_panes(false);
        return;
    }
    const report::PlotPoint& source = view_->plot().points.at(chosen->source);
    const auto before = shown_layer_;
    show_layer(source);
    if (shown_layer_ && shown_layer_ != before) {
        analyse_pause_.start();
    }
    show_in_dock("details", [this] { fill_details(); });
    tell_panes(false);
}

void MainWindow::fill_details() {
    const auto chosen = chosen_point();
    if (!chosen) {
        return details_->clear();
    }
    QString html = "<table cellpadding=3>";
    for (const report::CardRow& row : card_of(view_->plot(), *chosen)) {
        html += QString("<tr><td style='color:%3'>%1</td><td>%2</td></tr>")
                    .arg(text(row.what).toHtmlEscaped(), text(row.value).toHtmlEscaped(),
                         palette().color(QPalette::PlaceholderText).name());
    }
    html += "</table>";
    if (shown_layer_) {
        html += layer_details();
    }
    details_->setHtml(html);
}

// What the card has no room for: the measurement line by line, the mapping, notes, the whole run.
QString MainWindow::layer_details() const {
    const analysis::Report& report = reports()[shown_layer_->report];
    const analysis::LayerReport& layer = report.layers[shown_layer_->layer];
    QString html;
    const auto section = [&](const QString& title, const std::vector<std::string>& lines) {
        if (!lines.empty()) {
            html += "<h4>" + title + "</h4>";
        }
        for (const std::string& line : lines) {
            QString sentence = text(line).toHtmlEscaped();
            sentence[0] = sentence[0].toUpper();
            html += "<p style='margin-top:2px; margin-bottom:2px'>" + sentence + "</p>";
        }
    };
    if (layer.measured) {
        section(tr("Measured"), report::measured_lines(layer));
    }
    if (layer.roof) {
        section(tr("Below measured ceilings"),
                {"at least " + format_si(layer.roof->time_s, "s") + ", by " + layer.roof->by});
    }
    section(tr("Notes"), layer.notes);
    html +=
        "<h4>" + tr("Mapping") + "</h4><pre>" + text(layer.mapping_text).toHtmlEscaped() + "</pre>";
    if (report.measured) {
        section(tr("The whole profile"), report::measurement_lines(*report.measured));
    }
    std::vector<std::string> ceilings;
    for (const analysis::CeilingRow& row : report.ceilings) {
        ceilings.push_back(row.name + ": " + report::ceiling_text(row));
    }
    section(tr("Measured ceilings"), ceilings);
    return html;
}

// The report's layer behind a point, whether predicted or measured.
void MainWindow::show_layer(const report::PlotPoint& source) {
    shown_layer_.reset();
    for (std::size_t r = 0; source.layer && r < reports().size(); ++r) {
        if (reports()[r].machine.id == source.machine &&
            *source.layer < reports()[r].layers.size()) {
            shown_layer_ = Shown{r, *source.layer};
        }
    }
    if (!shown_layer_) { // a kernel that no prediction stands for
        steps_->clear();
        mapping_->clear();
        return;
    }
    const analysis::Report& report = reports()[shown_layer_->report];
    steps_->set_layer({reports_, &report}, shown_layer_->layer);
    mapping_->set_layer(asked_[shown_layer_->report].machine, report.layers[shown_layer_->layer],
                        shown_layer_->layer);
}

// The predicted point of a row of the report in view.
void MainWindow::select_layer(std::size_t row) {
    for (const report::PlotPoint& point : view_->plot().points) {
        const bool here =
            !shown_layer_ || point.machine == reports()[shown_layer_->report].machine.id;
        if (here && !point.measured && point.layer == row) {
            return view_->set_selection({point.id});
        }
    }
}

// To the next value that helps, looked for in the background.
void MainWindow::step_parameter(const QString& key) {
    if (reports().empty()) {
        return;
    }
    statusBar()->showMessage(tr("Looking for the next value of %1 that helps…").arg(key));
    stepper_.run([this, question = asked_.front(), as_shown = as_in_view(session_.mappings),
                  key = key.toStdString()](const std::stop_token& stop,
                                           const ProgressCallback& progress) -> Background::Show {
        const auto next = analysis::next_helpful(question, key, stop, progress, as_shown);
        return [this, next, key] {
            const QString name = text(key);
            if (!next) {
                statusBar()->showMessage(text(next.diagnostics().items().front().message), 5000);
            } else if (!*next) {
                statusBar()->showMessage(
                    tr("No value of %1 up to %2 times as much makes the network 1 % faster")
                        .arg(name)
                        .arg(analysis::kFarthest),
                    8000);
            } else if (what_if_->turn_to(key, (*next)->value)) {
                statusBar()->showMessage(
                    tr("%1: %2x as fast").arg(name).arg((*next)->speedup, 0, 'f', 3), 8000);
            }
        };
    });
}

void MainWindow::select_parameter(const QString& key) {
    if (shown_layer_ && shown_layer_->report > 0) {
        statusBar()->showMessage(tr("%1 is a parameter of the second machine; only the first can "
                                    "be changed")
                                     .arg(key),
                                 5000);
        return;
    }
    show_page("what-if");
    what_if_->select(key.toStdString());
}

} // namespace eyeroof::gui
