// Kernels that are dragged from a table onto a row of another: matched to a layer by hand.
#pragma once

#include <QObject>
#include <QPoint>
#include <QStringList>
#include <functional>
#include <memory>

class QAbstractItemView;
class QMimeData;

namespace eyeroof::gui {

// What a drag of kernels carries: their whole names.
std::unique_ptr<QMimeData> kernels_mime(const QStringList& kernels);
QStringList kernels_in(const QMimeData& data); // empty: others dragged something else

// Rows of `view` can be dragged where `kernels` names something for the pressed row.
class KernelDrag : public QObject {
    Q_OBJECT

  public:
    KernelDrag(QAbstractItemView* view, std::function<QStringList(int row)> kernels);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    QAbstractItemView* view_;
    std::function<QStringList(int)> kernels_;
    QPoint pressed_;
    int row_ = -1;
};

// Kernels may be dropped on rows of `view` for which `layer` names one.
class KernelDrop : public QObject {
    Q_OBJECT

  public:
    KernelDrop(QAbstractItemView* view, std::function<QString(int row)> layer);

  signals:
    void dropped(const QStringList& kernels, const QString& layer);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    QString layer_at(QPoint place) const;

    QAbstractItemView* view_;
    std::function<QString(int)> layer_;
};

} // namespace eyeroof::gui
