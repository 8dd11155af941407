// The seven steps of one layer, or of a network, as a ladder of bars. Shows a scene; computes
// nothing.
#pragma once

#include "report/draw/waterfall_scene.hpp"

#include <QWidget>
#include <functional>
#include <optional>

namespace eyeroof::gui {

class LadderView : public QWidget {
    Q_OBJECT

  public:
    explicit LadderView(QWidget* parent = nullptr);

    using Draw = std::function<report::WaterfallScene(const report::Canvas&)>;

    void show_scene(Draw draw); // rebuilt for every size
    void clear();
    void mark_step(std::size_t step); // 1 … 7; 0: none
    const std::optional<report::WaterfallScene>& scene() const { return scene_; }

  signals:
    void step_clicked(std::size_t step);        // 1 … 7
    void parameter_clicked(const QString& key); // of what a step has beside its kernels

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

  private:
    void rebuild();
    const report::WaterfallBar* bar_below(QPointF place) const;

    Draw draw_;
    std::optional<report::WaterfallScene> scene_;
    std::size_t marked_ = 0;
};

} // namespace eyeroof::gui
