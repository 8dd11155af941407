// The change of the scenario that would help most, and what changes of shape would win on the GPU
// on screen, the largest savings first: alignment, batch, waves, fusion. analysis::what_helps()
// advises, in the background, when the pane is shown.
#pragma once

#include "analysis/advice/what_helps.hpp"
#include "gui/jobs/background.hpp"
#include "gui/panes/pane.hpp"

class QLabel;
class QTableWidget;

namespace eyeroof::gui {

class AdvicePane : public Pane {
    Q_OBJECT

  public:
    AdvicePane(const PaneActions& actions, QWidget* parent);
    QString title() const override { return tr("Advice"); }
    QString name() const override { return "advice"; }
    void show_answer(const PaneInput& input) override;
    QString html() const override;

  signals:
    void advised();

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    void advise(const PaneInput& input);
    void show_counters(const PaneInput& input); // what those of the compared run say
    void show_advice(const Result<analysis::WhatHelps>& advice);

    bool due_ = true; // what is shown is of another question
    Background worker_;
    QLabel* head_ = nullptr;
    QTableWidget* rows_ = nullptr;
    QLabel* counters_head_ = nullptr;
    QTableWidget* counters_ = nullptr;
    std::vector<std::size_t> layers_; // beside the rows of counters_
};

} // namespace eyeroof::gui
