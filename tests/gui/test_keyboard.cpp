// The panes by keyboard alone: Tab reaches everything that can be used and leaves it again, and
// what has the keyboard looks different; without a screen.
#include "gui/panes/pane.hpp"
#include "tests/gui/registry.hpp"
#include "tests/gui/two_runs.hpp"
#include "tests/gui/window_tools.hpp"

#include <QAbstractItemView>
#include <QApplication>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QTemporaryDir>

namespace test_gui_keyboard {

using namespace eyeroof;               // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui;          // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui::testing; // NOLINT(google-build-using-namespace)

class TestKeyboard : public QObject {
    Q_OBJECT

  private slots:
    void tab_goes_through_every_pane_data();
    void tab_goes_through_every_pane();
};

namespace {

// What somebody may use in a pane.
QList<QWidget*> usable_in(QWidget& pane) {
    QList<QWidget*> all;
    for (QWidget* widget : pane.findChildren<QWidget*>()) {
        const auto* rows = qobject_cast<QAbstractItemView*>(widget);
        const bool empty =
            rows != nullptr && (rows->model() == nullptr || rows->model()->rowCount() == 0);
        const bool by_tab = !empty && (widget->focusPolicy() & Qt::TabFocus) != 0;
        if (by_tab && widget->isVisible() && widget->isEnabled() &&
            widget->focusProxy() == nullptr && !widget->inherits("QLabel") &&
            !widget->inherits("QSpinBoxLineEdit")) {
            all << widget;
        }
    }
    return all;
}

QString told(const QWidget& widget) {
    return QString("%1 '%2'").arg(widget.metaObject()->className(), widget.objectName());
}

QImage look_of(QWidget& widget) {
    QCoreApplication::processEvents();
    return widget.grab().toImage();
}

} // namespace

void TestKeyboard::tab_goes_through_every_pane_data() {
    QTest::addColumn<QString>("page");
    for (const char* page : {"timeline", "memory", "scaling", "sparsity", "fusion", "measurements",
                             "parameters", "advice", "baseline"}) {
        QTest::newRow(page) << page;
    }
}

void TestKeyboard::tab_goes_through_every_pane() {
    QFETCH(QString, page);
    const QTemporaryDir folder;
    const QString run = written(folder.filePath("run.csv"), kRun);
    MainWindow window(folders());
    window.resize(1600, 1000);
    window.show();
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    QVERIFY(answered(window, [&] { drop(window, run); }));
    if (page == "baseline") { // whose table has rows once something is pinned
        window.findChild<QPushButton*>("pin baseline")->click();
    }
    Pane* pane = nullptr;
    for (Pane* candidate : window.findChildren<Pane*>()) {
        pane = candidate->name() == page ? candidate : pane;
    }
    QVERIFY(pane != nullptr);
    window.show_page(page);
    QTest::qWait(1500); // its answer brings tables
    QList<QWidget*> left = usable_in(*pane);
    QVERIFY(!left.isEmpty());
    const QList<QWidget*> all = left;
    left.front()->setFocus(Qt::TabFocusReason);
    for (int presses = 0; presses < 200 && !left.isEmpty(); ++presses) {
        QWidget* now = QApplication::focusWidget();
        QVERIFY(now != nullptr);
        left.removeAll(now);
        QTest::keyClick(now, Qt::Key_Tab);
        // in a text it goes from link to link
        QVERIFY2(QApplication::focusWidget() != now || qobject_cast<QLabel*>(now) != nullptr,
                 qPrintable("Tab stays in " + told(*now)));
    }
    QVERIFY2(left.isEmpty(), qPrintable("not reached: " + told(*left.value(0, pane))));
    for (QWidget* widget : all) {
        window.table().setFocus();
        const QImage before = look_of(*widget);
        widget->setFocus(Qt::TabFocusReason);
        QVERIFY2(look_of(*widget) != before, qPrintable("looks the same: " + told(*widget)));
    }
}

EYEROOF_WINDOW_TEST(TestKeyboard)

} // namespace test_gui_keyboard

#include "test_keyboard.moc"
