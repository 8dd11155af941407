// Memory over a step: the curve by who holds what, the peak and what holds it, the largest batch. A
// click on the curve or on a tensor selects its layer.
#pragma once

#include "gui/panes/asking_pane.hpp"
#include "gui/views/drawing_view.hpp"
#include "report/step/step_scenes.hpp"

class QTableView;

namespace eyeroof::gui {

// Of the report on screen.
struct MemoryAnswer {
    std::shared_ptr<const analysis::Report> of; // that has memory
    Count limit = 0;
    std::optional<Count> largest_batch;

    report::MemoryReport report() const { return {*of, limit, largest_batch}; }
    const analysis::step::Memory& memory() const { return *of->memory; }
    const analysis::step::Graph& program() const { return of->program; }
};

class AnswerModel;

class MemoryPane : public AskingPane {
    Q_OBJECT

  public:
    MemoryPane(const PaneActions& actions, QWidget* parent);
    QString title() const override { return tr("Memory over the step"); }
    QString tab() const override { return tr("Memory"); }
    QString name() const override { return "memory"; }
    PanePlace place() const override { return PanePlace::middle; }
    DrawingView* picture_in_front() override { return picture_; }
    QString html() const override;
    const MemoryAnswer* answer() const { return answer_.get(); }
    DrawingView& picture() { return *picture_; }

  protected:
    void choice_changed() override;
    Background::Job job(const PaneInput& input) override;
    void clear() override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void show_answer_of(std::shared_ptr<const MemoryAnswer> answer);
    std::shared_ptr<const MemoryAnswer> answer_;
    QComboBox* states_ = nullptr;
    DrawingView* picture_ = nullptr;
    AnswerModel* model_ = nullptr;
    QTableView* holders_ = nullptr;
};

} // namespace eyeroof::gui
