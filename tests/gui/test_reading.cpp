// Large traces: the window answers while they are read, laid over the prediction, and drawn.
#include "gui/jobs/trace_origin.hpp"
#include "tests/gui/registry.hpp"
#include "tests/gui/window_tools.hpp"
#include "tests/traces.hpp"

#include <QAbstractEventDispatcher>
#include <QAction>
#include <QElapsedTimer>
#include <QFileDialog>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QSpinBox>
#include <QTemporaryDir>
#include <ctime>
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

// The longest time that this thread worked without looking at its events, in seconds of the
// processor: other programs do not count.
class LongestBlock : public QObject {
  public:
    LongestBlock() {
        auto* events = QAbstractEventDispatcher::instance();
        connect(events, &QAbstractEventDispatcher::awake, this, [this] { take(); });
        connect(events, &QAbstractEventDispatcher::aboutToBlock, this, [this] { take(); });
        take();
        longest_s_ = 0.0;
    }
    double seconds() {
        take();
        return longest_s_;
    }

  private:
    void take() {
        timespec now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        const double at = static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
        longest_s_ = std::max(longest_s_, at - last_s_);
        last_s_ = at;
    }
    double last_s_ = 0.0, longest_s_ = 0.0;
};

// Steps of 100 products each, until the text has so many bytes.
QString large_trace(const QTemporaryDir& folder, std::size_t bytes) {
    constexpr int kOperators = 100;
    constexpr std::size_t kBytesOfOne = 480; // with its call and its kernel
    tests::TraceText trace;
    int number = 0;
    for (std::size_t i = 0; i < bytes / kBytesOfOne / kOperators; ++i) {
        trace.step(++number, kOperators);
        for (int k = 0; k < kOperators; ++k) {
            trace.op("aten::mm", "[[1024,1024],[1024,1024]]", "[\"c10::Half\",\"c10::Half\"]");
            trace.kernel("sm90_xmma_gemm_f16f16_f16f32_f32_nn_n_tilesize128x128x64", 12.5);
            trace.next();
        }
    }
    return written(folder.filePath("large.json"), QByteArray::fromStdString(trace.text()));
}

constexpr std::size_t kLarge = 40'000'000; // bytes, where nothing else is asked for

} // namespace

void TestReading::a_large_trace_never_blocks_the_window() {
    const int asked_MB = qEnvironmentVariableIntValue("EYEROOF_TRACE_MB");
    const QTemporaryDir folder;
    const QString file =
        large_trace(folder, asked_MB > 0 ? static_cast<std::size_t>(asked_MB) * 1'000'000 : kLarge);
    MainWindow window(folders());
    show(window);
    LongestBlock block;
    QElapsedTimer timer;
    timer.start();
    QVERIFY(answered(window, [&] { drop(window, file); }));
    const double read_s = block.seconds();
    qInfo("%lld MB: first points after %.1f s, longest block %.0f ms",
          QFileInfo(file).size() / 1'000'000, 1e-3 * static_cast<double>(timer.elapsed()),
          1e3 * read_s);
    QVERIFY(!window.plot().scene().points.empty());
    // beside a network, in every pane, and while a parameter is turned
    QVERIFY(open_and_wait(window, session_of("resnet50", {"h100-sxm-80gb"})));
    QVERIFY(answered(window, [&] { drop(window, file); }));
    for (const char* page : {"timeline", "measurements", "advice"}) {
        window.show_page(page);
        QTest::qWait(200);
    }
    QVERIFY(answered(window, [&] { slider(window, "DRAM bandwidth")->setValue(30); }));
    qInfo("beside a network: longest block %.0f ms", 1e3 * block.seconds());
    QVERIFY2(block.seconds() < 0.1, qPrintable(QString("%1 s").arg(block.seconds())));
}

void TestReading::reading_a_large_trace_is_cancelled_at_once() {
    const QTemporaryDir folder;
    const QString file = large_trace(folder, kLarge);
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("mlp-2layer", {"t4"})));
    const report::Session before = window.session();
    drop(window, file);
    auto* cancel = window.findChild<QPushButton*>("cancel");
    QVERIFY(cancel->isVisible());
    LongestBlock block;
    cancel->click();
    QVERIFY(!cancel->isVisible());
    QVERIFY(block.seconds() < 0.1);
    QVERIFY(window.session() == before);
    // the reader stops at once, so that another file need not wait for it
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
