// One meaning of a figure on all pages: what bounds the step, what a parameter's value is, what
// changing it brings, and what is asked when a link leads to another page and back.
#include "analysis/what_if/headline.hpp"
#include "analysis/what_if/parameters.hpp"
#include "base/units.hpp"
#include "gui/panes/parameter_map/parameter_map_pane.hpp"
#include "gui/panes/upgrade_form.hpp"
#include "tests/gui/hands.hpp"
#include "tests/gui/registry.hpp"

#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QTemporaryDir>
#include <QWheelEvent>

namespace test_gui_in_force {

using namespace eyeroof;               // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui;          // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui::testing; // NOLINT(google-build-using-namespace)

class TestInForce : public QObject {
    Q_OBJECT

  private slots:
    void the_first_screen_of_a_gpu_says_what_bounds_the_step();
    void equal_times_of_machines_have_their_reason();
    void shares_are_of_the_step();
    void fields_show_the_values_that_are_in_force();
    void what_stands_in_a_field_can_be_entered_again();
    void a_cell_of_the_map_is_what_the_slider_brings();
    void the_way_to_the_upgrade_and_back_keeps_what_is_asked();
    void the_wheel_scrolls_and_turns_nothing();
    void a_filter_brings_what_is_left_into_sight();
    void own_tables_of_prices_are_those_of_the_option();
    void the_session_of_the_documentation_is_one();
};

namespace {

QString totals(MainWindow& window) {
    return window.findChild<QLabel*>("totals")->text();
}

QLineEdit* field(MainWindow& window, const QString& parameter) {
    return window.what_if().findChild<QLineEdit*>(parameter + " value");
}

// The values of a machine's parameters as the scenario has them.
std::map<std::string, double> in_force(MainWindow& window) {
    const auto question = question_of(window.session());
    std::map<std::string, double> values;
    for (const analysis::Parameter& parameter : analysis::tried_parameters(question.machine)) {
        values[parameter.name] = parameter.value;
    }
    return values;
}

// Each field of a parameter reads back as the value that the machine has.
void fields_are_in_force(MainWindow& window) {
    const auto question = question_of(window.session());
    for (const analysis::Parameter& parameter : analysis::tried_parameters(question.machine)) {
        const QString shown = field(window, QString::fromStdString(parameter.name))->text();
        const auto value = analysis::parse_value(parameter, shown.toStdString());
        QVERIFY2(value.ok() && std::abs(*value / parameter.value - 1.0) < 1e-5,
                 qPrintable(QString::fromStdString(parameter.name) + ": " + shown));
    }
}

void enter(QLineEdit* edit, const QString& text) {
    edit->selectAll();
    QTest::keyClicks(edit, text);
    QTest::keyClick(edit, Qt::Key_Return);
}

} // namespace

void TestInForce::the_first_screen_of_a_gpu_says_what_bounds_the_step() {
    MainWindow window(folders());
    show(window);
    QVERIFY(answered(window, [&] { window.findChild<QPushButton*>("entry gpu")->click(); }));
    const analysis::Report& report = window.reports().at(0);
    QVERIFY(report.headline.has_value());
    QVERIFY(
        totals(window).contains(QString::fromStdString(analysis::bound_by_text(*report.headline))));
    QVERIFY2(!totals(window).contains("most is lost in"), qPrintable(totals(window)));
    QCOMPARE(report.headline->resource, std::string("CPU launch overhead"));
    // the ladder of the network has the launches as a row of their own, which is the worst
    window.steps().show_network(true);
    const auto& bars = window.ladder().scene()->bars;
    const auto launches = std::find_if(bars.begin(), bars.end(),
                                       [](const auto& bar) { return bar.name == "CPU launches"; });
    QVERIFY(launches != bars.end() && launches->worst);
    QVERIFY(window.steps().text().contains("Bound by CPU launch overhead"));
    // the sentence leads to the slider, which brings what it says
    auto* label = window.findChild<QLabel*>("totals");
    emit label->linkActivated("parameter:host-speed");
    QCOMPARE(window.what_if().selected(), std::string("host-speed"));
    const double promised_s = report.headline->time_s;
    const double before_s = report.total.time_s;
    QVERIFY(answered(window, [&] { enter(field(window, "host's launch speed"), "2x"); }));
    QCOMPARE(window.session().scenario.host_speed, 2.0);
    QCOMPARE(window.reports().at(0).total.time_s, promised_s);
    QVERIFY(answered(window, [&] { window.undo(); }));
    QCOMPARE(window.reports().at(0).total.time_s, before_s);
    QCOMPARE(field(window, "host's launch speed")->text(), QString("1x"));
}

void TestInForce::equal_times_of_machines_have_their_reason() {
    MainWindow window(folders());
    show(window);
    QVERIFY(
        open_and_wait(window, session_of("bert-base", {"h200-sxm-141gb", "b200-sxm", "mi300x"})));
    QCOMPARE(totals(window).count("Bound by CPU launch overhead"), 3);
}

void TestInForce::shares_are_of_the_step() {
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("resnet50", {"a100-sxm-40gb"})));
    const analysis::Report& report = window.reports().at(0);
    QVERIFY(report.total.device_s < 0.5 * report.total.time_s);
    for (const report::ScenePoint& point : window.plot().scene().points) {
        const report::PlotPoint& source = window.plot().plot().points.at(point.source);
        QCOMPARE(point.share, source.total_s() / report.total.time_s);
        const auto card = card_of(window.plot().plot(), point);
        QVERIFY(std::any_of(card.begin(), card.end(), [](const report::CardRow& row) {
            return row.value.ends_with(" of the step");
        }));
    }
}

void TestInForce::fields_show_the_values_that_are_in_force() {
    MainWindow window(folders());
    show(window);
    for (const auto& [network, machine, clock] :
         {std::tuple{"alexnet", "eyeriss-v1", "400 MHz"},
          std::tuple{"mnist-cnn", "eyeriss-v1-192", "100 MHz"},
          std::tuple{"resnet50", "a100-sxm-40gb", "2.82 GHz"}}) {
        QVERIFY(open_and_wait(window, session_of(network, {machine})));
        fields_are_in_force(window);
        const auto before = in_force(window);
        QVERIFY(answered(window, [&] {
            for (const auto& parameter :
                 analysis::tried_parameters(question_of(window.session()).machine)) {
                if (parameter.key == "clock" || parameter.key == "boost-clock") {
                    enter(field(window, QString::fromStdString(parameter.name)), clock);
                    break;
                }
            }
        }));
        QVERIFY(in_force(window) != before);
        fields_are_in_force(window);
    }
}

void TestInForce::what_stands_in_a_field_can_be_entered_again() {
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    QCOMPARE(field(window, "DRAM link bandwidth")->text(), QString("2.4 B/cycle"));
    QVERIFY(answered(window, [&] { enter(field(window, "clock"), "400 MHz"); }));
    QCOMPARE(field(window, "DRAM link bandwidth")->text(), QString("1.2 B/cycle"));
    const double time_s = window.reports().at(0).total.time_s;
    QVERIFY(
        answered(window, [&] { enter(field(window, "DRAM link bandwidth"), "1.201 B/cycle"); }));
    QVERIFY(std::abs(window.reports().at(0).total.time_s / time_s - 1.0) < 1e-3);
    QVERIFY(answered(window, [&] { enter(field(window, "DRAM link bandwidth"), "2.4 B/cycle"); }));
    QVERIFY(window.reports().at(0).total.time_s < 0.95 * time_s); // twice what was in force
    fields_are_in_force(window);
}

void TestInForce::a_cell_of_the_map_is_what_the_slider_brings() {
    MainWindow window(folders());
    show(window);
    for (const auto& [network, machine] :
         {std::pair{"alexnet", "eyeriss-v1"}, std::pair{"mlp-2layer", "a100-sxm-40gb"}}) {
        QVERIFY(open_and_wait(window, session_of(network, {machine})));
        auto* pane = window.findChild<ParameterMapPane*>("parameters pane");
        window.show_page("parameters");
        QTRY_VERIFY_WITH_TIMEOUT(pane->map().has_value(), kPatience_ms);
        const analysis::ParameterMap map = *pane->map();
        QCOMPARE(map.now_s, window.reports().at(0).total.time_s);
        const auto row = std::find(map.y_values.begin(), map.y_values.end(), map.y.value);
        QVERIFY(row != map.y_values.end());
        const auto& times = map.time_s.at(static_cast<std::size_t>(row - map.y_values.begin()));
        for (const std::size_t column : {std::size_t{0}, times.size() - 1}) {
            QVERIFY(times[column].has_value());
            QVERIFY(answered(window,
                             [&] { window.what_if().turn_to(map.x.key, map.x_values[column]); }));
            QCOMPARE(window.reports().at(0).total.time_s, *times[column]);
        }
        window.show_page("roofline");
    }
}

void TestInForce::the_way_to_the_upgrade_and_back_keeps_what_is_asked() {
    MainWindow window(folders());
    show(window);
    for (const bool training : {false, true}) {
        report::Session session = session_of("bert-base", {"h200-sxm-141gb", "b200-sxm"});
        session.scenario.launch = model::Launch::graph;
        session.scenario.data_type = model::DataType::bf16;
        session.scenario.batch = 4;
        session.scenario.attention = analysis::AttentionForm::fused;
        session.scenario.compiled = training;
        if (training) {
            session.scenario.training = analysis::TrainingOptions{"adam"};
        }
        QVERIFY(open_and_wait(window, session));
        const double ratio =
            window.reports().at(0).total.time_s / window.reports().at(1).total.time_s;
        const QString before = totals(window);
        QSignalSpy judged(&window.upgrade(), &UpgradePane::judged);
        emit window.findChild<QLabel*>("totals")->linkActivated("upgrade");
        QTRY_VERIFY_WITH_TIMEOUT(judged.size() > 0 && window.upgrade().upgrades().size() == 1,
                                 kPatience_ms);
        QCOMPARE(window.upgrade().form().question().launch, std::string("graph"));
        // published speedups shift the model's: the page names both, the model's as the plot's
        QVERIFY2(window.findChild<QLabel*>("reasons")->text().contains(
                     QString("%1x by the model alone").arg(ratio, 0, 'f', 2)),
                 qPrintable(window.findChild<QLabel*>("reasons")->text()));
        QVERIFY(answered(window,
                         [&] { emit window.findChild<QLabel*>("verdict")->linkActivated("why"); }));
        QCOMPARE(window.session().scenario.launch, model::Launch::graph);
        QCOMPARE(window.session().scenario.attention, session.scenario.attention);
        QCOMPARE(window.session().scenario.compiled, training);
        QCOMPARE(totals(window), before);
    }
}

void TestInForce::the_wheel_scrolls_and_turns_nothing() {
    MainWindow window(folders());
    show(window, {1280, 800});
    QVERIFY(open_and_wait(window, session_of("resnet50", {"a100-sxm-40gb"})));
    window.show_page("what-if");
    window.plot().setFocus();
    const report::Session before = window.session();
    const auto roll = [](QWidget& widget) {
        const QPointF at(widget.rect().center());
        QWheelEvent event(at, widget.mapToGlobal(at), {}, {0, -120}, Qt::NoButton, Qt::NoModifier,
                          Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(&widget, &event);
    };
    for (QSlider* slider : window.what_if().findChildren<QSlider*>()) {
        const int value = slider->value();
        roll(*slider);
        slider->setFocus(); // as after a drag
        roll(*slider);
        QCOMPARE(slider->value(), value);
    }
    window.plot().setFocus();
    for (const char* name : {"batch"}) {
        roll(*window.findChild<QWidget*>(name));
    }
    for (const char* name : {"precision", "launch", "phase", "machine"}) {
        roll(*window.findChild<QComboBox*>(name));
    }
    QVERIFY(window.session() == before);
    QVERIFY(!window.examiner().busy());
}

void TestInForce::a_filter_brings_what_is_left_into_sight() {
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("resnet50", {"a100-sxm-40gb"})));
    window.plot().zoom_at({10.0, 10.0}, 0.05);
    QVERIFY(window.plot().view().x.has_value());
    auto* filter = window.findChild<QLineEdit*>("filter");
    QVERIFY(filter != nullptr);
    enter(filter, "conv5");
    QTRY_COMPARE(QString::fromStdString(window.plot().view().filter), QString("conv5"));
    QVERIFY(!window.plot().view().x.has_value());
}

void TestInForce::own_tables_of_prices_are_those_of_the_option() {
    QTemporaryDir folder;
    const QString table = written(
        folder.filePath("mine.yaml"),
        "eyeroof: prices/1\nseller: Mine\nkind: list\ndate: 2026-09-20\nsource: \"of this test\"\n"
        "usd_per_hour: {v100-sxm2-16gb: 0.5, a100-sxm-40gb: 0.7}\n");
    MainWindow window(folders());
    show(window);
    window.show_page("upgrade");
    QSignalSpy judged(&window.upgrade(), &UpgradePane::judged);
    window.upgrade().ask({"resnet50"}, "v100-sxm2-16gb", {"a100-sxm-40gb"}, "inference");
    QTRY_COMPARE_WITH_TIMEOUT(window.upgrade().upgrades().size(), std::size_t{1}, kPatience_ms);
    judged.clear();
    enter(window.findChild<QLineEdit*>("upgrade prices"), table);
    QTRY_VERIFY_WITH_TIMEOUT(!judged.isEmpty(), kPatience_ms);
    const analysis::UpgradeMoney& money = window.upgrade().upgrades().at(0).money;
    QCOMPARE(money.from_usd_per_hour, 0.5);
    QCOMPARE(money.to_usd_per_hour, 0.7);
    QVERIFY(window.upgrade().command_line().find("--prices ") != std::string::npos);
    const QString file = folder.filePath("s.eyeroof.yaml");
    window.save_session(file);
    MainWindow again(folders());
    again.open(file);
    QCOMPARE(again.upgrade().form().question().prices,
             std::vector<std::string>{table.toStdString()});
    judged.clear();
    enter(window.findChild<QLineEdit*>("upgrade prices"), folder.filePath("none.yaml"));
    QTRY_VERIFY_WITH_TIMEOUT(window.errors().topLevelItemCount() > 0, kPatience_ms);
}

void TestInForce::the_session_of_the_documentation_is_one() {
    QFile page(QString::fromStdString(tests::source_dir()) + "/docs/explorer.md");
    QVERIFY(page.open(QIODevice::ReadOnly));
    const QString text = page.readAll();
    const QString block = text.mid(text.indexOf("eyeroof: session/2")).section("```", 0, 0);
    const auto session = report::parse_session(block.toStdString(), "example.yaml");
    QVERIFY2(session.ok(), session.ok() ? "" : to_string(*session.diagnostics().begin()).c_str());
    QVERIFY(session->upgrade.has_value() && session->upgrade->prices.size() == 1);
}

EYEROOF_WINDOW_TEST(TestInForce)

} // namespace test_gui_in_force

#include "test_in_force.moc"
