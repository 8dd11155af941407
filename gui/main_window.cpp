#include "gui/main_window.hpp"

#include "gui/export.hpp"
#include "hwdb/catalog.hpp"
#include "profiles/import/importer.hpp"
#include "study/read/catalog.hpp"
#include "study/scene/plot_profile.hpp"
#include "study/write/file.hpp"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QSortFilterProxyModel>
#include <QSpinBox>
#include <QStatusBar>
#include <QTableView>
#include <QTextEdit>
#include <QToolBar>

namespace eyeroof::gui {

namespace {

QString text(const std::string& string) {
    return QString::fromStdString(string);
}

constexpr const char* kShortcuts =
    "<table cellpadding=4>"
    "<tr><td>wheel</td><td>zoom at the pointer</td></tr>"
    "<tr><td>Shift + drag</td><td>zoom to a rectangle</td></tr>"
    "<tr><td>right drag, arrows</td><td>move the plot</td></tr>"
    "<tr><td>Backspace, Ctrl+Z</td><td>undo the zoom</td></tr>"
    "<tr><td>0, double click</td><td>show everything</td></tr>"
    "<tr><td>+ and -</td><td>zoom</td></tr>"
    "<tr><td>click, drag</td><td>select; with Ctrl add to the selection</td></tr>"
    "<tr><td>Esc</td><td>select nothing, or cancel an examination</td></tr>"
    "<tr><td>Ctrl+O, Ctrl+S</td><td>open, save the session</td></tr>"
    "<tr><td>Ctrl+E</td><td>export picture or table</td></tr>"
    "<tr><td>Ctrl+F</td><td>filter by name</td></tr>"
    "<tr><td>Ctrl+C</td><td>copy the selected rows</td></tr>"
    "<tr><td>Ctrl+Shift+C</td><td>copy the command line of this view</td></tr>"
    "<tr><td>F1, ?</td><td>this sheet</td></tr></table>";

} // namespace

MainWindow::MainWindow(Folders folders, QWidget* parent)
    : QMainWindow(parent), folders_(std::move(folders)) {
    setWindowTitle(tr("Eyeroof"));
    setAcceptDrops(true);
    view_ = new RooflineView(this);
    setCentralWidget(view_);
    make_bars();
    make_panes();
    make_menus();
    connect(view_, &RooflineView::selection_changed, this, &MainWindow::selection_from_plot);
    connect(view_, &RooflineView::view_changed, this, &MainWindow::update_filter_row);
    connect(view_, &RooflineView::problem, this,
            [this](const QString& message) { statusBar()->showMessage(message, 5000); });
    connect(view_, &RooflineView::pointed_at, this,
            [this](const QString& place) { statusBar()->showMessage(place); });
    connect(&examiner_, &Examiner::answered, this,
            [this](const std::shared_ptr<const Answer>& answer) { show_answer(*answer); });
    connect(&examiner_, &Examiner::cancelled, this, [this] {
        progress_->hide();
        cancel_->hide();
        statusBar()->showMessage(tr("Cancelled"), 3000);
    });
    connect(&examiner_, &Examiner::progressed, this,
            [this](double fraction, const QString& activity) {
                progress_->show();
                cancel_->show();
                progress_->setValue(static_cast<int>(100.0 * fraction));
                progress_->setFormat(activity);
            });
    fill_choices();
    resize(1280, 800);
}

void MainWindow::make_bars() {
    auto* choices = addToolBar(tr("What to examine"));
    choices->setObjectName("choices");
    make_choices(*choices);
    addToolBarBreak();
    filter_row_ = addToolBar(tr("Filters"));
    filter_row_->setObjectName("filters");
    make_filters(*filter_row_);
    roof_row_ = addToolBar(tr("Roofs"));
    roof_row_->setObjectName("roofs");
    progress_ = new QProgressBar(this);
    progress_->setMaximumWidth(260);
    cancel_ = new QPushButton(tr("Cancel"), this);
    statusBar()->addPermanentWidget(progress_);
    statusBar()->addPermanentWidget(cancel_);
    progress_->hide();
    cancel_->hide();
    connect(cancel_, &QPushButton::clicked, &examiner_, &Examiner::cancel);
}

void MainWindow::make_choices(QToolBar& bar) {
    const auto combo = [&](const char* label, const char* name) {
        bar.addWidget(new QLabel(tr(label), &bar));
        auto* box = new QComboBox(&bar);
        box->setEditable(true); // a path is a name too
        box->setInsertPolicy(QComboBox::NoInsert);
        box->setMinimumWidth(190);
        box->setObjectName(name);
        box->setAccessibleName(tr(label));
        bar.addWidget(box);
        connect(box, &QComboBox::activated, this, &MainWindow::load_and_examine);
        connect(box->lineEdit(), &QLineEdit::returnPressed, this, &MainWindow::load_and_examine);
        return box;
    };
    network_ = combo("  Network ", "network");
    machine_ = combo("  on ", "machine");
    other_ = combo("  against ", "other");
    bar.addWidget(new QLabel(tr("  Batch "), &bar));
    batch_ = new QSpinBox(&bar);
    batch_->setRange(1, 65536);
    batch_->setAccessibleName(tr("Batch"));
    bar.addWidget(batch_);
    connect(batch_, &QSpinBox::valueChanged, this, &MainWindow::examine);
}

void MainWindow::make_filters(QToolBar& bar) {
    filter_ = new QLineEdit(&bar);
    filter_->setPlaceholderText(tr("Filter by name (regular expression)"));
    filter_->setMaximumWidth(260);
    filter_->setClearButtonEnabled(true);
    filter_->setObjectName("filter");
    bar.addWidget(filter_);
    connect(filter_, &QLineEdit::textChanged, this, [this](const QString& pattern) {
        change_view([&](study::ViewState& view) { view.filter = pattern.toStdString(); });
    });
    bar.addWidget(new QLabel(tr("  Heaviest "), &bar));
    top_ = new QSpinBox(&bar);
    top_->setRange(0, 100000);
    top_->setSpecialValueText(tr("all"));
    top_->setAccessibleName(tr("Only the heaviest points"));
    bar.addWidget(top_);
    connect(top_, &QSpinBox::valueChanged, this, [this](int most) {
        change_view([&](study::ViewState& view) {
            view.top = most > 0 ? std::optional(most) : std::nullopt;
        });
    });
}

QDockWidget* MainWindow::add_pane(const QString& title, QWidget* widget, Qt::DockWidgetArea area) {
    auto* dock = new QDockWidget(title, this);
    dock->setObjectName(title);
    dock->setWidget(widget);
    addDockWidget(area, dock);
    return dock;
}

void MainWindow::make_panes() {
    sorted_ = new QSortFilterProxyModel(this);
    sorted_->setSourceModel(&rows_);
    sorted_->setSortRole(Qt::UserRole);
    table_view_ = new QTableView(this);
    table_view_->setModel(sorted_);
    table_view_->setSortingEnabled(true);
    table_view_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_view_->verticalHeader()->hide();
    table_view_->verticalHeader()->setDefaultSectionSize(22);
    table_view_->horizontalHeader()->setStretchLastSection(true);
    table_view_->setAccessibleName(tr("Layers"));
    ladder_ = new LadderView(this);
    what_if_ = new WhatIfPane(this);
    errors_ = new ErrorList(this);
    details_ = new QTextEdit(this);
    details_->setReadOnly(true);
    details_->setAccessibleName(tr("Details of the selection"));
    add_pane(tr("Layers"), table_view_, Qt::BottomDockWidgetArea);
    auto* steps = add_pane(tr("Seven steps"), ladder_, Qt::BottomDockWidgetArea);
    auto* details = add_pane(tr("Mapping and details"), details_, Qt::RightDockWidgetArea);
    auto* scroll = new QScrollArea(this); // a machine may have more knobs than the screen has room
    scroll->setWidget(what_if_);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setMinimumWidth(400);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* turns = add_pane(tr("What if"), scroll, Qt::RightDockWidgetArea);
    errors_dock_ = add_pane(tr("Errors"), errors_, Qt::BottomDockWidgetArea);
    tabifyDockWidget(steps, errors_dock_);
    steps->raise();
    resizeDocks({steps}, {300}, Qt::Vertical);
    resizeDocks({details, turns}, {260, 220}, Qt::Vertical);
    connect(table_view_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &MainWindow::selection_from_table);
    connect(what_if_, &WhatIfPane::turned, this, &MainWindow::examine);
}

void MainWindow::make_menus() {
    QMenu* file = menuBar()->addMenu(tr("&File"));
    const auto add = [&](QMenu* menu, const QString& name, const QKeySequence& keys, auto action) {
        menu->addAction(name, this, action)->setShortcut(keys);
    };
    add(file, tr("&Open…"), QKeySequence::Open, [this] {
        const QString chosen = QFileDialog::getOpenFileName(this, tr("Open"));
        if (!chosen.isEmpty()) {
            open(chosen);
        }
    });
    add(file, tr("&Save session…"), QKeySequence::Save, [this] {
        const QString chosen =
            QFileDialog::getSaveFileName(this, tr("Save session"), "view.eyeroof.yaml");
        if (!chosen.isEmpty()) {
            save_session(chosen);
        }
    });
    add(file, tr("&Export…"), QKeySequence("Ctrl+E"), [this] { export_dialog(); });
    add(file, tr("&Quit"), QKeySequence::Quit, [this] { close(); });
    QMenu* edit = menuBar()->addMenu(tr("&Edit"));
    add(edit, tr("&Undo zoom"), QKeySequence::Undo, [this] { view_->undo_zoom(); });
    add(edit, tr("&Copy rows"), QKeySequence::Copy, [this] { copy_rows(); });
    add(edit, tr("Copy &picture"), QKeySequence("Ctrl+Alt+C"),
        [this] { QApplication::clipboard()->setPixmap(view_->grab()); });
    add(edit, tr("Copy command &line"), QKeySequence("Ctrl+Shift+C"),
        [this] { QApplication::clipboard()->setText(text(study::cli_command(session()))); });
    add(edit, tr("&Filter"), QKeySequence::Find, [this] { filter_->setFocus(); });
    QMenu* panes = menuBar()->addMenu(tr("&View"));
    for (QDockWidget* dock : findChildren<QDockWidget*>()) {
        panes->addAction(dock->toggleViewAction());
    }
    QMenu* help = menuBar()->addMenu(tr("&Help"));
    add(help, tr("&Shortcuts"), QKeySequence("F1"), [this] { show_shortcuts(); });
    new QShortcut(QKeySequence("?"), this, [this] { show_shortcuts(); });
}

void MainWindow::fill_choices() {
    const QSignalBlocker one(network_), two(machine_), three(other_);
    network_->addItem("");
    if (const auto heads = study::read::list_networks(folders_.networks)) {
        for (const auto& head : *heads) {
            network_->addItem(text(head.id));
        }
    }
    machine_->addItem("");
    other_->addItem(tr(kNoMachine));
    for (const auto& entry : hwdb::list_machines(folders_.machines)) {
        machine_->addItem(text(entry.id));
        other_->addItem(text(entry.id));
    }
}

void MainWindow::load_and_examine() {
    load_problems_ = {};
    loaded_network_.reset();
    loaded_machines_.clear();
    if (!network_->currentText().isEmpty()) {
        auto network =
            study::read::load_network(network_->currentText().toStdString(), folders_.networks);
        load_problems_.append(network.diagnostics());
        if (network) {
            loaded_network_ = std::move(*network);
        }
    }
    for (const QComboBox* box : {machine_, other_}) {
        const QString name = box->currentText();
        if (name.isEmpty() || name == tr(kNoMachine)) {
            continue;
        }
        auto machine = hwdb::load_machine(name.toStdString(), folders_.machines);
        load_problems_.append(machine.diagnostics());
        if (machine) {
            loaded_machines_.push_back(std::move(*machine));
        }
    }
    if (!loaded_machines_.empty()) {
        const QSignalBlocker block(what_if_);
        what_if_->set_machine(loaded_machines_.front());
    }
    examine();
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
    Request request{*loaded_network_, std::move(machines), {}};
    if (batch_->value() > 1) {
        request.options.batch = batch_->value();
    }
    examiner_.examine(std::move(request));
}

void MainWindow::show_answer(const Answer& answer) {
    progress_->hide();
    cancel_->hide();
    model::Diagnostics problems = load_problems_;
    problems.append(answer.diagnostics);
    study::PlotInput input;
    reports_ = answer.reports;
    for (const model::Machine& machine : answer.machines) {
        input.machines.push_back(study::roofs_of(machine));
    }
    for (std::size_t i = 0; i < reports_.size(); ++i) {
        study::add_report(input, answer.machines[i], reports_[i]);
    }
    for (const profiles::Profile& profile : profiles_) {
        if (!input.machines.empty()) {
            const auto added = study::add_profile(input, input.machines.front().id, profile);
            problems.append(added.diagnostics());
        }
    }
    input.title = loaded_network_ ? loaded_network_->name : std::string();
    for (std::size_t i = 0; i < input.machines.size(); ++i) {
        input.title += (i == 0 ? " on " : " and ") + input.machines[i].name;
    }
    view_->set_plot(std::move(input));
    errors_->show_all(problems);
    errors_dock_->setWindowTitle(problems.empty() ? tr("Errors")
                                                  : tr("Errors (%1)").arg(problems.size()));
    if (problems.has_errors()) {
        errors_dock_->show();
        errors_dock_->raise();
    }
    update_roof_row();
    update_filter_row();
    selection_from_plot();
    emit shown();
}

void MainWindow::update_roof_row() {
    roof_row_->clear();
    std::set<std::string> visible;
    for (const study::SceneRoof& roof : view_->scene().roofs) {
        visible.insert(roof.roof.id);
    }
    const bool several = view_->plot().machines.size() > 1;
    for (const study::PlotMachine& machine : view_->plot().machines) {
        for (const study::Roof& roof : machine.roofs) {
            QAction* action =
                roof_row_->addAction(text(several ? machine.id + ": " + roof.name : roof.name));
            action->setCheckable(true);
            action->setChecked(visible.contains(roof.id));
            connect(action, &QAction::toggled, this, [this, id = roof.id](bool on) {
                change_view([&](study::ViewState& view) {
                    if (!view.roofs) {
                        view.roofs.emplace();
                        for (const study::SceneRoof& shown_roof : view_->scene().roofs) {
                            view.roofs->insert(shown_roof.roof.id);
                        }
                    }
                    on ? (void)view.roofs->insert(id) : (void)view.roofs->erase(id);
                });
            });
        }
    }
}

void MainWindow::update_filter_row() {
    rows_.set_rows(view_->plot(), view_->scene());
    table_view_->sortByColumn(LayerTable::time, Qt::DescendingOrder);
    table_view_->resizeColumnsToContents();
    for (QAction* action : filter_row_->actions()) {
        if (action->property("chip").toBool()) {
            filter_row_->removeAction(action);
            action->deleteLater();
        }
    }
    for (const study::ActiveFilter& filter : view_->scene().filters) {
        QAction* chip = filter_row_->addAction("✕ " + text(filter.text));
        chip->setProperty("chip", true);
        chip->setToolTip(tr("Remove this filter"));
        connect(chip, &QAction::triggered, this, [this, key = filter.key] {
            const QSignalBlocker one(filter_), two(top_);
            key == "filter" ? filter_->clear() : key == "top" ? top_->setValue(0) : void();
            change_view([&](study::ViewState& view) { remove_filter(view, key); });
        });
    }
}

void MainWindow::change_view(const std::function<void(study::ViewState&)>& change) {
    study::ViewState view = view_->view();
    change(view);
    view_->set_view(view);
}

void MainWindow::selection_from_plot() {
    if (!syncing_) {
        syncing_ = true;
        table_view_->clearSelection();
        for (int row = 0; row < sorted_->rowCount(); ++row) {
            const int source = sorted_->mapToSource(sorted_->index(row, 0)).row();
            if (view_->view().selection.contains(rows_.id_of(source))) {
                table_view_->selectionModel()->select(sorted_->index(row, 0),
                                                      QItemSelectionModel::Select |
                                                          QItemSelectionModel::Rows);
                table_view_->scrollTo(sorted_->index(row, 0));
            }
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
        ids.insert(rows_.id_of(sorted_->mapToSource(index).row()));
    }
    view_->set_selection(ids);
    syncing_ = false;
}

// The ladder and the text of the selected layer, or of the heaviest when nothing is selected.
void MainWindow::show_details() {
    const study::ScenePoint* chosen = nullptr;
    for (const study::ScenePoint& point : view_->scene().points) {
        const bool selected = view_->view().selection.contains(point.id);
        if (selected || view_->view().selection.empty()) {
            chosen = &point; // the last is the heaviest
        }
    }
    ladder_->clear();
    details_->clear();
    if (chosen == nullptr) {
        return;
    }
    QString html = "<table cellpadding=2>";
    for (const study::CardRow& row : card_of(view_->plot(), *chosen)) {
        html += QString("<tr><td><b>%1</b></td><td>%2</td></tr>")
                    .arg(text(row.what).toHtmlEscaped(), text(row.value).toHtmlEscaped());
    }
    html += "</table>";
    const study::PlotPoint& source = view_->plot().points.at(chosen->source);
    std::optional<double> measured;
    for (const study::PlotPoint& point : view_->plot().points) {
        if (point.measured && point.name == source.name && point.machine == source.machine) {
            measured = point.time_s;
        }
    }
    for (const study::Report& report : reports_) {
        for (std::size_t i = 0; report.machine.id == source.machine && i < report.layers.size();
             ++i) {
            if (report.layers[i].layer.name == source.name) {
                ladder_->set_layer(report, i, measured);
                html += "<pre>" + text(report.layers[i].mapping_text).toHtmlEscaped() + "</pre>";
                break;
            }
        }
    }
    details_->setHtml(html);
}

void MainWindow::copy_rows() {
    QStringList lines;
    for (const QModelIndex& index : table_view_->selectionModel()->selectedRows()) {
        QStringList cells;
        for (int column = 0; column < LayerTable::columns; ++column) {
            cells << index.siblingAtColumn(column).data().toString();
        }
        lines << cells.join('\t');
    }
    QApplication::clipboard()->setText(lines.join('\n'));
}

void MainWindow::export_dialog() {
    const QString file = QFileDialog::getSaveFileName(
        this, tr("Export"), "roofline.svg",
        tr("Pictures and tables (*.svg *.png *.pdf *.html *.csv *.json)"));
    if (file.isEmpty()) {
        return;
    }
    const auto written = export_plot(*view_, file);
    if (!written) {
        errors_->show_all(written.diagnostics());
        errors_dock_->raise();
    }
}

void MainWindow::show_shortcuts() {
    QMessageBox sheet(QMessageBox::NoIcon, tr("Shortcuts"), tr(kShortcuts), QMessageBox::Close,
                      this);
    sheet.exec();
}

} // namespace eyeroof::gui
