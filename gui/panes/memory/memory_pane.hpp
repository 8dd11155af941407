// Memory over a step: the curve by who holds what, the peak and what holds it, the largest batch. A
// click on the curve or on a tensor selects its layer.
#pragma once

#include "gui/panes/answer_pane.hpp"
#include "report/step/step_scenes.hpp"

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

class MemoryPane : public AnswerPane {
    Q_OBJECT

  public:
    MemoryPane(const PaneActions& actions, QWidget* parent);
    QString title() const override { return tr("Memory over the step"); }
    QString tab() const override { return tr("Memory"); }
    QString name() const override { return "memory"; }
    PanePlace place() const override { return PanePlace::middle; }
    const MemoryAnswer* answer() const { return shown_.get(); }

  protected:
    void choice_changed() override;
    Background::Job job(const PaneInput& input) override;
    void clear() override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void select_holder(std::size_t row);

    std::shared_ptr<const MemoryAnswer> shown_;
    QComboBox* states_ = nullptr;
};

} // namespace eyeroof::gui
