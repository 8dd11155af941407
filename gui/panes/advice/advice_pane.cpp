#include "gui/panes/advice/advice_pane.hpp"

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
}

void AdvicePane::show_answer(const PaneInput& input) {
    due_ = !isVisible();
    if (!due_) {
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
                                  : tr("%1 changes of shape win something, the largest savings "
                                       "first.")
                                        .arg(shapes.size())));
    rows_->setColumnCount(4);
    rows_->setHorizontalHeaderLabels({tr("Layer"), tr("Saves"), tr("Times as fast"), tr("What")});
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
    return rows_->rowCount() == 0
               ? QString()
               : "<p>" + head_->text().toHtmlEscaped() + "</p>" + table_html(*rows_);
}

} // namespace eyeroof::gui
