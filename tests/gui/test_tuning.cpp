// Logs of tuning in the window: searches against each other, the best so far against trials.
#include "gui/panes/tuning/tuning_pane.hpp"
#include "report/session/session.hpp"
#include "tests/gui/registry.hpp"
#include "tests/gui/window_tools.hpp"

#include <QComboBox>
#include <QLabel>
#include <QTabWidget>
#include <QTemporaryDir>

namespace test_gui_tuning {

using namespace eyeroof;               // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui;          // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui::testing; // NOLINT(google-build-using-namespace)

class TestTuning : public QObject {
    Q_OBJECT

  private slots:
    void a_dropped_log_shows_its_searches();
    void a_layer_is_chosen_and_a_second_log_joins();
    void a_log_is_part_of_the_session_and_of_the_report();
    void a_broken_log_is_told_with_its_line();
};

namespace {

// Products of 64 x 48 x 32: 196,608 FLOP.
QByteArray trial(const char* layer, const char* search, int seed, int number, double cost_s) {
    const QByteArray outcome = cost_s > 0.0 ? QByteArray("\"times_s\":[") +
                                                  QByteArray::number(cost_s, 'g', 9) +
                                                  "],\"cost\":" + QByteArray::number(cost_s, 'g', 9)
                                            : QByteArray("\"times_s\":[],\"error\":\"timeout\"");
    return QByteArray(
               "{\"schema\":\"eyeroof/trial/1\",\"template\":\"cpu-blocked/1\",\"layer\":\"") +
           layer +
           "\",\"shape\":{\"convolution\":false,\"images\":1,\"height\":1,\"width\":64,"
           "\"channels\":32,\"outputs\":48,\"taps\":[1,1],\"stride\":[1,1],\"pad\":[0,0],"
           "\"dilation\":[1,1]},\"knobs\":{\"tile_rows\":3,\"unroll\":" +
           QByteArray::number(number + 1) +
           "},\"round\":0,\"trial\":" + QByteArray::number(number) +
           ",\"predicted\":0.0,\"at_s\":" + QByteArray::number(0.5 * (number + 1)) + "," + outcome +
           ",\"origin\":{\"target\":\"cpu\",\"machine\":\"a processor\",\"cores\":1,"
           "\"l1_bytes\":32768,\"l2_bytes\":1048576,\"l3_bytes\":8388608,\"lanes\":8,"
           "\"registers\":16,\"compiler\":\"c++\",\"flags\":\"-O2\","
           "\"date\":\"2026-11-22T13:52:04Z\",\"search\":\"" +
           search + "\",\"seed\":" + QByteArray::number(seed) + "}}\n";
}

// Two searches on one layer: 4 ms, failed, 2 ms, 3 ms; and 1 ms at once. One on another layer.
QByteArray log_text() {
    return trial("a", "random", 1, 0, 4e-3) + trial("a", "random", 1, 1, 0.0) +
           trial("a", "random", 1, 2, 2e-3) + trial("a", "random", 1, 3, 3e-3) +
           trial("a", "learned", 7, 0, 1e-3) + trial("b", "random", 1, 0, 8e-3);
}

TuningPane& pane(MainWindow& window) {
    return *window.findChild<TuningPane*>();
}

bool opened(MainWindow& window, const QString& file) {
    QSignalSpy spy(&pane(window), &AskingPane::answered);
    drop(window, file);
    return QTest::qWaitFor([&] { return spy.size() > 0 && !pane(window).busy(); }, kPatience_ms);
}

bool chosen(MainWindow& window, const QString& layer) {
    QSignalSpy spy(&pane(window), &AskingPane::answered);
    auto* box = window.findChild<QComboBox*>("tuning layer");
    box->setCurrentIndex(box->findData(layer));
    emit box->activated(box->currentIndex());
    return spy.size() > 0 || spy.wait(kPatience_ms);
}

} // namespace

void TestTuning::a_dropped_log_shows_its_searches() {
    QTemporaryDir folder;
    MainWindow window(folders());
    window.resize(1280, 800);
    window.show();
    QVERIFY(answered(window, [&] { window.open_session(session_of("alexnet", {"l4"})); }));
    auto* tabs = qobject_cast<QTabWidget*>(window.centralWidget());
    QVERIFY(!tabs->isTabVisible(tabs->indexOf(&pane(window)))); // nothing of its kind is open
    QVERIFY(opened(window, written(folder.filePath("log.jsonl"), log_text())));
    QVERIFY(pane(window).isVisible()); // it comes to the front: it is about no plot
    const auto& searches = pane(window).searches();
    QCOMPARE(searches.size(), std::size_t(3));
    QCOMPARE(searches[0].costs.size(), std::size_t(4));
    QCOMPARE(searches[0].failed(), std::size_t(1));
    QCOMPARE(searches[0].best_s(), 2e-3);
    QCOMPARE(*searches[0].to_95, std::size_t(3));
    QCOMPARE(searches[0].took_s, 2.0);
    auto* rows = window.findChild<AnswerTableView*>("tuning rows");
    QCOMPARE(rows->row_count(), 3);
    QCOMPARE(cell_text(*rows, 1, 1), QString("learned"));
    QCOMPARE(cell_text(*rows, 1, 6), QString("197 MFLOP/s")); // FLOP in 1 ms
    QCOMPARE(cell_text(*rows, 0, 10), QString("tile_rows 3, unroll 3"));
    const QString said = pane(window).findChild<QLabel*>("answer")->text();
    QVERIFY2(said.contains("1 ms") && said.contains("learned, seed 7") &&
                 said.contains("after 1 of 1 trials"),
             qPrintable(said));
    // three lines, stairs that only rise; the layers' names stand before the searches
    const report::Drawing& drawing = pane(window).picture_in_front()->drawing();
    const auto has = [&](const std::string& text) {
        return std::any_of(drawing.texts.begin(), drawing.texts.end(),
                           [&](const auto& t) { return t.text == text; });
    };
    QVERIFY(has("a: random, seed 1") && has("a: learned, seed 7") && has("b: random, seed 1"));
}

void TestTuning::a_layer_is_chosen_and_a_second_log_joins() {
    QTemporaryDir folder;
    MainWindow window(folders());
    window.resize(1280, 800);
    window.show();
    QVERIFY(opened(window, written(folder.filePath("log.jsonl"), log_text())));
    QVERIFY(chosen(window, "b"));
    QCOMPARE(pane(window).searches().size(), std::size_t(1));
    QVERIFY(opened(window,
                   written(folder.filePath("more.jsonl"), trial("b", "evolutionary", 3, 0, 5e-3))));
    QCOMPARE(window.findChild<QComboBox*>("tuning layer")->currentText(), QString("b"));
    QCOMPARE(pane(window).searches().size(), std::size_t(2));
    QVERIFY(chosen(window, ""));
    QCOMPARE(pane(window).searches().size(), std::size_t(4));
    // and goes again
    auto* files = window.findChild<AnswerTableView*>("measurement files");
    QCOMPARE(files->row_count(), 2);
    QCOMPARE(cell_text(*files, 0, 3), QString("6 trials"));
    QCOMPARE(cell_text(*files, 0, 2), QString("a processor"));
}

void TestTuning::a_log_is_part_of_the_session_and_of_the_report() {
    QTemporaryDir folder;
    const QString log = written(folder.filePath("log.jsonl"), log_text());
    const QString file = folder.filePath("s.eyeroof.yaml");
    {
        MainWindow window(folders());
        window.resize(1280, 800);
        window.show();
        QVERIFY(opened(window, log));
        QCOMPARE(window.session().trials, std::vector<std::string>{log.toStdString()});
        window.save_session(file);
        const QString html = folder.filePath("report.html");
        window.save_report(html);
        QFile report(html);
        QVERIFY(report.open(QIODevice::ReadOnly));
        const QByteArray text = report.readAll();
        QVERIFY(text.contains("Recorded searches of kernels") && text.contains("learned, seed 7"));
    }
    MainWindow again(folders());
    again.show();
    again.open(file);
    again.show_page("tuning");
    QTRY_COMPARE_WITH_TIMEOUT(pane(again).searches().size(), std::size_t(3), kPatience_ms);
}

void TestTuning::a_broken_log_is_told_with_its_line() {
    QTemporaryDir folder;
    MainWindow window(folders());
    window.show();
    QByteArray text = log_text();
    text.insert(text.indexOf('\n') + 1, "{\"schema\":\"eyeroof/trial/1\",\"layer\":3}\n");
    drop(window, written(folder.filePath("log.jsonl"), text));
    QVERIFY(window.errors().topLevelItemCount() > 0);
    QVERIFY2(window.errors().topLevelItem(0)->toolTip(0).contains("log.jsonl:2"),
             qPrintable(window.errors().topLevelItem(0)->toolTip(0)));
    QVERIFY(window.session().trials.empty());
}

EYEROOF_WINDOW_TEST(TestTuning)

} // namespace test_gui_tuning

#include "test_tuning.moc"
