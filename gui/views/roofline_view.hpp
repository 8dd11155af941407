// The roofline plot as a widget: shows a scene, answers the pointer and the keyboard. Computes no
// prediction.
#pragma once

#include "report/draw/roofline_drawing.hpp"

#include <QPixmap>
#include <QPoint>
#include <QRect>
#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

namespace eyeroof::gui {

class RooflineView : public QWidget {
    Q_OBJECT

  public:
    explicit RooflineView(QWidget* parent = nullptr);

    void set_plot(report::PlotInput input);
    // Ranges, filters, selection and all. Errors go to `problem`, and the old view stays.
    void set_view(const report::ViewState& view);
    void set_selection(const std::set<std::string>& ids);
    // Arrows lead from there: FLOP/byte and FLOP/s by the points' ids.
    void show_before(std::map<std::string, report::Place> before);
    std::vector<report::BeforeArrow> arrows() const { return before_arrows(scene_, before_); }
    report::Drawing drawing() const {
        return with_arrows(drawn(scene_), arrows());
    } // as it is painted
    const report::ViewState& view() const { return view_; }
    const report::RooflineScene& scene() const { return scene_; }
    const report::PlotInput& plot() const { return *input_; }
    std::shared_ptr<const report::PlotInput> shared_plot() const { return input_; }

    void zoom_at(QPointF pixel, double factor);
    void zoom_to(const QRectF& pixels);
    void undo_zoom();
    void reset_zoom();
    // Axes around the points alone, or around the selected ones; false without any.
    bool fit(bool selected);

    // What the pointer points at; empty where it is over nothing.
    const std::vector<report::CardRow>& card() const { return card_; }
    // Its levels and the ways to their roofs; that of the only selected one without a pointer.
    std::optional<report::ClippedLayer> levels() const;

  signals:
    void selection_changed();
    void view_changed();   // other points or roofs
    void ranges_changed(); // only zoomed or moved
    void problem(const QString& message);
    void pointed_at(const QString& text); // for the status bar

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    enum class Drag { none, select, zoom, pan };

    report::Canvas canvas() const;
    void rebuild();
    void lay_out_again();
    void change_ranges(report::LogRange x, report::LogRange y, bool remember);
    void remember_ranges();
    void pan(double x_share, double y_share);
    void select_in(const QRectF& box, bool add);
    void select_next(int step);
    void toggle_series(std::size_t series); // by its legend entry
    void add_others(std::vector<report::CardRow>& card, std::size_t shown,
                    report::Place place) const;
    void show_card(QPoint at);
    void paint_card(QPainter& painter) const;

    std::shared_ptr<const report::PlotInput> input_ = std::make_shared<report::PlotInput>();
    report::ViewState view_;
    report::RooflineScene scene_;
    std::vector<std::pair<std::optional<report::LogRange>, std::optional<report::LogRange>>> zooms_;
    std::map<std::string, report::Place> before_;
    QPixmap layer_; // everything but hover and rubber band
    Drag drag_ = Drag::none;
    QPointF pressed_, last_;
    QPoint hover_;
    std::optional<std::size_t> pointed_; // of the scene's points
    std::vector<report::CardRow> card_;
};

} // namespace eyeroof::gui
