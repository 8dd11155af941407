// Large traces: the window answers while they are read, laid over the prediction, and drawn.
#include "gui/jobs/trace_origin.hpp"
#include "gui/panes/answer_table.hpp"
#include "gui/panes/asking_pane.hpp"
#include "tests/gui/registry.hpp"
#include "tests/gui/window_tools.hpp"
#include "tests/traces.hpp"

#include <QAction>
#include <QFileDialog>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QSpinBox>
#include <QTemporaryDir>
#include <map>
#include <set>

namespace test_gui_reading {

using namespace eyeroof;               // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui;          // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui::testing; // NOLINT(google-build-using-namespace)

class TestReading : public QObject {
    Q_OBJECT

  private slots:
    void a_large_trace_never_blocks_the_window();
    void reading_a_large_trace_is_cancelled_at_once();
    void two_traces_that_are_opened_together_stand_under_their_own_roofs();
    void no_menu_has_a_letter_twice();
    void scaling_takes_the_batch_of_the_toolbar();
    void an_empty_page_is_not_exported_to_a_file();
};

namespace {

// Steps of 100 products each: more launches than the measurements pane sums within a frame.
QString large_trace(const QTemporaryDir& folder) {
    constexpr int kSteps = 250, kOperators = 100;
    tests::TraceText trace;
    for (int number = 1; number <= kSteps; ++number) {
        trace.step(number, kOperators);
        for (int k = 0; k < kOperators; ++k) {
            trace.op("aten::mm", "[[1024,1024],[1024,1024]]", "[\"c10::Half\",\"c10::Half\"]");
            trace.kernel("sm90_xmma_gemm_f16f16_f16f32_f32_nn_n_tilesize128x128x64", 12.5);
            trace.next();
        }
    }
    return written(folder.filePath("large.json"), QByteArray::fromStdString(trace.text()));
}

} // namespace

// What takes long is under way when a call returns, and its result comes by the event loop: this
// holds at any speed. tests/bench/bench_scene measures how long the loop is held.
void TestReading::a_large_trace_never_blocks_the_window() {
    const QTemporaryDir folder;
    const QString file = large_trace(folder);
    MainWindow window(folders());
    show(window);
    const auto* cancel = window.findChild<QPushButton*>("cancel");
    QVERIFY(answered(window, [&] {
        drop(window, file);
        QVERIFY(cancel->isVisible()); // being read
        QVERIFY(window.plot().scene().points.empty() && window.reports().empty());
    }));
    QVERIFY(!window.plot().scene().points.empty());
    // beside a network: read, laid over the prediction, and summed
    QVERIFY(open_and_wait(window, session_of("resnet50", {"h100-sxm-80gb"})));
    const auto measured = [&] { return window.reports().at(0).measured.has_value(); };
    QSignalSpy examined(&window.examiner(), &Examiner::answered); // by its own thread
    QVERIFY(answered(window, [&] {
        drop(window, file);
        QVERIFY(cancel->isVisible() && !measured());
    }));
    QVERIFY(measured() && examined.size() == 1);
    auto* kernels = window.findChild<AnswerTableView*>("measured kernels");
    window.show_page("measurements");
    QTRY_VERIFY_WITH_TIMEOUT(kernels->row_count() > 0, kPatience_ms);
    auto* files = window.findChild<AnswerTableView*>("measurement files");
    auto* head = window.findChild<QLabel*>("measurements head");
    head->clear();
    files->selectRow(0); // asks for its kernels
    QVERIFY(head->text().isEmpty());
    QTRY_VERIFY_WITH_TIMEOUT(head->text().contains("large.json"), kPatience_ms);
    window.show_page("timeline");
    QVERIFY(window.findChild<AskingPane*>("timeline pane")->busy());
    QVERIFY(answered(window, [&] {
        slider(window, "DRAM bandwidth")->setValue(30);
        QVERIFY(window.examiner().busy());
    }));
}

void TestReading::reading_a_large_trace_is_cancelled_at_once() {
    const QTemporaryDir folder;
    const QString file = large_trace(folder);
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("mlp-2layer", {"t4"})));
    const report::Session before = window.session();
    drop(window, file);
    auto* cancel = window.findChild<QPushButton*>("cancel");
    QVERIFY(cancel->isVisible());
    cancel->click();
    QVERIFY(!cancel->isVisible()); // before the reader looks, and before the event loop turns
    QVERIFY(window.session() == before);
    // the reader stops at its next report, so that another file need not wait for it
    std::stop_source stop;
    stop.request_stop();
    const ReadFile read = read_file(file.toStdString(), folders(), stop.get_token());
    QVERIFY(!read.opened && read.opened.diagnostics().begin()->code == "cancelled");
}

void TestReading::two_traces_that_are_opened_together_stand_under_their_own_roofs() {
    const auto recorded = [](const char* gpu) {
        return QString::fromStdString(
            (std::filesystem::path(tests::source_dir()) / "profiles/recorded" / gpu /
             "networks/resnet50-inference-fp16-nhwc.json.gz")
                .string());
    };
    MainWindow window(folders());
    show(window);
    const QStringList both = {recorded("h100-sxm-80gb"), recorded("h200-sxm-141gb")};
    QVERIFY(answered(window, [&] { window.open(both); }));
    QCOMPARE(window.session().machines,
             (std::vector<std::string>{"h100-sxm-80gb", "h200-sxm-141gb"}));
    std::map<std::string, int> measured; // by machine
    for (const report::PlotPoint& point : window.plot().plot().points) {
        if (point.measured) {
            ++measured[point.machine];
            QCOMPARE(point.run, point.machine + "/networks/resnet50-inference-fp16-nhwc.json.gz");
        }
    }
    QCOMPARE(measured.size(), std::size_t{2});
    std::set<std::string> roofs; // that can be seen, by machine
    for (const report::SceneRoof& roof : window.plot().scene().roofs) {
        roofs.insert(roof.roof.machine);
    }
    QCOMPARE(roofs.size(), std::size_t{2});
}

void TestReading::no_menu_has_a_letter_twice() {
    MainWindow window(folders());
    for (const QAction* menu : window.menuBar()->actions()) {
        QStringList letters;
        for (const QAction* action : menu->menu()->actions()) {
            const auto at = action->text().indexOf('&');
            if (at >= 0 && action->text().mid(at + 1, 1) != "&") {
                letters << action->text().mid(at + 1, 1).toLower();
            }
        }
        QStringList once = letters;
        once.removeDuplicates();
        QVERIFY2(once == letters, qPrintable(menu->text() + ": " + letters.join(' ')));
    }
}

void TestReading::scaling_takes_the_batch_of_the_toolbar() {
    MainWindow window(folders());
    show(window);
    report::Session session = session_of("resnet50", {"a100-sxm-80gb"});
    session.scenario.batch = 48;
    QVERIFY(open_and_wait(window, session));
    window.show_page("scaling");
    auto* each = window.findChild<QSpinBox*>("scaling batch");
    QTRY_COMPARE(each->value(), 48);
    each->setValue(7); // what is entered here stays
    window.show_page("roofline");
    window.show_page("scaling");
    QCOMPARE(each->value(), 7);
    session.scenario.batch = 96;
    QVERIFY(open_and_wait(window, session));
    QTRY_COMPARE(each->value(), 96);
}

void TestReading::an_empty_page_is_not_exported_to_a_file() {
    MainWindow window(folders());
    show(window);
    for (QAction* action : window.findChildren<QAction*>()) {
        if (action->shortcut() == QKeySequence("Ctrl+E")) {
            action->trigger(); // no dialog waits for a name
        }
    }
    QCOMPARE(window.findChildren<QFileDialog*>().size(), 0);
    QCOMPARE(window.errors().topLevelItemCount(), 1);
    QVERIFY(window.errors().topLevelItem(0)->text(0).contains("nothing to export"));
}

EYEROOF_WINDOW_TEST(TestReading)

} // namespace test_gui_reading

#include "test_reading.moc"
