// Six tasks of three kinds of users, from the first window to the answer, by hand: what they take
// in clicks and keys is asserted, so that no change makes them longer unnoticed.
#include "gui/panes/memory/memory_pane.hpp"
#include "gui/panes/timeline/timeline_pane.hpp"
#include "gui/panes/upgrade_form.hpp"
#include "tests/gui/hands.hpp"
#include "tests/gui/registry.hpp"
#include "tests/gui/two_runs.hpp"

#include <QLineEdit>
#include <QPushButton>
#include <QTemporaryDir>

namespace test_gui_tasks {

using namespace eyeroof;               // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui;          // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui::testing; // NOLINT(google-build-using-namespace)

class TestTasks : public QObject {
    Q_OBJECT

  private slots:
    void an_architect_asks_why_a_layer_is_slow_and_doubles_what_is_behind_it();
    void an_architect_searches_a_better_mapping();
    void an_engineer_asks_whether_another_gpu_pays();
    void an_engineer_asks_which_batch_of_training_fits();
    void an_analyst_asks_what_a_trace_holds_that_nobody_predicts();
    void an_analyst_compares_two_runs();
};

namespace {

void report(const char* task, const Hands& hands) {
    qInfo("%s: %d clicks, %d keys, %d drops", task, hands.clicks, hands.keys, hands.drops);
}

template <class Action> bool judged(MainWindow& window, Action action) {
    QSignalSpy spy(&window.upgrade(), &UpgradePane::judged);
    action();
    const auto there = [&] { return !window.upgrade().upgrades().empty(); };
    return QTest::qWaitFor(there, kPatience_ms);
}

} // namespace

void TestTasks::an_architect_asks_why_a_layer_is_slow_and_doubles_what_is_behind_it() {
    MainWindow window(folders());
    show(window);
    Hands hands;
    QVERIFY(answered(window,
                     [&] { hands.click(*window.findChild<QPushButton*>("entry accelerator")); }));
    hands.row(window.table(), LayerTable::name, "FC6");
    QVERIFY(window.ladder().isVisible());
    QTRY_VERIFY(window.steps().text().contains("behind it"));
    const double before = window.reports().front().total.time_s;
    auto* number = window.what_if().findChild<QLineEdit*>("DRAM link bandwidth value");
    QVERIFY(number != nullptr);
    hands.click(*number);
    hands.press(*number, Qt::Key_A, Qt::ControlModifier);
    hands.type(*number, "x2");
    QVERIFY(answered(window, [&] { hands.press(*number, Qt::Key_Return); }));
    QVERIFY(window.reports().front().total.time_s < before);
    report("slow layer", hands);
    QCOMPARE(hands.clicks, 3);
    QCOMPARE(hands.keys, 4);
}

void TestTasks::an_architect_searches_a_better_mapping() {
    MainWindow window(folders());
    show(window);
    Hands hands;
    QVERIFY(answered(window,
                     [&] { hands.click(*window.findChild<QPushButton*>("entry accelerator")); }));
    hands.row(window.table(), LayerTable::name, "CONV2");
    window.show_page("mapping"); // in front already in a window of this height, else a tab
    QSignalSpy found(&window, &MainWindow::searched);
    hands.click(*window.findChild<QPushButton*>("search"));
    QVERIFY(found.size() > 0 || found.wait(kPatience_ms));
    QVERIFY(!window.session().mappings.empty() ||
            window.findChild<QLabel*>("found")->text().size() > 0);
    report("better mapping", hands);
    QCOMPARE(hands.clicks, 3);
    QCOMPARE(hands.keys, 0);
}

void TestTasks::an_engineer_asks_whether_another_gpu_pays() {
    MainWindow window(folders());
    show(window);
    Hands hands;
    const auto fill = [&](const char* name, const QString& text) {
        auto* edit = window.findChild<QComboBox*>(name)->lineEdit();
        hands.type(*edit, text);
        hands.press(*edit, Qt::Key_Tab);
    };
    hands.click(*window.findChild<QComboBox*>("start runs")->lineEdit());
    fill("start runs", "resnet50");
    hands.press(*window.findChild<QComboBox*>("start phase"), Qt::Key_Down);
    hands.press(*window.findChild<QComboBox*>("start phase"), Qt::Key_Tab);
    fill("start from", "v100-sxm2-16gb");
    QVERIFY(judged(window, [&] {
        auto* to = window.findChild<QComboBox*>("start to")->lineEdit();
        hands.type(*to, "a100-sxm-40gb");
        hands.press(*to, Qt::Key_Return);
    }));
    QVERIFY(window.upgrade().isVisible());
    QCOMPARE(window.upgrade().upgrades().size(), std::size_t(1));
    QVERIFY(!window.upgrade().headline().isEmpty());
    report("another GPU", hands);
    QCOMPARE(hands.clicks, 1);
    QCOMPARE(hands.keys, 8 + 14 + 13 + 5); // three names, and between them
}

void TestTasks::an_engineer_asks_which_batch_of_training_fits() {
    MainWindow window(folders());
    show(window);
    Hands hands;
    auto* network = window.findChild<QComboBox*>("start network")->lineEdit();
    hands.click(*network);
    hands.type(*network, "resnet50");
    hands.press(*network, Qt::Key_Tab);
    auto* machine = window.findChild<QComboBox*>("start machine")->lineEdit();
    QVERIFY(answered(window, [&] {
        hands.type(*machine, "v100-sxm2-16gb");
        hands.press(*machine, Qt::Key_Return);
    }));
    QVERIFY(
        answered(window, [&] { hands.choose(*window.findChild<QComboBox*>("phase"), "adam"); }));
    hands.tab(window, "Memory");
    const auto& memory = *window.findChild<MemoryPane*>();
    QTRY_VERIFY_WITH_TIMEOUT(memory.answer() != nullptr && memory.answer()->of->scenario.training &&
                                 memory.answer()->largest_batch,
                             kPatience_ms);
    QVERIFY(*memory.answer()->largest_batch > 1);
    report("largest batch", hands);
    QCOMPARE(hands.clicks, 4);
    QCOMPARE(hands.keys, 8 + 14 + 2);
}

void TestTasks::an_analyst_asks_what_a_trace_holds_that_nobody_predicts() {
    QTemporaryDir folder;
    const QString run = written(folder.filePath("run.csv"), kRun);
    MainWindow window(folders());
    show(window);
    Hands hands;
    hands.drop(window, run);
    auto* asks = window.findChild<QComboBox*>("start measured on");
    QTRY_VERIFY(asks->isVisible()); // the file names no GPU
    QVERIFY(answered(window, [&] {
        hands.type(*asks->lineEdit(), "a100-sxm-40gb"); // it has the keyboard
        hands.press(*asks->lineEdit(), Qt::Key_Return);
    }));
    QVERIFY(window.plot().isVisible());
    auto* network = window.findChild<QComboBox*>("network")->lineEdit();
    hands.click(*network);
    QVERIFY(answered(window, [&] {
        hands.type(*network, "alexnet");
        hands.press(*network, Qt::Key_Return);
    }));
    hands.header(window.table(), LayerTable::unexplained);
    const auto& totals = *window.findChild<QLabel*>("totals");
    QVERIFY2(totals.text().contains("more of a step in kernels of no layer"),
             qPrintable(totals.text()));
    QCOMPARE(window.table().horizontalHeader()->sortIndicatorSection(),
             static_cast<int>(LayerTable::unexplained));
    report("what nobody predicts", hands);
    QCOMPARE(hands.drops, 1);
    QCOMPARE(hands.clicks, 2);
    QCOMPARE(hands.keys, 13 + 1 + 7 + 1);
}

void TestTasks::an_analyst_compares_two_runs() {
    QTemporaryDir folder;
    const QString run = written(folder.filePath("run.csv"), kRun);
    const QString faster = written(folder.filePath("faster.csv"), kFaster);
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    Hands hands;
    QVERIFY(answered(window, [&] { hands.drop(window, run); }));
    QVERIFY(answered(window, [&] { hands.drop(window, faster); }));
    hands.dock_tab(window, "Measurements");
    auto& files = *window.findChild<AnswerTableView*>("measurement files");
    hands.row(files, 0, "run.csv");
    hands.row(files, 0, "faster.csv", Qt::ControlModifier);
    auto& kernels = *window.findChild<AnswerTableView*>("measured kernels");
    QCOMPARE(kernels.row_count(), 4);
    report("two runs", hands);
    QCOMPARE(hands.drops, 2);
    QCOMPARE(hands.clicks, 3);
    QCOMPARE(hands.keys, 0);
}

EYEROOF_WINDOW_TEST(TestTasks)

} // namespace test_gui_tasks

#include "test_tasks.moc"
