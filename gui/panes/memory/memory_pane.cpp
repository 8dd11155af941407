#include "gui/panes/memory/memory_pane.hpp"

#include "gui/panes/number_table.hpp"
#include "gui/panes/table_html.hpp"
#include "gui/views/qt_text.hpp"
#include "model/base/units.hpp"
#include "study/draw/svg.hpp"
#include "study/step/footprint.hpp"

#include <QComboBox>
#include <QHeaderView>
#include <QMouseEvent>
#include <QSplitter>
#include <QTableWidget>
#include <QVBoxLayout>

namespace eyeroof::gui {

namespace {

namespace step = study::step;
using model::Count;

constexpr std::size_t kSearched = 20'000; // operators: a larger graph is not built thirty times
constexpr Count kMostBatch = 1 << 20;

QString amount(Count bytes) {
    return text(model::format_si(static_cast<double>(bytes), "B", 4));
}

std::optional<Count> peak_at(const WholeStep& whole, Count batch) {
    const auto network = model::with_batch(whole.network, batch);
    if (!network) {
        return std::nullopt;
    }
    step::GraphOptions options = whole.graph;
    options.batch *= batch;
    const auto graph = step::make_graph(*network, whole.wiring, options);
    return graph ? std::optional(
                       step::memory_of(*graph, step::workspaces_of(*graph, whole.gpu())).peak)
                 : std::nullopt;
}

model::Result<MemoryAnswer> answer_to(const StepQuestion& question, step::Regime regime,
                                      const std::stop_token& stop,
                                      const model::ProgressCallback& progress) {
    auto whole = whole_step(question);
    if (!whole) {
        return whole.diagnostics();
    }
    if (whole->training()) {
        whole->graph.precision = step::precision_of(
            regime, whole->network.layers.front().types.weight, whole->graph.training->optimizer);
    }
    auto graph = step::make_graph(whole->network, whole->wiring, whole->graph);
    if (!graph) {
        return graph.diagnostics();
    }
    MemoryAnswer answer;
    answer.memory = step::memory_of(*graph, step::workspaces_of(*graph, whole->gpu()));
    answer.machine = whole->machine.id;
    answer.training = whole->training();
    answer.limit = step::capacity_of(whole->gpu());
    if (graph->operators.size() <= kSearched) {
        double tried = 0.0;
        answer.largest_batch = step::largest_batch(answer.limit, kMostBatch, [&](Count batch) {
            constexpr double kTries = 40.0; // two for each power of two up to the most
            tried += 1.0;
            if (progress) {
                progress({std::min(tried / kTries, 1.0), "largest batch"});
            }
            return stop.stop_requested() ? std::nullopt : peak_at(*whole, batch);
        });
    }
    answer.graph = *std::move(graph);
    return answer;
}

QString headline(const MemoryAnswer& answer) {
    const step::Memory& m = answer.memory;
    const bool fits = m.peak <= answer.limit;
    QString html =
        MemoryPane::tr("<b>%1</b> at the peak, in %2, of %3 that %4 has: %5.")
            .arg(
                amount(m.peak),
                answer.graph.operators.empty()
                    ? QString("—")
                    : text(answer.graph.name_of(answer.graph.operators[m.peak_at])).toHtmlEscaped(),
                amount(answer.limit), text(answer.machine).toHtmlEscaped(),
                fits ? MemoryPane::tr("%1 are left").arg(amount(answer.limit - m.peak))
                     : MemoryPane::tr("<b>it does not fit</b>, %1 are missing")
                           .arg(amount(m.peak - answer.limit)));
    if (answer.largest_batch) {
        html += *answer.largest_batch > 0
                    ? MemoryPane::tr(" The largest batch that fits is %1 times this one.")
                          .arg(*answer.largest_batch)
                    : MemoryPane::tr(" No batch fits.");
    }
    if (answer.graph.chain) {
        html +=
            MemoryPane::tr(" The network gives no graph: its layers run as a chain, and nothing "
                           "is kept for a later sum.");
    }
    return html;
}

} // namespace

MemoryPane::MemoryPane(const PaneActions& actions, QWidget* parent) : AskingPane(actions, parent) {
    precision_ = choice(tr("Training keeps numbers"), "memory precision");
    for (const std::string& name : step::regime_names()) {
        precision_->addItem(text(name), text(name));
    }
    precision_->setToolTip(tr("How training keeps gradients and states: as the types suggest; 16 "
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
            const auto tensor = answer_->memory.holders[static_cast<std::size_t>(row)].tensor;
            select(answer_->graph.tensors[tensor].layer);
        }
    });
    clear();
}

// A click on the curve.
bool MemoryPane::eventFilter(QObject* watched, QEvent* event) {
    if (watched == picture_ && event->type() == QEvent::MouseButtonRelease && answer_) {
        const QPointF place = static_cast<QMouseEvent*>(event)->position();
        const study::Canvas canvas{static_cast<double>(picture_->width()),
                                   static_cast<double>(picture_->height())};
        if (const auto op = step::operator_at(answer_->report(), canvas, {place.x(), place.y()})) {
            select(answer_->graph.operators[*op].layer);
        }
    }
    return AskingPane::eventFilter(watched, event);
}

Background::Job MemoryPane::job(const PaneInput& input) {
    const auto question = step_question(input);
    if (!question) {
        say(tr("Memory over a step: for a network on a GPU or a host processor."));
        return {};
    }
    precision_->setEnabled(input.options.training.has_value());
    const auto regime = step::regime_from_name(precision_->currentText().toStdString());
    return [this, question = *question, regime = regime.value_or(step::Regime::usual)](
               const std::stop_token& stop,
               const model::ProgressCallback& progress) -> Background::Show {
        const auto found = answer_to(question, regime, stop, progress);
        auto answer = found ? std::make_shared<const MemoryAnswer>(*found) : nullptr;
        return [this, answer, problems = found.diagnostics()] {
            if (answer) {
                return show_answer_of(answer);
            }
            clear();
            say(problems);
        };
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
        [shown = answer_](const study::Canvas& canvas) {
            return step::draw_memory(shown->report(), canvas);
        },
        false);
    const QSignalBlocker quiet(holders_);
    const auto& holders = answer_->memory.holders;
    holders_->clearSelection();
    holders_->setColumnCount(2);
    holders_->setHorizontalHeaderLabels({tr("At the peak"), tr("Tensor")});
    holders_->setRowCount(static_cast<int>(holders.size()));
    for (int row = 0; row < holders_->rowCount(); ++row) {
        const step::Holder& holder = holders[static_cast<std::size_t>(row)];
        holders_->setItem(row, 0, cell(amount(holder.bytes), static_cast<double>(holder.bytes)));
        holders_->setItem(
            row, 1, cell(text(answer_->graph.name_of(answer_->graph.tensors[holder.tensor]))));
    }
    fit_columns(*holders_);
    holders_->show();
}

void MemoryPane::select(std::uint32_t layer) {
    const PaneInput input = actions_.look();
    if (layer >= answer_->graph.layers.size() || input.reports->empty()) {
        return;
    }
    if (const auto row = row_of(input.reports->front(), answer_->graph.layers[layer])) {
        actions_.select_layer(0, *row);
    }
}

QString MemoryPane::html() const {
    return answer_ ? "<p>" + headline(*answer_) + "</p>" +
                         text(study::to_svg(step::draw_memory(answer_->report(), {1000.0, 360.0}),
                                            study::SvgTheme::automatic)) +
                         table_html(*holders_)
                   : QString();
}

} // namespace eyeroof::gui
