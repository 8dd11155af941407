// Which layers to run together, so that what is between them stays on the chip: the best groups,
// and the least traffic over the size of the buffer. Asks what `eyeroof fuse` asks, in the
// background.
#pragma once

#include "gui/panes/answer_pane.hpp"

namespace eyeroof::gui {

class FusionPane : public AnswerPane {
    Q_OBJECT

  public:
    FusionPane(const PaneActions& actions, QWidget* parent);
    QString title() const override { return tr("Layers that run together"); }
    QString tab() const override { return tr("Fusion"); }
    QString name() const override { return "fusion"; }
    PanePlace place() const override { return PanePlace::middle; }

  protected:
    Background::Job job(const PaneInput& input) override;

  private:
    QComboBox* aim_ = nullptr;
    QLineEdit* buffer_ = nullptr;
};

} // namespace eyeroof::gui
