// The window as a whole: what a new user finds, measurements, sessions, files, exports; without a
// screen.
#include "analysis/upgrade/surroundings.hpp"
#include "formats/catalog.hpp"
#include "formats/mapping_yaml.hpp"
#include "gui/panes/upgrade_form.hpp"
#include "hwdb/catalog.hpp"
#include "model/cost/cost.hpp"
#include "tests/gui/registry.hpp"
#include "tests/gui/upgrade_tools.hpp"
#include "tests/gui/window_tools.hpp"

#include <QComboBox>
#include <QDir>
#include <QDockWidget>
#include <QElapsedTimer>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSlider>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTextEdit>

namespace test_gui_window {

using namespace eyeroof;               // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui;          // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui::testing; // NOLINT(google-build-using-namespace)

class TestWindow : public QObject {
    Q_OBJECT

  private slots:
    void names_of_the_catalog_open_as_files_do();
    void everything_that_cannot_be_opened_is_told();
    void what_the_command_line_opens_the_window_opens();
    void an_upgrade_is_judged_and_drawn();
    void measured_times_stand_below_the_prediction();
    void edits_and_measurements_are_part_of_sessions();
    void steps_and_mappings_are_exported();
    void a_new_user_learns_why_a_layer_is_slow();
    void a_new_user_learns_whether_a_gpu_pays();
    void recent_files_and_docks_are_remembered();
    void everything_that_is_used_has_a_name();
};

namespace {

void select_predicted(MainWindow& window, const std::string& name) {
    for (const report::ScenePoint& point : window.plot().scene().points) {
        if (point.name == name && point.id.find("/predicted/") != std::string::npos) {
            window.plot().set_selection({point.id});
        }
    }
}

constexpr const char* kMeasured = "kernel,layer,time_us,bytes_dram,flops_fp16_tensor,clock_hz\n"
                                  "implicit_gemm_a,CONV1,60,40000000,211000000,1100000000\n"
                                  "implicit_gemm_b,CONV2,45,1200000,448000000,1400000000\n"
                                  "relu_kernel,,8,,,\n";

constexpr const char* kCeilings =
    "eyeroof_ceilings: 1\n"
    "machine: \"NVIDIA A100\"\n"
    "ceilings:\n"
    "  - {name: dram read, level: dram, value: 1.38 TB/s, spread: 0.01}\n"
    "  - {name: tensor fp16, precision: fp16, pipe: tensor, value: 251 TFLOP/s}\n";

} // namespace

void TestWindow::names_of_the_catalog_open_as_files_do() {
    MainWindow window(folders());
    QVERIFY(answered(window, [&] {
        window.open(QStringList{"resnet50", "v100-sxm2-16gb", "a100-sxm-40gb", "h100-sxm-80gb"});
    }));
    QTRY_COMPARE_WITH_TIMEOUT(window.reports().size(), std::size_t{3}, kPatience_ms);
    QCOMPARE(window.session().scenario.network, std::string("resnet50"));
    QCOMPARE(window.session().machines.size(), std::size_t{3});
    QCOMPARE(window.errors().topLevelItemCount(), 0);
    // one machine more takes the first one's place, beside the others
    QVERIFY(answered(window, [&] { window.open("p100-sxm2-16gb"); }));
    QCOMPARE(window.session().machines.front(), std::string("p100-sxm2-16gb"));
    QCOMPARE(window.session().machines.size(), std::size_t{3});
}

// Timeloop architectures; and the reader that a file was meant for says what is wrong with it.
void TestWindow::what_the_command_line_opens_the_window_opens() {
    QTemporaryDir folder;
    const QString timeloop = written(folder.filePath("arch.yaml"), R"(architecture:
  version: 0.3
  subtree:
    - name: system
      local:
        - {name: DRAM, class: DRAM, attributes: {width: 64, word-bits: 16}}
      subtree:
        - name: PE[0..15]
          local:
            - {name: Buffer, class: SRAM, attributes: {depth: 512, width: 16, word-bits: 16}}
            - {name: MACC, class: intmac, attributes: {datawidth: 16}}
)");
    MainWindow window(folders());
    QVERIFY(answered(window, [&] { window.open(QStringList{"alexnet", timeloop}); }));
    QCOMPARE(window.reports().size(), std::size_t{1});
    QVERIFY(!window.reports()[0].layers.empty());
    const QString table =
        written(folder.filePath("mine.csv"), "name,op,m,n,k\nfc,gemm,12,many,3\n");
    window.open(table);
    QVERIFY(window.errors().topLevelItemCount() > 0);
    const QTreeWidgetItem* told = window.errors().topLevelItem(0);
    QCOMPARE(told->text(1), table);
    QCOMPARE(told->text(2), QString("2"));
    QVERIFY2(told->text(4).contains("whole number"), qPrintable(told->text(4)));
}

void TestWindow::everything_that_cannot_be_opened_is_told() {
    QTemporaryDir folder;
    const QString broken =
        written(folder.filePath("m.yaml"), "eyeroof: machine/1\nkind: accelerator\nnam: x\n");
    MainWindow window(folders());
    QVERIFY(answered(window, [&] {
        window.open(QStringList{"resnet5O", broken, "alexnet", "a100-sxm-40gb", "nothing/here",
                                "bert-base:layer=1"});
    }));
    QTRY_COMPARE_WITH_TIMEOUT(window.reports().size(), std::size_t{1}, kPatience_ms);
    QString told;
    for (int i = 0; i < window.errors().topLevelItemCount(); ++i) {
        const QTreeWidgetItem* item = window.errors().topLevelItem(i);
        told += item->text(0) + " " + item->text(1) + " " + item->text(4) + "\n";
    }
    QVERIFY2(told.contains("did you mean 'resnet50'?"), qPrintable(told));
    QVERIFY2(told.contains(broken), qPrintable(told));
    QVERIFY2(told.contains("'nothing/here' is no file"), qPrintable(told));
    QVERIFY2(told.contains("no parameter 'layer'"), qPrintable(told)); // the reader's own words
    // what is opened next starts afresh
    QVERIFY(answered(window, [&] { window.open("vgg16"); }));
    QCOMPARE(window.errors().topLevelItemCount(), 0);
}

void TestWindow::an_upgrade_is_judged_and_drawn() {
    MainWindow window(folders());
    window.resize(1280, 800);
    window.show();
    window.show_page("upgrade");
    QSignalSpy judged(&window.upgrade(), &UpgradePane::judged);
    window.upgrade().ask({"bert-large"}, "v100-sxm2-16gb", {"a100-sxm-40gb", "t4"}, "inference");
    QTRY_COMPARE_WITH_TIMEOUT(window.upgrade().upgrades().size(), std::size_t{2}, kPatience_ms);
    const auto from = hwdb::load_machine("v100-sxm2-16gb", folders().machines).value();
    const auto to = hwdb::load_machine("a100-sxm-40gb", folders().machines).value();
    const auto wired = formats::load_wired_network("bert-large", folders().networks).value();
    analysis::UpgradeOptions asked; // what the form asks for unless told otherwise
    asked.edges = wired.edges;
    const auto options =
        analysis::with_surroundings(asked, from, to, {}, folders().machines).value();
    const auto expected = analysis::upgrade(wired.network, from, to, options);
    const analysis::Upgrade shown = window.upgrade().upgrades()[0];
    QVERIFY(shown.speedup == expected->speedup);
    const auto whole = whole_purchase(window.upgrade().form().question());
    QVERIFY(window.upgrade().purchase() == whole);
    QVERIFY(shown == whole.answers[0].upgrade);
    QVERIFY(window.upgrade().headline().contains("V100", Qt::CaseInsensitive));
    QCOMPARE(window.upgrade().verdicts().row_count(), 2);
    QCOMPARE(window.upgrade().layers().row_count(), static_cast<int>(expected->layers.size()));
    QVERIFY(window.upgrade().plot().drawing().boxes.size() > 50);
    window.upgrade().verdicts().selectRow(
        0); // the sentence is about the best, as on the command line
    QVERIFY(window.upgrade().command_line().starts_with(
        "eyeroof upgrade bert-large --from v100-sxm2-16gb --to a100-sxm-40gb"));
    for (const QDockWidget* dock : window.findChildren<QDockWidget*>()) {
        QVERIFY(!dock->isVisible()); // the view has the window to itself
    }
    window.show_page("roofline");
    QVERIFY(!window.findChild<QDockWidget*>("layers")->isVisible()); // there is no plot yet
    QVERIFY(open_and_wait(window, session_of("alexnet", {"l4"})));
    QVERIFY(window.findChild<QDockWidget*>("layers")->isVisible());
}

void TestWindow::measured_times_stand_below_the_prediction() {
    QTemporaryDir folder;
    const QString run = written(folder.filePath("run.csv"), kMeasured);
    const QString ceilings = written(folder.filePath("gpu.yaml"), kCeilings);
    MainWindow window(folders());
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    QVERIFY(answered(window, [&] { drop(window, run); }));
    QVERIFY(answered(window, [&] { drop(window, ceilings); }));
    select(window, "CONV1");
    select_predicted(window, "CONV1");
    const auto& m = *layer(window, "CONV1").measured;
    QCOMPARE(m.time_s, 60e-6);
    const report::WaterfallBar& last = window.ladder().scene()->bars.back();
    QCOMPARE(last.name, std::string("unexplained (measured)"));
    QCOMPARE(last.value, std::string("60 us"));
    QVERIFY(window.steps().text().contains("unexplained"));
    QVERIFY(window.steps().text().contains("DRAM bytes")); // the counter that disagrees
    const auto* details = window.findChild<QTextEdit*>("details text");
    QVERIFY(details->toPlainText().contains("No counter accounts for"));
    QVERIFY(details->toPlainText().contains("ensor fp16: 251 TFLOP/s")); // the measured ceiling
    // the table: the measured time beside the predicted one, and the difference
    const QAbstractItemModel& rows = *window.table().model();
    bool found = false;
    for (int row = 0; row < rows.rowCount(); ++row) {
        if (rows.index(row, LayerTable::name).data() == "CONV1" &&
            rows.index(row, LayerTable::kind).data() == "predicted") {
            found = true;
            QCOMPARE(rows.index(row, LayerTable::measured).data().toString(), QString("60 us"));
            QCOMPARE(rows.index(row, LayerTable::unexplained).data(Qt::UserRole).toDouble(),
                     m.unexplained_s);
        }
    }
    QVERIFY(found);
    QVERIFY(!window.table().isColumnHidden(LayerTable::unexplained));
    QVERIFY(window.session().profiles.size() == 1 && window.session().ceilings.size() == 1);
}

void TestWindow::edits_and_measurements_are_part_of_sessions() {
    QTemporaryDir folder;
    QDir(folder.path()).mkdir("data");
    const QString run = written(folder.filePath("data/run.csv"), kMeasured);
    const QString ceilings = written(folder.filePath("data/gpu.yaml"), kCeilings);
    const QString assign = written(folder.filePath("data/assign.yaml"),
                                   "eyeroof_assignments: 1\nassign:\n  - {layer: CONV3, kernel: "
                                   "relu_kernel}\n");
    MainWindow window(folders());
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    select(window, "CONV2");
    analysis::MappingEdit edit{"CONV2", 0, {}};
    const auto machine = hwdb::load_machine("eyeriss-v1", folders().machines).value();
    edit.text = formats::write_mapping_yaml(serial(layer(window, "CONV2").mappings.at(0)),
                                            std::get<model::Accelerator>(machine.kind));
    window.mapping().editor().setPlainText(QString::fromStdString(edit.text));
    QTRY_VERIFY2(window.mapping().verdict().contains("slower"),
                 qPrintable(window.mapping().verdict()));
    for (const QString& file : {run, ceilings, assign}) {
        QVERIFY(answered(window, [&] { drop(window, file); }));
    }
    const report::Session before = window.session();
    QVERIFY(before.mappings == std::vector<analysis::MappingEdit>{edit});
    QCOMPARE(before.assignments, assign.toStdString());
    const double time = layer(window, "CONV2").time_s;
    const QString file = folder.filePath("s.eyeroof.yaml");
    window.save_session(file);
    QFile saved(file);
    QVERIFY(saved.open(QIODevice::ReadOnly));
    const QByteArray yaml = saved.readAll();
    QVERIFY2(yaml.contains("\"./data/run.csv\"") && yaml.contains("\"./data/gpu.yaml\"") &&
                 yaml.contains("\"./data/assign.yaml\""),
             yaml.constData());
    MainWindow other(folders());
    QVERIFY(answered(other, [&] { other.open(file); }));
    QVERIFY(other.session() == before);
    QCOMPARE(layer(other, "CONV2").time_s, time);
    QVERIFY(layer(other, "CONV3").measured.has_value()); // by the assignment
}

void TestWindow::steps_and_mappings_are_exported() {
    QTemporaryDir folder;
    MainWindow window(folders());
    window.resize(1280, 800);
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    select(window, "CONV2");
    window.show_page("mapping");
    QCoreApplication::processEvents();
    for (const Picture& picture : {picture_of(window.ladder(), "steps"),
                                   picture_of(window.mapping().picture(), "mapping")}) {
        for (const char* ending : {"png", "svg", "pdf", "csv", "json", "tsv"}) {
            const QString file = folder.filePath(picture.name + "." + ending);
            QVERIFY2(export_picture(picture, file).ok(), qPrintable(file));
        }
    }
    const auto lines_of = [&](const char* name) {
        QFile file(folder.filePath(name));
        return file.open(QIODevice::ReadOnly) ? file.readAll().split('\n') : QList<QByteArray>();
    };
    QCOMPARE(lines_of("steps.csv").size(), 11); // header, ten bars less the measured one, the end
    // a row a unit of the 14 x 12 array
    int units = 0;
    for (const QByteArray& line : lines_of("mapping.csv")) {
        units += line.startsWith("unit,") ? 1 : 0;
    }
    QCOMPARE(units, 168);
    QVERIFY(QImage(folder.filePath("mapping.png")).height() > 300);
}

// Nothing but what is in sight: two names and Return; the answer without another click.
void TestWindow::a_new_user_learns_why_a_layer_is_slow() {
    MainWindow window(folders());
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    QSignalSpy analysed(&window, &MainWindow::analysed);
    auto* network = window.findChild<QComboBox*>("start network");
    auto* machine = window.findChild<QComboBox*>("start machine");
    auto* examine = window.findChild<QPushButton*>("start examine");
    QVERIFY(network->isVisible() && machine->isVisible() && !examine->isEnabled());
    QTest::keyClicks(network->lineEdit(), "alexnet");
    QTest::keyClicks(machine->lineEdit(), "eyeriss-v1");
    QVERIFY(examine->isEnabled());
    QTest::mouseClick(examine, Qt::LeftButton);
    QVERIFY(analysed.size() > 0 || analysed.wait(kPatience_ms));
    // why: the step that costs most is marked and explained; what would help is said and linked
    const QString answer = window.steps().text();
    QVERIFY2(answer.contains("Step") && answer.contains("What would help most"),
             qPrintable(answer));
    QVERIFY(window.ladder().isVisible());
    const auto* worst = window.findChild<QLabel*>("totals");
    QVERIFY(worst->isVisible() && worst->text().contains("Largest saving: "));
    // trying it: the link leads to the slider
    const int at = static_cast<int>(answer.lastIndexOf("<a href=\"")) + 9;
    const QString key = answer.mid(at, answer.indexOf('"', at) - at);
    emit window.steps().findChild<QLabel*>("step text")->linkActivated(key);
    QCOMPARE(window.what_if().selected(), key.toStdString());
}

void TestWindow::a_new_user_learns_whether_a_gpu_pays() {
    MainWindow window(folders());
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    auto* ask = window.findChild<QPushButton*>("start ask");
    QVERIFY(ask->isVisible() && !ask->isEnabled());
    QTest::keyClicks(window.findChild<QComboBox*>("start runs")->lineEdit(), "bert-large");
    auto* phase = window.findChild<QComboBox*>("start phase");
    QTest::keyClick(phase, Qt::Key_End); // training, Adam
    QTest::keyClicks(window.findChild<QComboBox*>("start from")->lineEdit(), "v100-sxm2-16gb");
    QTest::keyClicks(window.findChild<QComboBox*>("start to")->lineEdit(), "a100-sxm-40gb");
    QSignalSpy judged(&window.upgrade(), &UpgradePane::judged);
    QTest::mouseClick(ask, Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(window.upgrade().upgrades().size(), std::size_t{1}, kPatience_ms);
    QVERIFY(window.upgrade().isVisible());
    const analysis::Upgrade& u = window.upgrade().upgrades()[0];
    const QString sentence =
        QString::fromStdString(analysis::purchase_sentence(window.upgrade().purchase()));
    QVERIFY2(window.upgrade().headline().contains(sentence),
             qPrintable(window.upgrade().headline()));
    QVERIFY(window.upgrade().headline().contains("Training"));
    QVERIFY(window.upgrade().headline().contains(QString::number(u.speedup.value, 'f', 2)));
    QVERIFY(u.money.priced); // what it costs is known without being asked
}

void TestWindow::recent_files_and_docks_are_remembered() {
    QTemporaryDir folder;
    QSettings settings(folder.filePath("settings.ini"), QSettings::IniFormat);
    const QString file = written(folder.filePath("s.eyeroof.yaml"),
                                 "eyeroof: session/1\nnetwork: alexnet\nmachines: [l4]\n");
    {
        MainWindow window(folders());
        window.remember_in(settings);
        window.show();
        QVERIFY(answered(window, [&] { drop(window, file); }));
        window.findChild<QDockWidget*>("steps")->hide();
        window.close();
    }
    MainWindow again(folders());
    again.remember_in(settings);
    again.show();
    QCOMPARE(again.recent_files(), QStringList{file});
    QVERIFY(answered(again, [&] { again.open(file); }));
    QVERIFY(again.findChild<QDockWidget*>("steps")->isHidden());
    QVERIFY(!again.findChild<QDockWidget*>("layers")->isHidden());
}

void TestWindow::everything_that_is_used_has_a_name() {
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
    const QString ladder = window.ladder().accessibleDescription();
    for (const report::WaterfallBar& bar : window.ladder().scene()->bars) {
        QVERIFY2(ladder.contains(QString::fromStdString(bar.name + " " + bar.value)),
                 qPrintable(ladder));
    }
}

EYEROOF_WINDOW_TEST(TestWindow)

} // namespace test_gui_window

#include "test_window.moc"
