// The seven steps of one layer, or of a network, as a ladder of bars that can be clicked.
#pragma once

#include "gui/views/drawing_view.hpp"
#include "report/draw/waterfall_scene.hpp"

#include <optional>

namespace eyeroof::gui {

class LadderView : public DrawingView {
    Q_OBJECT

  public:
    explicit LadderView(QWidget* parent = nullptr);

    using DrawScene = std::function<report::WaterfallScene(const report::Canvas&)>;

    void show_scene(DrawScene draw); // rebuilt for every size
    void clear();
    void mark_step(std::size_t step); // 1 … 7; 0: none
    const std::optional<report::WaterfallScene>& scene() const { return scene_; }

  signals:
    void step_clicked(std::size_t step);        // 1 … 7
    void parameter_clicked(const QString& key); // of what a step has beside its kernels

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    QString tip(QPointF place) const override;
    QString description() const override; // the heading, then each bar with its value

  private:
    const report::WaterfallBar* bar_below(QPointF place) const;

    std::optional<report::WaterfallScene> scene_;
    std::size_t marked_ = 0;
};

} // namespace eyeroof::gui
