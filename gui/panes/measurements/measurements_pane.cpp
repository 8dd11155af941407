#include "gui/panes/measurements/measurements_pane.hpp"

#include "base/units.hpp"
#include "gui/panes/kernel_drag.hpp"
#include "gui/panes/layer_table.hpp"
#include "gui/panes/number_table.hpp"
#include "gui/panes/short_names.hpp"
#include "gui/panes/table_html.hpp"
#include "gui/views/qt_text.hpp"

#include <QComboBox>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace eyeroof::gui {

namespace {

constexpr int kLeastTable = 52; // pixels: the header and a row

QString kind_text(MeasurementFile::Kind kind) {
    switch (kind) {
    case MeasurementFile::Kind::profile:
        return MeasurementsPane::tr("profile");
    case MeasurementFile::Kind::ceilings:
        return MeasurementsPane::tr("ceilings");
    case MeasurementFile::Kind::assignments:
        return MeasurementsPane::tr("assignments");
    case MeasurementFile::Kind::trials:
        return MeasurementsPane::tr("log of tuning");
    }
    return {};
}

QString what_text(const MeasurementFile& file) {
    if (!file.wrong.empty()) {
        return text(file.wrong);
    }
    if (file.trials) {
        return MeasurementsPane::tr("%1 trials").arg(file.trials->lines.size());
    }
    if (!file.content) {
        return MeasurementsPane::tr("kernels to layers, by hand");
    }
    return file.kind == MeasurementFile::Kind::profile
               ? MeasurementsPane::tr("%1 launches").arg(file.content->launches.size())
               : MeasurementsPane::tr("%1 ceilings").arg(file.content->ceilings.size());
}

QString taken_on(const MeasurementFile& file) {
    return file.content ? text(file.content->run.gpu)
           : file.trials && !file.trials->lines.empty()
               ? text(file.trials->lines.front().origin.machine)
               : QString();
}

struct KernelRow {
    std::string name;
    std::array<std::optional<profiles::KernelSummary>, 2> of;

    double longest_s() const {
        return std::max(of[0] ? of[0]->time_s : 0.0, of[1] ? of[1]->time_s : 0.0);
    }
};

// The kernels of one profile, or of two together, longest first.
std::vector<KernelRow> kernels_of(const std::vector<const MeasurementFile*>& profiles) {
    std::map<std::string, KernelRow> rows;
    for (std::size_t i = 0; i < profiles.size(); ++i) {
        for (const profiles::KernelSummary& kernel : profiles::summarise(*profiles[i]->content)) {
            KernelRow& row = rows[kernel.name];
            row.name = kernel.name;
            row.of[i] = kernel;
        }
    }
    std::vector<KernelRow> sorted;
    for (auto& [name, row] : rows) {
        sorted.push_back(std::move(row));
    }
    std::stable_sort(sorted.begin(), sorted.end(), [](const KernelRow& a, const KernelRow& b) {
        return a.longest_s() > b.longest_s();
    });
    return sorted;
}

QString file_name(const MeasurementFile& file) {
    return QFileInfo(text(file.path)).fileName();
}

double total_of(const profiles::Profile& profile) {
    double sum = 0.0;
    for (const auto& kernel : profiles::summarise(profile)) {
        sum += kernel.time_s;
    }
    return sum;
}

QTableWidgetItem* time_cell(const std::optional<profiles::KernelSummary>& kernel) {
    return kernel ? cell(text(format_si(kernel->time_s, "s", 4)), kernel->time_s) : cell("—", 0.0);
}

} // namespace

MeasurementsPane::MeasurementsPane(const PaneActions& actions, QWidget* parent)
    : Pane(actions, parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(4, 4, 4, 4);
    list_ = number_table(tr("Files of measurements"), this);
    list_->setObjectName("measurement files");
    list_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    list_->setMinimumHeight(kLeastTable);
    column->addWidget(list_, 1);
    auto* buttons = new QHBoxLayout;
    auto* add = new QPushButton(tr("Add…"), this);
    replace_ = new QPushButton(tr("Replace…"), this);
    remove_ = new QPushButton(tr("Remove"), this);
    remove_->setObjectName("remove measurement");
    replace_->setObjectName("replace measurement");
    for (QPushButton* button : {add, replace_, remove_}) {
        buttons->addWidget(button);
    }
    head_ = new QLabel(this);
    head_->setObjectName("measurements head");
    head_->setWordWrap(true);
    compared_ = new QComboBox(this);
    compared_->setObjectName("compared run");
    compared_->setAccessibleName(tr("Run that is compared with the prediction"));
    compared_->setToolTip(tr("Which run stands beside the prediction in the table and in the "
                             "seven steps. The others stay points of their own."));
    compared_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    connect(compared_, &QComboBox::activated, this,
            [this] { actions_.compare_run(compared_->currentData().toString().toStdString()); });
    buttons->addWidget(compared_);
    buttons->addWidget(head_, 1);
    column->addLayout(buttons);
    kernels_ = number_table(tr("Kernels"), this);
    kernels_->setObjectName("measured kernels");
    kernels_->setMinimumHeight(kLeastTable);
    kernels_->horizontalHeader()->setStretchLastSection(false);
    kernels_->setToolTip(tr("Drag a kernel onto a layer of the table to match it by hand"));
    new KernelDrag(kernels_, [this](int row) {
        const QTableWidgetItem* item = kernels_->item(row, 0);
        return item == nullptr ? QStringList()
                               : QStringList(item->data(LayerTable::kFullText).toString());
    });
    column->addWidget(kernels_, 2);
    connect(add, &QPushButton::clicked, this, [this] { actions_.open_files(); });
    connect(remove_, &QPushButton::clicked, this, [this] { actions_.close_file(chosen_path()); });
    connect(replace_, &QPushButton::clicked, this,
            [this] { actions_.replace_file(chosen_path()); });
    connect(list_, &QTableWidget::itemSelectionChanged, this, &MeasurementsPane::show_kernels);
    show_kernels();
}

std::string MeasurementsPane::chosen_path() const {
    const auto rows = list_->selectionModel()->selectedRows();
    return rows.isEmpty() ? std::string{} : files_.at(static_cast<std::size_t>(rows[0].row())).path;
}

// At most two; the first profile when none is selected.
std::vector<const MeasurementFile*> MeasurementsPane::chosen_profiles() const {
    std::vector<const MeasurementFile*> chosen, all;
    for (std::size_t i = 0; i < files_.size(); ++i) {
        const MeasurementFile& file = files_[i];
        if (file.kind == MeasurementFile::Kind::profile && file.content) {
            all.push_back(&file);
            if (list_->selectionModel()->isRowSelected(static_cast<int>(i)) && chosen.size() < 2) {
                chosen.push_back(&file);
            }
        }
    }
    if (chosen.empty() && !all.empty()) {
        chosen.push_back(all.front());
    }
    return chosen;
}

// With two runs or more, one of them is compared; pooled they are only on request.
void MeasurementsPane::show_compared(const PaneInput& input) {
    const QSignalBlocker quiet(compared_);
    compared_->clear();
    for (const MeasurementFile& file : *input.files) {
        if (file.kind == MeasurementFile::Kind::profile && file.content) {
            compared_->addItem(tr("compare %1").arg(file_name(file)), text(file.path));
        }
    }
    compared_->setVisible(compared_->count() > 1);
    compared_->addItem(tr("pool all runs"), QString());
    compared_->setCurrentIndex(input.pooled ? compared_->count() - 1 : 0);
}

void MeasurementsPane::show_answer(const PaneInput& input) {
    show_compared(input);
    if (files_ == *input.files) {
        return; // answers come while sliders are dragged
    }
    files_ = *input.files;
    const QSignalBlocker block(list_);
    list_->setColumnCount(4);
    list_->setHorizontalHeaderLabels({tr("File"), tr("Kind"), tr("Taken on"), tr("Holds")});
    list_->setRowCount(static_cast<int>(files_.size()));
    for (std::size_t i = 0; i < files_.size(); ++i) {
        const MeasurementFile& file = files_[i];
        const auto row = static_cast<int>(i);
        list_->setItem(row, 0, cell(file_name(file)));
        list_->item(row, 0)->setToolTip(text(file.path));
        list_->setItem(row, 1, cell(kind_text(file.kind)));
        list_->setItem(row, 2, cell(taken_on(file)));
        list_->setItem(row, 3, cell((file.wrong.empty() ? "" : "✗ ") + what_text(file)));
    }
    fit_columns(*list_);
    show_kernels();
}

void MeasurementsPane::show_kernels() {
    const bool any = !list_->selectionModel()->selectedRows().isEmpty();
    remove_->setEnabled(any);
    replace_->setEnabled(any);
    const auto profiles = chosen_profiles();
    const bool two = profiles.size() == 2;
    const auto rows = kernels_of(profiles);
    QStringList headers = {tr("Kernel"), tr("Calls"), tr("Time"), tr("Share")};
    if (two) {
        headers = {tr("Kernel"),  tr("Calls"),     file_name(*profiles[0]), file_name(*profiles[1]),
                   tr("Speedup"), tr("Difference")};
    }
    kernels_->setColumnCount(static_cast<int>(headers.size()));
    kernels_->setHorizontalHeaderLabels(headers);
    kernels_->setRowCount(static_cast<int>(rows.size()));
    QStringList names;
    for (const KernelRow& row : rows) {
        names << text(row.name);
    }
    const QStringList shorter = short_names(names);
    for (int line = 0; line < static_cast<int>(rows.size()); ++line) {
        const KernelRow& row = rows[static_cast<std::size_t>(line)];
        const auto& [a, b] = row.of;
        int column = 0;
        const auto put = [&](QTableWidgetItem* item) { kernels_->setItem(line, column++, item); };
        put(cell(shorter[line]));
        kernels_->item(line, 0)->setToolTip(names[line]);
        kernels_->item(line, 0)->setData(LayerTable::kFullText, names[line]);
        const auto calls = [](const auto& of) { return of ? of->calls : 0; };
        if (!two) {
            put(cell(QString::number(calls(a)), static_cast<double>(calls(a))));
            put(time_cell(a));
            put(cell(QString("%1 %").arg(100.0 * a->share, 0, 'f', 1), a->share));
            continue;
        }
        put(cell(calls(a) == calls(b) ? QString::number(calls(a))
                                      : tr("%1 → %2").arg(calls(a)).arg(calls(b))));
        put(time_cell(a));
        put(time_cell(b));
        const double ratio = a && b && b->time_s > 0.0 ? a->time_s / b->time_s : 0.0;
        put(ratio > 0.0 ? cell(QString("%1×").arg(ratio, 0, 'f', 2), ratio) : cell("—", 0.0));
        const double more = (b ? b->time_s : 0.0) - (a ? a->time_s : 0.0);
        put(cell((more > 0 ? "+" : "−") + text(format_si(std::abs(more), "s", 3)), more));
    }
    fit_columns(*kernels_);
    head_->setText(profiles.empty()
                       ? tr("Open a profile, ceilings or assignments, or drop them here.")
                   : two ? tr("Kernels of %1: %2, of %3: %4")
                               .arg(file_name(*profiles[0]),
                                    text(format_si(total_of(*profiles[0]->content), "s", 4)),
                                    file_name(*profiles[1]),
                                    text(format_si(total_of(*profiles[1]->content), "s", 4)))
                         : tr("Kernels of %1: %2. Select two profiles to compare them.")
                               .arg(file_name(*profiles[0]),
                                    text(format_si(total_of(*profiles[0]->content), "s", 4))));
}

QString MeasurementsPane::html() const {
    return files_.empty() ? QString()
                          : table_html(*list_) + "<p>" + head_->text().toHtmlEscaped() + "</p>" +
                                table_html(*kernels_);
}

} // namespace eyeroof::gui
