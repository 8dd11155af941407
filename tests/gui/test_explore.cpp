// Trying things out in the window: what-if, steps, mappings, searches; without a screen.
#include "formats/catalog.hpp"
#include "formats/mapping_yaml.hpp"
#include "gui/jobs/as_in_view.hpp"
#include "hwdb/catalog.hpp"
#include "model/cost/cost.hpp"
#include "tests/gui/registry.hpp"
#include "tests/gui/window_tools.hpp"

#include <QComboBox>
#include <QDir>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSlider>
#include <QSpinBox>
#include <QTableView>
#include <QTemporaryDir>
#include <QTextEdit>
#include <QToolButton>

namespace test_gui_explore {

using namespace eyeroof;               // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui;          // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui::testing; // NOLINT(google-build-using-namespace)

class TestExplore : public QObject {
    Q_OBJECT

  private slots:
    void turning_is_undone_and_done_again();
    void a_drag_is_one_entry_of_the_history();
    void a_number_is_read_with_its_unit_and_nonsense_is_refused();
    void bars_say_what_ten_percent_more_brings();
    void clicking_a_step_selects_the_parameter_behind_it();
    void a_changed_machine_is_saved_and_opened();
    void what_was_turned_stays_in_sessions_and_in_the_command_line();
    void batch_and_precision_are_part_of_the_experiment();
    void what_cannot_be_turned_is_told_and_left();
    void an_edited_mapping_is_costed_and_restored();
    void a_wrong_mapping_is_explained_in_place();
    void a_search_finds_a_mapping_and_uses_it();
    void a_search_is_cancelled_at_once();
    void the_mapping_of_a_gpu_is_a_picture_without_an_editor();
    void the_network_has_a_ladder_of_its_own();
    void each_product_of_attention_has_its_mapping();
    void a_machine_stands_beside_its_changed_self();
};

namespace {

constexpr const char* kAttention =
    "name: Attention\nsource: \"of this test\"\nlayers:\n"
    "  - {name: heads, op: attention, groups: 12, m: 128, n: 128, k: 64}\n";

} // namespace

void TestExplore::turning_is_undone_and_done_again() {
    MainWindow window(folders());
    QVERIFY(open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb"})));
    const double before = window.reports()[0].total.time_s;
    const int most = slider(window, "DRAM bandwidth")->maximum(); // eight times
    QVERIFY(answered(window, [&] { slider(window, "DRAM bandwidth")->setValue(most); }));
    const double after = window.reports()[0].total.time_s;
    QVERIFY(after < before);
    QVERIFY(answered(window, [&] { window.undo(); }));
    QCOMPARE(window.reports()[0].total.time_s, before);
    QVERIFY(!window.what_if().is_changed());
    QCOMPARE(slider(window, "DRAM bandwidth")->value(), 0);
    QVERIFY(answered(window, [&] { window.redo(); }));
    QCOMPARE(window.reports()[0].total.time_s, after);
    QCOMPARE(slider(window, "DRAM bandwidth")->value(), most);
    window.redo(); // nothing is left to be done again
    QVERIFY(window.what_if().is_changed());
}

void TestExplore::a_drag_is_one_entry_of_the_history() {
    MainWindow window(folders());
    QVERIFY(open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb"})));
    for (int step = 1; step <= 20; ++step) {
        slider(window, "DRAM bandwidth")->setValue(step);
    }
    slider(window, "L2 capacity")->setValue(5);
    window.undo();
    QCOMPARE(window.what_if().changes().size(), std::size_t{1});
    QCOMPARE(window.what_if().changes()[0].key, std::string("dram-bandwidth"));
    window.undo();
    QVERIFY(!window.what_if().is_changed());
}

void TestExplore::a_number_is_read_with_its_unit_and_nonsense_is_refused() {
    MainWindow window(folders());
    QVERIFY(open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb"})));
    auto* number = window.what_if().findChild<QLineEdit*>("DRAM bandwidth value");
    QVERIFY(number != nullptr);
    const auto enter = [&](const char* text) {
        number->selectAll();
        QTest::keyClicks(number, text);
        QTest::keyClick(number, Qt::Key_Return);
    };
    enter("1.2 TB/s");
    QCOMPARE(window.what_if().changes().at(0).value, 1.2e12);
    enter("fast");
    QCOMPARE(window.what_if().changes().at(0).value, 1.2e12);
    QCOMPARE(number->text(), QString("fast")); // it stays, with the reason
    enter("x2");
    QCOMPARE(window.what_if().changes().at(0).value, 1.8e12);
}

void TestExplore::bars_say_what_ten_percent_more_brings() {
    MainWindow window(folders());
    QSignalSpy analysed(&window, &MainWindow::analysed);
    QVERIFY(open_and_wait(window, session_of("resnet50", {"a100-sxm-40gb"})));
    QVERIFY(analysed.wait(kPatience_ms));
    const auto question = question_of(window.session());
    const auto expected = gains_of(question, {}, {}, as_in_view({})).value();
    const auto machine = analysis::sensitivities(question).value(); // behind the host's launches
    QVERIFY(std::equal(machine.begin(), machine.end(), expected.begin() + 1, expected.end()));
    const auto bars = window.what_if().findChildren<GainBar*>();
    QCOMPARE(bars.size(), static_cast<qsizetype>(expected.size()));
    for (qsizetype i = 0; i < bars.size(); ++i) {
        QVERIFY(bars[i]->gain().has_value());
        QCOMPARE(*bars[i]->gain() + 1.0, expected[static_cast<std::size_t>(i)].speedup);
    }
    QVERIFY(window.steps().text().contains("What would help most"));
}

void TestExplore::clicking_a_step_selects_the_parameter_behind_it() {
    MainWindow window(folders());
    window.show();
    QSignalSpy analysed(&window, &MainWindow::analysed);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    select(window, "FC6");
    QTRY_VERIFY_WITH_TIMEOUT(window.steps().text().contains("What would help most"), kPatience_ms);
    for (const report::WaterfallBar& bar : window.ladder().scene()->bars) {
        if (bar.step == 6) {
            QTest::mouseClick(&window.ladder(), Qt::LeftButton, {},
                              QPoint(static_cast<int>(bar.row.left + 20),
                                     static_cast<int>(bar.row.top + bar.row.height / 2)));
        }
    }
    QCOMPARE(window.what_if().selected(), std::string("dram-link-bandwidth"));
    QVERIFY(window.steps().text().contains("dram-link-bandwidth"));
}

void TestExplore::a_changed_machine_is_saved_and_opened() {
    QTemporaryDir folder;
    const QString file = folder.filePath("wide.yaml");
    MainWindow window(folders());
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    QVERIFY(answered(window, [&] { slider(window, "axis x")->setValue(20); }));
    const double time = window.reports()[0].total.time_s;
    window.save_machine(file);
    MainWindow other(folders());
    QVERIFY(open_and_wait(other, session_of("alexnet", {file.toStdString()})));
    QCOMPARE(other.reports()[0].total.time_s, time);
    QCOMPARE(other.reports()[0].machine.id, std::string("wide"));
}

void TestExplore::what_was_turned_stays_in_sessions_and_in_the_command_line() {
    QTemporaryDir folder;
    const QString file = folder.filePath("s.eyeroof.yaml");
    MainWindow window(folders());
    QVERIFY(open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb"})));
    QVERIFY(answered(window, [&] { slider(window, "DRAM bandwidth")->setValue(20); }));
    QCOMPARE(window.session().scenario.changes.size(), std::size_t{1});
    QVERIFY(report::cli_command(window.session()).find("--set 'dram-bandwidth=") !=
            std::string::npos);
    window.save_session(file);
    MainWindow other(folders());
    QVERIFY(answered(other, [&] { other.open(file); }));
    QVERIFY(other.session() == window.session());
    QCOMPARE(other.reports()[0].total.time_s, window.reports()[0].total.time_s);
}

void TestExplore::batch_and_precision_are_part_of_the_experiment() {
    MainWindow window(folders());
    QVERIFY(open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb"})));
    const double one = window.reports()[0].total.time_s;
    QVERIFY(answered(window, [&] { window.findChild<QSpinBox*>("batch")->setValue(16); }));
    QVERIFY(window.reports()[0].total.time_s > one);
    QVERIFY(window.session().scenario.batch == 16); // samples, not a factor
    QCOMPARE(window.reports()[0].batch, Count{16});
    auto* precision = window.findChild<QComboBox*>("precision");
    QVERIFY(answered(window, [&] {
        precision->setCurrentIndex(precision->findData("fp32"));
        emit precision->activated(precision->currentIndex());
    }));
    QCOMPARE(layer(window, "CONV1").layer.types.input, model::DataType::fp32);
    QVERIFY(answered(window, [&] { window.undo(); }));
    QVERIFY(!window.session().scenario.data_type);
    QVERIFY(answered(window, [&] { window.undo(); }));
    QCOMPARE(window.reports()[0].total.time_s, one);
}

void TestExplore::what_cannot_be_turned_is_told_and_left() {
    MainWindow window(folders());
    report::Session session = session_of("alexnet", {"v100-sxm2-16gb"});
    session.scenario.changes = {"dram-bandwith=1 TB/s", "sms=100"};
    QVERIFY(open_and_wait(window, session));
    QCOMPARE(window.session().scenario.changes, std::vector<std::string>{"sms=100"});
    QCOMPARE(window.errors().topLevelItemCount(), 1);
    QVERIFY(window.errors().topLevelItem(0)->toolTip(0).contains("dram-bandwith"));
    QCOMPARE(window.reports()[0].machine.sms, 100);
    // a file that is not there: what is on screen says so
    session.scenario.changes.clear();
    session.scenario.host = "server-2x65";
    QVERIFY(open_and_wait(window, session));
    QVERIFY(window.reports().empty());
    QVERIFY(window.errors().topLevelItemCount() >= 1);
}

void TestExplore::an_edited_mapping_is_costed_and_restored() {
    MainWindow window(folders());
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    select(window, "CONV2");
    const analysis::LayerReport before = layer(window, "CONV2");
    QPlainTextEdit& editor = window.mapping().editor();
    const auto machine = hwdb::load_machine("eyeriss-v1", folders().machines).value();
    const auto& accelerator = std::get<model::Accelerator>(machine.kind);
    const std::string text =
        formats::write_mapping_yaml(serial(before.mappings.at(0)), accelerator);
    editor.setPlainText(QString::fromStdString(text));
    QTRY_VERIFY(window.mapping().verdict().contains("slower"));
    QCOMPARE(layer(window, "CONV2").active.allocated, 1.0);
    QVERIFY(layer(window, "CONV2").time_s > before.time_s);
    QVERIFY(!window.reports()[0].headline); // no sentence of the mapping before
    emit window.mapping().restore_wanted();
    QTRY_COMPARE_WITH_TIMEOUT(layer(window, "CONV2").time_s, before.time_s, kPatience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(window.reports()[0].headline.has_value(), kPatience_ms);
}

void TestExplore::a_wrong_mapping_is_explained_in_place() {
    MainWindow window(folders());
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    select(window, "CONV2");
    QPlainTextEdit& editor = window.mapping().editor();
    const double before = window.reports()[0].total.time_s;
    QString text = editor.toPlainText();
    editor.setPlainText(QString(text).replace("name: \"GLB\"", "name: \"GLBB\""));
    QTRY_VERIFY(window.mapping().verdict().contains("line"));
    QCOMPARE(editor.extraSelections().size(), 1);
    editor.setPlainText(QString(text).replace("R5 y", "R50 y")); // more than the axis has
    QTRY_VERIFY(window.mapping().verdict().startsWith("✗"));
    QCOMPARE(window.reports()[0].total.time_s, before); // nothing illegal is ever shown
}

void TestExplore::a_search_finds_a_mapping_and_uses_it() {
    MainWindow window(folders());
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    select(window, "FC8");
    const analysis::LayerReport before = layer(window, "FC8");
    QSignalSpy searched(&window, &MainWindow::searched);
    window.mapping().findChild<QPushButton*>("search")->click();
    QVERIFY(window.mapping().searching());
    QVERIFY(searched.size() > 0 || searched.wait(kPatience_ms));
    QVERIFY(!window.mapping().searching());
    // What the search minimises is the cost in which everything overlaps, not the time with ramps.
    const auto machine = hwdb::load_machine("eyeriss-v1", folders().machines).value();
    const auto problem = model::problems_of(before.layer).value().front();
    const auto value = [&](const analysis::LayerReport& report) {
        const auto cost = model::cost_of(problem, std::get<model::Accelerator>(machine.kind),
                                         report.mappings.at(0));
        return cost->energy_pj * cost->cycles;
    };
    QVERIFY(value(layer(window, "FC8")) <= value(before) * (1.0 + 1e-9));
    QVERIFY(window.mapping().verdict().startsWith("✓"));
}

void TestExplore::a_search_is_cancelled_at_once() {
    MainWindow window(folders());
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    select(window, "CONV2"); // takes long
    const analysis::LayerReport before = layer(window, "CONV2");
    window.mapping().findChild<QPushButton*>("search")->click();
    QTest::qWait(100);
    if (!window.searcher().busy()) {
        QSKIP("the search was over before it could be cancelled");
    }
    auto* cancel = window.mapping().findChild<QPushButton*>("cancel search");
    QSignalSpy searched(&window, &MainWindow::searched);
    cancel->click();
    QVERIFY(cancel->isHidden()); // heard, before the event loop turns
    QVERIFY(searched.size() > 0 || searched.wait(kPatience_ms));
    QVERIFY(!window.mapping().searching());
    // What it had found by then is used; before anything was found the mapping stays.
    const auto* told = window.mapping().findChild<QLabel*>("found");
    if (told->text().startsWith("Cancelled")) {
        QVERIFY(layer(window, "CONV2") == before);
    } else {
        QVERIFY(window.mapping().verdict().startsWith("✓"));
        QVERIFY(window.session().mappings.size() == 1);
    }
}

void TestExplore::the_mapping_of_a_gpu_is_a_picture_without_an_editor() {
    MainWindow window(folders());
    window.resize(1280, 800);
    window.show();
    window.show_page("mapping");
    auto session = session_of("bert-base", {"a100-sxm-40gb"});
    session.scenario.data_type = model::DataType::fp16;
    QVERIFY(open_and_wait(window, session));
    select(window, "ffn1");
    QVERIFY(!window.mapping().editor().isVisible());
    QVERIFY(window.mapping().picture().drawing().boxes.size() > 108); // an SM each, and tiles
}

void TestExplore::the_network_has_a_ladder_of_its_own() {
    MainWindow window(folders());
    window.show();
    QSignalSpy analysed(&window, &MainWindow::analysed);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    QTest::mouseClick(window.findChild<QToolButton*>("steps of network"), Qt::LeftButton);
    QVERIFY(window.steps().shows_network());
    QVERIFY(window.ladder().scene()->title.starts_with("AlexNet"));
    // the layer that loses most is one click away
    QVERIFY(analysed.size() > 0 || analysed.wait(kPatience_ms));
    QVERIFY(window.steps().text().contains("What would help most"));
    const QString text = window.steps().text();
    const int at = static_cast<int>(text.indexOf("layer:")) + 6;
    const QString row = text.mid(at, text.indexOf('"', at) - at);
    const std::string name = window.reports()[0].layers.at(row.toULongLong()).layer.name;
    emit window.steps().findChild<QLabel*>("step text")->linkActivated("layer:" + row);
    QVERIFY(!window.steps().shows_network());
    QVERIFY(window.ladder().scene()->title.starts_with(name));
}

void TestExplore::each_product_of_attention_has_its_mapping() {
    QTemporaryDir folder;
    const QString file = written(folder.filePath("net.yaml"), kAttention);
    MainWindow window(folders());
    window.show();
    QVERIFY(open_and_wait(window, session_of(qPrintable(file), {"eyeriss-v1"})));
    QVERIFY(!window.reports().empty());
    QCOMPARE(layer(window, "heads").mappings.size(), std::size_t{2});
    select(window, "heads");
    window.show_page("mapping");
    auto* nests = window.mapping().findChild<QComboBox*>("nest");
    QVERIFY(nests->isVisible());
    QCOMPARE(nests->count(), 2);
    QPlainTextEdit& editor = window.mapping().editor();
    const QString first = editor.toPlainText();
    nests->setCurrentIndex(1);
    emit nests->activated(1);
    QVERIFY(editor.toPlainText() != first);
    QVERIFY(editor.isEnabled());
    // one loop less spread over the array is costed; the other product stays as it was
    const analysis::LayerReport before = layer(window, "heads");
    model::Mapping other = before.mappings[1];
    for (model::LevelMapping& level : other.levels) {
        if (!level.spatial.empty()) {
            const model::SpatialLoop loop = level.spatial.back();
            level.spatial.pop_back();
            level.temporal.push_back({loop.dim, loop.bound});
            break;
        }
    }
    const auto machine = hwdb::load_machine("eyeriss-v1", folders().machines).value();
    editor.setPlainText(QString::fromStdString(
        formats::write_mapping_yaml(other, std::get<model::Accelerator>(machine.kind))));
    QTRY_VERIFY(!window.mapping().verdict().isEmpty());
    QVERIFY2(window.mapping().verdict().startsWith("✓"), qPrintable(window.mapping().verdict()));
    QVERIFY(layer(window, "heads").mappings[1] == other);
    QVERIFY(layer(window, "heads").mappings[0] == before.mappings[0]);
    QCOMPARE(window.session().mappings.at(0).nest, std::size_t{1});
}

void TestExplore::a_machine_stands_beside_its_changed_self() {
    MainWindow window(folders());
    QVERIFY(open_and_wait(window, session_of("alexnet", {"l4", "l4"})));
    QVERIFY(answered(window, [&] { slider(window, "DRAM bandwidth")->setValue(30); }));
    QCOMPARE(window.reports().size(), std::size_t{2});
    QVERIFY(window.reports()[0].machine.id != window.reports()[1].machine.id);
    QVERIFY(window.reports()[0].total.time_s < window.reports()[1].total.time_s);
    // the table says by how much, on the second machine's rows
    const QAbstractItemModel& rows = *window.table().model();
    int compared = 0;
    for (int row = 0; row < rows.rowCount(); ++row) {
        const bool second = rows.index(row, LayerTable::machine).data() == "l4-2";
        const QString ratio = rows.index(row, LayerTable::faster).data().toString();
        QCOMPARE(!ratio.isEmpty(), second);
        compared += second ? 1 : 0;
        if (second) { // never faster than with more bandwidth
            QVERIFY(rows.index(row, LayerTable::faster).data(Qt::UserRole).toDouble() < 1.0001);
        }
    }
    QVERIFY(compared > 0 && !window.table().isColumnHidden(LayerTable::faster));
}

EYEROOF_WINDOW_TEST(TestExplore)

} // namespace test_gui_explore

#include "test_explore.moc"
