#include "gui/panes/answer_pane.hpp"

#include "gui/panes/number_table.hpp"
#include "gui/views/qt_text.hpp"
#include "report/answer/write.hpp"

#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

namespace eyeroof::gui {

AnswerPane::AnswerPane(const PaneActions& actions, QWidget* parent) : AskingPane(actions, parent) {}

void AnswerPane::add_views(const Words& words, Qt::Orientation orientation) {
    constexpr int kRowsHeight = 76; // the header and two rows
    nothing_ = words.nothing;
    grows_ = orientation == Qt::Vertical;
    auto* both = new QSplitter(orientation, this);
    model_ = new AnswerModel(this);
    rows_ = model_table(*model_, words.table, nullptr);
    rows_->setObjectName(QString("%1 rows").arg(words.object));
    rows_->setMinimumHeight(kRowsHeight);
    picture_ = new DrawingView(nullptr);
    picture_->setObjectName(QString("%1 picture").arg(words.object));
    picture_->setAccessibleName(words.picture);
    picture_->setMinimumSize(240, 120);
    if (orientation == Qt::Horizontal) {
        both->addWidget(rows_);
        both->addWidget(picture_);
    } else {
        both->addWidget(picture_);
        both->addWidget(rows_);
        both->setStretchFactor(0, 2);
        both->setStretchFactor(1, 1);
    }
    column()->addWidget(both, 1);
    AnswerPane::clear();
}

Background::Job AnswerPane::asking(Ask ask) {
    return [this, ask = std::move(ask)](const std::stop_token& stop,
                                        const ProgressCallback& progress) -> Background::Show {
        auto found = ask(stop, progress);
        const Diagnostics problems = found.diagnostics();
        const auto answer =
            found ? std::make_shared<const report::Answer>(*std::move(found)) : nullptr;
        return [this, answer, problems] {
            if (answer) {
                return show_answer_of(answer);
            }
            clear();
            say(problems);
        };
    };
}

void AnswerPane::clear() {
    answer_.reset();
    model_->show({});
    rows_->hide();
    picture_->clear(nothing_);
}

void AnswerPane::show_answer_of(std::shared_ptr<const report::Answer> answer) {
    answer_ = std::move(answer);
    say(text(report::html_lead(*answer_) + report::html_notes(*answer_)));
    if (!answer_->tables.empty()) {
        model_->show(answer_->tables.front());
        fit_columns(*rows_);
        rows_->show();
    }
    if (answer_->picture) {
        picture_->show_drawing(answer_->picture, grows_);
    } else {
        picture_->clear(nothing_);
    }
}

QString AnswerPane::html() const {
    return answer_ ? text(report::html_body(*answer_)) : QString();
}

} // namespace eyeroof::gui
