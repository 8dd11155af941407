#include "gui/panes/memory/memory_pane.hpp"

#include "analysis/scenario/fields.hpp"
#include "gui/views/qt_text.hpp"

#include <QComboBox>
#include <QMouseEvent>

namespace eyeroof::gui {

namespace {

// With a picture that keeps what it draws.
report::Answer answer_of(const std::shared_ptr<const MemoryAnswer>& found) {
    report::Answer answer = report::memory_answer(found->report());
    answer.picture = [found](const report::Canvas& canvas) {
        return report::draw_memory(found->report(), canvas);
    };
    return answer;
}

} // namespace

MemoryPane::MemoryPane(const PaneActions& actions, QWidget* parent) : AnswerPane(actions, parent) {
    states_ = choice(tr("Training keeps numbers"), "memory precision");
    for (const std::string& name : analysis::find_field("states")->choices) {
        states_->addItem(text(name), text(name));
    }
    states_->setToolTip(tr("How training keeps gradients and states: as the types suggest; 16 "
                           "bits with an fp32 copy; with fp32 gradients; without a copy; states "
                           "of 8 bits"));
    add_views({tr("What holds the peak, largest first"), tr("Memory over the operators of a step"),
               "memory", tr("No step to show."), "holders"});
    picture().installEventFilter(this);
    connect(&rows(), &AnswerTableView::row_chosen, this, &MemoryPane::select_holder);
}

void MemoryPane::select_holder(std::size_t row) {
    const std::uint32_t layer =
        shown_->program().tensors[shown_->memory().holders[row].tensor].layer;
    if (layer != analysis::step::kNone) {
        actions_.select_layer(0, layer);
    }
}

// A click on the curve.
bool MemoryPane::eventFilter(QObject* watched, QEvent* event) {
    if (watched == &picture() && event->type() == QEvent::MouseButtonRelease && shown_) {
        const QPointF place = static_cast<QMouseEvent*>(event)->position();
        const report::Canvas canvas{static_cast<double>(picture().width()),
                                    static_cast<double>(picture().height())};
        if (const auto op = report::operator_at(shown_->report(), canvas, {place.x(), place.y()})) {
            actions_.select_layer(0, shown_->program().operators[*op].layer);
        }
    }
    return AnswerPane::eventFilter(watched, event);
}

void MemoryPane::choice_changed() {
    actions_.change_scenario([this](analysis::Scenario& scenario) {
        analysis::find_field("states")->set(scenario,
                                            {states_->currentData().toString().toStdString()});
    });
}

void MemoryPane::clear() {
    shown_.reset();
    AnswerPane::clear();
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
    const auto found = std::make_shared<MemoryAnswer>();
    const auto ask = [found, question = *asked,
                      report](const std::stop_token& stop,
                              const ProgressCallback&) -> Result<report::Answer> {
        *found = {report, report->fit->limit_bytes, analysis::largest_batch(question, stop)};
        return answer_of(found);
    };
    return asking(ask, [this, found] { shown_ = found; });
}

} // namespace eyeroof::gui
