#include "gui/panes/layer_table.hpp"

#include "base/units.hpp"
#include "gui/panes/answer_table.hpp"
#include "gui/panes/short_names.hpp"
#include "gui/views/qt_text.hpp"
#include "report/measured/measured_text.hpp"

#include <QApplication>
#include <QStyle>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace eyeroof::gui {

namespace {

struct ColumnHead {
    const char* name;
    const char* meaning = nullptr;
    double (*figure)(const LayerRow&) = nullptr; // of columns of numbers
};

constexpr const char* kAllRuns = "All executions together";

const std::array<ColumnHead, LayerTable::columns> kHeads = {{
    {"Layer"},
    {"Machine"},
    {"Source"},
    {"Runs", "Executions in a step", [](const LayerRow& row) { return row.source->count; }},
    {"Time", kAllRuns, [](const LayerRow& row) { return row.source->total_s(); }},
    {"Share", kAllRuns, [](const LayerRow& row) { return row.share; }},
    {"Speedup", nullptr, [](const LayerRow& row) { return row.faster.value_or(1.0); }},
    {"Measured", kAllRuns, [](const LayerRow& row) { return row.measured_s().value_or(0.0); }},
    {"Unexplained", kAllRuns,
     [](const LayerRow& row) {
         return row.measured ? row.source->count * row.measured->unexplained_s : 0.0;
     }},
    {"Rate", nullptr, [](const LayerRow& row) { return row.rate; }},
    {"Of roof", nullptr, [](const LayerRow& row) { return row.of_roof; }},
    {"Measured of roof", nullptr,
     [](const LayerRow& row) { return row.measured_of_roof.value_or(0.0); }},
    {"FLOP/byte", nullptr, [](const LayerRow& row) { return row.intensity; }},
    {"Bound by"},
}};

const ColumnHead& head_of(int column) {
    return kHeads.at(static_cast<std::size_t>(column));
}

// Of all executions, as the predicted time.
QString unexplained_text(const analysis::LayerMeasurement& m, double count) {
    return text(report::signed_time(count * m.unexplained_s) + " (" +
                report::signed_share(m.unexplained_s, m.predicted_s) + ")");
}

int alignment_of(int column) {
    return static_cast<int>(Qt::AlignVCenter |
                            (head_of(column).figure != nullptr ? Qt::AlignRight : Qt::AlignLeft));
}

} // namespace

void LayerTable::shorten(std::vector<LayerRow>& rows) {
    QStringList names;
    for (const LayerRow& row : rows) {
        names << text(row.source->name);
    }
    names = short_names(names);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i].name = names[static_cast<qsizetype>(i)];
    }
}

bool LayerTable::set_rows(const std::shared_ptr<const report::PlotInput>& plot,
                          const report::RooflineScene& scene,
                          const std::vector<analysis::Report>& reports) {
    const report::PlotInput& input = *plot;
    first_machine_ = input.machines.empty() ? QString() : text(input.machines.front().name);
    std::vector<LayerRow> rows = layer_rows(input, scene, reports);
    const bool same = std::equal(
        rows.begin(), rows.end(), rows_.begin(), rows_.end(),
        [](const LayerRow& a, const LayerRow& b) { return a.id() == b.id() && a.twin == b.twin; });
    for (std::size_t i = 0; same && i < rows.size(); ++i) {
        rows[i].name = rows_[i].name;
    }
    if (same) {
        rows_ = std::move(rows);
        plot_ = plot;
        sort_again();
        if (!rows_.empty()) {
            emit dataChanged(index(0, 0), index(rowCount() - 1, columns - 1));
        }
        return true;
    }
    shorten(rows);
    beginResetModel();
    rows_ = std::move(rows);
    plot_ = plot;
    set_row_count(rows_.size());
    endResetModel();
    return false;
}

void LayerTable::set_time_unit(const QString& unit) {
    if (unit == time_unit_) {
        return;
    }
    time_unit_ = unit;
    emit headerDataChanged(Qt::Horizontal, 0, columns - 1);
    if (!rows_.empty()) {
        emit dataChanged(index(0, 0), index(rowCount() - 1, columns - 1));
    }
}

bool LayerTable::repeats() const {
    return std::any_of(rows_.begin(), rows_.end(),
                       [](const LayerRow& row) { return row.source->count != 1.0; });
}

// In one unit with three significant digits at least, whole from a thousand on.
QString LayerTable::seconds(double value) const {
    const auto unit = time_units().indexOf(time_unit_);
    if (unit < 0) {
        return text(format_si(value, "s"));
    }
    constexpr std::array<double, 4> scales = {1e9, 1e6, 1e3, 1.0};
    const double scaled = value * scales[static_cast<std::size_t>(unit)];
    const double size = std::abs(scaled);
    const int digits = size >= 100.0 || size == 0.0 ? 0
                       : size >= 10.0               ? 1
                       : size >= 1.0                ? 2
                                     : 2 - static_cast<int>(std::floor(std::log10(size)));
    return QString::number(scaled, 'f', std::min(digits, 9));
}

std::vector<std::string> LayerTable::ids_of(int row) const {
    const LayerRow& of = rows_.at(row_of(row));
    return of.twin ? std::vector{of.id(), *of.twin} : std::vector{of.id()};
}

int LayerTable::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : columns;
}

QString LayerTable::shown(const LayerRow& row, int column) const {
    switch (column) {
    case name:
        return row.name;
    case machine:
        return text(row.source->machine);
    case kind:
        return !row.source->measured     ? tr("predicted")
               : row.source->run.empty() ? tr("measured")
                                         : tr("measured, %1").arg(text(row.source->run));
    case runs:
        return QString::number(row.source->count, 'g', 6);
    case time:
        return seconds(row.source->total_s());
    case share:
        return QString("%1 %").arg(100.0 * row.share, 0, 'f', 1);
    case faster:
        return row.faster ? QString("%1x").arg(*row.faster, 0, 'f', 2) : QString();
    case measured:
        return row.measured_s() ? seconds(*row.measured_s()) : QString();
    case unexplained:
        return row.measured ? unexplained_text(*row.measured, row.source->count) : QString();
    case rate:
        return row.placed ? text(format_si(row.rate, "FLOP/s")) : QString();
    case of_roof:
        return row.roof.empty() ? QString() : QString("%1 %").arg(100.0 * row.of_roof, 0, 'f', 1);
    case measured_of_roof:
        return row.measured_of_roof ? QString("%1 %").arg(100.0 * *row.measured_of_roof, 0, 'f', 1)
                                    : QString();
    case intensity:
        return row.placed ? QString::number(row.intensity, 'g', 4) : QString();
    case limiter:
        return text(row.source->limiter);
    default:
        return {};
    }
}

bool LayerTable::is_less(std::size_t a, std::size_t b, int column) const {
    const auto figure = head_of(column).figure;
    return figure != nullptr ? figure(rows_[a]) < figure(rows_[b])
                             : shown(rows_[a], column) < shown(rows_[b], column);
}

QString LayerTable::mark_of(const LayerRow& row) const {
    if (!row.source->layer) {
        return {};
    }
    const auto found = marks_.find({row.source->machine, *row.source->layer});
    return found == marks_.end() ? QString() : found->second;
}

// What a cell leaves out.
QVariant LayerTable::tip(const LayerRow& row, int column) const {
    if (column == name || column == limiter) {
        const QString full = column == name ? text(row.source->name) : text(row.source->limiter);
        const QString why = column == name ? mark_of(row) : QString();
        const QString all = why.isEmpty() ? full : full + "\n⚠ " + why;
        return row.placed ? all : tr("%1\nNot on the plot: without operations or bytes").arg(all);
    }
    if (column == of_roof && !row.roof.empty()) {
        return tr("Of %1, the lowest visible roof there").arg(text(row.roof));
    }
    if (column == measured && row.measured) {
        const double gap_s = row.source->count * row.measured->gap_s.value_or(0.0);
        return row.measured->gap_s
                   ? tr("Its kernels; the gaps before and between them are another %1, which the "
                        "unexplained time counts, as the prediction does")
                         .arg(text(format_si(gap_s, "s")))
                   : tr("Its kernels; gaps are not known");
    }
    return {};
}

QVariant LayerTable::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) {
        return {};
    }
    const LayerRow& row = rows_[row_of(index.row())];
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole:
        return shown(row, column);
    case Qt::ToolTipRole:
        return tip(row, column);
    case Qt::UserRole:
        return head_of(column).figure != nullptr ? QVariant(head_of(column).figure(row))
                                                 : QVariant();
    case Qt::DecorationRole:
        return column == name && !mark_of(row).isEmpty()
                   ? QVariant(QApplication::style()->standardIcon(QStyle::SP_MessageBoxWarning))
                   : QVariant();
    case Qt::AccessibleDescriptionRole:
        return column == name ? QVariant(mark_of(row)) : QVariant();
    case kFullText:
        return column == name ? text(row.source->name) : shown(row, column);
    case Qt::TextAlignmentRole:
        return alignment_of(column);
    default:
        return {};
    }
}

QVariant LayerTable::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columns) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return alignment_of(section);
    }
    if (role == Qt::ToolTipRole) {
        const char* meaning = head_of(section).meaning;
        return section == faster
                   ? QVariant(tr("Time on %1 over the time on this machine").arg(first_machine_))
               : meaning != nullptr ? QVariant(tr(meaning))
                                    : QVariant();
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    const QString head = tr(head_of(section).name);
    const bool timed = section == time || section == measured;
    return timed && !time_unit_.isEmpty() ? head + " (" + time_unit_ + ")" : head;
}

} // namespace eyeroof::gui
