#include "gui/panes/measurements/measurements_pane.hpp"

#include "base/units.hpp"
#include "gui/panes/answer_table.hpp"
#include "gui/panes/fields.hpp"
#include "gui/panes/kernel_drag.hpp"
#include "gui/panes/table_html.hpp"
#include "gui/views/qt_text.hpp"

#include <fmt/format.h>

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

namespace eyeroof::gui {

namespace {

using report::Unit;

constexpr std::size_t kAtOnce = 20000; // launches that are summed within a frame
constexpr int kLeastTable = 52;        // pixels: the header and a row

std::string kind_text(const MeasurementFile& file) {
    using Kind = MeasurementFile::Kind;
    return file.kind == Kind::profile       ? "profile"
           : file.kind == Kind::ceilings    ? "ceilings"
           : file.kind == Kind::assignments ? "assignments"
                                            : "log of tuning";
}

std::string what_text(const MeasurementFile& file) {
    if (!file.wrong.empty()) {
        return "✗ " + file.wrong;
    }
    if (file.trials) {
        return fmt::format("{} trials", file.trials->lines.size());
    }
    if (!file.content) {
        return "kernels to layers, by hand";
    }
    return file.kind == MeasurementFile::Kind::profile
               ? fmt::format("{} launches", file.content->launches.size())
               : fmt::format("{} ceilings", file.content->ceilings.size());
}

std::string taken_on(const MeasurementFile& file) {
    return file.content                                 ? file.content->run.gpu
           : file.trials && !file.trials->lines.empty() ? file.trials->lines.front().origin.machine
                                                        : std::string();
}

std::string file_name(const MeasurementFile& file) {
    return std::filesystem::path(file.path).filename().string();
}

report::AnswerTable files_table(const std::vector<MeasurementFile>& files) {
    return report::make_table<MeasurementFile>("", "", files,
                                               {{"", "File", Unit::none, file_name},
                                                {"", "Kind", Unit::none, kind_text},
                                                {"", "Taken on", Unit::none, taken_on},
                                                {"", "Holds", Unit::none, what_text},
                                                {"", "Path", Unit::none, &MeasurementFile::path}});
}

struct KernelRow {
    std::string name;
    std::array<std::optional<profiles::KernelSummary>, 2> of;

    double longest_s() const {
        return std::max(of[0] ? of[0]->time_s : 0.0, of[1] ? of[1]->time_s : 0.0);
    }
};

// The kernels of one profile, or of two together, longest first.
std::vector<KernelRow> kernels_of(const std::vector<MeasurementFile>& profiles) {
    std::map<std::string, KernelRow> rows;
    for (std::size_t i = 0; i < profiles.size(); ++i) {
        for (const profiles::KernelSummary& kernel : profiles::summarise(*profiles[i].content)) {
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

// "run.csv: 105 us"
QString total_text(const MeasurementFile& file, const std::vector<KernelRow>& rows,
                   std::size_t side) {
    double sum = 0.0;
    for (const KernelRow& row : rows) {
        sum += row.of[side] ? row.of[side]->time_s : 0.0;
    }
    return text(file_name(file) + ": " + format_si(sum, "s", 4));
}

std::string calls_text(const KernelRow& row) {
    const auto calls = [&](std::size_t i) { return row.of[i] ? row.of[i]->calls : 0; };
    return calls(0) == calls(1) ? fmt::format("{}", calls(0))
                                : fmt::format("{} → {}", calls(0), calls(1));
}

report::AnswerTable kernels_table(const std::vector<MeasurementFile>& profiles,
                                  const std::vector<KernelRow>& rows) {
    const auto time = [](std::size_t i) {
        return [i](const KernelRow& row) {
            return row.of[i] ? std::optional(row.of[i]->time_s) : std::nullopt;
        };
    };
    std::vector<report::Column<KernelRow>> columns = {{"", "Kernel", Unit::none, &KernelRow::name}};
    if (profiles.size() < 2) {
        columns.emplace_back("", "Calls", Unit::count,
                             [](const KernelRow& row) { return row.of[0]->calls; });
        columns.emplace_back("", "Time", Unit::seconds, time(0));
        columns.emplace_back("", "Share", Unit::share,
                             [](const KernelRow& row) { return row.of[0]->share; });
    } else {
        columns.emplace_back("", "Calls", Unit::none, calls_text);
        columns.emplace_back("", file_name(profiles[0]), Unit::seconds, time(0));
        columns.emplace_back("", file_name(profiles[1]), Unit::seconds, time(1));
        columns.emplace_back("", "Speedup", Unit::times, [=](const KernelRow& row) {
            const auto a = time(0)(row), b = time(1)(row);
            return a && b && *b > 0.0 ? std::optional(*a / *b) : std::nullopt;
        });
        columns.emplace_back("", "Difference", Unit::seconds, [=](const KernelRow& row) {
            return time(1)(row).value_or(0.0) - time(0)(row).value_or(0.0);
        });
    }
    return report::make_table("", "", rows, columns);
}

} // namespace

MeasurementsPane::MeasurementsPane(const PaneActions& actions, QWidget* parent)
    : Pane(actions, parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(4, 4, 4, 4);
    list_ = new AnswerTableView(tr("Files of measurements"), "measurement files", this);
    list_->set_stays(true);
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
    compared_ =
        list_field("compared run", tr("Run that is compared with the prediction"), {}, this);
    compared_->setToolTip(tr("Which run stands beside the prediction in the table and in the "
                             "seven steps. The others stay points of their own."));
    compared_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    connect(compared_, &QComboBox::activated, this,
            [this] { actions_.compare_run(compared_->currentData().toString().toStdString()); });
    buttons->addWidget(compared_);
    buttons->addWidget(head_, 1);
    column->addLayout(buttons);
    kernels_ = new AnswerTableView(tr("Kernels"), "measured kernels", this);
    kernels_->set_stays(true);
    kernels_->setMinimumHeight(kLeastTable);
    kernels_->setToolTip(tr("Drag a kernel onto a layer of the table to match it by hand"));
    new KernelDrag(kernels_, [this](int row) {
        return QStringList(kernels_->answer().index(row, 0).data(kFullText).toString());
    });
    column->addWidget(kernels_, 2);
    connect(add, &QPushButton::clicked, this, [this] { actions_.open_files(); });
    connect(remove_, &QPushButton::clicked, this, [this] { actions_.close_file(chosen_path()); });
    connect(replace_, &QPushButton::clicked, this,
            [this] { actions_.replace_file(chosen_path()); });
    connect(list_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &MeasurementsPane::show_kernels);
    show_kernels();
}

std::string MeasurementsPane::chosen_path() const {
    const auto rows = list_->selectionModel()->selectedRows();
    return rows.isEmpty() ? std::string{} : files_.at(static_cast<std::size_t>(rows[0].row())).path;
}

// At most two; the first profile when none is selected.
std::vector<MeasurementFile> MeasurementsPane::chosen_profiles() const {
    std::vector<MeasurementFile> chosen, all;
    for (std::size_t i = 0; i < files_.size(); ++i) {
        const MeasurementFile& file = files_[i];
        if (file.kind == MeasurementFile::Kind::profile && file.content) {
            all.push_back(file);
            if (list_->selectionModel()->isRowSelected(static_cast<int>(i)) && chosen.size() < 2) {
                chosen.push_back(file);
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
            compared_->addItem(tr("compare %1").arg(text(file_name(file))), text(file.path));
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
    list_->show_table(files_table(files_));
    show_kernels();
}

void MeasurementsPane::show_kernels() {
    const bool any = !list_->selectionModel()->selectedRows().isEmpty();
    remove_->setEnabled(any);
    replace_->setEnabled(any);
    const auto profiles = chosen_profiles();
    const auto shown = [this, profiles](const std::vector<KernelRow>& rows) {
        kernels_->show_table(kernels_table(profiles, rows));
        head_->setText(
            profiles.empty() ? tr("Open a profile, ceilings or assignments, or drop them here.")
            : profiles.size() == 2
                ? tr("Kernels of %1, of %2")
                      .arg(total_text(profiles[0], rows, 0), total_text(profiles[1], rows, 1))
                : tr("Kernels of %1. Select two profiles to compare them.")
                      .arg(total_text(profiles[0], rows, 0)));
    };
    const bool few = std::ranges::all_of(profiles, [](const MeasurementFile& file) {
        return file.content->launches.size() <= kAtOnce;
    });
    if (few) {
        worker_.cancel();
        return shown(kernels_of(profiles));
    }
    worker_.run(
        [profiles, shown](const std::stop_token&, const ProgressCallback&) -> Background::Show {
            return [shown, rows = kernels_of(profiles)] { shown(rows); };
        });
}

QString MeasurementsPane::html() const {
    return files_.empty() ? QString()
                          : table_html(*list_) + "<p>" + head_->text().toHtmlEscaped() + "</p>" +
                                table_html(*kernels_);
}

} // namespace eyeroof::gui
