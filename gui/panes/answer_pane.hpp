// A pane that shows an answer: its sentences, its first table, and its picture. A subclass asks.
#pragma once

#include "gui/panes/answer_table.hpp"
#include "gui/panes/asking_pane.hpp"
#include "gui/views/drawing_view.hpp"

class QTableView;

namespace eyeroof::gui {

class AnswerPane : public AskingPane {
    Q_OBJECT

  public:
    DrawingView* picture_in_front() override { return picture_; }
    QString html() const override;
    const report::Answer* answer() const { return answer_.get(); } // none: nothing is shown

  protected:
    struct Words {
        QString table, picture; // accessible names
        const char* object;     // "fusion": of "fusion rows" and "fusion picture"
        QString nothing;        // in the place of the picture
    };
    AnswerPane(const PaneActions& actions, QWidget* parent);
    // Below the choices, after they were made. A vertical pane has its table below the picture.
    void add_views(const Words& words, Qt::Orientation orientation = Qt::Horizontal);

    using Ask =
        std::function<Result<report::Answer>(const std::stop_token&, const ProgressCallback&)>;
    Background::Job asking(Ask ask); // shows the answer, or the errors
    void clear() override;

    QTableView& rows() { return *rows_; }

  private:
    void show_answer_of(std::shared_ptr<const report::Answer> answer);

    std::shared_ptr<const report::Answer> answer_;
    QString nothing_;
    bool grows_ = false; // the pane, with its picture
    AnswerModel* model_ = nullptr;
    QTableView* rows_ = nullptr;
    DrawingView* picture_ = nullptr;
};

} // namespace eyeroof::gui
