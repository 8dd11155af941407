// What is under the pointer: the menu of a point, its levels, and the ruler of the timeline.
#include "base/units.hpp"
#include "gui/panes/timeline/timeline_pane.hpp"
#include "tests/gui/hands.hpp"
#include "tests/gui/registry.hpp"

#include <QLabel>
#include <QMenu>
#include <QMouseEvent>

namespace test_gui_points {

using namespace eyeroof;               // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui;          // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui::testing; // NOLINT(google-build-using-namespace)

class TestPoints : public QObject {
    Q_OBJECT

  private slots:
    void points_have_the_menu_of_their_rows();
    void a_hovered_kernel_shows_its_levels_and_the_axes_fit_the_points();
    void a_ruler_measures_between_two_marks();
};

void TestPoints::points_have_the_menu_of_their_rows() {
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    const report::ScenePoint point = window.plot().scene().points.back();
    const report::Place at = window.plot().scene().area.place_of(point.x, point.y);
    const QPoint pixel(static_cast<int>(at.x), static_cast<int>(at.y));
    QTest::mouseClick(&window.plot(), Qt::RightButton, {}, pixel);
    QCOMPARE(window.plot().view().selection, std::set<std::string>{point.id});
    auto* menu = window.plot().findChild<QMenu*>("row menu");
    QVERIFY(menu != nullptr && menu->isVisible());
    QStringList entries;
    for (QAction* action : menu->actions()) {
        entries << action->text();
        if (action->text() == "Show alone") {
            action->trigger();
        }
    }
    QVERIFY(entries.contains("Show its steps") && entries.contains("Export…"));
    QCOMPARE(window.plot().scene().points.size(), std::size_t{1});
    delete menu;
}

void TestPoints::a_hovered_kernel_shows_its_levels_and_the_axes_fit_the_points() {
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("resnet50", {"a100-sxm-40gb"})));
    RooflineView& plot = window.plot();
    report::ViewState view = plot.view();
    view.level = report::kAllLevels;
    plot.set_view(view);
    QVERIFY(plot.scene().warnings.empty()); // every kernel has L2 bytes
    std::map<std::string, int> levels;
    for (const report::ScenePoint& point : plot.scene().points) {
        ++levels[point.level];
    }
    QCOMPARE(levels.at("L2"), levels.at("DRAM"));
    int counted = 0; // tiles that are read again: of 53 convolutions and a product
    for (const report::PlotPoint& each : plot.plot().points) {
        counted += each.bytes.at(1).at_least ? 0 : 1;
        QVERIFY(each.bytes[1].bytes >= each.bytes[0].bytes);
    }
    QCOMPARE(counted, 54);
    const report::ScenePoint point = plot.scene().points.back();
    const report::Place at = plot.scene().area.place_of(point.x, point.y);
    QVERIFY(!plot.levels());
    hover(plot, {2, 2});
    hover(plot, {static_cast<int>(at.x), static_cast<int>(at.y)});
    QTRY_VERIFY(plot.levels());
    QCOMPARE(plot.levels()->markers.size(), std::size_t{2});
    QStringList rows;
    for (const report::CardRow& row : plot.card()) {
        rows << QString::fromStdString(row.what);
    }
    QVERIFY2(rows.contains("DRAM") && rows.contains("L2"), qPrintable(rows.join(", ")));
    const report::PlotArea before = plot.scene().area;
    QTest::keyClick(&plot, Qt::Key_F);
    QVERIFY(plot.scene().area.y.max < before.y.max); // no roof above them keeps it
    for (const report::ScenePoint& each : plot.scene().points) {
        QVERIFY(each.x > plot.scene().area.x.min && each.x < plot.scene().area.x.max);
    }
}

void TestPoints::a_ruler_measures_between_two_marks() {
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    window.show_page("timeline");
    auto* pane = window.findChild<TimelinePane*>();
    QTRY_VERIFY(pane->answer() != nullptr);
    ZoomView& picture = pane->picture();
    const auto head = [&] { return pane->findChild<QLabel*>("answer")->text(); };
    const analysis::step::Span& span = pane->answer()->timeline().spans.front();
    const double length = pane->answer()->timeline().time_s;
    const auto drag = [&](QPoint from, QPoint to) {
        QTest::mousePress(&picture, Qt::LeftButton, Qt::ShiftModifier, from);
        QMouseEvent move(QEvent::MouseMove, to, picture.mapToGlobal(to), Qt::NoButton,
                         Qt::LeftButton, Qt::ShiftModifier);
        QCoreApplication::sendEvent(&picture, &move);
        QTest::mouseRelease(&picture, Qt::LeftButton, Qt::ShiftModifier, to);
    };
    picture.set_window(0.0, 4.0 * span.end_s / length);
    const auto at = [&](double seconds) { // 84 and 16 pixels beside the lanes
        return QPoint(
            static_cast<int>(84.0 + (picture.width() - 100.0) * seconds / (4.0 * span.end_s)), 80);
    };
    drag(at(span.end_s) + QPoint(2, 0), at(span.start_s) - QPoint(2, 0)); // near the box's edges
    const QString measured = QString::fromStdString(format_si(span.end_s - span.start_s, "s", 4));
    QVERIFY2(head().contains("Between the marks, " + measured), qPrintable(head()));
    bool drawn = false;
    for (const report::ClippedLayer& layer : picture.drawing().layers) {
        for (const report::DrawnText& text : layer.texts) {
            drawn = drawn || text.text == measured.toStdString();
        }
    }
    QVERIFY(drawn);
    QVERIFY(!picture.drawing().boxes.empty());
    QVERIFY(std::any_of(picture.drawing().boxes.begin(), picture.drawing().boxes.end(),
                        [](const report::DrawnBox& box) {
                            return box.tip.find("after the CPU launched it") != std::string::npos;
                        }));
    QTest::mouseClick(&picture, Qt::LeftButton, Qt::ShiftModifier, at(0.0));
    QVERIFY(!head().contains("Between the marks"));
    // by keys: the next kernel, in the middle, a ruler over it
    QTest::keyClick(&picture, Qt::Key_Period);
    QTest::keyClick(&picture, Qt::Key_Period);
    const analysis::step::Span& second = pane->answer()->timeline().spans.at(1);
    QTest::keyClick(&picture, Qt::Key_F);
    const double middle = 0.5 * (picture.window().from + picture.window().to) * length;
    QVERIFY(second.start_s <= middle && middle <= second.end_s);
    QTest::keyClick(&picture, Qt::Key_R);
    QVERIFY(head().contains("Between the marks, " + QString::fromStdString(format_si(
                                                        second.end_s - second.start_s, "s", 4))));
}

EYEROOF_WINDOW_TEST(TestPoints)

} // namespace test_gui_points

#include "test_points.moc"
