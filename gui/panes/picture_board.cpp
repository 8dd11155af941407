#include "gui/panes/picture_board.hpp"

#include <QEvent>
#include <QTabBar>
#include <cmath>

namespace eyeroof::gui {

namespace {
constexpr int kRoomyWidth = 940, kRoomyHeight = 520; // from here all are in sight
constexpr int kGap = 6;
} // namespace

PictureBoard::PictureBoard(QWidget* parent) : QWidget(parent) {
    tabs_ = new QTabBar(this);
    tabs_->setDrawBase(false);
    tabs_->setObjectName("pictures");
    tabs_->setAccessibleName(tr("Pictures"));
    connect(tabs_, &QTabBar::currentChanged, this, &PictureBoard::arrange);
    setMinimumSize(300, 220);
}

DrawingView* PictureBoard::add(const QString& title, const QString& accessible_name) {
    auto* view = new DrawingView(this);
    view->setAccessibleName(accessible_name);
    view->installEventFilter(this);
    views_.push_back(view);
    tabs_->addTab(title);
    arrange();
    return view;
}

DrawingView& PictureBoard::current() {
    return *views_.at(static_cast<std::size_t>(std::max(0, tabs_->currentIndex())));
}

void PictureBoard::show_picture(int index) {
    tabs_->setCurrentIndex(index);
}

bool PictureBoard::roomy() const {
    return views_.size() > 1 && width() >= kRoomyWidth && height() >= kRoomyHeight;
}

void PictureBoard::arrange() {
    const bool all = roomy();
    tabs_->setVisible(!all);
    const int top = all ? 0 : tabs_->sizeHint().height();
    tabs_->setGeometry(0, 0, width(), top);
    const int columns = all ? 2 : 1;
    const int rows = all ? static_cast<int>(views_.size() + 1) / 2 : 1;
    const int wide = (width() - kGap * (columns - 1)) / columns;
    const int high = (height() - top - kGap * (rows - 1)) / rows;
    for (int i = 0; i < static_cast<int>(views_.size()); ++i) {
        DrawingView* view = views_[static_cast<std::size_t>(i)];
        const int place = all ? i : 0;
        view->setGeometry(place % columns * (wide + kGap), top + place / columns * (high + kGap),
                          wide, high);
        view->setVisible(all || i == tabs_->currentIndex());
    }
}

void PictureBoard::resizeEvent(QResizeEvent*) {
    arrange();
}

bool PictureBoard::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::MouseButtonPress) {
        for (int i = 0; i < static_cast<int>(views_.size()); ++i) {
            if (views_[static_cast<std::size_t>(i)] == watched) {
                tabs_->setCurrentIndex(i);
            }
        }
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace eyeroof::gui
