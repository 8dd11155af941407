// Measurements in the window: closed, replaced; and what a trace that is opened alone tells of its
// GPU and network.
#include "gui/jobs/trace_origin.hpp"
#include "gui/panes/totals_text.hpp"
#include "gui/window/main_window.hpp"
#include "gui/window/start_page.hpp"

#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QStackedWidget>
#include <QTabWidget>

namespace eyeroof::gui {

void MainWindow::close_measurement(const std::string& path) {
    if (measurements_.close(path)) {
        examine();
    }
}

void MainWindow::replace_measurement(const std::string& path) {
    const QString file =
        QFileDialog::getOpenFileName(this, tr("Replace measurement"), QString::fromStdString(path));
    if (!file.isEmpty()) {
        replace_measurement(path, file.toStdString());
    }
}

void MainWindow::replace_measurement(const std::string& path, const std::string& by) {
    Diagnostics problems;
    if (measurements_.open(by, problems)) {
        remember(QString::fromStdString(by));
        return close_measurement(path);
    }
    show_problems(problems);
}

// A trace alone opens on the GPU that it names, and the network that it is most likely of is
// proposed.
void MainWindow::place_trace(QStringList& machines) {
    const MeasurementFile* trace = measurements_.last_profile();
    proposed_network_.clear();
    if (trace == nullptr) {
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
    const MeasurementFile* trace = measurements_.last_profile();
    const bool open = trace != nullptr && choices_->machines().isEmpty();
    first_->ask_gpu(open ? QFileInfo(QString::fromStdString(trace->path)).fileName() : QString());
}

// Of a network that leaves sizes open. A network that was read leaves none.
void MainWindow::ask_sizes() {
    QStringList names;
    for (const Diagnostic& problem : questions_.problems()) {
        if (problem.code == "missing-dimension" && !problem.field.empty()) {
            names << QString::fromStdString(problem.field);
        }
    }
    first_->ask_sizes(QFileInfo(choices_->network()).fileName(),
                      has_network() ? QStringList() : names);
    if (!has_network() && !names.isEmpty()) {
        start_->setCurrentIndex(0);
        pages_->setCurrentWidget(start_);
    }
}

// What stands above the table.
void MainWindow::show_totals() {
    QString html = totals_html(reports(), report::compared_runs(view_->plot()));
    if (choices_->network().isEmpty() && !proposed_network_.isEmpty()) {
        html =
            tr("This trace looks like %1: <a href=\"network:%1\">compare with its prediction</a>")
                .arg(proposed_network_) +
            (html.isEmpty() ? QString() : "<br>" + html);
    }
    QStringList asked; // with the defaults that were taken
    for (const analysis::Report& report : reports()) {
        asked << QString::fromStdString(report.words);
    }
    totals_->setText(html);
    totals_->setToolTip(asked.join("\n"));
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
