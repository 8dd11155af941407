#include "gui/panes/fitting_scroll.hpp"

#include "gui/panes/fields.hpp"

#include <QEvent>
#include <QScrollBar>
#include <QVBoxLayout>

namespace eyeroof::gui {

namespace {
constexpr int kLeastHeight = 120;

// Scroll areas ask for the height that suits the width; the least of it will do.
class Squeezed : public QWidget {
  public:
    explicit Squeezed(QWidget* content) : content_(content) {
        auto* column = bare<QVBoxLayout>(this);
        column->addWidget(content);
    }
    int heightForWidth(int width) const override {
        const QLayout* own = content_->layout();
        return own == nullptr ? QWidget::heightForWidth(width) : own->minimumHeightForWidth(width);
    }

  private:
    QWidget* content_;
};

} // namespace

FittingScroll::FittingScroll(QWidget* content, QWidget* parent) : QScrollArea(parent) {
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setWidget(new Squeezed(content));
    widget()->installEventFilter(this);
}

QSize FittingScroll::minimumSizeHint() const {
    const int bar = verticalScrollBar()->sizeHint().width();
    return {widget() == nullptr ? 0 : widget()->minimumSizeHint().width() + bar, kLeastHeight};
}

QSize FittingScroll::sizeHint() const {
    return {minimumSizeHint().width(), QScrollArea::sizeHint().height()};
}

bool FittingScroll::eventFilter(QObject* watched, QEvent* event) {
    if (watched == widget() && event->type() == QEvent::LayoutRequest) {
        updateGeometry();
    }
    return QScrollArea::eventFilter(watched, event);
}

} // namespace eyeroof::gui
