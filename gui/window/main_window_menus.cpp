// Menus, shortcuts, the clipboard and the dialogs behind them.
#include "gui/jobs/export.hpp"
#include "gui/window/main_window.hpp"

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
    "<tr><td>Ctrl+C, Ctrl+Alt+C</td><td>copy the selected rows, the picture</td></tr>"
    "<tr><td>Ctrl+Shift+C</td><td>copy the command line of this view</td></tr>"
    "<tr><td>Ctrl+1, Ctrl+2</td><td>roofline, upgrade</td></tr>"
    "<tr><td>F1, ?</td><td>this sheet</td></tr></table>";

} // namespace

void MainWindow::make_menus() {
    const auto add = [&](QMenu* menu, const QString& name, const QKeySequence& keys, auto action) {
        menu->addAction(name, this, action)->setShortcut(keys);
    };
    QMenu* file = menuBar()->addMenu(tr("&File"));
    add(file, tr("&Open…"), QKeySequence::Open, [this] {
        for (const QString& chosen : QFileDialog::getOpenFileNames(this, tr("Open"))) {
            open(chosen);
        }
    });
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
    file->addSeparator();
    add(file, tr("&Quit"), QKeySequence::Quit, [this] { close(); });
    QMenu* edit = menuBar()->addMenu(tr("&Edit"));
    add(edit, tr("&Undo what was turned"), QKeySequence::Undo, [this] { undo(); });
    add(edit, tr("&Redo"), QKeySequence::Redo, [this] { redo(); });
    add(edit, tr("Undo the &zoom"), QKeySequence("Alt+Left"), [this] { view_->undo_zoom(); });
    edit->addSeparator();
    add(edit, tr("&Copy rows"), QKeySequence::Copy, [this] { copy_rows(); });
    add(edit, tr("Copy &picture"), QKeySequence("Ctrl+Alt+C"),
        [this] { QApplication::clipboard()->setPixmap(pages_->currentWidget()->grab()); });
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
        examiner_.cancel();
        searcher_.cancel();
        view_->set_selection({});
    });
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
        show_problems(written.diagnostics());
    }
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
