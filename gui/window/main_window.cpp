#include "gui/window/main_window.hpp"

#include "gui/panes/fields.hpp"
#include "gui/panes/fitting_scroll.hpp"
#include "gui/panes/table_style.hpp"
#include "gui/views/paint_scene.hpp"
#include "gui/window/first_size.hpp"
#include "gui/window/keys.hpp"
#include "gui/window/start_page.hpp"
#include "gui/window/themes.hpp"
#include "gui/window/view_menu.hpp"

#include <QApplication>
#include <QComboBox>
#include <QDockWidget>
#include <QHeaderView>
#include <QLabel>
#include <QLayout>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabWidget>
#include <QTableView>
#include <QTextEdit>
#include <QVBoxLayout>

namespace eyeroof::gui {

namespace {
constexpr int kAnalysePause_ms = 150; // after the last answer, so that dragging stays smooth
constexpr int kLow = 760;             // below it the plot takes more than the table
constexpr int kRoomy = 1100;          // pixels of height from which panes stand below each other
constexpr int kBars = 120;            // of menus, choices, and status
constexpr int kStepsHeight = 380;     // of nine bars with a line of reasons below
} // namespace

MainWindow::MainWindow(Folders folders, QWidget* parent)
    : QMainWindow(parent), folders_(std::move(folders)), measurements_(folders_),
      questions_(folders_.data()) {
    setWindowTitle(tr("Eyeroof[*]"));
    // Qt 6.4 shows the tab bars of docks when an animation ends, and that may lay the window out
    // again and take their list away while it is gone through (later versions go through a copy).
    // Without animations it happens inside the first layout, where it is kept from nesting.
    setAnimated(false);
    setAcceptDrops(true);
    setDockNestingEnabled(true);
    setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
    choices_ = new Choices(this);
    addToolBar(choices_);
    addToolBarBreak();
    run_ = new RunChoices(this);
    addToolBar(run_);
    make_central();
    make_panes();
    make_menus();
    make_perspectives();
    make_status();
    connect_all();
    const Offered offered = offered_by(folders_);
    choices_->fill(offered);
    upgrade_->fill(folders_, offered);
    first_->fill(offered);
    soften_hints();
    show_tabs();
    layout()->activate(); // before the panes were tabs of each other they asked for more room
    resize(first_size({}));
}

void MainWindow::soften_hints() {
    make_readable(*this);
}

void MainWindow::changeEvent(QEvent* event) {
    QMainWindow::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && pages_ != nullptr) {
        soften_hints();
        for (QLabel* label :
             findChildren<QLabel*>()) { // links keep the color that they were set in
            if (const QString words = label->text(); words.contains("<a ")) {
                label->setText({});
                label->setText(words);
            }
        }
    }
}

// Closing moves the focus, and what loses it speaks once more: no one may listen by then.
MainWindow::~MainWindow() {
    for (QObject* child : findChildren<QObject*>()) {
        child->disconnect(this);
    }
    for (Background* work : {static_cast<Background*>(&examiner_), &reader_, &headliner_,
                             &proposer_, &analyser_, &searcher_, &stepper_}) {
        work->disconnect(this);
        work->cancel();
    }
}

void MainWindow::make_central() {
    pages_ = new QTabWidget(this);
    pages_->setDocumentMode(true);
    auto* page = new QWidget(this);
    auto* column = bare<QVBoxLayout>(page, 0);
    plot_bar_ = new PlotBar(page);
    view_ = new RooflineView(page);
    column->addWidget(plot_bar_);
    column->addWidget(view_, 1);
    start_ = new QStackedWidget(this);
    first_ = new StartPage(this);
    auto* scroll = new QScrollArea(this); // else it would ask as much room of the plot
    scroll->setWidget(first_);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    start_->addWidget(scroll);
    start_->addWidget(page);
    upgrade_ = new UpgradePane(this);
    upgrade_->setMinimumSize(320, 240);
    pages_->setTabToolTip(pages_->addTab(start_, tr("Roofline")), tr("Roofline and steps"));
    pages_->setTabToolTip(pages_->addTab(upgrade_, tr("Upgrade")), tr("Does another GPU pay off?"));
    setCentralWidget(pages_);
    connect(pages_, &QTabWidget::currentChanged, this, &MainWindow::page_changed);
    connect(start_, &QStackedWidget::currentChanged, this, &MainWindow::page_changed);
    connect(first_, &StartPage::open_wanted, this, &MainWindow::open_dialog);
    connect(first_, &StartPage::sizes_given, this, [this](const std::vector<std::string>& sizes) {
        set_sizes(choices_->network(), sizes);
    });
    connect(first_, &StartPage::file_wanted, this, [this](const QString& file) { open(file); });
    connect(first_, &StartPage::example_wanted, this,
            [this](const QString& network, const QString& machine) {
                report::Session session;
                session.scenario.network = network.toStdString();
                session.machines = {machine.toStdString()};
                open_session(session);
            });
    connect(first_, &StartPage::upgrade_wanted, this,
            [this](const QString& network, const QString& from, const QString& to,
                   const QString& phase) {
                show_page("upgrade");
                upgrade_->ask({network}, from, {to}, phase);
            });
}

QDockWidget* MainWindow::add_pane(const QString& title, const char* name, QWidget* widget,
                                  Qt::DockWidgetArea area) {
    auto* dock = new QDockWidget(title, this);
    dock->setObjectName(name);
    dock->setWidget(widget);
    addDockWidget(area, dock);
    docks_[name] = dock;
    connect(dock, &QDockWidget::visibilityChanged, this,
            [this, key = QString(name)](bool in_front) { dock_moved(key, in_front); });
    return dock;
}

void MainWindow::make_panes() {
    table_view_ = new QTableView(this);
    table_view_->setModel(&rows_);
    table_view_->setSortingEnabled(true);
    give_menu(*table_view_, [this](QMenu& menu) { fill_selection_menu(menu); });
    style_table(*table_view_, tr("Layers"));
    table_view_->sortByColumn(LayerTable::time, Qt::DescendingOrder);
    match_by_dragging();
    auto* layers = new QWidget(this);
    auto* column = bare<QVBoxLayout>(layers, 0);
    totals_ = new QLabel(layers);
    totals_->setMargin(4);
    totals_->setObjectName("totals");
    totals_->setWordWrap(true);
    totals_->hide();
    column->addWidget(totals_);
    column->addWidget(table_view_, 1);
    table_view_->setMinimumHeight(48); // its header and a row: the lines above it come first
    steps_ = new StepsPane(this);
    what_if_ = new WhatIfPane(this);
    mapping_ = new MappingPane(this);
    errors_ = new ErrorList(this);
    details_ = new QTextEdit(this);
    details_->setReadOnly(true);
    details_->setFrameShape(QFrame::NoFrame);
    details_->setObjectName("details text");
    details_->setAccessibleName(tr("Details of the selection"));
    add_pane(tr("Layers"), "layers", layers, Qt::BottomDockWidgetArea);
    add_pane(tr("Seven steps"), "steps", steps_, Qt::RightDockWidgetArea);
    add_pane(tr("Diagnostics"), "errors", errors_, Qt::BottomDockWidgetArea);
    // a machine may have more parameters, and a mapping more to say, than the screen has room
    add_pane(tr("What if"), "what-if", new FittingScroll(what_if_, this), Qt::RightDockWidgetArea);
    add_pane(tr("Mapping"), "mapping", new FittingScroll(mapping_, this), Qt::RightDockWidgetArea);
    add_pane(tr("Details"), "details", details_, Qt::RightDockWidgetArea);
    // Never all below each other, not even before the window is arranged: it would grow.
    tabifyDockWidget(docks_["what-if"], docks_["mapping"]);
    tabifyDockWidget(docks_["mapping"], docks_["details"]);
    make_pattern_panes();
    tabifyDockWidget(docks_["layers"], docks_["errors"]);
    connect(totals_, &QLabel::linkActivated, this, &MainWindow::follow_totals);
    connect(upgrade_, &UpgradePane::why_wanted, this, &MainWindow::explain_upgrade);
}

// Tabs where room is scarce, panes below each other on large screens.
void MainWindow::arrange_panes() {
    QDockWidget* what_if = docks_["what-if"];
    QDockWidget* mapping = docks_["mapping"];
    QDockWidget* details = docks_["details"];
    QDockWidget* layers = docks_["layers"];
    QDockWidget* steps = docks_["steps"];
    // Out of the way: three below each other, if only for a moment, make small windows grow.
    tabifyDockWidget(layers, mapping);
    tabifyDockWidget(layers, details);
    if (height() >= kRoomy) {
        addDockWidget(Qt::BottomDockWidgetArea, steps);
        splitDockWidget(layers, steps, Qt::Horizontal);
        tabifyDockWidget(steps, docks_["errors"]);
        tabify_pattern_panes(layers);
        layers->raise();
        steps->raise();
        splitDockWidget(what_if, mapping, Qt::Vertical);
        tabifyDockWidget(mapping, details);
        mapping->raise();
        resizeDocks({what_if, mapping}, {height() * 2 / 5, height() * 3 / 5}, Qt::Vertical);
        resizeDocks({layers, steps}, {width() * 9 / 20, width() * 11 / 20}, Qt::Horizontal);
        resizeDocks({steps}, {height() * 2 / 5}, Qt::Vertical);
    } else { // the steps stand above the parameters behind them, and the plot keeps its height
        addDockWidget(Qt::RightDockWidgetArea, steps);
        splitDockWidget(steps, what_if, Qt::Vertical);
        tabifyDockWidget(what_if, mapping);
        tabifyDockWidget(mapping, details);
        what_if->raise();
        tabify_pattern_panes(layers);
        tabifyDockWidget(layers, docks_["errors"]);
        layers->raise();
        resizeDocks({steps, what_if}, {kStepsHeight, height() - kStepsHeight - kBars},
                    Qt::Vertical);
        resizeDocks({layers}, {height() * (height() < kLow ? 27 : 30) / 100}, Qt::Vertical);
    }
    resizeDocks({what_if}, {std::clamp(width() / 4, 430, 620)}, Qt::Horizontal);
}

void MainWindow::tabify_pattern_panes(QDockWidget* behind) {
    for (const Pane* pane : panes_) {
        if (pane->place() == PanePlace::middle) {
            continue;
        }
        QDockWidget* dock = docks_[pane->name()];
        addDockWidget(Qt::BottomDockWidgetArea, dock);
        tabifyDockWidget(behind, dock);
        behind = dock;
    }
}

void MainWindow::reset_layout() {
    bring_panes_back();
    for (const auto& [name, dock] : docks_) {
        dock->setFloating(false);
        dock->show();
    }
    arrange_panes();
    docks_due_ = true;
    show_docks();
    page_changed();
}

void MainWindow::showEvent(QShowEvent* event) {
    QMainWindow::showEvent(event);
    if (!arranged_) {
        arranged_ = true;
        sizes_due_ = true;
        arrange_panes();
    }
    page_changed();
}

void MainWindow::make_status() {
    place_ = new QLabel(this);
    progress_ = new QProgressBar(this);
    progress_->setMaximumWidth(260);
    cancel_ = new QPushButton(tr("Cancel"), this);
    cancel_->setObjectName("cancel");
    statusBar()->addPermanentWidget(place_);
    statusBar()->addPermanentWidget(progress_);
    statusBar()->addPermanentWidget(cancel_);
    hide_progress();
    connect(cancel_, &QPushButton::clicked, this, &MainWindow::cancel_examination);
}

void MainWindow::connect_all() {
    analyse_pause_.setSingleShot(true);
    analyse_pause_.setInterval(kAnalysePause_ms);
    connect(&analyse_pause_, &QTimer::timeout, this, [this] {
        if (!examiner_.busy()) { // else the answer to come starts it
            analyse();
        }
    });
    connect(choices_, &Choices::chosen, this, [this] {
        not_opened_ = {}; // something else is wanted now
        load_and_examine();
    });
    connect(run_, &RunChoices::changed, this, [this] {
        change_scenario([this](analysis::Scenario& scenario) { run_->write_into(scenario); }, {});
    });
    connect(run_, &RunChoices::sizes_wanted, this, &MainWindow::set_sizes);
    connect(first_, &StartPage::gpu_chosen, this, [this](const QString& gpu) {
        choices_->set_machines({gpu});
        load_and_examine();
    });
    connect(plot_bar_, &PlotBar::changed, this, &MainWindow::change_view);
    connect(view_, &RooflineView::selection_changed, this, &MainWindow::selection_from_plot);
    connect(view_, &RooflineView::view_changed, this, &MainWindow::view_changed);
    connect(view_, &RooflineView::problem, this,
            [this](const QString& message) { statusBar()->showMessage(message, 5000); });
    connect(view_, &RooflineView::pointed_at, place_, &QLabel::setText);
    connect(table_view_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &MainWindow::selection_from_table);
    connect(what_if_, &WhatIfPane::turned, this, [this](const QString& what) {
        const auto turn = [this](analysis::Scenario& scenario) {
            scenario.changes.clear();
            for (const analysis::Change& change : what_if_->changes()) {
                scenario.changes.push_back(analysis::change_text(what_if_->machine(), change));
            }
            scenario.host_speed = what_if_->host_speed();
        };
        change_scenario(turn, what.toStdString());
    });
    qApp->installEventFilter(new WindowKeys(this));
    connect(what_if_, &WhatIfPane::released, this, [this] {
        history_.end_drag();
        show_all_waiting();
    });
    connect(what_if_, &WhatIfPane::next_wanted, this, &MainWindow::step_parameter);
    connect(what_if_, &WhatIfPane::save_wanted, this, &MainWindow::save_machine_dialog);
    connect(steps_, &StepsPane::parameter_wanted, this, &MainWindow::select_parameter);
    connect(steps_, &StepsPane::layer_wanted, this, &MainWindow::select_layer);
    connect(mapping_, &MappingPane::edited, this,
            [this](const model::Mapping& mapping) { try_mapping(mapping); });
    connect(mapping_, &MappingPane::restore_wanted, this, &MainWindow::restore_mapping);
    connect(mapping_, &MappingPane::search_wanted, this, &MainWindow::search_mapping);
    connect(mapping_, &MappingPane::cancel_wanted, &searcher_, &Background::stop_early);
    connect(upgrade_, &UpgradePane::problems, this, [this](const Diagnostics& problems) {
        upgrade_problems_ = problems;
        tell_all_problems();
    });
    connect(&examiner_, &Examiner::answered, this,
            [this](const std::shared_ptr<Answer>& answer) { show_answer(std::move(*answer)); });
    connect(&examiner_, &Background::cancelled, this, [this] {
        hide_progress();
        analyse_pause_.start();
        statusBar()->showMessage(tr("Cancelled"), 3000);
    });
    connect(&examiner_, &Background::progressed, this, &MainWindow::show_progress);
    connect(&reader_, &Background::progressed, this, [this](const Progress& progress) {
        progress_->setRange(0, 100);
        progress_->setValue(static_cast<int>(100.0 * progress.fraction));
    });
    connect(&reader_, &Background::cancelled, this, [this] {
        reading_.clear();
        hide_progress();
        statusBar()->showMessage(tr("Cancelled; nothing was opened"), 3000);
    });
    connect(&searcher_, &Background::progressed, mapping_, &MappingPane::show_search);
    connect(&searcher_, &Background::cancelled, this,
            [this] { mapping_->end_search(tr("Cancelled; the mapping stays as it was.")); });
}

void MainWindow::show_progress(const Progress& progress) {
    if (!asked_at_.hasExpired(kSlow_ms)) {
        return; // a bar that comes and goes moves the status bar in every frame of a drag
    }
    progress_->show();
    cancel_->show();
    progress_->setRange(0, 100);
    progress_->setValue(static_cast<int>(100.0 * progress.fraction));
    progress_->setFormat(QString::fromStdString(progress.activity));
}

void MainWindow::hide_progress() {
    progress_->hide();
    cancel_->hide();
}

// The panes speak of the plot: without one, and beside the upgrade view, they would only take room.
void MainWindow::page_changed() {
    const bool upgrading = pages_->currentWidget() == upgrade_;
    const bool alone = upgrading || start_->currentIndex() == 0;
    if (!arranged_) {
        return;
    }
    if (!upgrading && perspective_ == Perspective::upgrade && fits_) { // back to what is open
        set_perspective(*fits_);
    }
    const Perspective seen = upgrading ? Perspective::upgrade : perspective_;
    perspectives_->setCurrentIndex(perspectives_->findData(static_cast<int>(seen)));
    if (alone && !docks_away_) {
        docks_away_ = saveState();
        for (const auto& [name, dock] : docks_) {
            dock->setVisible(false);
        }
    } else if (!alone) {
        bring_panes_back();
    }
    choices_->setVisible(!upgrading);
    run_->setVisible(!upgrading && start_->currentIndex() != 0);
}

void MainWindow::bring_panes_back() {
    if (docks_away_) {
        restoreState(*docks_away_);
        docks_away_.reset();
        if (std::exchange(sizes_due_, false)) { // a window that is not laid out yet keeps no sizes
            arrange_panes();
        }
    }
    show_docks();
    if (const auto dock = docks_.find(wanted_pane_); dock != docks_.end()) {
        dock->second->show();
        dock->second->raise();
    }
    wanted_pane_.clear();
}

// A pane that is a tab in the middle; none of that name.
Pane* MainWindow::middle_pane(const QString& name) const {
    const auto found = std::find_if(panes_.begin(), panes_.end(), [&](const Pane* pane) {
        return pane->place() == PanePlace::middle && pane->name() == name;
    });
    return found == panes_.end() ? nullptr : *found;
}

void MainWindow::show_page(const QString& name) {
    if (name == "upgrade") {
        pages_->setTabVisible(pages_->indexOf(upgrade_), true);
        pages_->setCurrentWidget(upgrade_);
    } else if (name == "roofline") {
        pages_->setCurrentWidget(start_);
    } else if (name == "network") {
        steps_->show_network(true);
        docks_["steps"]->raise();
    } else if (Pane* pane = middle_pane(name)) {
        pages_->setTabVisible(pages_->indexOf(pane), true); // may come with what is opened now
        pages_->setCurrentWidget(pane);
    } else if (const auto dock = docks_.find(name); dock != docks_.end()) {
        if (docks_away_ && name != "errors") {
            wanted_pane_ = name; // comes with the others
            return;
        }
        dock->second->show();
        dock->second->raise();
    }
}

} // namespace eyeroof::gui
