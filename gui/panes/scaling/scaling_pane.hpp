// The network's training on many devices: samples a second against their number, bound by bound.
// Decoders by the best plan for each number, other networks data parallel. Computes nothing itself:
// analysis/scale does, in the background.
#pragma once

#include "gui/panes/answer_pane.hpp"

namespace eyeroof::gui {

class ScalingPane : public AnswerPane {
    Q_OBJECT

  public:
    ScalingPane(const PaneActions& actions, QWidget* parent);
    QString title() const override { return tr("On many devices"); }
    QString tab() const override { return tr("Scaling"); }
    QString name() const override { return "scaling"; }
    PanePlace place() const override { return PanePlace::middle; }

  protected:
    void fill(const PaneInput& input) override;
    Background::Job job(const PaneInput& input) override;
    void link_followed(const QString& target) override;

  private:
    std::string fabric_for_; // the GPU that the fabric was chosen for
    Count batch_ = 0;        // of the toolbar, when it was taken over
    QComboBox* fabric_ = nullptr;
    QLineEdit* devices_ = nullptr;
    QSpinBox* each_ = nullptr;
    QComboBox* zero_ = nullptr;
};

} // namespace eyeroof::gui
