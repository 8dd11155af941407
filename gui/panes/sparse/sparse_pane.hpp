// What zeros gain on a machine that skips them: layer by layer under given shares of words that are
// not zero, and the speed-up over these shares with its break-even. Computes nothing itself:
// analysis/sparse does, in the background.
#pragma once

#include "analysis/sparse/sparse_exam.hpp"
#include "gui/panes/asking_pane.hpp"
#include "gui/views/drawing_view.hpp"
#include "report/draw/chart.hpp"

class QTableWidget;

namespace eyeroof::gui {

struct SparseAnswer {
    analysis::SparseExam exam;
    std::vector<analysis::DensityPoint> curve;
};

report::Chart sparse_chart(const SparseAnswer& answer);

class SparsePane : public AskingPane {
    Q_OBJECT

  public:
    SparsePane(const PaneActions& actions, QWidget* parent);
    QString title() const override { return tr("What zeros gain"); }
    QString tab() const override { return tr("Sparsity"); }
    QString name() const override { return "sparsity"; }
    PanePlace place() const override { return PanePlace::middle; }
    DrawingView* picture_in_front() override { return picture_; }
    QString html() const override;
    const SparseAnswer* answer() const { return answer_.get(); }

  protected:
    void fill(const PaneInput& input) override;
    Background::Job job(const PaneInput& input) override;
    void clear() override;

  private:
    void show_answer_of(std::shared_ptr<const SparseAnswer> answer);
    void fill_rows();
    void fill_lists(const PaneInput& input);

    std::shared_ptr<const SparseAnswer> answer_;
    std::string chosen_for_; // the toolbar's machine
    QComboBox* machine_ = nullptr;
    QComboBox* densities_ = nullptr;
    QSpinBox* inputs_ = nullptr;
    QSpinBox* weights_ = nullptr;
    DrawingView* picture_ = nullptr;
    QTableWidget* rows_ = nullptr;
};

} // namespace eyeroof::gui
