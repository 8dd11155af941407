#include "gui/panes/layer_table.hpp"

#include "model/base/units.hpp"
#include "study/measured/measured_text.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace eyeroof::gui {

namespace {
constexpr std::array<const char*, LayerTable::columns> kHeaders = {
    "Layer",    "Machine",     "",     "Time",    "Share",     "Times as fast",
    "Measured", "Unexplained", "Rate", "Of roof", "FLOP/byte", "Limited by"};
QString text(const std::string& string) {
    return QString::fromStdString(string);
}

std::optional<study::LayerMeasurement> measured_of(const study::PlotPoint& point,
                                                   const std::vector<study::Report>& reports) {
    for (const study::Report& report : reports) {
        if (point.measured || !report.measured || report.machine.id != point.machine) {
            continue;
        }
        for (const study::LayerReport& layer : report.layers) {
            if (layer.measured && layer.layer.name == point.name) {
                return layer.measured;
            }
        }
    }
    return std::nullopt;
}

// The first machine's point of each layer, predicted and measured.
std::map<std::pair<std::string, bool>, double> baseline_of(const study::PlotInput& input) {
    std::map<std::pair<std::string, bool>, double> seconds;
    for (const study::PlotPoint& point : input.points) {
        if (!input.machines.empty() && point.machine == input.machines.front().id) {
            seconds.emplace(std::pair{point.name, point.measured}, point.total_s());
        }
    }
    return seconds;
}

// Of all executions, as the predicted time.
QString unexplained_text(const study::LayerMeasurement& m, double count) {
    return text(study::signed_time(count * m.unexplained_s) + " (" +
                study::signed_share(m.unexplained_s, m.predicted_s) + ")");
}
} // namespace

bool LayerTable::set_rows(const study::PlotInput& input, const study::RooflineScene& scene,
                          const std::vector<study::Report>& reports) {
    const auto baseline = input.machines.size() > 1
                              ? baseline_of(input)
                              : std::map<std::pair<std::string, bool>, double>{};
    first_machine_ = input.machines.empty() ? QString() : text(input.machines.front().name);
    std::vector<Row> rows;
    rows.reserve(scene.points.size());
    for (auto point = scene.points.rbegin(); point != scene.points.rend(); ++point) {
        const study::PlotPoint& source = input.points.at(point->source);
        Row row{*point, source, measured_of(source, reports), {}};
        const auto first = baseline.find({source.name, source.measured});
        if (first != baseline.end() && source.machine != input.machines.front().id &&
            source.total_s() > 0.0) {
            row.faster = first->second / source.total_s();
        }
        rows.push_back(std::move(row));
    }
    // by id, so that rows keep their places while figures change
    std::sort(rows.begin(), rows.end(),
              [](const Row& a, const Row& b) { return a.point.source < b.point.source; });
    const bool same =
        std::equal(rows.begin(), rows.end(), rows_.begin(), rows_.end(),
                   [](const Row& a, const Row& b) { return a.point.id == b.point.id; });
    if (same) {
        rows_ = std::move(rows);
        if (!rows_.empty()) {
            emit dataChanged(index(0, 0), index(rowCount() - 1, columns - 1));
        }
        return true;
    }
    beginResetModel();
    rows_ = std::move(rows);
    endResetModel();
    return false;
}

std::string LayerTable::id_of(int row) const {
    return rows_.at(static_cast<std::size_t>(row)).point.id;
}

std::size_t LayerTable::source_of(int row) const {
    return rows_.at(static_cast<std::size_t>(row)).point.source;
}

int LayerTable::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int LayerTable::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : columns;
}

QVariant LayerTable::shown(const Row& row, int column) const {
    switch (column) {
    case name:
        return text(row.source.name);
    case machine:
        return text(row.source.machine);
    case kind:
        return row.source.measured ? tr("measured") : tr("predicted");
    case time:
        return text(model::format_si(row.source.total_s(), "s"));
    case share:
        return QString("%1 %").arg(100.0 * row.point.share, 0, 'f', 1);
    case faster:
        return row.faster ? QString("%1×").arg(*row.faster, 0, 'f', 2) : QString();
    case measured:
        return row.measured ? text(model::format_si(row.source.count * row.measured->time_s, "s"))
                            : QString();
    case unexplained:
        return row.measured ? unexplained_text(*row.measured, row.source.count) : QString();
    case rate:
        return text(model::format_si(row.point.y, "FLOP/s"));
    case of_roof:
        return QString("%1 %").arg(100.0 * row.point.of_bound, 0, 'f', 1);
    case intensity:
        return QString::number(row.point.x, 'g', 4);
    case limiter:
        return text(row.source.limiter);
    default:
        return {};
    }
}

QVariant LayerTable::sorted(const Row& row, int column) const {
    switch (column) {
    case time:
        return row.source.total_s();
    case share:
        return row.point.share;
    case faster:
        return row.faster.value_or(1.0);
    case measured:
        return row.measured ? row.source.count * row.measured->time_s : 0.0;
    case unexplained:
        return row.measured ? row.source.count * row.measured->unexplained_s : 0.0;
    case rate:
        return row.point.y;
    case of_roof:
        return row.point.of_bound;
    case intensity:
        return row.point.x;
    default:
        return shown(row, column);
    }
}

QVariant LayerTable::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) {
        return {};
    }
    const Row& row = rows_[static_cast<std::size_t>(index.row())];
    const int column = index.column();
    const bool number = column >= time && column <= intensity;
    switch (role) {
    case Qt::DisplayRole:
        return shown(row, column);
    case Qt::ToolTipRole:
        return column == name || column == limiter ? shown(row, column) : QVariant();
    case Qt::UserRole:
        return sorted(row, column);
    case Qt::TextAlignmentRole:
        return static_cast<int>(Qt::AlignVCenter | (number ? Qt::AlignRight : Qt::AlignLeft));
    default:
        return {};
    }
}

QVariant LayerTable::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columns) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        const bool number = section >= time && section <= intensity;
        return static_cast<int>(Qt::AlignVCenter | (number ? Qt::AlignRight : Qt::AlignLeft));
    }
    if (role == Qt::ToolTipRole && section == faster) {
        return tr("Time on %1 over the time on this machine").arg(first_machine_);
    }
    if (role == Qt::ToolTipRole && section >= time && section <= unexplained) {
        return tr("All executions together");
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    return tr(kHeaders[static_cast<std::size_t>(section)]);
}

} // namespace eyeroof::gui
