// The plot with its row of switches: filters, roofs, levels, what the pointer and the table select.
#include "tests/gui/hands.hpp"
#include "tests/gui/registry.hpp"

#include <QComboBox>
#include <QLineEdit>
#include <QTableView>
#include <QToolButton>
#include <cmath>

namespace test_gui_roofs {

using namespace eyeroof;               // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui;          // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui::testing; // NOLINT(google-build-using-namespace)

class TestRoofs : public QObject {
    Q_OBJECT

  private slots:
    void the_table_selects_in_the_plot();
    void filters_and_roofs_are_switched_in_the_row_above();
    void points_at_one_place_are_told_together();
    void machines_that_come_later_bring_their_roofs();
    void another_level_keeps_the_selection_and_brings_its_roof();
};

void TestRoofs::the_table_selects_in_the_plot() {
    MainWindow window(folders());
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    window.table().selectRow(2);
    QCOMPARE(window.plot().view().selection.size(), std::size_t{1});
    const std::string id = *window.plot().view().selection.begin();
    const QString name = window.table().model()->index(2, LayerTable::name).data().toString();
    QVERIFY(id.ends_with("/" + name.toStdString()));
    QVERIFY(window.ladder().scene()->title.starts_with(name.toStdString()));
}

void TestRoofs::filters_and_roofs_are_switched_in_the_row_above() {
    MainWindow window(folders());
    window.show();
    QVERIFY(open_and_wait(window, session_of("resnet50", {"a100-sxm-40gb"})));
    const std::size_t all = window.plot().scene().points.size();
    window.findChild<QLineEdit*>("filter")->setText("conv2");
    QVERIFY(window.plot().scene().points.size() < all);
    auto* chip = window.findChild<QToolButton*>("chip filter");
    QVERIFY(chip != nullptr);
    chip->click();
    QCOMPARE(window.plot().scene().points.size(), all);
    QVERIFY(window.findChild<QLineEdit*>("filter")->text().isEmpty());
    const std::size_t roofs = window.plot().scene().roofs.size();
    window.findChild<QToolButton*>("roof a100-sxm-40gb/memory/L2")->click();
    QCOMPARE(window.plot().scene().roofs.size(), roofs + 1);
}

void TestRoofs::points_at_one_place_are_told_together() {
    MainWindow window(folders());
    window.resize(1280, 800);
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb"})));
    const std::size_t all = window.plot().scene().points.size();
    // points at one place are told together
    const auto& scene = window.plot().scene();
    for (std::size_t i = 0; i < all; ++i) {
        const auto at = scene.area.place_of(scene.points[i].x, scene.points[i].y);
        hover(window.plot(), QPoint(2, 2));
        hover(window.plot(), QPointF(at.x, at.y).toPoint());
        std::size_t near = 0;
        for (const report::ScenePoint& other : scene.points) {
            const auto there = scene.area.place_of(other.x, other.y);
            near += std::hypot(there.x - std::round(at.x), there.y - std::round(at.y)) <=
                            other.radius + 4.0
                        ? 1
                        : 0;
        }
        const auto& card = window.plot().card();
        QVERIFY(!card.empty());
        QCOMPARE(card.back().what == "also here", near > 1);
    }
}

void TestRoofs::machines_that_come_later_bring_their_roofs() {
    MainWindow window(folders());
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb"})));
    window.findChild<QToolButton*>("roof v100-sxm2-16gb/memory/L2")->click();
    QVERIFY(window.plot().view().roofs.has_value());
    auto* other = window.findChild<QComboBox*>("other");
    QVERIFY(answered(window, [&] {
        other->setCurrentText("a100-sxm-40gb");
        emit other->activated(other->currentIndex());
    }));
    QTRY_COMPARE_WITH_TIMEOUT(window.reports().size(), std::size_t{2}, kPatience_ms);
    const auto visible = [&](const char* id) {
        const auto& roofs = window.plot().scene().roofs;
        return std::any_of(roofs.begin(), roofs.end(),
                           [&](const report::SceneRoof& roof) { return roof.roof.id == id; });
    };
    QVERIFY(visible("a100-sxm-40gb/memory/DRAM"));
    QVERIFY(visible("v100-sxm2-16gb/memory/L2")); // the choice stays
    window.findChild<QToolButton*>("roof a100-sxm-40gb/memory/DRAM")->click();
    QVERIFY(!visible("a100-sxm-40gb/memory/DRAM"));
    QVERIFY(answered(window, [&] { slider(window, "DRAM bandwidth")->setValue(5); }));
    QVERIFY(!visible("a100-sxm-40gb/memory/DRAM")); // and a choice about it as well
}

void TestRoofs::another_level_keeps_the_selection_and_brings_its_roof() {
    MainWindow window(folders());
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    select(window, "FC6");
    const auto before = window.plot().view().selection;
    window.findChild<QToolButton*>("roof eyeriss-v1/memory/DRAM")->click(); // by hand from now on
    std::set<std::string> known; // levels with a roof: others are not limited
    for (const analysis::Roof& roof : window.plot().plot().machines.at(0).roofs) {
        known.insert(roof.kind == analysis::RoofKind::memory ? roof.key : std::string());
    }
    auto* level = window.findChild<QComboBox*>("level");
    for (const QString& wanted : {QString("filter GLB"), QString(report::kAllLevels), QString()}) {
        const int index = std::max(0, level->findData(wanted)); // the outermost is the first
        QVERIFY2(wanted.isEmpty() || index > 0, qPrintable(wanted));
        level->setCurrentIndex(index);
        emit level->activated(index);
        QVERIFY(window.plot().view().selection == before);
        QCOMPARE(window.table().selectionModel()->selectedRows().size(), 1);
        QVERIFY(window.ladder().scene()->title.starts_with("FC6"));
        const auto& scene = window.plot().scene();
        for (const report::ScenePoint& point : scene.points) {
            const auto roof = std::find_if(
                scene.roofs.begin(), scene.roofs.end(), [&](const report::SceneRoof& r) {
                    return r.roof.kind == analysis::RoofKind::memory && r.roof.key == point.level;
                });
            if (point.level.empty() || !known.contains(point.level)) {
                continue;
            }
            QVERIFY2(roof != scene.roofs.end(), point.level.c_str());
            if (wanted == report::kAllLevels) {
                QCOMPARE(roof->colour, scene.series[point.series].colour);
            }
        }
    }
}

EYEROOF_WINDOW_TEST(TestRoofs)

} // namespace test_gui_roofs

#include "test_roofs.moc"
