// Hands of a user: clicks and keys on what is in sight, counted.
#pragma once

#include "tests/gui/window_tools.hpp"

#include <QAbstractItemView>
#include <QApplication>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QMouseEvent>
#include <QTabBar>
#include <QTabWidget>
#include <QTableView>

namespace eyeroof::gui::testing {

// The pointer over a place of a widget, which has handled it on return. QTest::mouseMove moves the
// cursor of the screen, whose event comes at some time later, or never if the cursor is there.
inline void hover(QWidget& widget, QPoint at) {
    QMouseEvent moved(QEvent::MouseMove, QPointF(at), QPointF(widget.mapToGlobal(at)), Qt::NoButton,
                      Qt::NoButton, Qt::NoModifier);
    QApplication::sendEvent(&widget, &moved);
}

class Hands {
  public:
    int clicks = 0, keys = 0, drops = 0;

    void click(QWidget& widget, QPoint at, Qt::KeyboardModifiers held = {}) {
        QVERIFY2(widget.isVisible(), qPrintable(widget.objectName()));
        ++clicks;
        QTest::mouseClick(&widget, Qt::LeftButton, held, at);
    }
    void click(QWidget& widget) { click(widget, widget.rect().center()); }

    void press(QWidget& widget, Qt::Key key, Qt::KeyboardModifiers held = {}) {
        ++keys;
        QTest::keyClick(&widget, key, held);
    }
    // Every letter is a key.
    void type(QWidget& widget, const QString& text) {
        for (const QChar letter : text) {
            ++keys;
            QTest::keyClick(&widget, letter.toLatin1());
        }
    }
    void drop(MainWindow& window, const QString& file) {
        ++drops;
        testing::drop(window, file);
    }

    // A tab in the middle by what stands on it.
    void tab(MainWindow& window, const QString& text) {
        auto* tabs = qobject_cast<QTabWidget*>(window.centralWidget());
        for (int i = 0; i < tabs->count(); ++i) {
            if (tabs->tabText(i) == text) {
                return click(*tabs->tabBar(), tabs->tabBar()->tabRect(i).center());
            }
        }
        QFAIL(qPrintable("no tab " + text));
    }
    // A dock's tab by what stands on it.
    void dock_tab(MainWindow& window, const QString& text) {
        for (QTabBar* bar : window.findChildren<QTabBar*>()) {
            for (int i = 0; i < bar->count() && bar->isVisible(); ++i) {
                if (bar->tabText(i) == text) {
                    return click(*bar, bar->tabRect(i).center());
                }
            }
        }
        QFAIL(qPrintable("no tab " + text));
    }
    // The list opens, the entry is clicked.
    void choose(QComboBox& box, const QVariant& value) {
        const int index = box.findData(value);
        QVERIFY2(index >= 0, qPrintable(value.toString()));
        ++clicks;
        box.showPopup();
        QAbstractItemView& list = *box.view();
        list.scrollTo(box.model()->index(index, 0));
        click(*list.viewport(), list.visualRect(box.model()->index(index, 0)).center());
        if (box.currentIndex() != index) { // lists without a screen do not always close
            box.hidePopup();
            box.setCurrentIndex(index);
            emit box.activated(index);
        }
    }
    // The link of a label that leads to `target`: the pointer searches for it, the click is one. A
    // label may hold other links, such as one that opens a dialog.
    void link(QLabel& label, const QString& target) {
        QVERIFY2(label.isVisible() && label.text().contains("\"" + target), qPrintable(target));
        QString under;
        const auto connection =
            QObject::connect(&label, &QLabel::linkHovered, [&](const QString& to) { under = to; });
        QSignalSpy followed(&label, &QLabel::linkActivated);
        ++clicks;
        for (int y = 4; y < label.height() && followed.isEmpty(); y += 6) {
            for (int x = 2; x < label.width() && followed.isEmpty(); x += 6) {
                hover(label, {x, y});
                if (under.startsWith(target)) {
                    QTest::mouseClick(&label, Qt::LeftButton, {}, {x, y});
                }
            }
        }
        QObject::disconnect(connection);
        if (followed.isEmpty()) { // a platform that does not report where the pointer is
            emit label.linkActivated(target);
        }
    }
    // A row of a table by the text of a column.
    void row(QTableView& table, int column, const QString& text, Qt::KeyboardModifiers held = {}) {
        const QAbstractItemModel& rows = *table.model();
        for (int i = 0; i < rows.rowCount(); ++i) {
            const QModelIndex cell = rows.index(i, column);
            if (cell.data().toString() == text) {
                table.scrollTo(cell);
                return click(*table.viewport(), table.visualRect(cell).center(), held);
            }
        }
        QFAIL(qPrintable("no row " + text));
    }
    void header(QTableView& table, int column) {
        QHeaderView& header = *table.horizontalHeader();
        click(*header.viewport(),
              {header.sectionViewportPosition(column) + 8, header.height() / 2});
    }
};

} // namespace eyeroof::gui::testing
