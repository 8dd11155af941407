// Menus, shortcuts, the clipboard and the dialogs behind them.
#include "gui/panes/answer_table.hpp"
#include "gui/views/paint_scene.hpp"
#include "gui/window/help.hpp"
#include "gui/window/main_window.hpp"
#include "gui/window/themes.hpp"
#include "gui/window/view_menu.hpp"

#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QDockWidget>
#include <QFileDialog>
#include <QMenuBar>
#include <QShortcut>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabWidget>
#include <QTableView>
#include <algorithm>

namespace eyeroof::gui {

void MainWindow::make_menus() {
    const auto add = [&](QMenu* menu, const QString& name, const QKeySequence& keys, auto action) {
        menu->addAction(name, this, action)->setShortcut(keys);
    };
    QMenu* file = menuBar()->addMenu(tr("&File"));
    add(file, tr("&New"), QKeySequence::New, [this] { start_anew(); });
    add(file, tr("&Open…"), QKeySequence::Open, [this] { open_dialog(); });
    recent_ = file->addMenu(tr("Open &recent"));
    recent_->setEnabled(false);
    file->addSeparator();
    add(file, tr("&Save session"), QKeySequence::Save, [this] { save_session_dialog(false); });
    file->addAction(tr("Save session &as…"), this, [this] { save_session_dialog(true); });
    add(file, tr("Save changed &machine…"), QKeySequence("Ctrl+Shift+S"),
        [this] { save_machine_dialog(); });
    add(file, tr("&Export…"), QKeySequence("Ctrl+E"), [this] { export_dialog(); });
    make_view_menus(*file);
    file->addAction(tr("Re&port of all panes…"), this, [this] { save_report_dialog(); });
    file->addSeparator();
    add(file, tr("&Close"), QKeySequence::Close, [this] { close(); });
    add(file, tr("&Quit"), QKeySequence::Quit, [this] { close(); });
    QMenu* edit = menuBar()->addMenu(tr("&Edit"));
    add(edit, tr("&Undo what was turned"), QKeySequence::Undo, [this] { undo(); });
    add(edit, tr("&Redo"), QKeySequence::Redo, [this] { redo(); });
    add(edit, tr("Undo the &zoom"), QKeySequence("Alt+Left"), [this] { view_->undo_zoom(); });
    edit->addSeparator();
    add(edit, tr("&Copy rows"), QKeySequence::Copy, [this] { copy_rows(); });
    add(edit, tr("Copy &picture"), QKeySequence("Ctrl+Alt+C"),
        [this] { copy_image(picture_in_front()); });
    add(edit, tr("Copy &figures"), QKeySequence("Ctrl+Alt+F"),
        [this] { copy_figures(picture_in_front()); });
    add(edit, tr("Copy command &line"), QKeySequence("Ctrl+Shift+C"), [this] {
        const bool upgrading = pages_->currentWidget() == upgrade_;
        report::Session seen = session(); // in the colours that the desktop chose, too
        seen.view.theme = theme_of(*view_);
        const std::string line = upgrading ? upgrade_->command_line() : report::cli_command(seen);
        QApplication::clipboard()->setText(QString::fromStdString(line));
        statusBar()->showMessage(QString::fromStdString(line), 5000);
    });
    add(edit, tr("F&ilter"), QKeySequence::Find, [this] { plot_bar_->focus_filter(); });
    edit->addSeparator();
    add(edit, tr("&Hide the selected"), QKeySequence("Ctrl+H"), [this] { hide_selected(); });
    add(edit, tr("Show the selected &alone"), QKeySequence("Ctrl+I"),
        [this] { show_selected_alone(); });
    add(edit, tr("Show all a&gain"), QKeySequence("Ctrl+Shift+H"), [this] { show_hidden(); });
    QMenu* view = menuBar()->addMenu(tr("&View"));
    add(view, tr("&Roofline"), QKeySequence("Ctrl+1"), [this] { show_page("roofline"); });
    add(view, tr("&Upgrade"), QKeySequence("Ctrl+2"), [this] { show_page("upgrade"); });
    int key = 3; // of the tabs between, in their order
    for (Pane* pane : panes_) {
        if (pane->place() == PanePlace::middle) {
            add(view, pane->tab(), QKeySequence(QString("Ctrl+%1").arg(key++)),
                [this, pane] { show_page(pane->name()); });
        }
    }
    view->addSeparator();
    for (QDockWidget* dock : findChildren<QDockWidget*>()) {
        view->addAction(dock->toggleViewAction());
    }
    view->addSeparator();
    QMenu* perspectives = view->addMenu(tr("&Perspective"));
    int number = 1;
    for (const Perspective p : kPerspectives) {
        add(perspectives, perspective_name(p), QKeySequence(QString("Ctrl+Alt+%1").arg(number++)),
            [this, p] { set_perspective(p); });
    }
    make_unit_menu(*view->addMenu(tr("U&nit of times")));
    make_theme_menu(*view->addMenu(tr("&Theme")));
    view->addAction(tr("Reset &layout"), this, [this] { reset_layout(); });
    QMenu* help = menuBar()->addMenu(tr("&Help"));
    help->addAction(tr("&Documentation"), this, [this] { show_documentation(*this); });
    add(help, tr("&Shortcuts"), QKeySequence("F1"), [this] { show_shortcuts(*this); });
    help->addAction(tr("&About Eyeroof"), this, [this] { show_about(*this); });
    new QShortcut(QKeySequence("?"), this, [this] { show_shortcuts(*this); });
    new QShortcut(QKeySequence(Qt::Key_Escape), this, [this] {
        if (reader_.busy() || examiner_.busy() || searcher_.busy()) {
            cancel_examination();
            searcher_.cancel();
        } else {
            view_->set_selection({});
        }
    });
}

// Of the table of layers: each time in its own, or all in one, which can be compared at a glance.
void MainWindow::make_unit_menu(QMenu& menu) {
    auto* units = new QActionGroup(this);
    const auto add = [&](const QString& label, const QString& unit) {
        QAction* action = menu.addAction(label, this, [this, unit] {
            change_view([&](report::ViewState& view) { view.time_unit = unit.toStdString(); });
            table_view_->resizeColumnsToContents();
        });
        action->setObjectName("unit " + unit);
        action->setCheckable(true);
        units->addAction(action);
    };
    add(tr("&Automatic"), {});
    for (const QString& unit : LayerTable::time_units()) {
        add(unit, unit);
    }
    connect(&menu, &QMenu::aboutToShow, this, [this, units] {
        const QString now = "unit " + QString::fromStdString(view_->view().time_unit);
        for (QAction* action : units->actions()) {
            action->setChecked(action->objectName() == now);
        }
    });
}

// As the desktop has it, or chosen; kept with the settings.
void MainWindow::make_theme_menu(QMenu& menu) {
    themes_ = new QActionGroup(this);
    for (const auto& [name, label] :
         {std::pair{"desktop", tr("As the &desktop")}, std::pair{"light", tr("&Light")},
          std::pair{"dark", tr("D&ark")}}) {
        QAction* action = menu.addAction(label, this, [this, name = name] {
            use_theme(name);
            if (settings_ != nullptr) {
                settings_->setValue("theme", name);
            }
        });
        action->setObjectName(QString("theme ") + name);
        action->setCheckable(true);
        themes_->addAction(action);
    }
    themes_->actions().front()->setChecked(true);
}

std::optional<report::Theme> MainWindow::chosen_theme() const {
    if (themes_ == nullptr) {
        return std::nullopt; // asked while the window is made
    }
    const QString name = themes_->checkedAction()->objectName();
    return name == "theme dark"    ? std::optional(report::Theme::dark)
           : name == "theme light" ? std::optional(report::Theme::light)
                                   : std::nullopt;
}

void MainWindow::show_in(report::Theme theme) {
    const QString name = theme == report::Theme::dark ? "dark" : "light";
    use_theme(name);
    for (QAction* action : themes_->actions()) {
        if (action->objectName() == "theme " + name) {
            action->setChecked(true);
        }
    }
}

// Empty where nothing is shown: the export then says so.
Picture MainWindow::picture_in_front() const {
    if (pages_->currentWidget() == start_ && start_->currentIndex() == 0) {
        return {};
    }
    if (auto* pane = qobject_cast<Pane*>(pages_->currentWidget())) {
        const DrawingView* picture = pane->picture_in_front();
        return picture == nullptr ? Picture{} : picture_of(*picture, pane->name());
    }
    return pages_->currentWidget() == upgrade_ ? picture_of(upgrade_->shown_picture(), "upgrade")
                                               : picture_of(*view_);
}

// Every view by name in the file menu, and the same on a right click.
void MainWindow::make_view_menus(QMenu& file) {
    const TellProblems tell = [this](const Diagnostics& problems) { show_problems(problems); };
    QMenu* all = file.addMenu(tr("Export or copy a &view"));
    const auto add = [&](const QString& name, const TakePicture& take) {
        fill_view_menu(*all->addMenu(name), *this, take, tell);
    };
    const TakePicture plot = [this] { return picture_of(*view_); };
    const TakePicture steps = [this] { return picture_of(steps_->ladder(), "steps"); };
    const TakePicture mapping = [this] { return picture_of(mapping_->picture(), "mapping"); };
    add(tr("Roofline"), plot);
    add(tr("Seven steps"), steps);
    add(tr("Mapping"), mapping);
    add(tr("Upgrade"), [this] { return picture_of(upgrade_->shown_picture(), "upgrade"); });
    give_menu(*view_, [this, plot, tell](QMenu& menu) {
        fill_selection_menu(menu);
        menu.addSeparator();
        fill_view_menu(menu, *view_, plot, tell);
    });
    for (Pane* pane : panes_) {
        if (DrawingView* picture = pane->picture_in_front()) {
            const auto take = [picture, pane] { return picture_of(*picture, pane->name()); };
            add(pane->tab(), take);
            give_menu(*picture, take, tell);
        }
    }
    view_->setContextMenuPolicy(Qt::DefaultContextMenu); // it tells a click from a drag itself
    give_menu(steps_->ladder(), steps, tell);
    give_menu(mapping_->picture(), mapping, tell);
    for (DrawingView* view : upgrade_->pictures()) {
        give_menu(
            *view, [view] { return picture_of(*view, "upgrade"); }, tell);
    }
}

namespace {

// The selected rows, or all when none is, with their headers.
QString rows_as_text(const QTableView& table) {
    const QAbstractItemModel* model = table.model();
    QList<int> rows;
    for (const QModelIndex& index : table.selectionModel()->selectedRows()) {
        rows << index.row();
    }
    const bool all = rows.isEmpty();
    for (int row = 0; all && row < model->rowCount(); ++row) {
        rows << row;
    }
    std::sort(rows.begin(), rows.end());
    const auto line = [&](const auto& text_of) {
        QStringList cells;
        for (int column = 0; column < model->columnCount(); ++column) {
            if (!table.isColumnHidden(column)) {
                cells << text_of(column);
            }
        }
        return cells.join('\t');
    };
    QStringList lines = {
        line([&](int column) { return model->headerData(column, Qt::Horizontal).toString(); })};
    for (const int row : rows) {
        lines << line([&](int column) {
            const QModelIndex index = model->index(row, column);
            const QVariant full = index.data(kFullText);
            return full.isValid() ? full.toString() : index.data().toString();
        });
    }
    return lines.join('\n');
}

} // namespace

void MainWindow::copy_rows() {
    const bool upgrading = pages_->currentWidget() == upgrade_;
    const QTableView* table = !upgrading ? table_view_
                              : upgrade_->verdicts().hasFocus()
                                  ? static_cast<const QTableView*>(&upgrade_->verdicts())
                                  : &upgrade_->layers();
    QApplication::clipboard()->setText(rows_as_text(*table));
}

void MainWindow::open_dialog() {
    if (const QStringList chosen = QFileDialog::getOpenFileNames(this, tr("Open"));
        !chosen.isEmpty()) {
        open(chosen);
    }
}

void MainWindow::export_dialog() {
    export_with_dialog(*this, picture_in_front(),
                       [this](const Diagnostics& problems) { show_problems(problems); });
}

void MainWindow::save_machine_dialog() {
    if (!what_if_->is_changed()) {
        statusBar()->showMessage(tr("Nothing was changed: turn a parameter first"), 5000);
        return;
    }
    const QString suggestion = QString::fromStdString(what_if_->machine().id) + "-changed.yaml";
    const QString file = QFileDialog::getSaveFileName(this, tr("Save the changed machine"),
                                                      suggestion, tr("Machines (*.yaml)"));
    if (!file.isEmpty()) {
        save_machine(file);
    }
}

} // namespace eyeroof::gui
