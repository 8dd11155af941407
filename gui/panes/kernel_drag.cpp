#include "gui/panes/kernel_drag.hpp"

#include <QAbstractItemView>
#include <QApplication>
#include <QDrag>
#include <QDropEvent>
#include <QMimeData>
#include <QMouseEvent>

namespace eyeroof::gui {

namespace {

constexpr const char* kMime = "application/x-eyeroof-kernels";

} // namespace

std::unique_ptr<QMimeData> kernels_mime(const QStringList& kernels) {
    auto data = std::make_unique<QMimeData>();
    data->setData(kMime, kernels.join('\n').toUtf8());
    data->setText(kernels.join('\n'));
    return data;
}

QStringList kernels_in(const QMimeData& data) {
    return QString::fromUtf8(data.data(kMime)).split('\n', Qt::SkipEmptyParts);
}

KernelDrag::KernelDrag(QAbstractItemView* view, std::function<QStringList(int)> kernels)
    : QObject(view), view_(view), kernels_(std::move(kernels)) {
    view->viewport()->installEventFilter(this);
}

bool KernelDrag::eventFilter(QObject*, QEvent* event) {
    if (event->type() == QEvent::MouseButtonPress) {
        const auto* mouse = static_cast<QMouseEvent*>(event);
        pressed_ = mouse->position().toPoint();
        row_ = mouse->button() == Qt::LeftButton ? view_->indexAt(pressed_).row() : -1;
    } else if (event->type() == QEvent::MouseButtonRelease) {
        row_ = -1;
    } else if (event->type() == QEvent::MouseMove && row_ >= 0) {
        const auto* mouse = static_cast<QMouseEvent*>(event);
        const int moved = (mouse->position().toPoint() - pressed_).manhattanLength();
        const QStringList kernels = kernels_(row_);
        if (!(mouse->buttons() & Qt::LeftButton) || kernels.isEmpty() ||
            moved < QApplication::startDragDistance()) {
            return false;
        }
        row_ = -1;
        auto* drag = new QDrag(view_);
        drag->setMimeData(kernels_mime(kernels).release());
        drag->exec(Qt::LinkAction);
        return true;
    }
    return false;
}

KernelDrop::KernelDrop(QAbstractItemView* view, std::function<QString(int)> layer)
    : QObject(view), view_(view), layer_(std::move(layer)) {
    view->setAcceptDrops(true);
    view->viewport()->setAcceptDrops(true);
    view->viewport()->installEventFilter(this);
}

QString KernelDrop::layer_at(QPoint place) const {
    const QModelIndex index = view_->indexAt(place);
    return index.isValid() ? layer_(index.row()) : QString();
}

bool KernelDrop::eventFilter(QObject*, QEvent* event) {
    const bool enters = event->type() == QEvent::DragEnter;
    if (!enters && event->type() != QEvent::DragMove && event->type() != QEvent::Drop) {
        return false;
    }
    auto* drop = static_cast<QDropEvent*>(event); // the others are such events, too
    const QStringList kernels = kernels_in(*drop->mimeData());
    if (kernels.isEmpty()) {
        return false; // a file: the window's
    }
    const QString layer = layer_at(drop->position().toPoint());
    drop->setDropAction(Qt::LinkAction);
    enters || !layer.isEmpty() ? drop->accept() : drop->ignore();
    if (event->type() == QEvent::Drop && !layer.isEmpty()) {
        emit dropped(kernels, layer);
    }
    return true;
}

} // namespace eyeroof::gui
