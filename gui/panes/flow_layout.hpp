// Lays widgets out in lines that wrap, like words.
#pragma once

#include <QLayout>
#include <QList>

namespace eyeroof::gui {

class FlowLayout : public QLayout {
    Q_OBJECT

  public:
    explicit FlowLayout(QWidget* parent = nullptr, int spacing = 4);
    ~FlowLayout() override;

    void addItem(QLayoutItem* item) override;
    int count() const override;
    QLayoutItem* itemAt(int index) const override;
    QLayoutItem* takeAt(int index) override;
    Qt::Orientations expandingDirections() const override { return {}; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    QSize minimumSize() const override;
    QSize sizeHint() const override;
    void setGeometry(const QRect& rect) override;

  private:
    int arrange(const QRect& rect, bool apply) const; // height that it takes

    QList<QLayoutItem*> items_;
};

} // namespace eyeroof::gui
