#include "gui/panes/answer_pane.hpp"

#include "gui/views/qt_text.hpp"
#include "report/answer/write.hpp"

#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>

namespace eyeroof::gui {

AnswerPane::AnswerPane(const PaneActions& actions, QWidget* parent) : AskingPane(actions, parent) {}

void AnswerPane::add_views(const Words& words, Qt::Orientation orientation) {
    nothing_ = words.nothing;
    grows_ = orientation == Qt::Vertical;
    both_ = new QSplitter(orientation, this);
    connect(both_, &QSplitter::splitterMoved, this, [this] { moved_ = true; });
    if (!words.picture.isEmpty()) {
        picture_ = new DrawingView(both_);
        picture_->setObjectName(QString("%1 picture").arg(words.object));
        picture_->setAccessibleName(words.picture);
        picture_->setMinimumSize(240, 120);
    }
    if (!words.table.isEmpty()) {
        auto* rows = new AnswerTableView(words.table, QString("%1 rows").arg(words.object), both_);
        tables_.push_back({rows, words.key});
        both_->insertWidget(grows_ ? 1 : 0, rows);
    }
    for (int i = 0; i < both_->count(); ++i) {
        both_->setStretchFactor(i, both_->widget(i) == picture_ ? 2 : 1);
    }
    column()->addWidget(both_, 1);
    AnswerPane::clear();
}

AnswerTableView* AnswerPane::add_table(const QString& name, const QString& object,
                                       const char* key) {
    auto* view = new AnswerTableView(name, object, both_);
    view->hide();
    tables_.push_back({view, key});
    return view;
}

Background::Job AnswerPane::asking(Ask ask, std::function<void()> then) {
    return [this, ask = std::move(ask), then = std::move(then)](
               const std::stop_token& stop, const ProgressCallback& progress) -> Background::Show {
        auto found = ask(stop, progress);
        const Diagnostics problems = found.diagnostics();
        const auto answer =
            found ? std::make_shared<const report::Answer>(*std::move(found)) : nullptr;
        return [this, answer, problems, then] {
            if (!answer) {
                clear();
                return say(problems);
            }
            show_answer_of(answer);
            if (then) {
                then();
            }
        };
    };
}

void AnswerPane::clear() {
    answer_.reset();
    for (const Table& table : tables_) {
        table.view->show_table({});
    }
    if (picture_ != nullptr) {
        picture_->clear(nothing_);
    }
}

void AnswerPane::show_answer_of(std::shared_ptr<const report::Answer> answer) {
    answer_ = std::move(answer);
    QString words = text(report::html_lead(*answer_) + report::html_notes(*answer_));
    say(words.replace("<p ", "<p style=\"margin-top:0; margin-bottom:3px\" ")
            .replace("<p>", "<p style=\"margin-top:0; margin-bottom:3px\">"));
    for (const auto& [view, key] : tables_) {
        const auto& all = answer_->tables;
        const auto found =
            key.empty() ? all.begin() : std::ranges::find(all, key, &report::AnswerTable::key);
        view->show_table(found == all.end() ? report::AnswerTable{} : *found);
    }
    if (picture_ != nullptr && answer_->picture) {
        picture_->show_drawing(answer_->picture, grows_);
    } else if (picture_ != nullptr) {
        picture_->clear(nothing_);
    }
    share_width();
}

void AnswerPane::lead_to_layers(AnswerTableView& table) {
    connect(&table, &AnswerTableView::row_chosen, this, [this, &table](std::size_t row) {
        const auto report = actions_.look().first_report();
        const std::string name = table.answer().name_of(row);
        for (std::size_t i = 0; report && i < report->layers.size(); ++i) {
            if (report->layers[i].layer.name == name) {
                return actions_.select_layer(0, i);
            }
        }
    });
}

void AnswerPane::share_width() {
    if (moved_ || grows_ || picture_ == nullptr || tables_.empty()) {
        return;
    }
    const int width = both_->width() - both_->handleWidth();
    const int table = std::min(rows().needed_width(), width / 2);
    both_->setSizes({table, width - table});
}

QString AnswerPane::html() const {
    return answer_ ? text(report::html_body(*answer_)) : QString();
}

} // namespace eyeroof::gui
