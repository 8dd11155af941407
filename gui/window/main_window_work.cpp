// What a person would lose: which file the work is in, whether it changed, and asking before it is
// gone.
#include "gui/views/qt_text.hpp"
#include "gui/window/main_window.hpp"
#include "gui/window/start_page.hpp"

#include <QAction>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>

namespace eyeroof::gui {

namespace {

// A session's content: what is selected, zoomed, and themed does not count as a change.
report::Session without_looks(report::Session session) {
    session.view.selection.clear();
    session.view.x.reset();
    session.view.y.reset();
    session.view.theme.reset();
    return session;
}

} // namespace

bool MainWindow::has_unsaved_work() const {
    const report::Session now = session();
    if (saved_) {
        return measurements_.has_unsaved() || !(without_looks(now) == without_looks(*saved_));
    }
    return measurements_.has_unsaved() || !now.scenario.changes.empty() || !now.mappings.empty() ||
           !now.assignments.empty();
}

void MainWindow::tell_work() {
    const QString file = QFileInfo(session_file_).fileName();
    const QStringList machines = texts(session_.machines);
    const QString network = network_words();
    const QString what = !file.isEmpty()      ? file
                         : machines.isEmpty() ? network
                         : network.isEmpty()  ? QString()
                                              : tr("%1 on %2").arg(network, machines.join(", "));
    setWindowTitle(what.isEmpty() ? tr("Eyeroof[*]") : tr("%1[*] — Eyeroof").arg(what));
    setWindowModified(has_unsaved_work());
}

void MainWindow::now_saved_in(const QString& file) {
    session_file_ = file;
    saved_ = file.isEmpty() ? std::nullopt : std::optional(session());
    tell_work();
}

bool MainWindow::save_session_dialog(bool ask_where) {
    QString file = session_file_;
    if (file.isEmpty() || ask_where) {
        file = QFileDialog::getSaveFileName(this, tr("Save session"),
                                            file.isEmpty() ? "view.eyeroof.yaml" : file,
                                            tr("Sessions (*.eyeroof.yaml *.yaml)"));
    }
    if (file.isEmpty()) {
        return false;
    }
    save_session(file);
    return !has_unsaved_work();
}

// Whether what is there may go: saved, or not wanted any more.
bool MainWindow::may_leave() {
    if (!has_unsaved_work()) {
        return true;
    }
    QMessageBox question(QMessageBox::Question, tr("Unsaved work"),
                         tr("What was turned, edited or assigned is not saved."),
                         QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
    question.setObjectName("unsaved work");
    question.setDefaultButton(QMessageBox::Save);
    const int answer = question.exec();
    return answer == QMessageBox::Discard ||
           (answer == QMessageBox::Save && save_session_dialog(false));
}

// An empty window, as at the first start.
void MainWindow::start_anew() {
    if (!may_leave()) {
        return;
    }
    open_session({});
    now_saved_in({});
}

} // namespace eyeroof::gui
