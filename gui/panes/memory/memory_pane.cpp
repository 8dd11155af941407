#include "gui/panes/memory/memory_pane.hpp"

#include "analysis/scenario/fields.hpp"
#include "base/units.hpp"
#include "gui/panes/number_table.hpp"
#include "gui/panes/table_html.hpp"
#include "gui/views/qt_text.hpp"
#include "report/draw/svg.hpp"

#include <QComboBox>
#include <QHeaderView>
#include <QMouseEvent>
#include <QSplitter>
#include <QTableWidget>
#include <QVBoxLayout>

namespace eyeroof::gui {

namespace {

namespace step = analysis::step;

QString amount(Count bytes) {
    return text(format_si(static_cast<double>(bytes), "B", 4));
}

QString headline(const MemoryAnswer& answer) {
    const step::Memory& m = answer.memory();
    const step::Graph& program = answer.program();
    const bool fits = m.peak <= answer.limit;
    QString html = MemoryPane::tr("<b>%1</b> at the peak, in %2, of %3 that %4 has: %5.")
                       .arg(amount(m.peak),
                            text(program.name_of(program.operators[m.peak_at])).toHtmlEscaped(),
                            amount(answer.limit), text(answer.of->machine.id).toHtmlEscaped(),
                            fits ? MemoryPane::tr("%1 are left").arg(amount(answer.limit - m.peak))
                                 : MemoryPane::tr("<b>it does not fit</b>, %1 are missing")
                                       .arg(amount(m.peak - answer.limit)));
    if (answer.largest_batch) {
        html +=
            *answer.largest_batch > 0
                ? MemoryPane::tr(" The largest batch that fits is %1.").arg(*answer.largest_batch)
                : MemoryPane::tr(" No batch fits.");
    }
    if (program.chain) {
        html +=
            MemoryPane::tr(" The network gives no graph: its layers run as a chain, and nothing "
                           "is kept for a later sum.");
    }
    return html;
}

} // namespace

MemoryPane::MemoryPane(const PaneActions& actions, QWidget* parent) : AskingPane(actions, parent) {
    states_ = choice(tr("Training keeps numbers"), "memory precision");
    for (const std::string& name : analysis::find_field("states")->choices) {
        states_->addItem(text(name), text(name));
    }
    states_->setToolTip(tr("How training keeps gradients and states: as the types suggest; 16 "
                           "bits with an fp32 copy; with fp32 gradients; without a copy; states "
                           "of 8 bits"));
    auto* both = new QSplitter(Qt::Horizontal, this);
    picture_ = new DrawingView(both);
    picture_->setObjectName("memory picture");
    picture_->setAccessibleName(tr("Memory over the operators of a step"));
    picture_->setMinimumSize(260, 120);
    holders_ = number_table(tr("What holds the peak, largest first"), both);
    holders_->setObjectName("memory holders");
    holders_->setMinimumWidth(180); // an amount, and the beginning of a name
    both->setStretchFactor(0, 3);
    both->setStretchFactor(1, 1);
    column()->addWidget(both, 1);
    picture_->installEventFilter(this);
    connect(holders_, &QTableWidget::itemSelectionChanged, this, [this] {
        const int row = holders_->currentRow();
        if (answer_ && row >= 0 && !holders_->selectedItems().isEmpty()) {
            const auto tensor = answer_->memory().holders[static_cast<std::size_t>(row)].tensor;
            const std::uint32_t layer = answer_->program().tensors[tensor].layer;
            if (layer != step::kNone) {
                actions_.select_layer(0, layer);
            }
        }
    });
    clear();
}

// A click on the curve.
bool MemoryPane::eventFilter(QObject* watched, QEvent* event) {
    if (watched == picture_ && event->type() == QEvent::MouseButtonRelease && answer_) {
        const QPointF place = static_cast<QMouseEvent*>(event)->position();
        const report::Canvas canvas{static_cast<double>(picture_->width()),
                                    static_cast<double>(picture_->height())};
        if (const auto op =
                report::operator_at(answer_->report(), canvas, {place.x(), place.y()})) {
            actions_.select_layer(0, answer_->program().operators[*op].layer);
        }
    }
    return AskingPane::eventFilter(watched, event);
}

void MemoryPane::choice_changed() {
    actions_.change_scenario([this](analysis::Scenario& scenario) {
        analysis::find_field("states")->set(scenario,
                                            {states_->currentData().toString().toStdString()});
    });
}

Background::Job MemoryPane::job(const PaneInput& input) {
    const analysis::Scenario& scenario = *input.scenario;
    states_->setCurrentIndex(states_->findData(text(analysis::regime_name(scenario.states))));
    states_->setEnabled(scenario.training.has_value());
    const analysis::Question* asked = input.gpu_question();
    const auto report = input.first_report();
    if (asked == nullptr || report == nullptr || !report->memory || !report->fit ||
        report->program.operators.empty()) {
        say(tr("Memory over a step: for a whole network on a GPU or a host processor."));
        return {};
    }
    return [this, question = *asked, report](const std::stop_token& stop,
                                             const ProgressCallback&) -> Background::Show {
        const auto answer = std::make_shared<const MemoryAnswer>(MemoryAnswer{
            report, report->fit->limit_bytes, analysis::largest_batch(question, stop)});
        return [this, answer] { show_answer_of(answer); };
    };
}

void MemoryPane::clear() {
    answer_.reset();
    picture_->clear(tr("No step to show."));
    holders_->setRowCount(0);
    holders_->hide();
}

void MemoryPane::show_answer_of(std::shared_ptr<const MemoryAnswer> answer) {
    answer_ = std::move(answer);
    say(headline(*answer_));
    picture_->show_drawing(
        [shown = answer_](const report::Canvas& canvas) {
            return report::draw_memory(shown->report(), canvas);
        },
        false);
    const QSignalBlocker quiet(holders_);
    const auto& holders = answer_->memory().holders;
    const step::Graph& program = answer_->program();
    holders_->clearSelection();
    holders_->setColumnCount(2);
    holders_->setHorizontalHeaderLabels({tr("At the peak"), tr("Tensor")});
    holders_->setRowCount(static_cast<int>(holders.size()));
    for (int row = 0; row < holders_->rowCount(); ++row) {
        const step::Holder& holder = holders[static_cast<std::size_t>(row)];
        holders_->setItem(row, 0, cell(amount(holder.bytes), static_cast<double>(holder.bytes)));
        holders_->setItem(row, 1, cell(text(program.name_of(program.tensors[holder.tensor]))));
    }
    fit_columns(*holders_);
    holders_->show();
}

QString MemoryPane::html() const {
    return answer_
               ? "<p>" + headline(*answer_) + "</p>" +
                     text(report::to_svg(report::draw_memory(answer_->report(), {1000.0, 360.0}),
                                         report::SvgTheme::automatic)) +
                     table_html(*holders_)
               : QString();
}

} // namespace eyeroof::gui
