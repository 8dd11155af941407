// Trying things out in the window: what-if, steps, mappings, searches, upgrades; without a screen.
#include "hwdb/catalog.hpp"
#include "model/cost.hpp"
#include "study/read/catalog.hpp"
#include "study/read/mapping_yaml.hpp"
#include "study/write/plot_csv.hpp"
#include "tests/gui/window_tools.hpp"

#include <QComboBox>
#include <QDockWidget>
#include <QElapsedTimer>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSlider>
#include <QSpinBox>
#include <QTableView>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QToolButton>

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
    void an_edited_mapping_is_costed_and_restored();
    void a_wrong_mapping_is_explained_in_place();
    void a_search_finds_a_mapping_and_uses_it();
    void a_search_is_cancelled_within_50_ms();
    void the_mapping_of_a_gpu_is_a_picture_without_an_editor();
    void an_upgrade_is_judged_and_drawn();
    void the_table_selects_in_the_plot();
    void filters_and_roofs_are_switched_in_the_row_above();
    void recent_files_and_docks_are_remembered();
    void a_machine_stands_beside_its_changed_self();
    void everything_that_is_used_has_a_name();
};

namespace {

QSlider* slider(MainWindow& window, const char* name) {
    return window.what_if().findChild<QSlider*>(name);
}

const study::LayerReport& layer(MainWindow& window, const std::string& name) {
    for (const study::LayerReport& candidate : window.reports().at(0).layers) {
        if (candidate.layer.name == name) {
            return candidate;
        }
    }
    qFatal("no such layer");
}

void select(MainWindow& window, const std::string& name) {
    for (const study::ScenePoint& point : window.plot().scene().points) {
        if (point.name == name) {
            window.plot().set_selection({point.id});
        }
    }
}

} // namespace

void TestExplore::turning_is_undone_and_done_again() {
    MainWindow window(folders());
    QVERIFY(open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb"})));
    const double before = window.reports()[0].total.time_s;
    QVERIFY(answered(window, [&] { slider(window, "DRAM bandwidth")->setValue(60); }));
    const double after = window.reports()[0].total.time_s;
    QVERIFY(after < before);
    QVERIFY(answered(window, [&] { window.undo(); }));
    QCOMPARE(window.reports()[0].total.time_s, before);
    QVERIFY(!window.what_if().is_changed());
    QCOMPARE(slider(window, "DRAM bandwidth")->value(), 0);
    QVERIFY(answered(window, [&] { window.redo(); }));
    QCOMPARE(window.reports()[0].total.time_s, after);
    QCOMPARE(slider(window, "DRAM bandwidth")->value(), 60);
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
    QCOMPARE(number->text(), QString("1.2 TB/s"));
    enter("x2");
    QCOMPARE(window.what_if().changes().at(0).value, 1.8e12);
}

void TestExplore::bars_say_what_ten_percent_more_brings() {
    MainWindow window(folders());
    QSignalSpy analysed(&window, &MainWindow::analysed);
    QVERIFY(open_and_wait(window, session_of("resnet50", {"a100-sxm-40gb"})));
    QVERIFY(analysed.wait(kPatience_ms));
    const auto machine = hwdb::load_machine("a100-sxm-40gb", folders().machines).value();
    const auto network = study::read::load_network("resnet50", folders().networks).value();
    const auto expected = study::sensitivities(network, machine).value();
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
    for (const study::WaterfallBar& bar : window.ladder().scene()->bars) {
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
    QCOMPARE(window.session().set.size(), std::size_t{1});
    QVERIFY(study::cli_command(window.session()).find("--set 'dram-bandwidth=") !=
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
    auto* precision = window.findChild<QComboBox*>("precision");
    QVERIFY(answered(window, [&] {
        precision->setCurrentIndex(precision->findData("fp32"));
        emit precision->activated(precision->currentIndex());
    }));
    QCOMPARE(layer(window, "CONV1").layer.types.input, model::DataType::fp32);
    QVERIFY(answered(window, [&] { window.undo(); }));
    QCOMPARE(window.session().data_type, std::string());
    QVERIFY(answered(window, [&] { window.undo(); }));
    QCOMPARE(window.reports()[0].total.time_s, one);
}

void TestExplore::an_edited_mapping_is_costed_and_restored() {
    MainWindow window(folders());
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    select(window, "CONV2");
    const study::LayerReport before = layer(window, "CONV2");
    QPlainTextEdit& editor = window.mapping().editor();
    const auto machine = hwdb::load_machine("eyeriss-v1", folders().machines).value();
    const auto& accelerator = std::get<model::Accelerator>(machine.kind);
    model::Mapping serial = before.mappings.at(0); // everything in time
    for (model::LevelMapping& level : serial.levels) {
        for (const model::SpatialLoop& loop : level.spatial) {
            serial.levels.front().temporal.insert(serial.levels.front().temporal.begin(),
                                                  {loop.dim, loop.bound});
        }
        level.spatial.clear();
    }
    const std::string text = study::read::write_mapping_yaml(serial, accelerator);
    editor.setPlainText(QString::fromStdString(text));
    QTRY_VERIFY(window.mapping().verdict().contains("slower"));
    QCOMPARE(layer(window, "CONV2").active.allocated, 1.0);
    QVERIFY(layer(window, "CONV2").time_s > before.time_s);
    emit window.mapping().restore_wanted();
    QTRY_COMPARE_WITH_TIMEOUT(layer(window, "CONV2").time_s, before.time_s, kPatience_ms);
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
    const study::LayerReport before = layer(window, "FC8");
    QSignalSpy searched(&window, &MainWindow::searched);
    window.mapping().findChild<QPushButton*>("search")->click();
    QVERIFY(window.mapping().searching());
    QVERIFY(searched.size() > 0 || searched.wait(kPatience_ms));
    QVERIFY(!window.mapping().searching());
    // What the search minimises is the cost in which everything overlaps, not the time with ramps.
    const auto machine = hwdb::load_machine("eyeriss-v1", folders().machines).value();
    const auto problem = model::problems_of(before.layer).value().front();
    const auto value = [&](const study::LayerReport& report) {
        const auto cost = model::cost_of(problem, std::get<model::Accelerator>(machine.kind),
                                         report.mappings.at(0));
        return cost->energy_pj * cost->cycles;
    };
    QVERIFY(value(layer(window, "FC8")) <= value(before) * (1.0 + 1e-9));
    QVERIFY(window.mapping().verdict().startsWith("✓"));
}

void TestExplore::a_search_is_cancelled_within_50_ms() {
    MainWindow window(folders());
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    select(window, "CONV2"); // takes long
    const study::LayerReport before = layer(window, "CONV2");
    window.mapping().findChild<QPushButton*>("search")->click();
    QTest::qWait(100);
    if (!window.searcher().busy()) {
        QSKIP("the search was over before it could be cancelled");
    }
    QElapsedTimer timer;
    timer.start();
    window.mapping().findChild<QPushButton*>("cancel search")->click();
    QVERIFY(!window.mapping().searching());
    QVERIFY(timer.elapsed() < 50);
    QTRY_VERIFY_WITH_TIMEOUT(!window.searcher().busy(), kPatience_ms);
    qInfo("the search itself ended after %lld ms", timer.elapsed());
    QVERIFY(layer(window, "CONV2") == before);
}

void TestExplore::the_mapping_of_a_gpu_is_a_picture_without_an_editor() {
    MainWindow window(folders());
    window.resize(1280, 800);
    window.show();
    window.show_page("mapping");
    auto session = session_of("bert-base", {"a100-sxm-40gb"});
    session.data_type = "fp16";
    QVERIFY(open_and_wait(window, session));
    select(window, "ffn1");
    QVERIFY(!window.mapping().editor().isVisible());
    QVERIFY(window.mapping().picture().drawing().boxes.size() > 108); // an SM each, and tiles
}

void TestExplore::an_upgrade_is_judged_and_drawn() {
    MainWindow window(folders());
    window.resize(1280, 800);
    window.show();
    window.show_page("upgrade");
    QSignalSpy judged(&window.upgrade(), &UpgradePane::judged);
    window.upgrade().ask({"bert-large"}, "v100-sxm2-16gb", {"a100-sxm-40gb", "t4"});
    QTRY_COMPARE_WITH_TIMEOUT(window.upgrade().upgrades().size(), std::size_t{2}, kPatience_ms);
    const auto from = hwdb::load_machine("v100-sxm2-16gb", folders().machines).value();
    const auto to = hwdb::load_machine("a100-sxm-40gb", folders().machines).value();
    const auto network = study::read::load_network("bert-large", folders().networks).value();
    const auto expected = study::upgrade(network, from, to, {});
    study::Upgrade shown = window.upgrade().upgrades()[0];
    QCOMPARE(shown.sweep.size(), std::size_t{3}); // what the form sweeps unless told otherwise
    shown.sweep.clear();
    QVERIFY(shown == *expected);
    QVERIFY(window.upgrade().headline().contains("V100", Qt::CaseInsensitive));
    QCOMPARE(window.upgrade().verdicts().rowCount(), 2);
    QCOMPARE(window.upgrade().layers().rowCount(), static_cast<int>(expected->layers.size()));
    QVERIFY(window.upgrade().plot().drawing().boxes.size() > 50);
    QVERIFY(window.upgrade().command_line().starts_with(
        "eyeroof upgrade bert-large --from v100-sxm2-16gb --to a100-sxm-40gb"));
    for (const QDockWidget* dock : window.findChildren<QDockWidget*>()) {
        QVERIFY(!dock->isVisible()); // the view has the window to itself
    }
    window.show_page("roofline");
    QVERIFY(window.findChild<QDockWidget*>("layers")->isVisible());
}

void TestExplore::the_table_selects_in_the_plot() {
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

void TestExplore::filters_and_roofs_are_switched_in_the_row_above() {
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

void TestExplore::recent_files_and_docks_are_remembered() {
    QTemporaryDir folder;
    QSettings settings(folder.filePath("settings.ini"), QSettings::IniFormat);
    const QString file = written(folder.filePath("s.eyeroof.yaml"),
                                 "eyeroof: session/1\nnetwork: alexnet\nmachines: [l4]\n");
    {
        MainWindow window(folders());
        window.remember_in(settings);
        window.show();
        drop(window, file);
        window.findChild<QDockWidget*>("steps")->hide();
        window.close();
    }
    MainWindow again(folders());
    again.remember_in(settings);
    again.show();
    QCOMPARE(again.recent_files(), QStringList{file});
    QVERIFY(again.findChild<QDockWidget*>("steps")->isHidden());
    QVERIFY(!again.findChild<QDockWidget*>("layers")->isHidden());
}

void TestExplore::a_machine_stands_beside_its_changed_self() {
    MainWindow window(folders());
    QVERIFY(open_and_wait(window, session_of("alexnet", {"l4", "l4"})));
    QVERIFY(answered(window, [&] { slider(window, "DRAM bandwidth")->setValue(30); }));
    QCOMPARE(window.reports().size(), std::size_t{2});
    QVERIFY(window.reports()[0].machine.id != window.reports()[1].machine.id);
    QVERIFY(window.reports()[0].total.time_s < window.reports()[1].total.time_s);
}

void TestExplore::everything_that_is_used_has_a_name() {
    MainWindow window(folders());
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    const auto named = [](const QWidget* widget) {
        return !widget->accessibleName().isEmpty() || !widget->windowTitle().isEmpty();
    };
    for (const QSlider* widget : window.findChildren<QSlider*>()) {
        QVERIFY(named(widget));
    }
    for (const QComboBox* widget : window.findChildren<QComboBox*>()) {
        QVERIFY2(named(widget), qPrintable(widget->objectName()));
    }
    for (const QAbstractItemView* widget : {static_cast<QAbstractItemView*>(&window.table()),
                                            static_cast<QAbstractItemView*>(&window.errors())}) {
        QVERIFY(named(widget));
    }
    QVERIFY(named(&window.plot()) && named(&window.ladder()));
    QVERIFY(!window.ladder().accessibleDescription().isEmpty());
}

QTEST_MAIN(TestExplore)
#include "test_explore.moc"
