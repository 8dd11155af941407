// The window driven by mouse, wheel and keys, without a screen.
#include "gui/jobs/export.hpp"
#include "gui/window/main_window.hpp"
#include "report/answer/write.hpp"
#include "report/draw/svg.hpp"
#include "report/roofline/roofline_answer.hpp"
#include "tests/gui/hands.hpp"
#include "tests/gui/registry.hpp"

#include <nlohmann/json.hpp>

#include <QApplication>
#include <QClipboard>
#include <QDropEvent>
#include <QFile>
#include <QLineEdit>
#include <QMimeData>
#include <QProcess>
#include <QSignalSpy>
#include <QSlider>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QWheelEvent>
#include <cmath>

namespace test_gui_gui {

using namespace eyeroof;               // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui;          // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui::testing; // NOLINT(google-build-using-namespace)

namespace {

// Two points below the roofs of a machine of 100 FLOP/s and 10 B/s.
report::PlotInput two_points() {
    report::PlotInput input;
    input.machines = {{"m",
                       "M",
                       {{"m/c", "m", "units", analysis::RoofKind::compute, "", 100, false, ""},
                        {"m/d", "m", "DRAM", analysis::RoofKind::memory, "DRAM", 10, false, ""}}}};
    for (const double flops : {20.0, 900.0}) {
        report::PlotPoint point;
        point.name = flops < 100.0 ? "left" : "right";
        point.id = point.name;
        point.machine = "m";
        point.flops = flops;
        point.time_s = 20.0;
        point.bytes = {{"DRAM", 45.0}};
        input.points.push_back(point);
    }
    return input;
}

QPoint place_of(const RooflineView& view, const char* id) {
    for (const report::ScenePoint& point : view.scene().points) {
        if (point.id == id) {
            const report::Place at = view.scene().area.place_of(point.x, point.y);
            return {static_cast<int>(at.x), static_cast<int>(at.y)};
        }
    }
    return {-1, -1};
}

void wheel(QWidget& widget, QPoint at, int notches) {
    QWheelEvent event(at, widget.mapToGlobal(at), {}, {0, 120 * notches}, Qt::NoButton,
                      Qt::NoModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&widget, &event);
}

} // namespace

class TestGui : public QObject {
    Q_OBJECT

  private slots:
    void click_selects_the_point_below_it();
    void a_rectangle_selects_what_lies_in_it();
    void hovering_paints_a_card();
    void the_wheel_zooms_at_the_pointer_and_undo_brings_it_back();
    void keys_move_and_reset();
    void shift_drag_zooms_to_the_rectangle();
    void a_dark_palette_makes_a_dark_plot();
    void an_examination_fills_all_panes_and_a_selected_point_is_found_in_them();
    void dragging_a_slider_changes_the_answer();
    void cancel_is_heard_at_once();
    void a_session_comes_back();
    void a_dropped_session_is_opened();
    void every_format_is_exported();
    void the_command_line_draws_the_same_plot();
    void panes_survive_small_and_large_windows();
    void a_broken_file_is_explained_with_its_place();
};

void TestGui::click_selects_the_point_below_it() {
    RooflineView view;
    view.resize(900, 600);
    view.set_plot(two_points());
    view.show();
    QSignalSpy spy(&view, &RooflineView::selection_changed);
    QTest::mouseClick(&view, Qt::LeftButton, {}, place_of(view, "left"));
    QCOMPARE(spy.size(), 1);
    QCOMPARE(view.view().selection, std::set<std::string>{"left"});
    QTest::mouseClick(&view, Qt::LeftButton, Qt::ControlModifier, place_of(view, "right"));
    QCOMPARE(view.view().selection.size(), std::size_t{2});
    QTest::keyClick(&view, Qt::Key_Escape);
    QVERIFY(view.view().selection.empty());
}

void TestGui::a_rectangle_selects_what_lies_in_it() {
    RooflineView view;
    view.resize(900, 600);
    view.set_plot(two_points());
    view.show();
    const QPoint at = place_of(view, "right");
    QTest::mousePress(&view, Qt::LeftButton, {}, at - QPoint(30, 30));
    hover(view, at);
    QTest::mouseRelease(&view, Qt::LeftButton, {}, at + QPoint(30, 30));
    QCOMPARE(view.view().selection, std::set<std::string>{"right"});
}

void TestGui::hovering_paints_a_card() {
    RooflineView view;
    view.resize(900, 600);
    view.set_plot(two_points());
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    hover(view, {5, 5});
    const QImage before = view.grab().toImage();
    QSignalSpy spy(&view, &RooflineView::pointed_at);
    hover(view, place_of(view, "left"));
    QTRY_VERIFY(!spy.isEmpty());
    QVERIFY(view.grab().toImage() != before);
    QVERIFY(spy.last().at(0).toString().contains("FLOP/byte"));
}

void TestGui::the_wheel_zooms_at_the_pointer_and_undo_brings_it_back() {
    RooflineView view;
    view.resize(900, 600);
    view.set_plot(two_points());
    const report::PlotArea before = view.scene().area;
    const QPoint at = place_of(view, "left");
    wheel(view, at, 3);
    const report::PlotArea after = view.scene().area;
    QVERIFY(after.x.max / after.x.min < before.x.max / before.x.min);
    QVERIFY(std::abs(after.x_at(at.x()) / before.x_at(at.x()) - 1.0) < 1e-9);
    QVERIFY(std::abs(after.y_at(at.y()) / before.y_at(at.y()) - 1.0) < 1e-9);
    view.undo_zoom();
    QVERIFY(view.scene().area == before);
    for (int i = 0; i < 300; ++i) {
        wheel(view, at, 5); // far beyond what can be shown
    }
    QVERIFY(view.scene().area.x.max > view.scene().area.x.min);
}

void TestGui::keys_move_and_reset() {
    RooflineView view;
    view.resize(900, 600);
    view.set_plot(two_points());
    const report::PlotArea before = view.scene().area;
    QTest::keyClick(&view, Qt::Key_Right);
    QVERIFY(view.scene().area.x.min > before.x.min);
    QTest::keyClick(&view, Qt::Key_Plus);
    QTest::keyClick(&view, Qt::Key_0);
    QVERIFY(view.scene().area == before);
}

void TestGui::shift_drag_zooms_to_the_rectangle() {
    RooflineView view;
    view.resize(900, 600);
    view.set_plot(two_points());
    const report::PlotArea before = view.scene().area;
    QTest::mousePress(&view, Qt::LeftButton, Qt::ShiftModifier, {200, 200});
    QTest::mouseRelease(&view, Qt::LeftButton, Qt::ShiftModifier, {400, 350});
    QVERIFY(std::abs(view.scene().area.x.min / before.x_at(200) - 1.0) < 1e-9);
    QVERIFY(std::abs(view.scene().area.y.max / before.y_at(200) - 1.0) < 1e-9);
}

void TestGui::a_dark_palette_makes_a_dark_plot() {
    RooflineView view;
    view.resize(600, 400);
    view.set_plot(two_points());
    QVERIFY(view.grab().toImage().pixelColor(3, 3).lightness() > 200);
    view.setPalette(QPalette(QColor(30, 33, 39), QColor(30, 33, 39)));
    QVERIFY(view.grab().toImage().pixelColor(3, 3).lightness() < 60);
}

void TestGui::an_examination_fills_all_panes_and_a_selected_point_is_found_in_them() {
    MainWindow window(folders());
    window.resize(1280, 800);
    window.show(); // the table answers only when it has its columns
    QSignalSpy spy(&window, &MainWindow::shown);
    report::Session session;
    session.scenario.network = "resnet50";
    session.machines = {"a100-sxm-40gb"};
    window.open_session(session);
    QTRY_VERIFY_WITH_TIMEOUT(spy.size() >= 1, 60000);
    const auto points = static_cast<int>(window.plot().scene().points.size());
    QVERIFY(points > 20);
    QCOMPARE(window.table().model()->rowCount(), points);
    QVERIFY(window.ladder().scene().has_value());
    window.plot().set_selection({window.plot().scene().points.front().id});
    QCOMPARE(window.table().selectionModel()->selectedRows().size(), 1);
    QVERIFY(window.ladder().scene()->title.starts_with(window.plot().scene().points.front().name));
}

void TestGui::dragging_a_slider_changes_the_answer() {
    MainWindow window(folders());
    QSignalSpy spy(&window, &MainWindow::shown);
    report::Session session;
    session.scenario.network = "resnet50";
    session.machines = {"a100-sxm-40gb"};
    window.open_session(session);
    QTRY_VERIFY_WITH_TIMEOUT(spy.size() >= 1, 60000);
    const auto roof = [&] {
        for (const report::SceneRoof& line : window.plot().scene().roofs) {
            if (line.roof.kind == analysis::RoofKind::memory) {
                return line.roof.value;
            }
        }
        return 0.0;
    };
    const double before = roof();
    auto* slider = window.what_if().findChild<QSlider*>("DRAM bandwidth");
    QVERIFY(slider != nullptr);
    slider->setValue(slider->maximum()); // a drag sends the same signal at every step
    QVERIFY(window.what_if().is_changed());
    QTRY_VERIFY_WITH_TIMEOUT(std::abs(roof() / before - 8.0) < 1e-6, 60000);
    window.what_if().reset();
    QTRY_VERIFY_WITH_TIMEOUT(std::abs(roof() / before - 1.0) < 1e-6, 60000);
}

void TestGui::cancel_is_heard_at_once() {
    MainWindow window(folders());
    report::Session session;
    session.scenario.network = "resnet50";
    session.machines = {"eyeriss-v1"};
    window.open_session(session);
    QVERIFY(window.examiner().busy());
    QSignalSpy spy(&window.examiner(), &Examiner::cancelled);
    QSignalSpy shown(&window, &MainWindow::shown);
    window.examiner().cancel();
    QCOMPARE(spy.size(), 1); // before the worker looks, and before the event loop turns
    QTRY_VERIFY_WITH_TIMEOUT(!window.examiner().busy(), 30000);
    QVERIFY(shown.isEmpty()); // a cancelled answer is not shown
}

void TestGui::a_session_comes_back() {
    QTemporaryDir folder;
    report::Session session;
    session.scenario.network = "alexnet";
    session.machines = {"v100-sxm2-16gb", "a100-sxm-40gb"};
    session.scenario.machine = session.machines.front();
    session.scenario.batch = 4;
    session.view.top = 5;
    session.view.x = report::LogRange{1.0, 500.0};
    MainWindow window(folders());
    window.open_session(session);
    QVERIFY(window.session() == session);
    const QString file = folder.filePath("s.eyeroof.yaml");
    window.save_session(file);
    MainWindow other(folders());
    other.open(file);
    QVERIFY(other.session() == session);
}

void TestGui::a_dropped_session_is_opened() {
    QTemporaryDir folder;
    const QString file = written(folder.filePath("s.yaml"),
                                 "eyeroof: session/1\nnetwork: alexnet\nmachines: [l4]\n");
    MainWindow window(folders());
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(file)});
    QDragEnterEvent enter({100, 100}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window, &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent event({100, 100}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window, &event);
    QCOMPARE(window.session().scenario.network, std::string("alexnet"));
}

void TestGui::every_format_is_exported() {
    QTemporaryDir folder;
    RooflineView view;
    view.resize(640, 480);
    view.set_plot(two_points());
    for (const char* format : {"png", "svg", "pdf", "csv", "json", "html"}) {
        const QString file = folder.filePath(QString("plot.%1").arg(format));
        QVERIFY2(export_picture(picture_of(view), file).ok(), format);
        QVERIFY2(QFile(file).size() > 200, format);
    }
    const QImage image(folder.filePath("plot.png"));
    QSet<QRgb> colours;
    for (int x = 0; x < image.width(); x += 2) {
        for (int y = 0; y < image.height(); y += 2) {
            colours.insert(image.pixel(x, y));
        }
    }
    QVERIFY(colours.size() > 20);
    QVERIFY(!export_picture(picture_of(view), folder.filePath("plot.xyz")).ok());
    QVERIFY(!export_picture(picture_of(view), "/nonexistent/plot.svg").ok());
}

void TestGui::the_command_line_draws_the_same_plot() {
    QTemporaryDir folder;
    const QString file = folder.filePath("s.eyeroof.yaml");
    MainWindow window(folders());
    window.resize(1400, 900);
    window.show();
    report::Session session = session_of("resnet50", {"v100-sxm2-16gb", "a100-sxm-40gb"});
    session.scenario.data_type = model::DataType::fp16;
    session.scenario.batch = 8;
    session.scenario.changes = {"dram-bandwidth=1.2 TB/s"};
    session.view.filter = "conv[2-4]";
    session.view.top = 12;
    session.view.x = report::LogRange{1.0, 900.0};
    session.view.y = report::LogRange{1e12, 2e14};
    QVERIFY(open_and_wait(window, session));
    window.save_session(file);
    const report::RooflineScene& scene = window.plot().scene();
    const auto run = [&](const char* format) {
        QProcess program;
        program.start(EYEROOF_PROGRAM,
                      {"roofline", "--session", file, "--format", format, "--size",
                       QString("%1x%2").arg(scene.canvas.width).arg(scene.canvas.height)});
        program.waitForFinished(kPatience_ms);
        return program.readAllStandardOutput().toStdString();
    };
    QVERIFY(!scene.points.empty());
    auto answer = nlohmann::json::parse(run("json")); // which says besides what was asked
    QVERIFY(answer.erase("asked") == 1 && answer.erase("scenario") == 1);
    auto shown = nlohmann::json::parse(to_json(roofline_answer(scene, window.plot().plot())));
    QVERIFY(answer.erase("words") == 1 && shown.erase("words") == 1); // the scenario's, the plot's
    QVERIFY(answer == shown);
    QCOMPARE(run("svg"), report::to_svg(scene));
}

void TestGui::panes_survive_small_and_large_windows() {
    MainWindow window(folders());
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    for (const QSize size : {QSize(640, 480), QSize(2560, 1440), QSize(1280, 800)}) {
        window.resize(size);
        QCoreApplication::processEvents();
        QVERIFY(!window.grab().isNull());
        const report::Canvas canvas = window.plot().scene().canvas;
        QCOMPARE(static_cast<int>(canvas.width), window.plot().width());
        QCOMPARE(static_cast<int>(canvas.height), window.plot().height());
        for (const report::WaterfallBar& bar : window.ladder().scene()->bars) {
            QVERIFY(bar.row.right() <= window.ladder().width() + 1.0);
        }
    }
}

void TestGui::a_broken_file_is_explained_with_its_place() {
    QTemporaryDir folder;
    const QString file =
        written(folder.filePath("s.yaml"), "eyeroof: session/1\nnetwrk: alexnet\nmachines: 3\n");
    MainWindow window(folders());
    window.open(file);
    QVERIFY(window.errors().topLevelItemCount() >= 2);
    QCOMPARE(window.errors().topLevelItem(0)->text(1), file);
    QVERIFY(window.errors().topLevelItem(0)->text(2).toInt() >= 2);
}

EYEROOF_WINDOW_TEST(TestGui)

} // namespace test_gui_gui

#include "test_gui.moc"
