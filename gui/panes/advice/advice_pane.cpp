#include "gui/panes/advice/advice_pane.hpp"

#include "analysis/measured/counter_advice.hpp"
#include "base/units.hpp"
#include "gui/panes/number_table.hpp"
#include "gui/panes/table_html.hpp"
#include "gui/views/qt_text.hpp"

#include <QHeaderView>
#include <QLabel>
#include <QTableWidget>
#include <QVBoxLayout>

namespace eyeroof::gui {

AdvicePane::AdvicePane(const PaneActions& actions, QWidget* parent) : Pane(actions, parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(6, 6, 6, 4);
    head_ = new QLabel(tr("Shapes that would run better, on GPUs."), this);
    head_->setWordWrap(true);
    head_->setObjectName("advice head");
    column->addWidget(head_);
    rows_ = number_table(tr("Advice, largest savings first"), this);
    rows_->setObjectName("advice rows");
    column->addWidget(rows_, 1);
    counters_head_ = new QLabel(this);
    counters_head_->setObjectName("counters head");
    counters_head_->setWordWrap(true);
    counters_head_->hide();
    column->addWidget(counters_head_);
    counters_ = number_table(tr("Measured kernels, largest gain first"), this);
    counters_->setObjectName("counter advice");
    counters_->hide();
    column->addWidget(counters_, 1);
    connect(counters_, &QTableWidget::itemSelectionChanged, this, [this] {
        const int row = counters_->currentRow();
        if (row >= 0 && row < static_cast<int>(layers_.size())) {
            actions_.select_layer(0, layers_[static_cast<std::size_t>(row)]);
        }
    });
}

// As rules over the counters: what they say, the step that they contradict, the estimated gain.
void AdvicePane::show_counters(const PaneInput& input) {
    const auto report = input.first_report();
    const bool any = report != nullptr && report->measured.has_value();
    const auto rules =
        any ? analysis::counter_advice(*report) : std::vector<analysis::CounterAdvice>();
    const QSignalBlocker quiet(counters_);
    layers_.clear();
    counters_head_->setVisible(any);
    counters_->setVisible(!rules.empty());
    counters_head_->setText(
        rules.empty() ? tr("Measured kernels: no counter contradicts the prediction at a cost.")
        : rules.size() == 1
            ? tr("Measured kernels: 1 counter contradicts the prediction at a cost.")
            : tr("Measured kernels: %1 counters contradict the prediction at a cost.")
                  .arg(rules.size()));
    counters_->setColumnCount(6);
    counters_->setHorizontalHeaderLabels({tr("Layer"), tr("Gain"), tr("Speedup"),
                                          tr("Counters say"), tr("Contradicted step"),
                                          tr("What to do")});
    counters_->setRowCount(static_cast<int>(rules.size()));
    for (int i = 0; i < static_cast<int>(rules.size()); ++i) {
        const analysis::CounterAdvice& a = rules[static_cast<std::size_t>(i)];
        layers_.push_back(a.layer);
        const QString most = a.at_most ? tr("at most ") : QString();
        counters_->setItem(i, 0, cell(text(report->layers[a.layer].layer.name)));
        counters_->item(i, 0)->setToolTip(text(a.kernel));
        counters_->setItem(i, 1, cell(most + text(format_si(a.gain_s, "s", 3)), a.gain_s));
        counters_->setItem(i, 2, cell(QString("%1×").arg(a.speedup, 0, 'f', 2), a.speedup));
        counters_->setItem(i, 3, cell(text(a.counters_say)));
        counters_->setItem(
            i, 4, cell(tr("%1, %2").arg(a.step).arg(text(model::kStepNames.at(a.step - 1)))));
        counters_->setItem(i, 5, cell(text(a.advice)));
    }
    fit_columns(*counters_);
}

void AdvicePane::show_answer(const PaneInput& input) {
    show_counters(input);
    due_ = !isVisible();
    if (due_) { // and the answer under way is to a question that is gone
        worker_.cancel();
    } else {
        advise(input);
    }
}

void AdvicePane::showEvent(QShowEvent* event) {
    Pane::showEvent(event);
    if (due_) {
        due_ = false;
        advise(actions_.look());
    }
}

void AdvicePane::advise(const PaneInput& input) {
    rows_->setRowCount(0);
    const analysis::Question* asked = input.gpu_question();
    if (asked == nullptr) {
        worker_.cancel();
        head_->setText(tr("Shapes that would run better: for a network on a GPU."));
        return;
    }
    head_->setText(tr("Looking for shapes that would run better…"));
    worker_.run([this, question = *asked](const std::stop_token& stop,
                                          const ProgressCallback&) -> Background::Show {
        auto advice =
            std::make_shared<Result<analysis::WhatHelps>>(analysis::what_helps(question, stop));
        return [this, advice] { show_advice(*advice); };
    });
}

void AdvicePane::show_advice(const Result<analysis::WhatHelps>& advice) {
    if (!advice) {
        head_->setText(text(advice.diagnostics().items().front().message));
        emit advised();
        return;
    }
    const std::vector<analysis::Advice>& shapes = advice->shapes;
    const analysis::step::Outcome* best = analysis::best_change(advice->changes);
    const QString changes =
        best == nullptr ? QString() : text(analysis::change_text(*best)) + QStringLiteral(". ");
    head_->setText(changes + (shapes.empty()
                                  ? tr("No change of shape wins 2 % or more.")
                                  : tr("Changes of shape that help: %1, the largest savings first.")
                                        .arg(shapes.size())));
    rows_->setColumnCount(4);
    rows_->setHorizontalHeaderLabels({tr("Layer"), tr("Saves"), tr("Speedup"), tr("What")});
    rows_->setRowCount(static_cast<int>(shapes.size()));
    for (int i = 0; i < static_cast<int>(shapes.size()); ++i) {
        const analysis::Advice& a = shapes[static_cast<std::size_t>(i)];
        rows_->setItem(i, 0, cell(text(a.layer)));
        rows_->setItem(i, 1,
                       a.saved_s > 0.0 ? cell(text(format_si(a.saved_s, "s", 3)), a.saved_s)
                                       : cell("—", 0.0));
        rows_->setItem(i, 2, cell(QString("%1×").arg(a.gain, 0, 'f', 2), a.gain));
        rows_->setItem(i, 3, cell(text(a.text)));
    }
    fit_columns(*rows_);
    emit advised();
}

QString AdvicePane::html() const {
    const auto section = [](const QLabel& head, const QTableWidget& rows) {
        return rows.rowCount() == 0
                   ? QString()
                   : "<p>" + head.text().toHtmlEscaped() + "</p>" + table_html(rows);
    };
    return section(*head_, *rows_) + section(*counters_head_, *counters_);
}

} // namespace eyeroof::gui
