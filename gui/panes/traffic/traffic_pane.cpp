#include "gui/panes/traffic/traffic_pane.hpp"

#include "base/units.hpp"
#include "formats/layer_text.hpp"
#include "gui/panes/answer_table.hpp"
#include "gui/panes/table_html.hpp"
#include "gui/views/qt_text.hpp"

#include <QLabel>
#include <QVBoxLayout>

namespace eyeroof::gui {

namespace {

QString bytes(double amount) {
    return text(format_si(amount, "B", 4));
}

QString energy_text(double joules, double seconds) {
    return joules > 0.0 ? TrafficPane::tr("%1, energy × delay %2")
                              .arg(text(format_si(joules, "J", 4)),
                                   text(format_si(joules * seconds, "J·s", 4)))
                        : TrafficPane::tr("not known: the machine's description has no energies");
}

QString line(const QString& what, const QString& value) {
    return QString("<tr><td>%1&nbsp;&nbsp;</td><td>%2</td></tr>").arg(what, value);
}

QString layer_head(const analysis::LayerReport& layer) {
    const double count = static_cast<double>(layer.layer.count);
    return line(TrafficPane::tr("Layer"), text(layer.layer.name).toHtmlEscaped()) +
           line(TrafficPane::tr("Operator and shape"), shape_text(layer.layer).toHtmlEscaped()) +
           line(TrafficPane::tr("Executions"), QString::number(count, 'g', 12)) +
           line(TrafficPane::tr("Work of one"),
                TrafficPane::tr("%1, at least %2 to be moved")
                    .arg(text(format_si(static_cast<double>(layer.flops), "FLOP", 4)),
                         bytes(static_cast<double>(layer.bytes)))) +
           line(TrafficPane::tr("Energy of one"), energy_text(layer.energy_j, layer.time_s));
}

report::AnswerTable table_of(const analysis::LayerReport& layer) {
    using Row = analysis::TrafficRow;
    using report::Unit;
    const auto energy = [](const Row& row) {
        return row.energy_j > 0.0 ? std::optional(row.energy_j) : std::nullopt;
    };
    return report::make_table<Row>("", "", layer.traffic,
                                   {{"", "Level", Unit::none, &Row::level},
                                    {"", "Tensor", Unit::none, &Row::tensor},
                                    {"", "Read", Unit::bytes, &Row::read_bytes},
                                    {"", "Written", Unit::bytes, &Row::write_bytes},
                                    {"", "Tile", Unit::bytes, &Row::tile_bytes},
                                    {"", "Energy", Unit::joules, energy}});
}

} // namespace

QString shape_text(const model::Layer& layer) {
    using formats::Column;
    const auto cells = formats::layer_to_text(layer);
    const auto at = [&](Column column) { return text(cells[static_cast<std::size_t>(column)]); };
    QStringList parts;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const auto column = static_cast<Column>(i);
        const bool other = column != Column::name && column != Column::op &&
                           column != Column::count && column != Column::dtype;
        if (other && !cells[i].empty()) {
            const std::string_view key = formats::column_names()[i];
            parts << text(std::string(key)) + " " + text(cells[i]);
        }
    }
    const QString types = at(Column::dtype);
    return at(Column::op) + ": " + parts.join(", ") + "; " + (types.isEmpty() ? "fp16" : types);
}

TrafficPane::TrafficPane(const PaneActions& actions, QWidget* parent) : Pane(actions, parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(6, 6, 6, 4);
    head_ = new QLabel(this);
    head_->setWordWrap(true);
    head_->setTextFormat(Qt::RichText);
    head_->setObjectName("traffic head");
    column->addWidget(head_);
    rows_ = new AnswerTableView(tr("Traffic by level and tensor, of one execution"), "traffic rows",
                                this);
    rows_->setMinimumHeight(52); // the header and a row
    column->addWidget(rows_, 1);
}

void TrafficPane::show_answer(const PaneInput& input) {
    rows_->show_table({});
    if (input.reports->empty()) {
        head_->setText(tr("Choose a network and a machine."));
        return;
    }
    const analysis::Report& report = input.reports->at(input.report);
    QString html = line(tr("Network"), energy_text(report.total.energy_j, report.total.time_s)) +
                   line(tr("Its outermost memory"), bytes(report.total.outer_bytes));
    if (input.layer) {
        const analysis::LayerReport& layer = report.layers.at(*input.layer);
        html = layer_head(layer) + html;
        if (layer.traffic.empty()) {
            html += line(tr("Levels"), tr("not by tensor: this model has no mapping"));
        }
        rows_->show_table(table_of(layer));
    }
    head_->setText("<table>" + html + "</table>");
}

QString TrafficPane::html() const {
    return head_->text() + table_html(*rows_);
}

} // namespace eyeroof::gui
