#include "gui/panes/baseline/baseline_pane.hpp"

#include "base/units.hpp"
#include "gui/panes/answer_table.hpp"
#include "gui/panes/fields.hpp"
#include "gui/panes/table_html.hpp"
#include "gui/views/qt_text.hpp"
#include "report/draw/plot_input.hpp"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <map>

namespace eyeroof::gui {

namespace {

QString si(double seconds) {
    return text(format_si(seconds, "s", 4));
}

QString ratio_text(double ratio) {
    return BaselinePane::tr("%1x as fast").arg(ratio, 0, 'f', 3);
}

// Rows of the two reports that are the same layer: by name and order among equals.
struct Pair {
    const analysis::LayerReport* before = nullptr; // none: the layer is new
    const analysis::LayerReport* after = nullptr;
};

std::vector<Pair> paired(const analysis::Report& before, const analysis::Report& after) {
    std::map<std::string, std::vector<const analysis::LayerReport*>> by_name;
    for (const analysis::LayerReport& layer : before.layers) {
        by_name[layer.layer.name].push_back(&layer);
    }
    std::map<std::string, std::size_t> seen;
    std::vector<Pair> pairs;
    for (const analysis::LayerReport& layer : after.layers) {
        const std::size_t nth = seen[layer.layer.name]++;
        const auto& others = by_name[layer.layer.name];
        pairs.push_back({nth < others.size() ? others[nth] : nullptr, &layer});
    }
    return pairs;
}

// Seconds of all executions.
std::optional<double> predicted_s(const analysis::LayerReport* layer) {
    return layer == nullptr
               ? std::nullopt
               : std::optional(static_cast<double>(layer->layer.count) * layer->time_s);
}

std::optional<double> measured_s(const analysis::LayerReport* layer) {
    return layer == nullptr || !layer->measured
               ? std::nullopt
               : std::optional(static_cast<double>(layer->layer.count) * layer->measured->time_s);
}

report::AnswerTable layers_table(const analysis::Report& before, const analysis::Report& after) {
    using report::Unit;
    const auto was = [](const Pair& pair) { return predicted_s(pair.before); };
    const auto is = [](const Pair& pair) { return predicted_s(pair.after); };
    const auto speedup = [=](const Pair& pair) {
        return was(pair) && *is(pair) > 0.0 ? std::optional(*was(pair) / *is(pair)) : std::nullopt;
    };
    std::vector<report::Column<Pair>> columns = {
        {"", "Layer", Unit::none, [](const Pair& pair) { return pair.after->layer.name; }},
        {"", "Before", Unit::seconds, was},
        {"", "After", Unit::seconds, is},
        {"", "Speedup", Unit::times, speedup},
        {"", "Difference", Unit::seconds,
         [=](const Pair& pair) { return *is(pair) - was(pair).value_or(0.0); }}};
    if (before.measured && after.measured) {
        columns.emplace_back("", "Measured before", Unit::seconds,
                             [](const Pair& pair) { return measured_s(pair.before); });
        columns.emplace_back("", "Measured after", Unit::seconds,
                             [](const Pair& pair) { return measured_s(pair.after); });
    }
    return report::make_table("", "", paired(before, after), columns);
}

} // namespace

BaselinePane::BaselinePane(const PaneActions& actions, QWidget* parent) : Pane(actions, parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(4, 4, 4, 4);
    auto* row = new QHBoxLayout;
    pin_ = new QPushButton(tr("Pin what is shown"), this);
    pin_->setObjectName("pin baseline");
    pin_->setToolTip(tr("Keep it as a baseline: every change from now on stands beside it"));
    choice_ = list_field("baseline", tr("Baseline"), {}, this);
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
    layers_ = new AnswerTableView(tr("Layers before and after"), "layers before and after", this);
    layers_->set_stays(true);
    layers_->setSortingEnabled(true);
    layers_->sortByColumn(4, Qt::AscendingOrder);
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
    layers_->show_table({});
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
    layers_->show_table(layers_table(before, *now));
    std::map<std::string, report::Place> points;
    for (const report::PlotPoint& point : report::points_of(before)) {
        if (point.has_place() && before.machine.id == now->machine.id) {
            points[point.id] = {point.intensity(), point.flops_per_s()};
        }
    }
    actions_.show_before(points);
}

QString BaselinePane::html() const {
    return layers_->row_count() == 0 ? QString()
                                     : "<p>" + choice_->currentText().toHtmlEscaped() + "</p><p>" +
                                           total_->text() + "</p>" + table_html(*layers_);
}

} // namespace eyeroof::gui
