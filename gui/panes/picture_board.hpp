// Several drawings in one place: one at a time behind tabs where room is scarce, all of them beside
// and below each other on large screens.
#pragma once

#include "gui/views/drawing_view.hpp"

#include <vector>

class QTabBar;

namespace eyeroof::gui {

class PictureBoard : public QWidget {
    Q_OBJECT

  public:
    explicit PictureBoard(QWidget* parent = nullptr);

    DrawingView* add(const QString& title, const QString& accessible_name);
    const std::vector<DrawingView*>& views() const { return views_; }
    // The one in front, or the one that was clicked last where all are in sight.
    DrawingView& current();
    void show_picture(int index);

  protected:
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void arrange();
    bool roomy() const;

    QTabBar* tabs_ = nullptr;
    std::vector<DrawingView*> views_;
};

} // namespace eyeroof::gui
