// What zeros gain on a machine that skips them: layer by layer under given shares of values that
// are not zero, and the speedup over these shares. Asks what `eyeroof exam --density` asks, in the
// background.
#pragma once

#include "gui/panes/answer_pane.hpp"

namespace eyeroof::gui {

class SparsePane : public AnswerPane {
    Q_OBJECT

  public:
    SparsePane(const PaneActions& actions, QWidget* parent);
    QString title() const override { return tr("What zeros gain"); }
    QString tab() const override { return tr("Sparsity"); }
    QString name() const override { return "sparsity"; }
    PanePlace place() const override { return PanePlace::middle; }

  protected:
    void fill(const PaneInput& input) override;
    Background::Job job(const PaneInput& input) override;

  private:
    void fill_lists(const PaneInput& input);

    std::string chosen_for_; // the toolbar's machine
    QComboBox* machine_ = nullptr;
    QComboBox* densities_ = nullptr;
    QSpinBox* inputs_ = nullptr;
    QSpinBox* weights_ = nullptr;
};

} // namespace eyeroof::gui
