// Sessions and files: opened, dropped, saved, remembered.
#include "gui/panes/upgrade_form.hpp"
#include "gui/window/main_window.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/text_file.hpp"
#include "model/base/file.hpp"
#include "model/base/suggest.hpp"
#include "profiles/import/importer.hpp"
#include "study/formats/assignments.hpp"
#include "study/formats/catalog.hpp"
#include "study/formats/ceilings.hpp"

#include <QCloseEvent>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QMenu>
#include <QMimeData>
#include <QTabWidget>

namespace eyeroof::gui {

namespace {
constexpr qsizetype kMostRecent = 10;
constexpr int kStateVersion = 2; // of the docks; another one is not restored

// A YAML file that says itself that it holds ceilings or assignments.
bool is_measurement(const std::string& path) {
    const auto text = hwdb::read_text_file(path);
    return text && (text->find("eyeroof_ceilings:") != std::string::npos ||
                    text->find("eyeroof_assignments:") != std::string::npos);
}

} // namespace

study::Session MainWindow::session() const {
    study::Session session;
    session.network = network_name_.toStdString();
    for (const QString& name : machine_names_) {
        session.machines.push_back(name.toStdString());
    }
    session.profiles = profile_files_;
    session.ceilings = ceiling_files_;
    session.assignments = assignment_file_;
    session.mappings = edits_;
    if (choices_->batch() > 1) {
        session.batch = choices_->batch();
    }
    session.data_type = choices_->data_type();
    session.best_mapping = choices_->best_mapping();
    for (const study::Change& change : what_if_->changes()) {
        session.set.push_back(study::change_text(what_if_->machine(), change));
    }
    study::UpgradeQuestion asked = upgrade_->form().question();
    if (!asked.networks.empty() || !asked.from.name.empty() || !asked.to.empty()) {
        session.upgrade = std::move(asked);
    }
    session.view = view_->view();
    return session;
}

void MainWindow::save_session(const QString& file) {
    const std::filesystem::path folder = QFileInfo(file).absolutePath().toStdString();
    const auto written = model::write_file(file.toStdString(), write_session(session(), folder));
    if (!written) {
        return show_problems(written.diagnostics());
    }
    remember(file);
}

void MainWindow::save_machine(const QString& file) {
    const std::string id = QFileInfo(file).completeBaseName().toStdString();
    const auto written =
        model::write_file(file.toStdString(), study::changed_machine_yaml(what_if_->machine(),
                                                                          what_if_->changes(), id));
    if (!written) {
        return show_problems(written.diagnostics());
    }
    remember(file);
}

void MainWindow::load_measurements(const study::Session& session) {
    profile_files_.clear();
    profiles_.clear();
    ceiling_files_.clear();
    ceilings_.clear();
    assignment_file_.clear();
    assignments_.clear();
    profile_problems_ = {};
    std::vector<std::string> files = session.profiles;
    files.insert(files.end(), session.ceilings.begin(), session.ceilings.end());
    if (!session.assignments.empty()) {
        files.push_back(session.assignments);
    }
    for (const std::string& file : files) {
        open_measurement(file, profile_problems_);
    }
}

// Kernels, ceilings or assignments of kernels to layers: the content tells. False, with what its
// author most likely wants to know, when it is none of them.
bool MainWindow::open_measurement(const std::string& path, model::Diagnostics& problems) {
    auto profile = profiles::import_file(path);
    if (profile && !profile->launches.empty()) {
        profile_files_.push_back(path);
        profiles_.push_back(*std::move(profile));
        return true;
    }
    auto ceilings = study::load_ceilings(path);
    if (ceilings) {
        ceiling_files_.push_back(path);
        ceilings_.push_back(*std::move(ceilings));
        return true;
    }
    auto assignments = study::load_assignments(path);
    if (assignments) {
        assignment_file_ = path;
        assignments_ = *std::move(assignments);
        return true;
    }
    const auto text = hwdb::read_text_file(path);
    const auto says = [&](const char* key) { return text && text->find(key) != std::string::npos; };
    problems.append(says("eyeroof_ceilings:")      ? ceilings.diagnostics()
                    : says("eyeroof_assignments:") ? assignments.diagnostics()
                    : profile                      ? ceilings.diagnostics()
                                                   : profile.diagnostics());
    return false;
}

void MainWindow::open_session(const study::Session& session) {
    QStringList machines;
    for (const std::string& name : session.machines) {
        machines << QString::fromStdString(name);
    }
    choices_->set_network(QString::fromStdString(session.network));
    choices_->set_machines(machines);
    choices_->set_experiment(static_cast<int>(session.batch.value_or(1)), session.data_type,
                             session.best_mapping);
    load_measurements(session);
    edits_.clear();
    originals_.clear();
    load_network(choices_->network());
    load_machines();
    if (!loaded_machines_.empty()) {
        std::vector<study::Change> changes;
        for (const std::string& set : session.set) {
            const auto change = study::parse_change(loaded_machines_.front(), set);
            machine_problems_.append(change.diagnostics());
            if (change) {
                changes.push_back(*change);
            }
        }
        const QSignalBlocker block(what_if_);
        what_if_->set_changes(changes);
    }
    edits_ = session.mappings;
    history_.clear(experiment());
    view_->set_view(session.view);
    if (session.upgrade) {
        upgrade_->ask(*session.upgrade);
        if (session.network.empty()) { // it is all that the session is about
            show_page("upgrade");
        }
    }
    examine();
}

void MainWindow::open(const QStringList& references) {
    not_opened_ = {};
    QStringList machines;
    bool something = false;
    for (const QString& reference : references) {
        something = open_reference(reference, machines) || something;
    }
    if (!machines.empty()) {
        choices_->set_machines(machines.size() > 1 ? machines
                                                   : machines + choices_->machines().mid(1));
    }
    if (something) {
        load_and_examine();
    } else if (!not_opened_.empty()) {
        show_problems(not_opened_);
    }
}

// Whether there is something to load; not_opened_ says what was wrong.
bool MainWindow::open_reference(const QString& reference, QStringList& machines) {
    if (!QFileInfo(reference).isFile()) { // a folder may have a network's name
        return open_name(reference, machines);
    }
    const std::string path = QFileInfo(reference).absoluteFilePath().toStdString();
    const QString name = QString::fromStdString(path);
    const auto session = study::load_session(path);
    model::Diagnostics not_measured;
    if (session) {
        open_session(*session);
        remember(reference);
        return false; // it is examined already
    }
    if (hwdb::load_machine_file(path)) {
        machines << name;
    } else if (study::read::load_network(path, folders_.networks)) {
        choices_->set_network(name);
    } else if (!open_measurement(path, not_measured)) {
        // What its author most likely meant it to be says best what is wrong with it.
        const bool meant_session =
            std::none_of(session.diagnostics().begin(), session.diagnostics().end(),
                         [](const model::Diagnostic& d) { return d.code == "bad-format"; });
        const bool yaml = path.ends_with(".yaml") || path.ends_with(".yml");
        not_opened_.append(yaml && is_measurement(path) ? not_measured
                           : yaml && meant_session      ? session.diagnostics()
                           : yaml ? hwdb::load_machine_file(path).diagnostics()
                                  : not_measured);
        return false;
    }
    remember(reference);
    return true;
}

// A name of a catalog, with parameters where it takes some.
bool MainWindow::open_name(const QString& name, QStringList& machines) {
    const std::string word = name.toStdString();
    if (study::read::load_network(word, folders_.networks)) {
        choices_->set_network(name);
        return true;
    }
    if (hwdb::load_machine(word, folders_.machines)) {
        machines << name;
        return true;
    }
    std::vector<std::string> known;
    if (const auto heads = study::read::list_networks(folders_.networks)) {
        for (const auto& head : *heads) {
            known.push_back(head.id);
        }
    }
    for (const auto& entry : hwdb::list_machines(folders_.machines)) {
        known.push_back(entry.id);
    }
    const std::string close = model::closest(word, known);
    not_opened_.error("not-found", "'" + word + "' is no file, and no network or machine by name",
                      close.empty() ? "File > Open takes a file; the lists above have the names"
                                    : "did you mean '" + close + "'?");
    return false;
}

void MainWindow::show_problems(const model::Diagnostics& problems) {
    QDockWidget* dock = docks_["errors"];
    errors_->show_all(problems);
    dock->setWindowTitle(problems.empty() ? tr("Errors") : tr("Errors (%1)").arg(problems.size()));
    if (problems.has_errors()) {
        dock->show();
        dock->raise();
        if (docks_away_) { // alone at the bottom: a few lines will do
            resizeDocks({dock}, {130}, Qt::Vertical);
        }
    }
}

void MainWindow::remember_in(QSettings& settings) {
    settings_ = &settings;
    arranged_ = restoreGeometry(settings.value("geometry").toByteArray()) &
                restoreState(settings.value("docks").toByteArray(), kStateVersion);
    fill_recent();
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (settings_ != nullptr) {
        settings_->setValue("geometry", saveGeometry());
        bring_panes_back(); // a window without a plot has none
        settings_->setValue("docks", saveState(kStateVersion));
    }
    examiner_.cancel();
    searcher_.cancel();
    analyser_.cancel();
    event->accept();
}

QStringList MainWindow::recent_files() const {
    return settings_ == nullptr ? QStringList() : settings_->value("recent").toStringList();
}

void MainWindow::remember(const QString& file) {
    if (settings_ == nullptr) {
        return;
    }
    QStringList files = recent_files();
    const QString path = QFileInfo(file).absoluteFilePath();
    files.removeAll(path);
    files.prepend(path);
    settings_->setValue("recent", files.mid(0, kMostRecent));
    fill_recent();
}

void MainWindow::fill_recent() {
    recent_->clear();
    for (const QString& file : recent_files()) {
        recent_->addAction(file, this, [this, file] { open(file); });
    }
    recent_->setEnabled(!recent_->isEmpty());
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (event->mimeData()->hasUrls()) {
        event->acceptProposedAction();
    }
}

void MainWindow::dropEvent(QDropEvent* event) {
    QStringList files;
    for (const QUrl& url : event->mimeData()->urls()) {
        if (url.isLocalFile()) {
            files << url.toLocalFile();
        }
    }
    if (!files.empty()) {
        open(files);
    }
    event->acceptProposedAction();
}

} // namespace eyeroof::gui
