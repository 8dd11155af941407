// Which layers to run together, so that what is between them stays on the chip: the best groups,
// and the least traffic over the size of the buffer. Fuses nothing itself: analysis/fuse does, in
// the background.
#pragma once

#include "analysis/fuse/fuse.hpp"
#include "gui/panes/asking_pane.hpp"
#include "gui/views/drawing_view.hpp"
#include "report/draw/chart.hpp"

class QTableWidget;

namespace eyeroof::gui {

struct FusionAnswer {
    analysis::FuseResult groups;
    std::vector<analysis::FusePoint> curve;
};

report::Chart fusion_chart(const FusionAnswer& answer);

class FusionPane : public AskingPane {
    Q_OBJECT

  public:
    FusionPane(const PaneActions& actions, QWidget* parent);
    QString title() const override { return tr("Layers that run together"); }
    QString tab() const override { return tr("Fusion"); }
    QString name() const override { return "fusion"; }
    PanePlace place() const override { return PanePlace::middle; }
    DrawingView* picture_in_front() override { return picture_; }
    QString html() const override;
    const FusionAnswer* answer() const { return answer_.get(); }

  protected:
    Background::Job job(const PaneInput& input) override;
    void clear() override;

  private:
    void show_answer_of(std::shared_ptr<const FusionAnswer> answer);
    void fill_rows();

    std::shared_ptr<const FusionAnswer> answer_;
    QComboBox* aim_ = nullptr;
    QLineEdit* buffer_ = nullptr;
    DrawingView* picture_ = nullptr;
    QTableWidget* rows_ = nullptr;
};

} // namespace eyeroof::gui
