// What the plot, the sliders, the timeline, and measurements show when asked: colors by share,
// zones, the legend, measured roofs, gaps by cause, kernels dragged onto layers, advice from
// counters.
#include "analysis/measured/counter_advice.hpp"
#include "gui/panes/answer_table.hpp"
#include "gui/panes/kernel_drag.hpp"
#include "gui/panes/snap_slider.hpp"
#include "gui/views/zoom_view.hpp"
#include "report/session/session.hpp"
#include "report/step/measured_track.hpp"
#include "report/step/step_scenes.hpp"
#include "tests/gui/hands.hpp"
#include "tests/gui/registry.hpp"
#include "tests/gui/two_runs.hpp"
#include "tests/gui/window_tools.hpp"

#include <QAction>
#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QToolButton>
#include <QWheelEvent>
#include <cmath>

namespace test_gui_looks {

using namespace eyeroof;               // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui;          // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui::testing; // NOLINT(google-build-using-namespace)

class TestLooks : public QObject {
    Q_OBJECT

  private slots:
    void a_step_of_a_slider_is_one_percent_and_round_factors_hold_the_pointer();
    void points_are_colored_by_their_share_of_the_time();
    void zones_end_at_the_ridges();
    void a_click_on_the_legend_hides_a_machine_and_another_shows_it();
    void two_runs_are_hidden_apart();
    void what_was_measured_of_a_roof_stands_for_it();
    void kernels_have_names_and_gaps_their_causes();
    void a_kernel_is_dragged_onto_a_layer_and_taken_back();
    void counters_that_contradict_a_step_give_advice();
    void repeated_layers_have_their_runs_and_times_one_unit();
};

namespace {

constexpr const char* kRoofs =
    "eyeroof_ceilings: 1\n"
    "machine: \"NVIDIA A100\"\n"
    "ceilings:\n"
    "  - {name: dram read, level: dram, value: 1.38 TB/s, spread: 0.01}\n"
    "  - {name: lanes fp32, precision: fp32, value: 18 TFLOP/s}\n";

// The point of the middle of a legend entry.
QPoint entry_of(MainWindow& window, const std::string& words) {
    for (const report::LegendEntry& entry : window.plot().scene().legend) {
        if (entry.name.find(words) != std::string::npos) {
            return QPointF(entry.text.x + 8.0, entry.marker.y).toPoint();
        }
    }
    return {};
}

std::size_t points_on(MainWindow& window, const std::string& machine) {
    std::size_t count = 0;
    for (const report::ScenePoint& point : window.plot().scene().points) {
        count += window.plot().plot().points.at(point.source).machine == machine ? 1 : 0;
    }
    return count;
}

} // namespace

void TestLooks::a_step_of_a_slider_is_one_percent_and_round_factors_hold_the_pointer() {
    SnapSlider slider;
    slider.resize(300, 24);
    slider.show();
    QApplication::setActiveWindow(&slider);
    slider.setFocus();
    QTest::keyClick(&slider, Qt::Key_Right);
    QVERIFY(std::abs(slider.factor() - 1.01) < 1e-12);
    QTest::keyClick(&slider, Qt::Key_Left);
    QTest::keyClick(&slider, Qt::Key_Left);
    QVERIFY(std::abs(slider.factor() - 1.0 / 1.01) < 1e-12);
    const auto roll = [&](Qt::KeyboardModifiers held) {
        QWheelEvent wheel({10, 10}, {10, 10}, {}, {0, 120}, Qt::NoButton, held, Qt::NoScrollPhase,
                          false);
        QCoreApplication::sendEvent(&slider, &wheel);
    };
    const double before = slider.factor();
    roll(Qt::NoModifier); // scrolls what is around, also where the slider has the focus
    QCOMPARE(slider.factor(), before);
    roll(Qt::ControlModifier);
    QCOMPARE(slider.factor(), 1.0);
    QTest::keyClick(&slider, Qt::Key_End);
    QCOMPARE(slider.factor(), 8.0);
    QTest::keyClick(&slider, Qt::Key_Home);
    QCOMPARE(slider.factor(), 0.125);
    // by the pointer: twice is met exactly although a pixel is 1.4 steps, and then left again
    const int twice = SnapSlider::step_of(2.0);
    slider.setSliderDown(true);
    std::set<double> met;
    for (int step = twice - 8; step <= twice + 8; ++step) {
        slider.setSliderPosition(step);
        met.insert(slider.factor());
    }
    slider.setSliderDown(false);
    QVERIFY(met.contains(2.0));
    QVERIFY(*met.begin() < 1.95 && *met.rbegin() > 2.05);
    for (int step = twice - 1; step <= twice + 1; ++step) { // keys stay nowhere
        slider.setValue(step);
        QCOMPARE(slider.value(), step);
    }
    // in the window: an arrow key is 1 % of the bandwidth
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb"})));
    QSlider* parameter = testing::slider(window, "DRAM bandwidth");
    parameter->setFocus();
    QVERIFY(answered(window, [&] { QTest::keyClick(parameter, Qt::Key_Right); }));
    const double now = window.what_if().changes().at(0).value;
    QVERIFY(std::abs(now / 900e9 - 1.01) < 1e-3);
}

void TestLooks::points_are_colored_by_their_share_of_the_time() {
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb"})));
    auto* color = window.findChild<QComboBox*>("color by");
    QVERIFY(color->isVisible());
    color->setFocus();
    for (const Qt::Key key : {Qt::Key_End, Qt::Key_Up, Qt::Key_Up}) { // before type and module
        QTest::keyClick(color, key);
    }
    QCOMPARE(color->currentText(), QString("by share of time"));
    QTRY_VERIFY(window.plot().view().colour_by == report::ColourBy::share);
    const report::RooflineScene& scene = window.plot().scene();
    QVERIFY(scene.series.size() > 1);
    for (const report::ScenePoint& point : scene.points) {
        const std::string& name = scene.series[point.series].name;
        const char* expected = point.share >= 0.10   ? "10 % of the time or more"
                               : point.share >= 0.03 ? "3 to 10 % of the time"
                               : point.share >= 0.01 ? "1 to 3 % of the time"
                                                     : "less than 1 % of the time";
        QVERIFY2(name == expected, name.c_str());
    }
    const report::Session kept =
        report::parse_session(report::write_session(window.session()), "s").value();
    QVERIFY(kept.view.colour_by == report::ColourBy::share);
    QVERIFY(report::cli_command(window.session()).find("--color-by share") != std::string::npos);
}

void TestLooks::zones_end_at_the_ridges() {
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb"})));
    QVERIFY(window.plot().scene().zones.empty());
    Hands hands;
    hands.click(*window.findChild<QToolButton*>("zones"));
    const report::RooflineScene& scene = window.plot().scene();
    QVERIFY(scene.zones.size() >= 2);
    double least = INFINITY, most = 0.0;
    for (const report::Ridge& ridge : scene.ridges) {
        least = std::min(least, ridge.x);
        most = std::max(most, ridge.x);
    }
    QCOMPARE(scene.zones.front().name, std::string("memory-bound"));
    QCOMPARE(scene.zones.front().to_x, least);
    QCOMPARE(scene.zones.back().name, std::string("compute-bound"));
    QCOMPARE(scene.zones.back().from_x, most);
    const report::Drawing drawing = window.plot().drawing();
    const auto& texts = drawing.layers.front().texts;
    QVERIFY(std::any_of(texts.begin(), texts.end(),
                        [](const report::DrawnText& text) { return text.text == "memory-bound"; }));
    QVERIFY(report::cli_command(window.session()).find("--zones") != std::string::npos);
    hands.click(*window.findChild<QToolButton*>("zones"));
    QVERIFY(window.plot().scene().zones.empty());
}

void TestLooks::a_click_on_the_legend_hides_a_machine_and_another_shows_it() {
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb", "a100-sxm-40gb"})));
    const std::size_t all = points_on(window, "a100-sxm-40gb");
    QVERIFY(all > 3);
    Hands hands;
    hands.click(window.plot(), entry_of(window, "A100"));
    QCOMPARE(points_on(window, "a100-sxm-40gb"), std::size_t{0});
    QVERIFY(points_on(window, "v100-sxm2-16gb") > 3);
    QVERIFY(!entry_of(window, "(hidden)").isNull()); // still there to be clicked
    QVERIFY(window.findChild<QToolButton*>("chip series A100 SXM4 40GB") != nullptr ||
            !window.plot().scene().filters.empty());
    const report::Session kept =
        report::parse_session(report::write_session(window.session()), "s").value();
    QVERIFY(kept.view.hidden_series == window.plot().view().hidden_series);
    hands.click(window.plot(), entry_of(window, "(hidden)"));
    QCOMPARE(points_on(window, "a100-sxm-40gb"), all);
    QVERIFY(window.plot().view().hidden_series.empty());
}

void TestLooks::two_runs_are_hidden_apart() {
    QTemporaryDir folder;
    const QString run = written(folder.filePath("run.csv"), kRun);
    const QString faster = written(folder.filePath("faster.csv"), kFaster);
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    QVERIFY(answered(window, [&] { drop(window, run); }));
    QVERIFY(answered(window, [&] { drop(window, faster); }));
    const auto of_run = [&](const std::string& name) {
        std::size_t count = 0;
        for (const report::ScenePoint& point : window.plot().scene().points) {
            count += window.plot().plot().points.at(point.source).run == name ? 1 : 0;
        }
        return count;
    };
    QVERIFY(of_run("faster.csv") > 0 && of_run("run.csv") > 0);
    Hands hands;
    hands.click(window.plot(), entry_of(window, "faster.csv"));
    QCOMPARE(of_run("faster.csv"), std::size_t{0});
    QVERIFY(of_run("run.csv") > 0);
}

void TestLooks::what_was_measured_of_a_roof_stands_for_it() {
    QTemporaryDir folder;
    const QString ceilings = written(folder.filePath("gpu.yaml"), kRoofs);
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    QVERIFY(answered(window, [&] { drop(window, ceilings); }));
    std::size_t measured = 0;
    for (const report::SceneRoof& roof : window.plot().scene().roofs) {
        for (const report::SceneRoof& other : window.plot().scene().roofs) {
            QVERIFY(!roof.roof.measured || other.roof.measured ||
                    roof.roof.kind != other.roof.kind || roof.roof.key != other.roof.key);
        }
        measured += roof.roof.measured ? 1 : 0;
    }
    QVERIFY(measured > 0);
}

void TestLooks::kernels_have_names_and_gaps_their_causes() {
    MainWindow window(folders());
    show(window);
    report::Session session = session_of("alexnet", {"a100-sxm-40gb"});
    QVERIFY(open_and_wait(window, session));
    const analysis::Report& report = window.reports()[0];
    const model::Gpu gpu = std::get<model::Gpu>(question_of(window.session()).machine.kind);
    const report::Drawing drawing = report::draw_timeline({report, gpu}, {1600.0, 300.0});
    // a name lies within its box, and belongs to it
    std::size_t names = 0;
    for (const report::DrawnText& text : drawing.texts) {
        for (const report::DrawnBox& box : drawing.boxes) {
            const bool inside = text.over && text.at.x > box.box.left &&
                                text.at.x < box.box.right() && text.at.y > box.box.top &&
                                text.at.y < box.box.bottom();
            if (inside && box.tip.starts_with(text.text)) {
                ++names;
                break;
            }
        }
    }
    QVERIFY(names > 3);
    // eager launches of small kernels: the stream waits for the host, and the gaps say so
    double waits_s = 0.0;
    for (const report::DrawnBox& box : drawing.boxes) {
        QVERIFY(!box.tip.starts_with("nothing"));
    }
    for (const auto& row : drawing.figures.rows) {
        if (std::get<std::string>(row[0]) == "stream 1 waits") {
            const std::string name = std::get<std::string>(row[1]);
            QVERIFY2(name.ends_with("waits for its launch"), name.c_str());
            waits_s += std::get<double>(row[3]) - std::get<double>(row[2]);
        }
    }
    QVERIFY(waits_s > 0.0);
    QVERIFY(waits_s <= report.timeline.wait_host_s + 1e-9);
    const auto legend = [](const report::Drawing& d, const char* name) {
        return std::any_of(d.texts.begin(), d.texts.end(),
                           [&](const report::DrawnText& text) { return text.text == name; });
    };
    QVERIFY(legend(drawing, "waits for its launch"));
    QVERIFY(!legend(drawing, "waits for a copy")); // there is none
    // a click on a gap selects no layer, one on a kernel its own
    const auto at = [&](const report::Box& box) {
        return report::operator_at({report, gpu}, {1600.0, 300.0}, {},
                                   {box.left + 0.5 * box.width, box.top + 0.5 * box.height});
    };
    for (const report::DrawnBox& box : drawing.boxes) {
        const bool gap = box.tip.find('\n') == std::string::npos; // a kernel's tip has more lines
        if (gap && box.tip.find("waits for") != std::string::npos && box.box.width > 6.0) {
            QVERIFY(!at(box.box));
        }
    }
    session.scenario.copies = analysis::Copies::all; // weights, too: the first layers wait
    QVERIFY(open_and_wait(window, session));
    const analysis::Report& copied = window.reports()[0];
    QVERIFY(legend(report::draw_timeline({copied, gpu}, {1600.0, 300.0}), "waits for a copy"));
}

void TestLooks::a_kernel_is_dragged_onto_a_layer_and_taken_back() {
    QTemporaryDir folder;
    const QString run = written(folder.filePath("run.csv"), kRun);
    MainWindow window(folders());
    show(window);
    window.resize(window.width(), 1600); // all rows are seen, and space below them
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    QVERIFY(answered(window, [&] { drop(window, run); }));
    const auto unmatched = [&] { return window.reports()[0].measured->unmatched.size(); };
    QCOMPARE(unmatched(), std::size_t{1}); // relu
    QTableView& table = window.table();
    const auto row_of = [&](const QString& name) {
        for (int row = 0; row < table.model()->rowCount(); ++row) {
            if (table.model()->index(row, LayerTable::name).data().toString() == name) {
                return table.visualRect(table.model()->index(row, LayerTable::name)).center();
            }
        }
        return QPoint(-1, -1);
    };
    QWidget& rows = *table.viewport();
    const auto data = kernels_mime({"relu"});
    const auto drag_to = [&](QPoint place) {
        QDragEnterEvent enter(place, Qt::LinkAction, data.get(), Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&rows, &enter);
        QDragMoveEvent move(place, Qt::LinkAction, data.get(), Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&rows, &move);
        const bool welcome = move.isAccepted();
        QDropEvent drop(place, Qt::LinkAction, data.get(), Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&rows, &drop);
        return welcome;
    };
    QVERIFY(!drag_to({rows.width() / 2, rows.height() - 2})); // below all rows: nothing happens
    QCOMPARE(unmatched(), std::size_t{1});
    QVERIFY(answered(window, [&] { QVERIFY(drag_to(row_of("CONV2"))); }));
    QCOMPARE(unmatched(), std::size_t{0});
    QVERIFY(window.statusBar()->currentMessage().contains("relu now belongs to CONV2"));
    const QString saved = folder.filePath("hand.yaml");
    window.save_assignments(saved);
    QFile file(saved);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray text = file.readAll();
    QVERIFY(text.contains("CONV2") && text.contains("relu"));
    // files are still the window's
    QMimeData other;
    other.setUrls({QUrl::fromLocalFile(run)});
    QVERIFY(kernels_in(other).isEmpty());
}

void TestLooks::counters_that_contradict_a_step_give_advice() {
    QTemporaryDir folder;
    // CONV1 moves 40 MB over DRAM, far more than its tensors
    const QString run = written(folder.filePath("run.csv"), kRun);
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    QVERIFY(answered(window, [&] { drop(window, run); }));
    window.show_page("advice");
    auto* table = window.findChild<AnswerTableView*>("counter advice");
    QTRY_VERIFY(table->isVisible());
    const auto rules = analysis::counter_advice(window.reports()[0]);
    QVERIFY(!rules.empty());
    QCOMPARE(table->row_count(), static_cast<int>(rules.size()));
    int bytes = -1;
    for (int row = 0; row < table->row_count(); ++row) {
        bytes = cell_text(*table, row, 3).startsWith("DRAM bytes are 40 MB") ? row : bytes;
    }
    QVERIFY(bytes >= 0);
    QCOMPARE(cell_text(*table, bytes, 0), QString("CONV1"));
    QVERIFY(cell_text(*table, bytes, 4).startsWith("6, "));
    QVERIFY(cell_text(*table, bytes, 5).contains("fuse"));
    Hands hands; // and a row leads to its layer
    hands.click(*table->viewport(), table->visualRect(table->model()->index(bytes, 0)).center());
    QTRY_VERIFY(window.ladder().scene()->title.starts_with("CONV1"));
}

void TestLooks::repeated_layers_have_their_runs_and_times_one_unit() {
    QTemporaryDir folder;
    const QString layers = written(folder.filePath("layers.csv"), "name,op,m,n,k,count\n"
                                                                  "once,gemm,64,64,64,1\n"
                                                                  "often,gemm,512,512,512,12\n");
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    QVERIFY(window.table().isColumnHidden(LayerTable::runs)); // once each
    QVERIFY(open_and_wait(window, session_of(layers.toStdString().c_str(), {"a100-sxm-40gb"})));
    QVERIFY(!window.table().isColumnHidden(LayerTable::runs));
    const QAbstractItemModel& rows = *window.table().model();
    QCOMPARE(rows.headerData(LayerTable::runs, Qt::Horizontal).toString(), QString("Runs"));
    int often = rows.index(0, LayerTable::name).data().toString() == "often" ? 0 : 1;
    QCOMPARE(rows.index(often, LayerTable::runs).data().toString(), QString("12"));
    QVERIFY(rows.index(often, LayerTable::time).data().toString().endsWith("s"));
    auto* unit = window.findChild<QAction*>("unit us");
    QVERIFY(unit != nullptr);
    unit->trigger();
    QCOMPARE(rows.headerData(LayerTable::time, Qt::Horizontal).toString(), QString("Time (us)"));
    bool number = false;
    const double us = rows.index(often, LayerTable::time).data().toString().toDouble(&number);
    QVERIFY(number);
    const double seconds = 12.0 * layer(window, "often").time_s;
    QVERIFY(std::abs(us * 1e-6 / seconds - 1.0) < 0.005); // three digits
    // the session keeps it
    const QString file = folder.filePath("unit.yaml");
    window.save_session(file);
    const auto read = report::load_session(file.toStdString());
    QVERIFY(read.ok());
    QCOMPARE(read->view.time_unit, std::string("us"));
}

EYEROOF_WINDOW_TEST(TestLooks)

} // namespace test_gui_looks

#include "test_looks.moc"
