// What the window reads and writes: sessions, opened and dropped files.
#include "gui/export.hpp"
#include "gui/main_window.hpp"
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

study::Session MainWindow::session() const {
    study::Session session;
    session.network = network_->currentText().toStdString();
    for (const QComboBox* box : {machine_, other_}) {
        const QString name = box->currentText();
        if (!name.isEmpty() && name != tr(kNoMachine)) {
            session.machines.push_back(name.toStdString());
        }
    }
    session.profiles = profile_files_;
    if (batch_->value() > 1) {
        session.batch = batch_->value();
    }
    session.view = view_->view();
    return session;
}

void MainWindow::save_session(const QString& file) {
    const std::filesystem::path folder = QFileInfo(file).absolutePath().toStdString();
    const auto written = study::write_file(file.toStdString(), write_session(session(), folder));
    if (!written) {
        errors_->show_all(written.diagnostics());
        errors_dock_->raise();
    }
}

void MainWindow::open_session(const study::Session& session) {
    const QSignalBlocker one(batch_), two(filter_), three(top_);
    network_->setCurrentText(QString::fromStdString(session.network));
    const auto name = [&](std::size_t i) {
        return i < session.machines.size() ? QString::fromStdString(session.machines[i])
                                           : QString();
    };
    machine_->setCurrentText(name(0));
    other_->setCurrentText(session.machines.size() > 1 ? name(1) : tr(kNoMachine));
    batch_->setValue(static_cast<int>(session.batch.value_or(1)));
    filter_->setText(QString::fromStdString(session.view.filter));
    top_->setValue(session.view.top.value_or(0));
    profile_files_ = session.profiles;
    profiles_.clear();
    model::Diagnostics problems;
    for (const std::string& file : profile_files_) {
        auto profile = profiles::import_file(file);
        problems.append(profile.diagnostics());
        if (profile) {
            profiles_.push_back(std::move(*profile));
        }
    }
    view_->set_view(session.view);
    load_and_examine();
    load_problems_.append(problems);
}

void MainWindow::open(const QString& file) {
    const std::string path = QFileInfo(file).absoluteFilePath().toStdString();
    const auto session = study::load_session(path);
    if (session) {
        return open_session(*session);
    }
    const bool meant_session =
        std::none_of(session.diagnostics().begin(), session.diagnostics().end(),
                     [](const model::Diagnostic& d) { return d.code == "bad-format"; });
    if (hwdb::load_machine_file(path)) {
        machine_->setCurrentText(QString::fromStdString(path));
        return load_and_examine();
    }
    const auto network = study::read::load_network(path, folders_.networks);
    if (network) {
        network_->setCurrentText(QString::fromStdString(path));
        return load_and_examine();
    }
    auto profile = profiles::import_file(path);
    if (profile) {
        profiles_.push_back(std::move(*profile));
        profile_files_.push_back(path);
        return examine();
    }
    // What its author most likely meant it to be says best what is wrong with it.
    const bool yaml = path.ends_with(".yaml") || path.ends_with(".yml");
    errors_->show_all(yaml && meant_session ? session.diagnostics()
                      : yaml                ? hwdb::load_machine_file(path).diagnostics()
                                            : profile.diagnostics());
    errors_dock_->show();
    errors_dock_->raise();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (event->mimeData()->hasUrls()) {
        event->acceptProposedAction();
    }
}

void MainWindow::dropEvent(QDropEvent* event) {
    for (const QUrl& url : event->mimeData()->urls()) {
        if (url.isLocalFile()) {
            open(url.toLocalFile());
        }
    }
    event->acceptProposedAction();
}

} // namespace eyeroof::gui
