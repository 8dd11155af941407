// The network's training on many devices: samples a second against their number, bound by bound.
// Decoders by the best plan for each number, other networks data parallel. Computes nothing itself:
// analysis/scale does, in the background.
#pragma once

#include "analysis/scale/scale.hpp"
#include "gui/panes/asking_pane.hpp"
#include "gui/views/drawing_view.hpp"

class QTableWidget;

namespace eyeroof::gui {

class ScalingPane : public AskingPane {
    Q_OBJECT

  public:
    ScalingPane(const PaneActions& actions, QWidget* parent);
    QString title() const override { return tr("On many devices"); }
    QString tab() const override { return tr("Scaling"); }
    QString name() const override { return "scaling"; }
    PanePlace place() const override { return PanePlace::middle; }
    DrawingView* picture_in_front() override { return picture_; }
    QString html() const override;
    const analysis::ScaleResult* answer() const { return answer_.get(); }

  protected:
    void fill(const PaneInput& input) override;
    Background::Job job(const PaneInput& input) override;
    void clear() override;
    void link_followed(const QString& target) override;

  private:
    void show_answer_of(std::shared_ptr<const analysis::ScaleResult> answer);
    void fill_rows();
    QString headline() const;

    std::shared_ptr<const analysis::ScaleResult> answer_;
    std::string words_;      // what the answer is of
    std::string fabric_for_; // the GPU that the fabric was chosen for
    QComboBox* fabric_ = nullptr;
    QLineEdit* devices_ = nullptr;
    QSpinBox* each_ = nullptr;
    QComboBox* zero_ = nullptr;
    DrawingView* picture_ = nullptr;
    QTableWidget* rows_ = nullptr;
};

} // namespace eyeroof::gui
