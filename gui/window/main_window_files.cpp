// Sessions and files: opened, dropped, saved, remembered.
#include "base/file.hpp"
#include "base/suggest.hpp"
#include "formats/any_machine.hpp"
#include "formats/catalog.hpp"
#include "formats/trace_network.hpp"
#include "gui/panes/upgrade_form.hpp"
#include "gui/views/qt_text.hpp"
#include "gui/window/main_window.hpp"
#include "gui/window/start_page.hpp"
#include "hwdb/catalog.hpp"

#include <QActionGroup>
#include <QCloseEvent>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QMenu>
#include <QMimeData>
#include <QProgressBar>
#include <QPushButton>
#include <QTabWidget>
#include <algorithm>

namespace eyeroof::gui {

namespace {
constexpr qsizetype kMostRecent = 10;
constexpr int kStateVersion = 3; // of the docks; another one is not restored
} // namespace

report::Session MainWindow::session() const {
    report::Session session = session_;
    measurements_.write_into(session);
    analysis::UpgradeQuestion asked = upgrade_->form().question();
    if (!asked.networks.empty() || !asked.from.name.empty() || !asked.to.empty()) {
        session.upgrade = std::move(asked);
    }
    session.view = view_->view();
    session.view.theme = chosen_theme();
    return session;
}

void MainWindow::save_session(const QString& file) {
    const std::filesystem::path folder = QFileInfo(file).absolutePath().toStdString();
    const auto written = write_file(file.toStdString(), write_session(session(), folder));
    if (!written) {
        return show_problems(written.diagnostics());
    }
    remember(file);
    now_saved_in(file);
}

void MainWindow::save_machine(const QString& file) {
    const std::string id = QFileInfo(file).completeBaseName().toStdString();
    const auto written =
        write_file(file.toStdString(),
                   analysis::changed_machine_yaml(what_if_->machine(), what_if_->changes(), id));
    if (!written) {
        return show_problems(written.diagnostics());
    }
    remember(file);
}

void MainWindow::open_session(const report::Session& session, const QString& file) {
    std::vector<std::string> unread = session.profiles;
    std::erase_if(unread, [this](const std::string& path) { return measurements_.keeps(path); });
    const bool trace = is_unread_trace(session.scenario.network);
    if (trace) {
        unread.push_back(session.scenario.network);
    }
    if (trace || are_large(unread)) {
        return read_then(unread, [this, session, file](std::vector<ReadFile> files) {
            for (ReadFile& read : files) {
                if (read.path == session.scenario.network) {
                    questions_.know(read.path, read.trace);
                } else {
                    measurements_.keep(std::move(read));
                }
            }
            open_session(session, file);
        });
    }
    end_search_of_other();
    const QStringList machines = texts(session.machines);
    choices_->set_network(text(session.scenario.network));
    choices_->set_machines(machines);
    measurements_.load(session);
    originals_.clear();
    session_ = {};
    session_.scenario = session.scenario;
    session_.mappings = session.mappings;
    choose_machines(machines);
    load();
    drop_wrong_changes();
    show_scenario();
    history_.clear(scenario());
    view_->set_view(session.view);
    if (session.view.theme) {
        show_in(*session.view.theme);
    }
    roofs_of_.reset();
    if (session.upgrade) {
        upgrade_->ask(*session.upgrade);
        if (session.scenario.network.empty()) { // it is all that the session is about
            show_page("upgrade");
        }
    }
    if (!file.isEmpty()) {
        now_saved_in(file);
    }
    examine();
}

// A session may be of another version of the machine's file: what it lacks is reported.
void MainWindow::drop_wrong_changes() {
    if (const model::Machine* machine = questions_.first()) {
        std::erase_if(scenario().changes, [&](const std::string& text) {
            const auto change = analysis::parse_change(*machine, text);
            not_opened_.append(change.diagnostics());
            return !change.ok();
        });
    }
}

// At once where that is quick; else in the background, with a bar and a way to cancel.
void MainWindow::read_then(std::vector<std::string> paths,
                           std::function<void(std::vector<ReadFile>)> then) {
    const auto read = [paths, folders = folders_](const std::stop_token& stop,
                                                  const ProgressCallback& progress) {
        std::vector<ReadFile> files;
        for (const std::string& path : paths) {
            if (!stop.stop_requested()) {
                files.push_back(read_file(path, folders, stop, progress));
            }
        }
        return files;
    };
    if (!are_large(paths)) {
        return then(read({}, {}));
    }
    progress_->setRange(0, 0); // until the reader says how far it is
    progress_->setFormat(
        tr("Reading %1, %p %").arg(QFileInfo(QString::fromStdString(paths[0])).fileName()));
    progress_->show();
    cancel_->show();
    reader_.run([this, read, then](const std::stop_token& stop,
                                   const ProgressCallback& progress) -> Background::Show {
        auto files = std::make_shared<std::vector<ReadFile>>(read(stop, progress));
        return [this, files, then] {
            hide_progress();
            then(std::move(*files));
        };
    });
}

bool MainWindow::is_unread_trace(const std::string& network) const {
    return !network.empty() && !questions_.knows(network) && formats::is_trace_file(network);
}

// What is asked for while files are read comes with them.
void MainWindow::open(const QStringList& references) {
    reading_ += references;
    std::vector<std::string> paths;
    for (const QString& reference : reading_) {
        if (QFileInfo(reference).isFile()) {
            paths.push_back(QFileInfo(reference).absoluteFilePath().toStdString());
        }
    }
    read_then(std::move(paths), [this](std::vector<ReadFile> files) {
        open_read(std::exchange(reading_, {}), std::move(files));
    });
}

void MainWindow::open_read(const QStringList& references, std::vector<ReadFile> files) {
    not_opened_ = {};
    QStringList machines;
    bool something = false;
    for (const QString& reference : references) {
        something = open_reference(reference, files, machines) || something;
    }
    QStringList all = machines.size() == 1 ? machines + choices_->machines().mid(1)
                      : machines.empty()   ? choices_->machines()
                                           : machines;
    if (something) {
        place_traces(files, all);
    }
    if (all != choices_->machines()) {
        choices_->set_machines(all);
    }
    if (something) {
        load_and_examine();
        propose_network();
    } else if (!not_opened_.empty()) {
        show_problems(not_opened_);
    }
}

// Whether there is something to load; not_opened_ says what was wrong.
bool MainWindow::open_reference(const QString& reference, std::vector<ReadFile>& files,
                                QStringList& machines) {
    const QString file = QFileInfo(reference).absoluteFilePath();
    const std::string path = file.toStdString();
    const auto read = std::find_if(files.begin(), files.end(),
                                   [&](const ReadFile& known) { return known.path == path; });
    if (read == files.end()) { // a folder may have a network's name
        return open_name(reference, machines);
    }
    const Diagnostics& why = read->opened.diagnostics();
    if (!read->opened && std::all_of(why.begin(), why.end(), [](const Diagnostic& d) {
            return d.code == "missing-dimension";
        })) {
        choices_->set_network(file); // the start page asks for the sizes
        remember(reference);
        return true;
    }
    if (!read->opened) {
        not_opened_.append(why);
        return false;
    }
    remember(reference);
    report::Opened& opened = *read->opened;
    if (const auto* session = std::get_if<report::Session>(&opened)) {
        open_session(*session, reference);
        return false; // it is examined already
    }
    const QString network = choices_->network();
    const bool typed = !network.isEmpty() && QFileInfo(network).absoluteFilePath() == file;
    if (std::holds_alternative<model::Machine>(opened)) {
        machines << file;
    } else if (std::holds_alternative<model::Network>(opened)) {
        choices_->set_network(file);
    } else if (typed || (network.isEmpty() && read->trace)) { // however it comes: the same page
        questions_.know(path, read->trace);
        choices_->set_network(file);
    } else {
        const bool searches = std::holds_alternative<report::Trials>(opened);
        measurements_.take(path, std::move(opened));
        if (searches) { // about no plot
            show_page("tuning");
        }
    }
    return true;
}

// A name of a catalog, with parameters where it takes some.
bool MainWindow::open_name(const QString& name, QStringList& machines) {
    const std::string word = name.toStdString();
    const auto network = formats::load_network(word, folders_.networks);
    if (network) {
        choices_->set_network(name);
        return true;
    }
    const auto machine = formats::load_any_machine(word, folders_.machines);
    if (machine) {
        machines << name;
        return true;
    }
    // What is there and cannot be read says why itself.
    for (const auto* found : {&network.diagnostics(), &machine.diagnostics()}) {
        const std::string& code = found->begin()->code;
        if (code != "unknown-network" && code != "unknown-machine" && code != "file-not-found") {
            not_opened_.append(*found);
            return false;
        }
    }
    std::vector<std::string> known;
    if (const auto heads = formats::list_networks(folders_.networks)) {
        for (const auto& head : *heads) {
            known.push_back(head.id);
        }
    }
    for (const auto& entry : hwdb::list_machines(folders_.machines)) {
        known.push_back(entry.id);
    }
    const std::string close = closest(word, known);
    not_opened_.error("not-found", "'" + word + "' is no file, and no network or machine by name",
                      close.empty() ? "File > Open takes a file; the lists above have the names"
                                    : "did you mean '" + close + "'?");
    return false;
}

void MainWindow::show_problems(const Diagnostics& problems) {
    QDockWidget* dock = docks_["errors"];
    errors_->show_all(problems);
    const auto errors = std::count_if(problems.begin(), problems.end(), [](const Diagnostic& d) {
        return d.severity == Severity::error;
    });
    const auto others = static_cast<std::ptrdiff_t>(problems.size()) - errors;
    QStringList counts;
    if (errors > 0) {
        counts << tr("%n ✗", nullptr, static_cast<int>(errors));
    }
    if (others > 0) {
        counts << tr("%n ⚠", nullptr, static_cast<int>(others));
    }
    dock->setWindowTitle(counts.isEmpty() ? tr("Diagnostics")
                                          : tr("Diagnostics (%1)").arg(counts.join(", ")));
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
    if (const QVariant fits = settings.value("perspective"); fits.isValid()) {
        fits_ = static_cast<Perspective>(std::clamp(fits.toInt(), 0, 3));
        set_perspective(*fits_);
        docks_due_ = false; // those of the settings
    }
    arranged_ = restoreGeometry(settings.value("geometry").toByteArray()) &
                restoreState(settings.value("docks").toByteArray(), kStateVersion);
    fill_recent();
    const QString theme = settings.value("theme", "desktop").toString();
    for (QAction* action : themes_->actions()) {
        if (action->objectName() == "theme " + theme && !action->isChecked()) {
            action->trigger();
        }
    }
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (settings_ != nullptr) {
        if (!may_leave()) {
            return event->ignore();
        }
        if (fits_) {
            settings_->setValue("perspective", static_cast<int>(*fits_));
        }
        settings_->setValue("geometry", saveGeometry());
        bring_panes_back(); // a window without a plot has none
        settings_->setValue("docks", saveState(kStateVersion));
    }
    examiner_.cancel();
    reader_.cancel();
    headliner_.cancel();
    proposer_.cancel();
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
    first_->show_recent(recent_files());
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
