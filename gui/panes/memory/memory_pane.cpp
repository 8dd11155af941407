#include "gui/panes/memory/memory_pane.hpp"

#include "analysis/scenario/fields.hpp"
#include "gui/panes/answer_table.hpp"
#include "gui/panes/number_table.hpp"
#include "gui/views/qt_text.hpp"
#include "report/answer/write.hpp"

#include <QComboBox>
#include <QItemSelectionModel>
#include <QMouseEvent>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

namespace eyeroof::gui {

namespace step = analysis::step;

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
    model_ = new AnswerModel(this);
    holders_ = model_table(*model_, tr("What holds the peak, largest first"), both);
    holders_->setObjectName("memory holders");
    holders_->setMinimumWidth(180); // an amount, and the beginning of a name
    both->setStretchFactor(0, 3);
    both->setStretchFactor(1, 1);
    column()->addWidget(both, 1);
    picture_->installEventFilter(this);
    connect(holders_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            [this](const QItemSelection& chosen) {
                if (answer_ && !chosen.isEmpty()) {
                    const auto row = static_cast<std::size_t>(chosen.indexes().front().row());
                    const auto tensor = answer_->memory().holders[row].tensor;
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
    model_->show({});
    holders_->hide();
}

void MemoryPane::show_answer_of(std::shared_ptr<const MemoryAnswer> answer) {
    answer_ = std::move(answer);
    const report::Answer said = report::memory_answer(answer_->report());
    say(text(report::html_lead(said) + report::html_notes(said)));
    picture_->show_drawing(
        [shown = answer_](const report::Canvas& canvas) {
            return report::draw_memory(shown->report(), canvas);
        },
        false);
    const auto holders = std::ranges::find_if(
        said.tables, [](const report::AnswerTable& table) { return table.key == "holders"; });
    model_->show(*holders);
    fit_columns(*holders_);
    holders_->show();
}

QString MemoryPane::html() const {
    return answer_ ? text(report::html_body(report::memory_answer(answer_->report()))) : QString();
}

} // namespace eyeroof::gui
