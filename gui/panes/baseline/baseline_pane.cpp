#include "gui/panes/baseline/baseline_pane.hpp"

#include "base/units.hpp"
#include "gui/panes/layer_table.hpp"
#include "gui/panes/number_table.hpp"
#include "gui/panes/short_names.hpp"
#include "gui/panes/table_html.hpp"
#include "gui/views/qt_text.hpp"
#include "report/draw/plot_input.hpp"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableWidget>
#include <QVBoxLayout>
#include <cmath>
#include <map>

namespace eyeroof::gui {

namespace {

QString si(double seconds) {
    return text(format_si(seconds, "s", 4));
}

QString ratio_text(double ratio) {
    return BaselinePane::tr("%1x as fast").arg(ratio, 0, 'f', 3);
}

// Of all executions of a row.
QTableWidgetItem* measured_cell(const analysis::LayerReport* layer) {
    if (layer == nullptr || !layer->measured) {
        return cell("—", 0.0);
    }
    const double seconds = static_cast<double>(layer->layer.count) * layer->measured->time_s;
    return cell(si(seconds), seconds);
}

double predicted_s(const analysis::LayerReport& layer) {
    return static_cast<double>(layer.layer.count) * layer.time_s;
}

// Rows of the two reports that are the same layer: by name and order among equals.
std::vector<std::pair<const analysis::LayerReport*, const analysis::LayerReport*>>
paired(const analysis::Report& before, const analysis::Report& after) {
    std::map<std::string, std::vector<const analysis::LayerReport*>> by_name;
    for (const analysis::LayerReport& layer : before.layers) {
        by_name[layer.layer.name].push_back(&layer);
    }
    std::map<std::string, std::size_t> seen;
    std::vector<std::pair<const analysis::LayerReport*, const analysis::LayerReport*>> pairs;
    for (const analysis::LayerReport& layer : after.layers) {
        const std::size_t nth = seen[layer.layer.name]++;
        const auto& others = by_name[layer.layer.name];
        pairs.emplace_back(nth < others.size() ? others[nth] : nullptr, &layer);
    }
    return pairs;
}

} // namespace

BaselinePane::BaselinePane(const PaneActions& actions, QWidget* parent) : Pane(actions, parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(4, 4, 4, 4);
    auto* row = new QHBoxLayout;
    pin_ = new QPushButton(tr("Pin what is shown"), this);
    pin_->setObjectName("pin baseline");
    pin_->setToolTip(tr("Keep it as a baseline: every change from now on stands beside it"));
    choice_ = new QComboBox(this);
    choice_->setObjectName("baseline");
    choice_->setAccessibleName(tr("Baseline"));
    choice_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    choice_->setMinimumContentsLength(10);
    unpin_ = new QPushButton(tr("Forget"), this);
    unpin_->setObjectName("forget baseline");
    row->addWidget(pin_);
    row->addWidget(choice_, 1);
    row->addWidget(unpin_);
    column->addLayout(row);
    total_ = new QLabel(this);
    total_->setWordWrap(true);
    total_->setObjectName("before and after");
    column->addWidget(total_);
    layers_ = number_table(tr("Layers before and after"), this);
    layers_->setObjectName("layers before and after");
    column->addWidget(layers_, 1);
    connect(pin_, &QPushButton::clicked, this, &BaselinePane::pin);
    connect(unpin_, &QPushButton::clicked, this, &BaselinePane::unpin);
    connect(choice_, &QComboBox::currentIndexChanged, this, [this] { compare(actions_.look()); });
    tell_nothing();
}

void BaselinePane::show_answer(const PaneInput& input) {
    compare(input);
}

void BaselinePane::pin() {
    const PaneInput input = actions_.look();
    if (input.reports->empty()) {
        return;
    }
    const analysis::Report& now = input.reports->front();
    baselines_.push_back({tr("%1: %2").arg(baselines_.size() + 1).arg(text(now.words)), now});
    choice_->addItem(baselines_.back().name);
    choice_->setCurrentIndex(choice_->count() - 1);
    compare(input);
}

void BaselinePane::unpin() {
    const int at = choice_->currentIndex();
    if (at >= 0) {
        baselines_.erase(baselines_.begin() + at);
        choice_->removeItem(at);
        compare(actions_.look());
    }
}

void BaselinePane::tell_nothing() {
    total_->setText(tr("Pin what is shown, then change something: times, layers and arrows on the "
                       "plot say what it did."));
}

// The chosen baseline beside what is on screen; arrows on the plot lead from it.
void BaselinePane::compare(const PaneInput& input) {
    const analysis::Report* now = input.reports->empty() ? nullptr : &input.reports->front();
    const int at = choice_->currentIndex();
    const bool some = at >= 0 && at < static_cast<int>(baselines_.size());
    pin_->setEnabled(now != nullptr);
    unpin_->setEnabled(some);
    layers_->setRowCount(0);
    if (!some || now == nullptr) {
        tell_nothing();
        return actions_.show_before({});
    }
    const analysis::Report& before = baselines_[static_cast<std::size_t>(at)].report;
    const double was = before.total.time_s;
    const double is = now->total.time_s;
    QString words = tr("<b>%1 → %2</b>: %3").arg(si(was), si(is), ratio_text(was / is));
    if (before.measured && now->measured && now->measured->measured_s > 0.0) {
        const double measured_was = before.measured->measured_s;
        const double measured_is = now->measured->measured_s;
        words +=
            tr("<br>measured %1 → %2: %3")
                .arg(si(measured_was), si(measured_is), ratio_text(measured_was / measured_is));
    }
    if (before.total.energy_j > 0.0 && now->total.energy_j > 0.0) {
        words += tr("<br>energy %1 → %2")
                     .arg(text(format_si(before.total.energy_j, "J", 4)),
                          text(format_si(now->total.energy_j, "J", 4)));
    }
    total_->setText(words);
    fill_layers(before, *now);
    std::map<std::string, report::Place> points;
    for (const report::PlotPoint& point : report::points_of(before)) {
        if (point.has_place() && before.machine.id == now->machine.id) {
            points[point.id] = {point.intensity(), point.flops_per_s()};
        }
    }
    actions_.show_before(points);
}

void BaselinePane::fill_layers(const analysis::Report& before, const analysis::Report& after) {
    const bool measured = before.measured && after.measured;
    layers_->setSortingEnabled(false);
    QStringList headers = {tr("Layer"), tr("Before"), tr("After"), tr("Speedup"), tr("Difference")};
    if (measured) {
        headers << tr("Measured before") << tr("Measured after");
    }
    layers_->setColumnCount(static_cast<int>(headers.size()));
    layers_->setHorizontalHeaderLabels(headers);
    const auto pairs = paired(before, after);
    layers_->setRowCount(static_cast<int>(pairs.size()));
    QStringList names;
    for (const auto& [was, is] : pairs) {
        names << text(is->layer.name);
    }
    const QStringList shorter = short_names(names);
    for (int line = 0; line < static_cast<int>(pairs.size()); ++line) {
        const auto& [was, is] = pairs[static_cast<std::size_t>(line)];
        int column = 0;
        const auto put = [&](QTableWidgetItem* item) { layers_->setItem(line, column++, item); };
        put(cell(shorter[line]));
        layers_->item(line, 0)->setData(LayerTable::kFullText, names[line]);
        layers_->item(line, 0)->setToolTip(names[line]);
        const double now = predicted_s(*is);
        const double then = was == nullptr ? 0.0 : predicted_s(*was);
        put(was == nullptr ? cell("—", 0.0) : cell(si(then), then));
        put(cell(si(now), now));
        put(was == nullptr || !(now > 0.0)
                ? cell("—", 0.0)
                : cell(QString("%1×").arg(then / now, 0, 'f', 3), then / now));
        const double more = now - then;
        put(cell((more > 0.0 ? "+" : more < 0.0 ? "−" : "") + si(std::abs(more)), more));
        if (measured) {
            put(measured_cell(was));
            put(measured_cell(is));
        }
    }
    layers_->setSortingEnabled(true);
    layers_->sortByColumn(4, Qt::AscendingOrder);
    fit_columns(*layers_);
}

QString BaselinePane::html() const {
    return layers_->rowCount() == 0 ? QString()
                                    : "<p>" + choice_->currentText().toHtmlEscaped() + "</p><p>" +
                                          total_->text() + "</p>" + table_html(*layers_);
}

} // namespace eyeroof::gui
