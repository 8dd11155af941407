// Measurements in the window: closed, replaced; and what a trace that is opened alone tells of its
// GPU and network.
#include "base/file.hpp"
#include "formats/assignments.hpp"
#include "gui/jobs/trace_origin.hpp"
#include "gui/panes/kernel_drag.hpp"
#include "gui/panes/totals_text.hpp"
#include "gui/window/main_window.hpp"
#include "gui/window/start_page.hpp"

#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QMenu>
#include <QRegularExpression>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabWidget>
#include <QTableView>

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

// The GPU that a trace names stands beside the machines, so that its kernels are under its own
// roofs.
void MainWindow::place_traces(const std::vector<ReadFile>& files, QStringList& machines) {
    for (const ReadFile& read : files) {
        const auto* profile = read.opened ? std::get_if<profiles::Profile>(&*read.opened) : nullptr;
        const bool here = std::any_of(machines.begin(), machines.end(), [&](const QString& name) {
            return QFileInfo::exists(name) || // which GPU a file is of only the user knows
                   (profile != nullptr && same_model(profile->run.gpu, name.toStdString()));
        });
        if (!read.gpu.empty() && !here) {
            machines << QString::fromStdString(read.gpu);
        }
    }
}

// The network that a trace alone is most likely of, found while the trace is looked at.
void MainWindow::propose_network() {
    proposed_network_.clear();
    proposer_.cancel();
    const MeasurementFile* trace = measurements_.last_profile();
    if (trace == nullptr || (!choices_->network().isEmpty() && questions_.trace() == nullptr)) {
        return;
    }
    proposer_.run([this, profile = trace->content, folders = folders_](
                      const std::stop_token& stop, const ProgressCallback&) -> Background::Show {
        const std::string network = network_of(*profile, folders, stop);
        return [this, network] {
            proposed_network_ = QString::fromStdString(network);
            show_totals();
        };
    });
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

void MainWindow::add_assign_menu(QMenu& menu) {
    std::set<std::string> kernels;
    for (const report::PlotPoint& point : view_->plot().points) {
        if (point.measured && !point.layer && view_->view().selection.contains(point.id)) {
            kernels.insert(point.name);
        }
    }
    if (reports().empty() || measurements_.last_profile() == nullptr) {
        return;
    }
    menu.addSeparator();
    QMenu* layers = menu.addMenu(tr("Assign to layer"));
    layers->setEnabled(!kernels.empty());
    QStringList known;
    for (const analysis::LayerReport& layer : reports().front().layers) {
        const QString name = QString::fromStdString(layer.layer.name);
        if (known.contains(name)) {
            continue;
        }
        known << name;
        layers->addAction(name, this, [this, kernels, to = layer.layer.name] {
            for (const std::string& kernel : kernels) {
                assign_kernel(kernel, to);
            }
        });
    }
    QAction* back = menu.addAction(tr("Take the last assignment back"), this, [this] {
        if (measurements_.take_back()) {
            examine();
        }
    });
    back->setEnabled(measurements_.has_unsaved());
    QAction* save = menu.addAction(tr("Save assignments…"), this, [this] {
        const QString file = QFileDialog::getSaveFileName(
            this, tr("Save assignments"), "assignments.yaml", tr("Assignments (*.yaml)"));
        if (!file.isEmpty()) {
            save_assignments(file);
        }
    });
    save->setEnabled(!measurements_.assignments().empty());
}

const report::PlotPoint* MainWindow::point_of_row(int row) const {
    const auto ids = rows_.ids_of(row);
    for (const report::PlotPoint& point : view_->plot().points) {
        if (!ids.empty() && point.id == ids.front()) {
            return &point;
        }
    }
    return nullptr;
}

// Kernels of no layer are dragged from either table onto a layer of the first machine.
void MainWindow::match_by_dragging() {
    new KernelDrag(table_view_, [this](int row) {
        const report::PlotPoint* point = point_of_row(row);
        return point != nullptr && point->measured && !point->layer
                   ? QStringList(QString::fromStdString(point->name))
                   : QStringList();
    });
    auto* drop = new KernelDrop(table_view_, [this](int row) {
        const report::PlotPoint* point = point_of_row(row);
        const bool layer = point != nullptr && point->layer && !reports().empty() &&
                           measurements_.last_profile() != nullptr;
        return layer ? QString::fromStdString(point->name) : QString();
    });
    connect(
        drop, &KernelDrop::dropped, this, [this](const QStringList& kernels, const QString& to) {
            for (const QString& kernel : kernels) {
                assign_kernel(kernel.toStdString(), to.toStdString());
            }
            statusBar()->showMessage(
                tr("%1 now belongs to %2; a row's menu takes it back").arg(kernels.join(", "), to),
                8000);
        });
}

void MainWindow::assign_kernel(const std::string& kernel, const std::string& layer) {
    const QString whole = "^" + QRegularExpression::escape(QString::fromStdString(kernel)) + "$";
    measurements_.assign({layer, whole.toStdString(), {}});
    examine();
    tell_work();
}

void MainWindow::save_assignments(const QString& file) {
    const auto done =
        write_file(file.toStdString(), formats::write_assignments(measurements_.assignments()));
    if (!done) {
        return show_problems(done.diagnostics());
    }
    measurements_.saved_in(QFileInfo(file).absoluteFilePath().toStdString());
    remember(file);
    tell_work();
}

// What stands above the table.
void MainWindow::show_totals() {
    QString html = totals_html(reports(), report::compared_runs(view_->plot()));
    const bool itself = questions_.trace() != nullptr;
    if ((choices_->network().isEmpty() || itself) && !proposed_network_.isEmpty()) {
        html += (html.isEmpty() ? "" : "<br>") +
                tr("This trace looks like %1: <a href=\"network:%1\">compare with the prediction "
                   "of that network</a>")
                    .arg(proposed_network_);
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
        const QString trace = questions_.trace() ? choices_->network() : QString();
        choices_->set_network(link.mid(8));
        trace.isEmpty() ? load_and_examine() : open(trace); // now as a measurement of that network
    } else if (link == "upgrade") {
        ask_upgrade();
    } else if (link.startsWith("parameter:")) {
        show_page("what-if");
        what_if_->select(link.mid(10).toStdString());
    }
}

} // namespace eyeroof::gui
