// Working at the desk: wrong values, keys from everywhere, unsaved work, titles, precisions that a
// machine lacks, errors that go with their cause, menus; without a screen.
#include "base/units.hpp"
#include "gui/jobs/precisions.hpp"
#include "gui/panes/upgrade_form.hpp"
#include "hwdb/catalog.hpp"
#include "tests/gui/registry.hpp"
#include "tests/gui/window_tools.hpp"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QMessageBox>
#include <QPushButton>
#include <QStandardItemModel>
#include <QTableView>
#include <QTemporaryDir>
#include <QTextBrowser>
#include <QTimer>

namespace test_gui_desk {

using namespace eyeroof;               // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui;          // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui::testing; // NOLINT(google-build-using-namespace)

class TestDesk : public QObject {
    Q_OBJECT

  private slots:
    void a_wrong_value_stays_with_its_reason();
    void bandwidths_are_read_a_second_and_a_cycle();
    void undo_is_heard_in_every_field();
    void unsaved_work_is_asked_for();
    void the_title_says_which_file_and_whether_it_changed();
    void tab_leaves_tables_and_focus_is_seen();
    void points_are_walked_through_by_keys();
    void the_filter_ignores_case();
    void a_missing_precision_is_greyed_with_the_reason();
    void errors_name_their_gpu_once_and_go_with_their_cause();
    void menus_have_new_recent_theme_layout_and_help();
    void a_session_brings_its_theme_and_keeps_the_chosen_one();
};

namespace {

QLineEdit* field(MainWindow& window, const char* name) {
    return window.what_if().findChild<QLineEdit*>(QString(name) + " value");
}

void enter(QLineEdit& field, const char* text) {
    field.setFocus();
    field.selectAll();
    QTest::keyClicks(&field, text);
    QTest::keyClick(&field, Qt::Key_Return);
}

// Presses a button of the question that comes up.
void answer_with(QMessageBox::StandardButton button, bool& asked) {
    QTimer::singleShot(0, [button, &asked] {
        if (auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget())) {
            asked = true;
            box->button(button)->click();
        }
    });
}

QAction* action(MainWindow& window, const QString& text) {
    for (QAction* candidate : window.findChildren<QAction*>()) {
        if (QString(candidate->text()).remove('&') == text) {
            return candidate;
        }
    }
    return nullptr;
}

QStringList told(MainWindow& window) {
    QStringList messages;
    for (int i = 0; i < window.errors().topLevelItemCount(); ++i) {
        messages << window.errors().topLevelItem(i)->text(0);
    }
    return messages;
}

} // namespace

void TestDesk::a_wrong_value_stays_with_its_reason() {
    MainWindow window(folders());
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb"})));
    QLineEdit& number = *field(window, "DRAM bandwidth");
    const QColor usual = number.palette().color(QPalette::Text);
    enter(number, "fast");
    QCOMPARE(number.text(), QString("fast"));
    QVERIFY(number.palette().color(QPalette::Text) != usual);
    const auto* why = window.what_if().findChild<QLabel*>("wrong value");
    QVERIFY(!why->isHidden() && why->text().contains("DRAM bandwidth"));
    QVERIFY(!window.what_if().is_changed());
    enter(number, "1.2 TB/s"); // corrected
    QVERIFY(why->isHidden());
    QCOMPARE(number.palette().color(QPalette::Text), usual);
    QCOMPARE(window.what_if().changes().at(0).value, 1.2e12);
    enter(number, "nonsense");
    QVERIFY(!why->isHidden());
    slider(window, "DRAM bandwidth")->setValue(7); // overruled
    QVERIFY(why->isHidden());
}

void TestDesk::bandwidths_are_read_a_second_and_a_cycle() {
    MainWindow window(folders());
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    enter(*field(window, "DRAM link bandwidth"), "960 MB/s"); // at 200 MHz
    QCOMPARE(window.what_if().changes().at(0).value, 4.8);
    enter(*field(window, "DRAM link bandwidth"), "3 B/cycle");
    QCOMPARE(window.what_if().changes().at(0).value, 3.0);
}

void TestDesk::undo_is_heard_in_every_field() {
    MainWindow window(folders());
    window.show();
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    QVERIFY(open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb"})));
    QLineEdit& number = *field(window, "DRAM bandwidth");
    enter(number, "1.2 TB/s");
    QVERIFY(window.what_if().is_changed());
    number.setFocus();
    QTest::keyClick(&number, Qt::Key_Z, Qt::ControlModifier);
    QVERIFY(!window.what_if().is_changed());
    slider(window, "DRAM bandwidth")->setValue(9);
    auto* filter = window.findChild<QLineEdit*>("filter");
    filter->setFocus();
    QTest::keyClicks(filter, "fc"); // what was typed there is its own to undo
    QTest::keyClick(filter, Qt::Key_Z, Qt::ControlModifier);
    QVERIFY(window.what_if().is_changed());
    window.table().setFocus();
    QTest::keyClick(&window.table(), Qt::Key_Z, Qt::ControlModifier);
    QVERIFY(!window.what_if().is_changed());
}

void TestDesk::unsaved_work_is_asked_for() {
    QTemporaryDir folder;
    QSettings settings(folder.filePath("settings.ini"), QSettings::IniFormat);
    MainWindow window(folders());
    window.remember_in(settings);
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb"})));
    bool asked = false;
    answer_with(QMessageBox::Cancel, asked);
    QVERIFY(answered(window, [&] { slider(window, "DRAM bandwidth")->setValue(9); }));
    answer_with(QMessageBox::Cancel, asked);
    QVERIFY(!window.close()); // it stays
    QVERIFY(asked && window.isVisible());
    window.save_session(folder.filePath("s.eyeroof.yaml"));
    asked = false;
    answer_with(QMessageBox::Cancel, asked);
    QVERIFY(window.close()); // nothing to be lost
    QVERIFY(!asked);
}

void TestDesk::the_title_says_which_file_and_whether_it_changed() {
    QTemporaryDir folder;
    MainWindow window(folders());
    QVERIFY(open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb"})));
    QVERIFY2(window.windowTitle().contains("alexnet on v100-sxm2-16gb"),
             qPrintable(window.windowTitle()));
    QVERIFY(!window.isWindowModified());
    window.save_session(folder.filePath("mine.eyeroof.yaml"));
    QVERIFY(window.windowTitle().startsWith("mine.eyeroof.yaml"));
    QVERIFY(answered(window, [&] { slider(window, "DRAM bandwidth")->setValue(9); }));
    QVERIFY(window.isWindowModified());
    QVERIFY(answered(window, [&] { window.undo(); }));
    QVERIFY(!window.isWindowModified());
    MainWindow again(folders());
    QVERIFY(answered(again, [&] { again.open(folder.filePath("mine.eyeroof.yaml")); }));
    QVERIFY(again.windowTitle().startsWith("mine.eyeroof.yaml") && !again.isWindowModified());
}

void TestDesk::tab_leaves_tables_and_focus_is_seen() {
    MainWindow window(folders());
    window.show();
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    QVERIFY(open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb"})));
    window.table().setFocus();
    QVERIFY(window.table().hasFocus());
    QTest::keyClick(&window.table(), Qt::Key_Tab);
    QVERIFY(!window.table().hasFocus());
    for (QWidget* view :
         {static_cast<QWidget*>(&window.plot()), static_cast<QWidget*>(&window.ladder())}) {
        window.table().setFocus();
        QCoreApplication::processEvents();
        const QImage without = view->grab().toImage();
        view->setFocus();
        QCoreApplication::processEvents();
        QVERIFY(view->grab().toImage() != without);
    }
}

void TestDesk::points_are_walked_through_by_keys() {
    MainWindow window(folders());
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb"})));
    const auto& points = window.plot().scene().points;
    QTest::keyClick(&window.plot(), Qt::Key_N); // the heaviest is the last
    QCOMPARE(*window.plot().view().selection.begin(), points.back().id);
    QTest::keyClick(&window.plot(), Qt::Key_N);
    QCOMPARE(*window.plot().view().selection.begin(), points[points.size() - 2].id);
    QTest::keyClick(&window.plot(), Qt::Key_P);
    QCOMPARE(*window.plot().view().selection.begin(), points.back().id);
    QTest::keyClick(&window.plot(), Qt::Key_P); // around
    QCOMPARE(*window.plot().view().selection.begin(), points.front().id);
}

void TestDesk::the_filter_ignores_case() {
    MainWindow window(folders());
    QVERIFY(open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb"})));
    auto* filter = window.findChild<QLineEdit*>("filter");
    filter->setText("fc[67]");
    QCOMPARE(window.plot().scene().points.size(), std::size_t{2});
    filter->setText("FC[67]");
    QCOMPARE(window.plot().scene().points.size(), std::size_t{2});
}

void TestDesk::a_missing_precision_is_greyed_with_the_reason() {
    const auto v100 = hwdb::load_machine("v100-sxm2-16gb", folders().machines).value();
    QVERIFY(why_not(v100, model::DataType::fp16).isEmpty());
    QVERIFY(why_not(v100, model::DataType::bf16).contains("has no units for bf16; it has"));
    MainWindow window(folders());
    QVERIFY(open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb"})));
    auto* box = window.findChild<QComboBox*>("precision");
    const auto item = [&](const char* type) {
        return qobject_cast<QStandardItemModel*>(box->model())->item(box->findData(type));
    };
    QVERIFY(item("fp16")->isEnabled() && !item("bf16")->isEnabled());
    QVERIFY(item("bf16")->toolTip().contains("no units for bf16"));
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    QVERIFY(item("bf16")->isEnabled() && item("bf16")->toolTip().isEmpty());
}

void TestDesk::errors_name_their_gpu_once_and_go_with_their_cause() {
    MainWindow window(folders());
    window.show_page("upgrade");
    analysis::UpgradeQuestion question;
    question.networks = {{"alexnet", 1.0}};
    question.from = {"v100-sxm2-16gb", model::DataType::bf16, {}, {}};
    question.to = {{"a100-sxm-40gb", {}, {}, {}}, {"h100-sxm-80gb", {}, {}, {}}};
    QSignalSpy judged(&window.upgrade(), &UpgradePane::judged);
    window.upgrade().ask(question);
    QTRY_COMPARE_WITH_TIMEOUT(told(window).size(), 1, kPatience_ms);
    QVERIFY2(told(window)[0].contains("V100") && told(window)[0].contains("bf16"),
             qPrintable(told(window)[0]));
    question.from.data_type.reset();
    window.upgrade().ask(question);
    QTRY_COMPARE_WITH_TIMEOUT(window.upgrade().upgrades().size(), std::size_t{2}, kPatience_ms);
    QVERIFY2(told(window).isEmpty(), qPrintable(told(window).join("\n")));
}

void TestDesk::menus_have_new_recent_theme_layout_and_help() {
    QTemporaryDir folder;
    const QPalette before = QApplication::palette();
    QSettings settings(folder.filePath("settings.ini"), QSettings::IniFormat);
    const QString file = written(folder.filePath("s.eyeroof.yaml"),
                                 "eyeroof: session/1\nnetwork: alexnet\nmachines: [l4]\n");
    MainWindow window(folders());
    window.remember_in(settings);
    window.show();
    QVERIFY(answered(window, [&] { window.open(file); }));
    QVERIFY(window.findChild<QDockWidget*>("layers")->isVisible());
    window.findChild<QDockWidget*>("layers")->hide();
    action(window, "Reset layout")->trigger();
    QVERIFY(window.findChild<QDockWidget*>("layers")->isVisible());
    action(window, "Dark")->trigger();
    QTRY_VERIFY(window.palette().color(QPalette::Window).lightness() < 100);
    QCOMPARE(settings.value("theme").toString(), QString("dark"));
    action(window, "Light")->trigger();
    QTRY_VERIFY(window.palette().color(QPalette::Window).lightness() > 150);
    action(window, "As the desktop")->trigger();
    QCOMPARE(QApplication::palette().color(QPalette::Window), before.color(QPalette::Window));
    // again: the start page, with what was open last
    action(window, "New")->trigger();
    QVERIFY(window.reports().empty());
    auto* recent = window.findChild<QLabel*>("recent files");
    QVERIFY(recent->isVisible() && recent->text().contains("s.eyeroof.yaml"));
    QVERIFY(answered(window, [&] { emit recent->linkActivated(file); }));
    QTRY_COMPARE_WITH_TIMEOUT(window.reports().size(), std::size_t{1}, kPatience_ms);
    action(window, "Documentation")->trigger();
    const auto* pages = window.findChild<QTextBrowser*>();
    QVERIFY(pages != nullptr && pages->toPlainText().contains("desktop explorer"));
    action(window, "About Eyeroof")->trigger();
    QVERIFY(window.findChild<QMessageBox*>("about") != nullptr);
}

void TestDesk::a_session_brings_its_theme_and_keeps_the_chosen_one() {
    const QTemporaryDir folder;
    QSettings settings(folder.filePath("settings.ini"), QSettings::IniFormat);
    MainWindow window(folders());
    window.remember_in(settings);
    window.show();
    const auto lightness = [&] { return window.palette().color(QPalette::Window).lightness(); };
    QVERIFY(lightness() > 128);
    QVERIFY(!window.session().view.theme); // as the desktop has it
    report::Session dark = session_of("alexnet", {"l4"});
    dark.view.theme = report::Theme::dark;
    QVERIFY(open_and_wait(window, dark));
    QVERIFY(lightness() < 128);
    QVERIFY(window.findChild<QAction*>("theme dark")->isChecked());
    QVERIFY(window.session().view.theme == report::Theme::dark);
    QVERIFY(!settings.contains("theme")); // a guest's wish
    QVERIFY(open_and_wait(window, session_of("alexnet", {"l4"})));
    QVERIFY(lightness() < 128); // which says nothing of it
    window.findChild<QAction*>("theme light")->trigger();
    QTRY_VERIFY(lightness() > 128);
    QVERIFY(window.session().view.theme == report::Theme::light);
    window.findChild<QAction*>("theme desktop")->trigger();
}

EYEROOF_WINDOW_TEST(TestDesk)

} // namespace test_gui_desk

#include "test_desk.moc"
