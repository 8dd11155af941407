// Panes of one pattern: measurements, before and after, traffic and energy, advice; links between
// the tabs; the report of everything; without a screen.
#include "analysis/advice/shapes.hpp"
#include "analysis/what_if/helps.hpp"
#include "base/units.hpp"
#include "formats/catalog.hpp"
#include "gui/jobs/trace_origin.hpp"
#include "gui/panes/baseline/baseline_pane.hpp"
#include "gui/panes/measurements/measurements_pane.hpp"
#include "gui/panes/parameter_map/parameter_map_pane.hpp"
#include "gui/panes/traffic/traffic_pane.hpp"
#include "hwdb/catalog.hpp"
#include "profiles/import/importer.hpp"
#include "profiles/profile_file.hpp"
#include "tests/gui/registry.hpp"
#include "tests/gui/two_runs.hpp"
#include "tests/gui/window_tools.hpp"

#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QPushButton>
#include <QRegularExpression>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QToolButton>

namespace test_gui_panes {

using namespace eyeroof;               // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui;          // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui::testing; // NOLINT(google-build-using-namespace)

class TestPanes : public QObject {
    Q_OBJECT

  private slots:
    void a_trace_opens_on_its_gpu_and_proposes_the_network();
    void measurements_are_listed_compared_replaced_and_removed();
    void missing_files_do_not_block_and_stay_in_the_session();
    void a_change_stands_beside_the_baseline();
    void several_baselines_also_of_runs();
    void traffic_and_energy_are_those_of_the_report();
    void advice_is_ranked();
    void advice_on_an_accelerator_is_that_of_the_command();
    void two_parameters_make_a_map();
    void a_parameter_steps_to_the_next_value_that_helps();
    void links_lead_from_tab_to_tab();
    void every_pane_has_a_dock_and_stands_in_the_report();
    void two_hundred_openings_leave_no_memory_behind();
};

namespace {

template <class Kind> Kind& pane(MainWindow& window) {
    return *window.findChild<Kind*>();
}

AnswerTableView& table(MainWindow& window, const char* name) {
    return *window.findChild<AnswerTableView*>(name);
}

int row_of(const AnswerTableView& table, const QString& first) {
    for (int row = 0; row < table.row_count(); ++row) {
        if (cell_text(table, row, 0) == first) {
            return row;
        }
    }
    return -1;
}

} // namespace

void TestPanes::a_trace_opens_on_its_gpu_and_proposes_the_network() {
    QTemporaryDir folder;
    for (const auto& [device, id] : {std::pair{"NVIDIA A100-SXM4-40GB", "a100-sxm-40gb"},
                                     std::pair{"Tesla V100-SXM2-16GB", "v100-sxm2-16gb"},
                                     std::pair{"NVIDIA H100 80GB HBM3", "h100-sxm-80gb"},
                                     std::pair{"NVIDIA GeForce RTX 4090", "rtx-4090"}}) {
        auto taken =
            profiles::import_file(written(folder.filePath("taken.csv"), kRun).toStdString());
        QVERIFY(taken.ok());
        taken->run.gpu = device;
        const QString file = folder.filePath(QString(id) + ".jsonl");
        QVERIFY(profiles::write_profile(*taken, file.toStdString()).ok());
        QCOMPARE(read_file(file.toStdString(), folders()).gpu, std::string(id));
        QVERIFY(same_model(device, id));
    }
    QVERIFY(!same_model("", "a100-sxm-40gb"));
    QVERIFY(!same_model("Some Accelerator 80GB", "a100-sxm-80gb"));
    QVERIFY(same_model("NVIDIA A100-PCIE-40GB", "a100-sxm-80gb"));
    // the command tells the network, or else the names of the layers
    profiles::Profile profile;
    profile.run.command = "python train.py --arch resnet50 --amp";
    QCOMPARE(network_of(profile, folders()), std::string("resnet50"));
    profile.run.command = "./app";
    profile.ranges = {"CONV1", "CONV2", "FC6", "FC7", "FC8"};
    QVERIFY(network_of(profile, folders()).starts_with("alexnet"));
    profile.ranges = {"a", "b", "c"};
    QCOMPARE(network_of(profile, folders()), std::string());
    // in the window
    MainWindow window(folders());
    window.show();
    auto trace = profiles::import_file(written(folder.filePath("run.csv"), kRun).toStdString());
    QVERIFY(trace.ok());
    trace->run.gpu = "NVIDIA A100-SXM4-40GB";
    const QString file = folder.filePath("trace.jsonl");
    QVERIFY(profiles::write_profile(*trace, file.toStdString()).ok());
    QVERIFY(answered(window, [&] { drop(window, file); }));
    QCOMPARE(window.session().machines, std::vector<std::string>{"a100-sxm-40gb"});
    QVERIFY(window.plot().isVisible()); // its roofs and kernels
    QVERIFY(window.plot().scene().points.size() == 2);
    auto* totals = window.findChild<QLabel*>("totals");
    QTRY_VERIFY2_WITH_TIMEOUT(totals->isVisible() && totals->text().contains("looks like alexnet"),
                              qPrintable(totals->text()), kPatience_ms);
    const QString link = totals->text().section("href=\"", 1).section('"', 0, 0);
    QVERIFY(answered(window, [&] { emit totals->linkActivated(link); }));
    QVERIFY(window.session().scenario.network.starts_with("alexnet"));
}

void TestPanes::measurements_are_listed_compared_replaced_and_removed() {
    QTemporaryDir folder;
    const QString run = written(folder.filePath("run.csv"), kRun);
    const QString faster = written(folder.filePath("faster.csv"), kFaster);
    MainWindow window(folders());
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    QVERIFY(answered(window, [&] { drop(window, run); }));
    QVERIFY(answered(window, [&] { drop(window, faster); }));
    window.show_page("measurements");
    AnswerTableView& list = table(window, "measurement files");
    QCOMPARE(list.row_count(), 2);
    QCOMPARE(cell_text(list, 0, 0), QString("run.csv"));
    QCOMPARE(cell_text(list, 0, 3), QString("3 launches"));
    QCOMPARE(cell_text(list, 0, 4), run); // files of one name are distinguished by it
    AnswerTableView& kernels = table(window, "measured kernels");
    QCOMPARE(kernels.row_count(), 3); // all kernels of one, also those of no layer
    QCOMPARE(cell_text(kernels, row_of(kernels, "relu"), 2), QString("8 us"));
    list.selectAll();
    QCOMPARE(kernels.row_count(), 4);
    const int a = row_of(kernels, "gemm_a");
    QCOMPARE(cell_text(kernels, a, 2), QString("60 us"));
    QCOMPARE(cell_text(kernels, a, 3), QString("30 us"));
    QCOMPARE(cell_text(kernels, a, 4), QString("2.00x"));
    QCOMPARE(cell_text(kernels, a, 5), QString("-30 us"));
    QCOMPARE(cell_text(kernels, row_of(kernels, "gemm_c"), 2), QString("-"));
    list.clearSelection();
    list.selectRow(0);
    QVERIFY(
        answered(window, [&] { window.findChild<QPushButton*>("remove measurement")->click(); }));
    QCOMPARE(list.row_count(), 1);
    QCOMPARE(layer(window, "CONV1").measured->kernel_s, 30e-6);
    QVERIFY(answered(window,
                     [&] { window.replace_measurement(faster.toStdString(), run.toStdString()); }));
    QCOMPARE(list.row_count(), 1);
    QCOMPARE(layer(window, "CONV1").measured->kernel_s, 60e-6);
    QCOMPARE(window.session().profiles, std::vector<std::string>{run.toStdString()});
}

void TestPanes::missing_files_do_not_block_and_stay_in_the_session() {
    QTemporaryDir folder;
    const QString run = written(folder.filePath("run.csv"), kRun);
    report::Session session = session_of("alexnet", {"a100-sxm-40gb"});
    session.profiles = {folder.filePath("gone.csv").toStdString(), run.toStdString()};
    session.ceilings = {folder.filePath("gone.yaml").toStdString()};
    MainWindow window(folders());
    window.show();
    QVERIFY(open_and_wait(window, session));
    QCOMPARE(window.reports().size(), std::size_t{1});
    QVERIFY(layer(window, "CONV1").measured.has_value()); // by the one that is there
    AnswerTableView& list = table(window, "measurement files");
    QCOMPARE(list.row_count(), 3);
    QVERIFY2(cell_text(list, 0, 3).startsWith("✗"), qPrintable(cell_text(list, 0, 3)));
    QVERIFY(window.errors().topLevelItemCount() >= 2);
    QVERIFY(window.session().profiles == session.profiles);
    QVERIFY(window.session().ceilings == session.ceilings);
}

void TestPanes::a_change_stands_beside_the_baseline() {
    MainWindow window(folders());
    window.resize(1280, 800);
    window.show();
    auto session = session_of("alexnet", {"v100-sxm2-16gb"});
    session.scenario.launch = model::Launch::none; // the host would hide a faster memory
    QVERIFY(open_and_wait(window, session));
    const double before = window.reports()[0].total.time_s;
    const double fc6_before = layer(window, "FC6").time_s;
    window.findChild<QPushButton*>("pin baseline")->click();
    QVERIFY(window.plot().arrows().empty()); // nothing changed yet
    QVERIFY(answered(window, [&] { slider(window, "DRAM bandwidth")->setValue(30); }));
    const double after = window.reports()[0].total.time_s;
    const double fc6_after = layer(window, "FC6").time_s;
    QVERIFY(after < before);
    const QString total = window.findChild<QLabel*>("before and after")->text();
    QVERIFY2(total.contains(QString("%1x as fast").arg(before / after, 0, 'f', 3)),
             qPrintable(total));
    AnswerTableView& layers = table(window, "layers before and after");
    const int row = row_of(layers, "FC6");
    QVERIFY(row >= 0);
    QCOMPARE(cell_text(layers, row, 3), QString("%1x").arg(fc6_before / fc6_after, 0, 'f', 2));
    QVERIFY(!window.plot().arrows().empty());
    for (const report::BeforeArrow& arrow : window.plot().arrows()) {
        QVERIFY(arrow.to.y < arrow.from.y); // more FLOP/s: upwards
    }
    QVERIFY(answered(window, [&] { window.undo(); }));
    QVERIFY(window.plot().arrows().empty());
    window.findChild<QPushButton*>("forget baseline")->click();
    QCOMPARE(layers.row_count(), 0);
}

void TestPanes::several_baselines_also_of_runs() {
    QTemporaryDir folder;
    const QString run = written(folder.filePath("run.csv"), kRun);
    const QString faster = written(folder.filePath("faster.csv"), kFaster);
    MainWindow window(folders());
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    auto* pin = window.findChild<QPushButton*>("pin baseline");
    pin->click();
    QVERIFY(answered(window, [&] { drop(window, run); }));
    pin->click();
    QCOMPARE(pane<BaselinePane>(window).baselines().size(), std::size_t{2});
    QVERIFY(answered(window,
                     [&] { window.replace_measurement(run.toStdString(), faster.toStdString()); }));
    const QString total = window.findChild<QLabel*>("before and after")->text();
    QVERIFY2(total.contains("measured 105 us → 80 us"), qPrintable(total));
    AnswerTableView& layers = table(window, "layers before and after");
    const int row = row_of(layers, "CONV1");
    QCOMPARE(cell_text(layers, row, 5), QString("60 us"));
    QCOMPARE(cell_text(layers, row, 6), QString("30 us"));
    window.findChild<QComboBox*>("baseline")->setCurrentIndex(0); // the first had no run
    QVERIFY(!window.findChild<QLabel*>("before and after")->text().contains("measured"));
}

void TestPanes::traffic_and_energy_are_those_of_the_report() {
    MainWindow window(folders());
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    select(window, "CONV2");
    const analysis::LayerReport& own = layer(window, "CONV2");
    AnswerTableView& rows = table(window, "traffic rows");
    QCOMPARE(rows.row_count(), static_cast<int>(own.traffic.size()));
    QVERIFY(rows.row_count() > 3);
    QCOMPARE(cell_text(rows, 0, 0).toStdString(), own.traffic[0].level);
    QCOMPARE(std::get<std::int64_t>(rows.answer().value(rows.answer().index(0, 2))),
             own.traffic[0].read_bytes);
    const QString head = window.findChild<QLabel*>("traffic head")->text();
    QVERIFY2(head.contains("conv2d: ") && head.contains("k 256"), qPrintable(head));
    const auto si = [](double value, const char* unit) {
        return QString::fromStdString(format_si(value, unit, 4));
    };
    QVERIFY2(head.contains(si(own.energy_j, "J")) &&
                 head.contains(si(own.energy_j * own.time_s, "J·s")) &&
                 head.contains(si(window.reports()[0].total.energy_j, "J")),
             qPrintable(head));
    select(window, "CONV3");
    QVERIFY(window.findChild<QLabel*>("traffic head")->text().contains("CONV3"));
}

void TestPanes::advice_is_ranked() {
    MainWindow window(folders());
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    window.show_page("advice"); // which may have been asked while the window was laid out
    const auto expected = analysis::advise(question_of(window.session())).value();
    AnswerTableView& rows = table(window, "advice rows");
    QTRY_COMPARE_WITH_TIMEOUT(rows.row_count(), static_cast<int>(expected.size()), kPatience_ms);
    QVERIFY(!expected.empty());
    QCOMPARE(cell_text(rows, 0, 3).toStdString(), expected[0].text);
}

void TestPanes::advice_on_an_accelerator_is_that_of_the_command() {
    MainWindow window(folders());
    show(window);
    report::Session session = session_of("alexnet", {"eyeriss-v1"});
    session.scenario.policy = analysis::MappingPolicy::dataflow;
    QVERIFY(open_and_wait(window, session));
    window.show_page("advice");
    const auto expected = analysis::what_would_help(question_of(session)).value();
    AnswerTableView& rows = table(window, "advice rows");
    QVERIFY(!expected.parameters.empty());
    QTRY_COMPARE_WITH_TIMEOUT(rows.row_count(), static_cast<int>(expected.parameters.size()),
                              kPatience_ms);
    QCOMPARE(rows.answer().name_of(0), expected.parameters[0].key);
    const auto ideal = std::ranges::count_if(expected.without, [&](double without_s) {
        return without_s > 0.0 && expected.time_s / without_s >= analysis::kHelps;
    });
    QCOMPARE(table(window, "advice more").row_count(), static_cast<int>(ideal));
}

void TestPanes::two_parameters_make_a_map() {
    MainWindow window(folders());
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb"})));
    auto& parameters = pane<ParameterMapPane>(window);
    QSignalSpy mapped(&parameters, &AskingPane::answered);
    window.show_page("parameters");
    QVERIFY(mapped.size() > 0 || mapped.wait(kPatience_ms));
    QVERIFY(parameters.map().has_value());
    QCOMPARE(parameters.map()->now_s, window.reports()[0].total.time_s);
    const report::Drawing& picture = parameters.picture().drawing();
    QVERIFY(picture.boxes.size() > 81 + 20); // the cells, the frame of now, and the color scale
    const auto is_text = [&](const std::string& text) {
        return std::any_of(picture.texts.begin(), picture.texts.end(),
                           [&](const report::DrawnText& drawn) { return drawn.text == text; });
    };
    QVERIFY(is_text("1.00"));                           // of the cell of now
    for (const report::DrawnBox& box : picture.boxes) { // less than 1 % is pale
        const bool blue = box.role == report::ColourRole::series1 && !box.outline;
        QVERIFY(!blue || box.opacity < 0.2);
    }
    // a line of equal speedup lies between the cells on both sides of it
    QVERIFY(!picture.lines.empty());
    double least = 1.0, most = 1.0;
    for (const auto& row : parameters.map()->time_s) {
        for (const auto& time : row) {
            least = std::min(least, parameters.map()->now_s / time.value());
            most = std::max(most, parameters.map()->now_s / time.value());
        }
    }
    QVERIFY(is_text(QString("%1x").arg(least, 0, 'f', 2).toStdString()));
    QVERIFY(is_text(QString("%1x").arg(most, 0, 'f', 2).toStdString()));
    auto* across = window.findChild<QComboBox*>("parameter across");
    across->setCurrentIndex(across->findData("dram-bandwidth"));
    emit across->activated(across->currentIndex());
    QVERIFY(mapped.wait(kPatience_ms));
    QCOMPARE(parameters.map()->x.key, std::string("dram-bandwidth"));
}

void TestPanes::a_parameter_steps_to_the_next_value_that_helps() {
    MainWindow window(folders());
    window.show();
    auto session = session_of("alexnet", {"v100-sxm2-16gb"});
    QVERIFY(open_and_wait(window, session));
    auto* next = window.what_if().findChild<QToolButton*>("DRAM bandwidth next");
    QVERIFY(next != nullptr);
    next->click(); // the host bounds a step of batch 1
    QTRY_VERIFY_WITH_TIMEOUT(window.statusBar()->currentMessage().startsWith("No value of"),
                             kPatience_ms);
    QVERIFY(!window.what_if().is_changed());
    session.scenario.launch = model::Launch::none;
    QVERIFY(open_and_wait(window, session));
    const double before = window.reports()[0].total.time_s;
    QVERIFY(answered(window, [&] { next->click(); }));
    const double after = window.reports()[0].total.time_s;
    QVERIFY(before / after >= analysis::kWorthAStep);
    QCOMPARE(window.what_if().changes().size(), std::size_t{1});
    QVERIFY(answered(window, [&] { window.undo(); }));
    QCOMPARE(window.reports()[0].total.time_s, before);
}

void TestPanes::links_lead_from_tab_to_tab() {
    MainWindow window(folders());
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb", "a100-sxm-40gb"})));
    auto* totals = window.findChild<QLabel*>("totals");
    QVERIFY2(totals->text().contains("does it pay off?"), qPrintable(totals->text()));
    emit totals->linkActivated("upgrade");
    QTRY_COMPARE_WITH_TIMEOUT(window.upgrade().upgrades().size(), std::size_t{1}, kPatience_ms);
    QVERIFY(window.upgrade().isVisible());
    QCOMPARE(window.upgrade().upgrades()[0].to, std::string("a100-sxm-40gb"));
    // and back, to why: both on the roofline
    analysis::UpgradeQuestion question;
    question.networks = {{"vgg16", 1.0}};
    question.from.name = "v100-sxm2-16gb";
    question.to = {{"h100-sxm-80gb", {}, {}, {}}};
    question.batch = 4;
    window.upgrade().ask(question);
    QTRY_VERIFY_WITH_TIMEOUT(!window.upgrade().upgrades().empty() &&
                                 window.upgrade().upgrades()[0].to == "h100-sxm-80gb",
                             kPatience_ms);
    auto* headline = window.findChild<QLabel*>("verdict");
    QVERIFY(headline->text().contains("href=\"why\""));
    QVERIFY(answered(window, [&] { emit headline->linkActivated("why"); }));
    QCOMPARE(window.session().scenario.network, std::string("vgg16"));
    QCOMPARE(window.session().machines.back(), std::string("h100-sxm-80gb"));
    QVERIFY(window.session().scenario.batch == 4);
    QVERIFY(window.plot().isVisible());
}

void TestPanes::every_pane_has_a_dock_and_stands_in_the_report() {
    QTemporaryDir folder;
    MainWindow window(folders());
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb"})));
    for (const char* name : {"measurements", "baseline", "traffic", "advice"}) {
        auto* dock = window.findChild<QDockWidget*>(name);
        QVERIFY(dock != nullptr);
        window.show_page(name);
        QCoreApplication::processEvents();
        QVERIFY(dock->widget()->isVisible());
    }
    window.findChild<QPushButton*>("pin baseline")->click();
    QVERIFY(answered(window, [&] { slider(window, "DRAM bandwidth")->setValue(30); }));
    const QString file = folder.filePath("report.html");
    window.save_report(file);
    QFile saved(file);
    QVERIFY(saved.open(QIODevice::ReadOnly));
    const QString html = QString::fromUtf8(saved.readAll());
    for (const char* part :
         {"<h2 id=\"s0\">Times", "Roofline</h2>\n<svg", "Seven steps</h2>",
          "<h2 id=\"s3\">Layers</h2>", "What if</h2>", "dram-bandwidth=", "Before and after</h2>",
          "x as fast", "Traffic and energy</h2>", "Details</h2>", "FC6"}) {
        QVERIFY2(html.contains(part), part);
    }
    QVERIFY(!html.contains("<script"));
    QVERIFY(!html.contains(QRegularExpression("<a href=\"(?!#)"))); // the window's own lead nowhere
    QVERIFY(!html.contains("http://") || !html.contains("src=\"http"));
    QVERIFY(html.trimmed().endsWith("</html>"));
}

void TestPanes::two_hundred_openings_leave_no_memory_behind() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    QSKIP("a sanitizer keeps what is freed");
#endif
    const auto resident_MiB = [] {
        QFile statm("/proc/self/statm");
        return statm.open(QIODevice::ReadOnly)
                   ? statm.readAll().split(' ').value(1).toDouble() * 4096.0 / 1048576.0
                   : 0.0;
    };
    QTemporaryDir folder;
    const QString run = written(folder.filePath("run.csv"), kRun);
    const QString files[] = {
        written(folder.filePath("a.eyeroof.yaml"),
                "eyeroof: session/1\nnetwork: alexnet\nmachines: [v100-sxm2-16gb]\n"
                "profiles: [./run.csv]\n"),
        written(folder.filePath("b.eyeroof.yaml"),
                "eyeroof: session/1\nnetwork: resnet50\nmachines: [a100-sxm-40gb, l4]\n")};
    MainWindow window(folders());
    window.show();
    double settled = 0.0;
    for (int i = 0; i < 200; ++i) {
        QVERIFY(answered(window, [&] { window.open(files[i % 2]); }));
        settled = i == 99 ? resident_MiB() : settled;
    }
    const double grown = resident_MiB() - settled;
    qInfo("resident after 100 openings %.1f MiB, 100 later %+.1f MiB", settled, grown);
    QVERIFY(grown < 8.0);
}

EYEROOF_WINDOW_TEST(TestPanes)

} // namespace test_gui_panes

#include "test_panes.moc"
