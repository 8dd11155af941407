// What is hidden and shown alone, panes behind others, machines that are switched off, traces
// without a GPU, and what a bought GPU costs its owner.
#include "gui/panes/upgrade_form.hpp"
#include "report/session/session.hpp"
#include "tests/gui/registry.hpp"
#include "tests/gui/window_tools.hpp"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QSlider>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolButton>
#include <cmath>

namespace test_gui_hidden {

using namespace eyeroof;               // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui;          // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui::testing; // NOLINT(google-build-using-namespace)

class TestHidden : public QObject {
    Q_OBJECT

  private slots:
    void points_are_hidden_and_shown_alone();
    void while_a_slider_is_held_only_what_is_in_sight_follows();
    void a_pane_that_comes_to_the_front_shows_what_is_on_screen();
    void a_machine_of_several_is_switched_off();
    void a_trace_without_a_gpu_is_asked_for_it();
    void an_owner_pays_for_power_host_and_age();
};

void TestHidden::points_are_hidden_and_shown_alone() {
    MainWindow window(folders());
    window.resize(1400, 900);
    window.show();
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window)); // shortcuts go to the active window
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    const std::size_t all = window.plot().scene().points.size();
    const int rows = window.table().model()->rowCount();
    select(window, "CONV2");
    QTest::keyClick(&window.plot(), Qt::Key_H, Qt::ControlModifier);
    QCOMPARE(window.plot().scene().points.size(), all - 1);
    QCOMPARE(window.table().model()->rowCount(), rows - 1);
    auto* chip = window.findChild<QToolButton*>("chip hidden");
    QVERIFY(chip != nullptr && chip->text().contains("1 hidden"));
    // what is copied draws the same
    QVERIFY(report::cli_command(window.session()).find("CONV2") != std::string::npos);
    chip->click();
    QCOMPARE(window.plot().scene().points.size(), all);
    select(window, "CONV3");
    QTest::keyClick(&window.plot(), Qt::Key_I, Qt::ControlModifier);
    QCOMPARE(window.plot().scene().points.size(), std::size_t(1));
    QTest::keyClick(&window.plot(), Qt::Key_H, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(window.plot().scene().points.size(), all);
}

namespace {

// Of a pane behind the table of layers, and of what stands above that table: energies and times.
QString traffic_text(MainWindow& window) {
    return window.findChild<QLabel*>("traffic head")->text();
}

QString totals_text(MainWindow& window) {
    return window.findChild<QLabel*>("totals")->text();
}

} // namespace

void TestHidden::while_a_slider_is_held_only_what_is_in_sight_follows() {
    MainWindow window(folders());
    window.resize(1280, 800);
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    const QString behind = traffic_text(window), before = totals_text(window);
    QSlider* parameter = slider(window, "DRAM bandwidth");
    parameter->setSliderDown(true);
    for (const int step : {-20, -40}) { // each answer before the slider rests
        QVERIFY(answered(window, [&] { parameter->setSliderPosition(step); }));
        QVERIFY(totals_text(window) != before);
        QCOMPARE(traffic_text(window), behind);
    }
    QTRY_VERIFY(traffic_text(window) != behind); // it rests, and is still held
    const QString rested = traffic_text(window);
    QVERIFY(answered(window, [&] { parameter->setSliderPosition(-60); }));
    QCOMPARE(traffic_text(window), rested);
    parameter->setSliderDown(false);
    QVERIFY(traffic_text(window) != rested);
}

void TestHidden::a_pane_that_comes_to_the_front_shows_what_is_on_screen() {
    MainWindow window(folders());
    window.resize(1280, 800);
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    QSlider* parameter = slider(window, "DRAM bandwidth");
    parameter->setSliderDown(true);
    window.show_page("traffic");
    QCoreApplication::processEvents();
    const QString before = traffic_text(window);
    QVERIFY(answered(window, [&] { parameter->setSliderPosition(-40); }));
    QVERIFY(traffic_text(window) != before); // it is in sight now
    parameter->setSliderDown(false);
}

void TestHidden::a_machine_of_several_is_switched_off() {
    MainWindow window(folders());
    window.resize(1600, 1000);
    window.show();
    QVERIFY(open_and_wait(window,
                          session_of("alexnet", {"t4", "l4", "a100-sxm-40gb", "v100-sxm2-16gb"})));
    QCOMPARE(window.reports().size(), std::size_t(4));
    const std::size_t all = window.plot().scene().points.size();
    const std::size_t roofs = window.plot().scene().roofs.size();
    window.findChild<QToolButton*>("machine l4")->click();
    QCOMPARE(window.plot().scene().points.size(), all - all / 4);
    QVERIFY(window.plot().scene().roofs.size() < roofs);
    for (const report::ScenePoint& point : window.plot().scene().points) {
        QVERIFY(window.plot().plot().points.at(point.source).machine != "l4");
    }
    QCOMPARE(window.session().view.hidden_machines, std::set<std::string>{"l4"});
    window.findChild<QToolButton*>("machine l4")->click();
    QCOMPARE(window.plot().scene().points.size(), all);
}

void TestHidden::a_trace_without_a_gpu_is_asked_for_it() {
    QTemporaryDir folder;
    const QString run = written(folder.filePath("nameless.csv"),
                                "kernel,layer,time_us,bytes_dram,flops_fp16_tensor\n"
                                "gemm_a,CONV1,60,40000000,211000000\n");
    MainWindow window(folders());
    window.resize(1400, 900);
    window.show();
    QVERIFY(!window.findChild<QComboBox*>("start measured on")->isVisible());
    QVERIFY(answered(window, [&] { drop(window, run); }));
    auto* asks = window.findChild<QComboBox*>("start measured on");
    QVERIFY(asks->isVisible());
    QVERIFY(window.findChild<QLabel*>("start trace")->text().contains("nameless.csv"));
    QVERIFY(answered(window, [&] {
        asks->setCurrentText("v100-sxm2-16gb");
        QTest::keyClick(asks->lineEdit(), Qt::Key_Return);
    }));
    QCOMPARE(window.session().machines, std::vector<std::string>{"v100-sxm2-16gb"});
    QVERIFY(window.plot().isVisible());
    QCOMPARE(window.plot().scene().points.size(), std::size_t(1));
}

void TestHidden::an_owner_pays_for_power_host_and_age() {
    MainWindow window(folders());
    window.show();
    window.show_page("upgrade");
    const auto judged = [&](const auto& action) {
        QSignalSpy spy(&window.upgrade(), &UpgradePane::judged);
        action();
        return spy.size() > 0 || spy.wait(kPatience_ms);
    };
    QVERIFY(judged([&] {
        analysis::UpgradeQuestion question;
        question.networks = {{"bert-large", 1.0}};
        question.from.name = "v100-sxm2-16gb";
        question.to = {{"a100-sxm-40gb", {}, {}, 9000.0}};
        question.utilization = 0.5;
        window.upgrade().ask(question);
    }));
    const auto money = [&] { return window.upgrade().upgrades().at(0).money; };
    const analysis::UpgradeMoney free = money();
    QVERIFY(free.owned_usd_per_hour && free.break_even_months);
    // 9000 $ over three years at half of 730 hours a month, and the power of 400 W
    const double hours = 0.5 * 730.0;
    const double watts = 1000.0 * free.power_usd_per_month / hours / 0.12;
    QVERIFY(std::abs(*free.owned_usd_per_hour - (9000.0 / 36.0 / hours + watts / 1000.0 * 0.12)) <
            1e-9);
    QVERIFY(judged([&] { window.findChild<QDoubleSpinBox*>("owner host")->setValue(100.0); }));
    QVERIFY(std::abs(*money().owned_usd_per_hour - *free.owned_usd_per_hour - 100.0 / hours) <
            1e-9);
    QVERIFY(*money().break_even_months > *free.break_even_months);
    QVERIFY(judged([&] { window.findChild<QDoubleSpinBox*>("owner power")->setValue(0.24); }));
    QVERIFY(std::abs(money().power_usd_per_month / free.power_usd_per_month - 2.0) < 1e-9);
    QVERIFY(judged([&] { window.findChild<QDoubleSpinBox*>("owner years")->setValue(6.0); }));
    QVERIFY(*money().owned_usd_per_hour < *free.owned_usd_per_hour + 100.0 / hours);
    const std::string line = window.upgrade().command_line();
    QVERIFY2(line.find("--power-price 0.24 --host-per-month 100 --years 6") != std::string::npos,
             line.c_str());
}

EYEROOF_WINDOW_TEST(TestHidden)

} // namespace test_gui_hidden

#include "test_hidden.moc"
