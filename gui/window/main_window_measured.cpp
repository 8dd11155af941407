// Measurements in the window: opened, closed, replaced, kept although their file is missing; and
// what a trace that is opened alone tells of its GPU and network.
#include "gui/jobs/trace_origin.hpp"
#include "gui/panes/totals_text.hpp"
#include "gui/window/main_window.hpp"
#include "gui/window/start_page.hpp"

#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>

namespace eyeroof::gui {

namespace {

using Kind = MeasurementFile::Kind;

std::shared_ptr<const profiles::Profile> shared(profiles::Profile profile) {
    return std::make_shared<const profiles::Profile>(std::move(profile));
}

} // namespace

study::Measured MainWindow::measured() const {
    study::Measured all{{}, {}, assignments_, families_};
    for (const MeasurementFile& file : files_) {
        if (file.content) {
            (file.kind == Kind::profile ? all.profiles : all.ceilings).push_back(*file.content);
        }
    }
    return all;
}

// A file that cannot be read stays in the list with the reason, and in the session that is saved.
void MainWindow::load_measurements(const study::Session& session) {
    files_.clear();
    assignments_.clear();
    profile_problems_ = {};
    const auto load = [&](const std::string& path, Kind kind) {
        model::Diagnostics problems;
        if (!open_measurement(path, problems)) {
            files_.push_back(
                {path, kind, {}, problems.empty() ? "" : problems.items().front().message});
        }
        profile_problems_.append(problems);
    };
    for (const std::string& path : session.profiles) {
        load(path, Kind::profile);
    }
    for (const std::string& path : session.ceilings) {
        load(path, Kind::ceilings);
    }
    if (!session.assignments.empty()) {
        load(session.assignments, Kind::assignments);
    }
}

// Kernels, ceilings or assignments of kernels to layers: the content tells.
bool MainWindow::open_measurement(const std::string& path, model::Diagnostics& problems) {
    auto opened = study::open_any(path, folders_.machines, folders_.networks);
    problems.append(opened.diagnostics());
    if (opened && !take_measurement(path, *std::move(opened))) {
        problems.error("not-measured", "this file holds no measurement", {}, {path, 0, 0});
        return false;
    }
    return opened.ok();
}

bool MainWindow::take_measurement(const std::string& path, study::Opened opened) {
    if (auto* profile = std::get_if<profiles::Profile>(&opened)) {
        files_.push_back({path, Kind::profile, shared(std::move(*profile)), {}});
    } else if (auto* ceilings = std::get_if<study::Ceilings>(&opened)) {
        files_.push_back({path, Kind::ceilings, shared(std::move(ceilings->measured)), {}});
    } else if (auto* assignments = std::get_if<study::Assignments>(&opened)) {
        std::erase_if(files_, [](const auto& file) { return file.kind == Kind::assignments; });
        files_.push_back({path, Kind::assignments, {}, {}});
        assignments_ = std::move(*assignments);
    } else {
        return false;
    }
    return true;
}

void MainWindow::close_measurement(const std::string& path) {
    const auto file = std::find_if(files_.begin(), files_.end(),
                                   [&](const auto& known) { return known.path == path; });
    if (file == files_.end()) {
        return;
    }
    if (file->kind == Kind::assignments) {
        assignments_.clear();
    }
    files_.erase(file);
    profile_problems_ = {};
    examine();
}

void MainWindow::replace_measurement(const std::string& path) {
    const QString file =
        QFileDialog::getOpenFileName(this, tr("Replace measurement"), QString::fromStdString(path));
    if (!file.isEmpty()) {
        replace_measurement(path, file.toStdString());
    }
}

void MainWindow::replace_measurement(const std::string& path, const std::string& by) {
    model::Diagnostics problems;
    if (open_measurement(by, problems)) {
        remember(QString::fromStdString(by));
        return close_measurement(path);
    }
    show_problems(problems);
}

// A trace alone opens on the GPU that it names, and the network that it is most likely of is
// proposed.
void MainWindow::place_trace(QStringList& machines) {
    const auto trace = std::find_if(files_.rbegin(), files_.rend(), [](const auto& file) {
        return file.kind == Kind::profile && file.content;
    });
    proposed_network_.clear();
    if (trace == files_.rend()) {
        return;
    }
    if (machines.isEmpty() && choices_->machines().isEmpty()) {
        const std::string gpu = gpu_of(trace->content->run, folders_);
        if (!gpu.empty()) {
            machines << QString::fromStdString(gpu);
        }
    }
    if (choices_->network().isEmpty()) {
        proposed_network_ = QString::fromStdString(network_of(*trace->content, folders_));
    }
}

// Of a trace that names none: on the start page, since there is no plot without one.
void MainWindow::ask_gpu() {
    const auto trace = std::find_if(files_.rbegin(), files_.rend(), [](const auto& file) {
        return file.kind == Kind::profile && file.content;
    });
    const bool open = trace != files_.rend() && choices_->machines().isEmpty();
    first_->ask_gpu(open ? QFileInfo(QString::fromStdString(trace->path)).fileName() : QString());
}

// What stands above the table.
void MainWindow::show_totals() {
    QString html = totals_html(reports_);
    if (choices_->network().isEmpty() && !proposed_network_.isEmpty()) {
        html =
            tr("This trace looks like %1: <a href=\"network:%1\">compare with its prediction</a>")
                .arg(proposed_network_) +
            (html.isEmpty() ? QString() : "<br>" + html);
    }
    totals_->setText(html);
    totals_->setVisible(!html.isEmpty());
}

void MainWindow::follow_totals(const QString& link) {
    if (link.startsWith("network:")) {
        choices_->set_network(link.mid(8));
        load_and_examine();
    } else if (link == "upgrade") {
        ask_upgrade();
    }
}

} // namespace eyeroof::gui
