// A pane that shows an answer: its sentences, its tables, and its picture. A subclass asks.
#pragma once

#include "gui/panes/answer_table.hpp"
#include "gui/panes/asking_pane.hpp"
#include "gui/views/drawing_view.hpp"

class QSplitter;

namespace eyeroof::gui {

class AnswerPane : public AskingPane {
    Q_OBJECT

  public:
    DrawingView* picture_in_front() override { return picture_; }
    DrawingView& picture() { return *picture_; }
    QString html() const override;
    const report::Answer* answer() const { return answer_.get(); } // none: nothing is shown

  protected:
    struct Words {
        QString table, picture; // accessible names; empty: there is none
        const char* object;     // "fusion": of "fusion rows" and "fusion picture"
        QString nothing;        // in the place of the picture
        const char* key = "";   // of the table; empty: the answer's first
    };
    AnswerPane(const PaneActions& actions, QWidget* parent);
    // Below the choices, after they were made. A vertical pane has its table below the picture.
    void add_views(const Words& words, Qt::Orientation orientation = Qt::Horizontal);
    // Of another table of the answer, by its key, beside the first.
    AnswerTableView* add_table(const QString& name, const QString& object, const char* key);

    using Ask =
        std::function<Result<report::Answer>(const std::stop_token&, const ProgressCallback&)>;
    // Shows the answer, or the errors; `then` once it is shown.
    Background::Job asking(Ask ask, std::function<void()> then = {});
    void clear() override;

    // A row of the table, which names layers in its first column, selects that layer.
    void lead_to_layers(AnswerTableView& table);

    AnswerTableView& rows() { return *tables_.front().view; }

  private:
    void show_answer_of(std::shared_ptr<const report::Answer> answer);
    void share_width(); // a table beside a picture: as much as it needs, at most half

    struct Table {
        AnswerTableView* view = nullptr;
        std::string key; // empty: the first of the answer
    };
    std::shared_ptr<const report::Answer> answer_;
    QString nothing_;
    bool grows_ = false; // the pane, with its picture
    std::vector<Table> tables_;
    QSplitter* both_ = nullptr;
    bool moved_ = false; // by the user
    DrawingView* picture_ = nullptr;
};

} // namespace eyeroof::gui
