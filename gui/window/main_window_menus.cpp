// Menus, shortcuts, the clipboard and the dialogs behind them.
#include "gui/window/main_window.hpp"
#include "gui/window/view_menu.hpp"

#include <QApplication>
#include <QClipboard>
#include <QDockWidget>
#include <QFileDialog>
#include <QMenuBar>
#include <QMessageBox>
#include <QShortcut>
#include <QStatusBar>
#include <QTabWidget>
#include <QTableView>
#include <QTableWidget>
#include <algorithm>

namespace eyeroof::gui {

namespace {

constexpr const char* kShortcuts =
    "<table cellpadding=4>"
    "<tr><td colspan=2><b>Plot</b></td></tr>"
    "<tr><td>wheel, + and -</td><td>zoom at the pointer, in the middle</td></tr>"
    "<tr><td>Shift + drag</td><td>zoom to a rectangle</td></tr>"
    "<tr><td>right drag, arrows</td><td>move the plot</td></tr>"
    "<tr><td>Backspace, Alt+Left</td><td>undo the zoom</td></tr>"
    "<tr><td>0, double click</td><td>show everything</td></tr>"
    "<tr><td>click, drag</td><td>select; with Ctrl add to the selection</td></tr>"
    "<tr><td>Esc</td><td>select nothing; cancel what is running</td></tr>"
    "<tr><td colspan=2><b>Steps and what if</b></td></tr>"
    "<tr><td>click a step, 1 … 7</td><td>the parameter behind it is selected</td></tr>"
    "<tr><td>Ctrl+Z, Ctrl+Shift+Z</td><td>undo, redo what was turned</td></tr>"
    "<tr><td colspan=2><b>Window</b></td></tr>"
    "<tr><td>Ctrl+O, Ctrl+S</td><td>open; save the session</td></tr>"
    "<tr><td>Ctrl+Shift+S</td><td>save the changed machine</td></tr>"
    "<tr><td>Ctrl+E</td><td>export picture or table</td></tr>"
    "<tr><td>Ctrl+F</td><td>filter by name</td></tr>"
    "<tr><td>Ctrl+C</td><td>copy the selected rows of the table</td></tr>"
    "<tr><td>Ctrl+Alt+C, Ctrl+Alt+F</td><td>copy the picture, the figures in it</td></tr>"
    "<tr><td>right click on a view</td><td>copy or export it</td></tr>"
    "<tr><td>Ctrl+Shift+C</td><td>copy the command line of this view</td></tr>"
    "<tr><td>Ctrl+1, Ctrl+2</td><td>roofline, upgrade</td></tr>"
    "<tr><td>F1, ?</td><td>this sheet</td></tr></table>";

} // namespace

void MainWindow::make_menus() {
    const auto add = [&](QMenu* menu, const QString& name, const QKeySequence& keys, auto action) {
        menu->addAction(name, this, action)->setShortcut(keys);
    };
    QMenu* file = menuBar()->addMenu(tr("&File"));
    add(file, tr("&Open…"), QKeySequence::Open, [this] { open_dialog(); });
    recent_ = file->addMenu(tr("Open &recent"));
    recent_->setEnabled(false);
    file->addSeparator();
    add(file, tr("&Save session…"), QKeySequence::Save, [this] {
        const QString chosen = QFileDialog::getSaveFileName(
            this, tr("Save session"), "view.eyeroof.yaml", tr("Sessions (*.eyeroof.yaml *.yaml)"));
        if (!chosen.isEmpty()) {
            save_session(chosen);
        }
    });
    add(file, tr("Save changed &machine…"), QKeySequence("Ctrl+Shift+S"),
        [this] { save_machine_dialog(); });
    add(file, tr("&Export…"), QKeySequence("Ctrl+E"), [this] { export_dialog(); });
    make_view_menus(*file);
    file->addSeparator();
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
        const std::string line =
            upgrading ? upgrade_->command_line() : study::cli_command(session());
        QApplication::clipboard()->setText(QString::fromStdString(line));
        statusBar()->showMessage(QString::fromStdString(line), 5000);
    });
    add(edit, tr("&Filter"), QKeySequence::Find, [this] { plot_bar_->focus_filter(); });
    QMenu* view = menuBar()->addMenu(tr("&View"));
    add(view, tr("&Roofline"), QKeySequence("Ctrl+1"), [this] { show_page("roofline"); });
    add(view, tr("&Upgrade"), QKeySequence("Ctrl+2"), [this] { show_page("upgrade"); });
    view->addSeparator();
    for (QDockWidget* dock : findChildren<QDockWidget*>()) {
        view->addAction(dock->toggleViewAction());
    }
    QMenu* help = menuBar()->addMenu(tr("&Help"));
    add(help, tr("&Shortcuts"), QKeySequence("F1"), [this] { show_shortcuts(); });
    new QShortcut(QKeySequence("?"), this, [this] { show_shortcuts(); });
    new QShortcut(QKeySequence(Qt::Key_Escape), this, [this] {
        if (examiner_.busy() || searcher_.busy()) {
            cancel_examination();
            searcher_.cancel();
        } else {
            view_->set_selection({});
        }
    });
}

Picture MainWindow::picture_in_front() const {
    return pages_->currentWidget() == upgrade_ ? picture_of(upgrade_->shown_picture(), "upgrade")
                                               : picture_of(*view_);
}

// Every view by name in the file menu, and the same on a right click.
void MainWindow::make_view_menus(QMenu& file) {
    const TellProblems tell = [this](const model::Diagnostics& problems) {
        show_problems(problems);
    };
    QMenu* all = file.addMenu(tr("Export or copy a &view"));
    const auto add = [&](const QString& name, const TakePicture& take) {
        fill_view_menu(*all->addMenu(name), *this, take, tell);
    };
    const TakePicture plot = [this] { return picture_of(*view_); };
    const TakePicture steps = [this] { return picture_of(steps_->ladder()); };
    const TakePicture mapping = [this] { return picture_of(mapping_->picture(), "mapping"); };
    add(tr("Roofline"), plot);
    add(tr("Seven steps"), steps);
    add(tr("Mapping"), mapping);
    add(tr("Upgrade"), [this] { return picture_of(upgrade_->shown_picture(), "upgrade"); });
    give_menu(*view_, plot, tell);
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
        lines << line([&](int column) { return model->index(row, column).data().toString(); });
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
    for (const QString& chosen : QFileDialog::getOpenFileNames(this, tr("Open"))) {
        open(chosen);
    }
}

void MainWindow::export_dialog() {
    export_with_dialog(*this, picture_in_front(),
                       [this](const model::Diagnostics& problems) { show_problems(problems); });
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

void MainWindow::show_shortcuts() {
    auto* sheet = new QMessageBox(QMessageBox::NoIcon, tr("Shortcuts"), tr(kShortcuts),
                                  QMessageBox::Close, this);
    sheet->setAttribute(Qt::WA_DeleteOnClose);
    sheet->open();
}

} // namespace eyeroof::gui
