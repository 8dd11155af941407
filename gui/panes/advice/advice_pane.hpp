// What a change of shape would win on the GPU on screen, the largest savings first: alignment,
// batch, waves, fusion.
// Used by the main window.
// Advises nothing itself: study::advise does, in the background, once somebody looks.
#pragma once

#include "analysis/upgrade/advice.hpp"
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
    void show_advice(const Result<std::vector<analysis::Advice>>& advice);

    bool due_ = true; // what is shown is of another question
    Background worker_;
    QLabel* head_ = nullptr;
    QTableWidget* rows_ = nullptr;
};

} // namespace eyeroof::gui
