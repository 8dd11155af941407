// What misled users beside right numbers, each as a user drives it.
#include "gui/panes/fitting_scroll.hpp"
#include "gui/panes/scaling/scaling_pane.hpp"
#include "gui/panes/sparse/sparse_pane.hpp"
#include "report/measured/measured_text.hpp"
#include "tests/gui/hands.hpp"
#include "tests/gui/registry.hpp"
#include "tests/gui/two_runs.hpp"

#include <QCheckBox>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QRegularExpression>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QToolButton>

namespace test_gui_traps {

using namespace eyeroof;               // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui;          // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui::testing; // NOLINT(google-build-using-namespace)

class TestTraps : public QObject {
    Q_OBJECT

  private slots:
    void a_bar_of_gains_is_what_turning_the_parameter_brings();
    void bars_are_grey_while_they_are_of_the_machine_before();
    void the_ladder_marks_the_step_whose_removal_saves_most_and_names_its_cause();
    void two_runs_stay_apart_until_they_are_pooled_on_request();
    void what_was_turned_does_not_follow_to_an_equal_machine_in_a_file();
    void warnings_are_listed_counted_and_marked_at_their_layers();
    void a_search_names_its_layer_and_its_cancel_does_not_take_its_place();
    void a_search_ends_when_another_network_is_opened();
    void scaling_does_not_train_while_inference_is_chosen();
    void scaling_joins_no_gpu_by_the_fabric_of_another_box();
    void sparsity_does_not_analyse_another_machine_than_the_toolbar_names();
    void kernels_of_no_layer_are_counted_per_step_as_layers_are();
    void the_ladder_and_the_text_say_one_sign_of_a_measurement();
    void owned_gpus_are_charged_no_rent_and_their_field_is_off();
    void hosts_are_named_and_the_same_host_can_be_asked_for();
    void a_large_gap_gives_a_verdict_of_inference_with_its_level_named();
    void the_sentence_is_about_the_candidate_that_pays();
    void an_onnx_file_that_leaves_sizes_open_asks_for_them();
};

namespace {

bool gains_are_known(MainWindow& window) {
    const auto bars = window.what_if().findChildren<GainBar*>();
    return !bars.isEmpty() && std::all_of(bars.begin(), bars.end(), [](const GainBar* bar) {
        return bar->gain() && !bar->waits();
    });
}

// The bar that stands in the row of a slider.
GainBar* bar_of(MainWindow& window, const QString& parameter) {
    const auto sliders = window.what_if().findChildren<QSlider*>();
    const auto bars = window.what_if().findChildren<GainBar*>();
    for (qsizetype i = 0; i < sliders.size(); ++i) {
        if (sliders[i]->objectName() == parameter) {
            return bars.value(i);
        }
    }
    return nullptr;
}

void enter(MainWindow& window, const QString& parameter, const QString& value) {
    auto* field = window.what_if().findChild<QLineEdit*>(parameter + " value");
    QVERIFY(field != nullptr);
    field->setFocus();
    field->selectAll();
    QTest::keyClicks(field, value);
    QTest::keyClick(field, Qt::Key_Return);
}

// The same run ten times over, with a kernel of no layer in each.
QByteArray ten_steps() {
    QByteArray table = "kernel,layer,time_us,start_us\n";
    for (int step = 0; step < 10; ++step) {
        const int at = 1000 * step;
        table += "gemm_a,CONV1,60," + QByteArray::number(at) + "\n";
        table += "gemm_b,CONV2,45," + QByteArray::number(at + 100) + "\n";
        table += "relu,,8," + QByteArray::number(at + 200) + "\n";
    }
    return table;
}

QString cell(const QTableView& table, const QString& layer, int column) {
    const QAbstractItemModel& rows = *table.model();
    for (int i = 0; i < rows.rowCount(); ++i) {
        if (rows.index(i, LayerTable::name).data().toString() == layer) {
            return rows.index(i, column).data().toString();
        }
    }
    return {};
}

} // namespace

// NVDLA's mappings are searched, so that the gains of its dataflow's own mapping are others.
void TestTraps::a_bar_of_gains_is_what_turning_the_parameter_brings() {
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("mnist-cnn", {"nvdla-small"})));
    QTRY_VERIFY_WITH_TIMEOUT(gains_are_known(window), kPatience_ms);
    const double before = window.reports()[0].total.time_s;
    QHash<QString, double> shown;
    for (const QSlider* parameter : window.what_if().findChildren<QSlider*>()) {
        shown[parameter->objectName()] = *bar_of(window, parameter->objectName())->gain();
    }
    // counts take at least one more, not a factor of 1.1
    for (const QString parameter : {"clock", "DRAM interface bandwidth"}) {
        QVERIFY2(shown.value(parameter) > 0.0, qPrintable(QStringList(shown.keys()).join(", ")));
        QVERIFY(answered(window, [&] { enter(window, parameter, "x1.1"); }));
        const double gain = before / window.reports()[0].total.time_s - 1.0;
        QVERIFY2(
            std::abs(gain - shown[parameter]) < 1e-6,
            qPrintable(
                QString("%1: bar %2, turned %3").arg(parameter).arg(shown[parameter]).arg(gain)));
        QVERIFY(answered(window, [&] { window.undo(); }));
    }
}

void TestTraps::bars_are_grey_while_they_are_of_the_machine_before() {
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    QTRY_VERIFY_WITH_TIMEOUT(gains_are_known(window), kPatience_ms);
    QVERIFY(answered(window, [&] { enter(window, "GLB capacity", "x1.1"); }));
    GainBar* bar = bar_of(window, "GLB capacity");
    QVERIFY(bar != nullptr && bar->waits());
    QVERIFY(bar->toolTip().contains("before the last change"));
    QTRY_VERIFY_WITH_TIMEOUT(gains_are_known(window), kPatience_ms);
}

void TestTraps::the_ladder_marks_the_step_whose_removal_saves_most_and_names_its_cause() {
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    Hands hands;
    hands.row(window.table(), LayerTable::name, "CONV1");
    QTRY_VERIFY_WITH_TIMEOUT(window.steps().text().contains("behind it"), kPatience_ms);
    std::vector<std::size_t> marked;
    for (const report::WaterfallBar& bar : window.ladder().scene()->bars) {
        if (bar.worst) {
            marked.push_back(bar.step);
        }
    }
    QCOMPARE(marked.size(), std::size_t{1});
    QCOMPARE(marked.front(), layer(window, "CONV1").limits.saves_most());
    QCOMPARE(marked.front(), std::size_t{7}); // not step 3, which costs 0.1 %
    for (const report::WaterfallBar& bar : window.ladder().scene()->bars) {
        if (bar.step == 7) {
            hands.click(window.ladder(),
                        QPoint(static_cast<int>(bar.row.left + 20),
                               static_cast<int>(bar.row.top + bar.row.height / 2)));
        }
    }
    // what waits for DRAM is more of the stalls than what waits on chip
    const analysis::TimeSplit& split = layer(window, "CONV1").split;
    QVERIFY(split.dram_stall_s > split.on_chip_stall_s);
    const double share = 100.0 * split.dram_stall_s / (split.dram_stall_s + split.on_chip_stall_s);
    QVERIFY2(window.steps().text().contains(
                 QString("%1 % of the stall cycles wait for the outermost memory")
                     .arg(share, 0, 'f', 0)),
             qPrintable(window.steps().text()));
    QCOMPARE(QString::fromStdString(window.what_if().selected()),
             QString("dram-link-bandwidth")); // not the clock
}

void TestTraps::two_runs_stay_apart_until_they_are_pooled_on_request() {
    QTemporaryDir folder;
    const QString run = written(folder.filePath("run.csv"), kRun);
    const QString faster = written(folder.filePath("faster.csv"), kFaster);
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    QVERIFY(answered(window, [&] { drop(window, run); }));
    const double alone = layer(window, "CONV1").measured->time_s;
    QCOMPARE(alone, 60e-6);
    QVERIFY(answered(window, [&] { drop(window, faster); }));
    QCOMPARE(layer(window, "CONV1").measured->time_s, alone); // not (60 + 30) / 2
    std::map<std::string, report::SceneSeries> legend;
    for (const report::SceneSeries& series : window.plot().scene().series) {
        legend[series.name] = series;
    }
    QVERIFY(legend.contains("measured, run.csv") && legend.contains("measured, faster.csv"));
    const report::SceneSeries& one = legend["measured, run.csv"];
    const report::SceneSeries& two = legend["measured, faster.csv"];
    QVERIFY(one.marker != two.marker && one.colour != two.colour);
    const auto& totals = *window.findChild<QLabel*>("totals");
    QVERIFY2(totals.text().contains("Measured: 105 us") && totals.text().contains("(run.csv)"),
             qPrintable(totals.text()));

    window.show_page("measurements");
    auto* chooser = window.findChild<QComboBox*>("compared run");
    QVERIFY(chooser->isVisible());
    Hands hands;
    QVERIFY(answered(window, [&] { hands.choose(*chooser, faster); }));
    QCOMPARE(layer(window, "CONV1").measured->time_s, 30e-6);
    QVERIFY(totals.text().contains("Measured: 80 us") && totals.text().contains("(faster.csv)"));
    QVERIFY(answered(window, [&] { hands.choose(*chooser, QString()); }));
    QCOMPARE(layer(window, "CONV1").measured->time_s, 45e-6);
    QVERIFY(!totals.text().contains(".csv)"));
}

void TestTraps::what_was_turned_does_not_follow_to_an_equal_machine_in_a_file() {
    QTemporaryDir folder;
    QFile original(QString::fromStdString(tests::source_dir()) +
                   "/hwdb/accelerators/eyeriss-v1.yaml");
    QVERIFY(original.open(QIODevice::ReadOnly));
    const QString mine = written(folder.filePath("mine.yaml"), original.readAll());
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    QVERIFY(answered(window, [&] { enter(window, "axis x", "x2"); }));
    QCOMPARE(window.reports()[0].machine.units, 336.0);
    QVERIFY(answered(window, [&] { drop(window, mine); }));
    QCOMPARE(window.reports()[0].machine.units, 168.0);
    QVERIFY(window.session().scenario.changes.empty());
    QVERIFY(!QString::fromStdString(window.reports()[0].machine.name).contains("changed"));
}

void TestTraps::warnings_are_listed_counted_and_marked_at_their_layers() {
    MainWindow window(folders());
    show(window);
    report::Session session = session_of("alexnet", {"nvdla-small"});
    session.scenario.policy = analysis::MappingPolicy::best;
    session.scenario.search_nodes = 200; // too few to prove anything
    QVERIFY(open_and_wait(window, session));
    const auto* list = &window.errors();
    QStringList severities, messages;
    for (int i = 0; i < list->topLevelItemCount(); ++i) {
        messages << list->topLevelItem(i)->text(0);
        severities << list->topLevelItem(i)->text(5);
    }
    const auto which = messages.indexOf(QRegularExpression(".*not proven optimal.*"));
    QVERIFY2(which >= 0, qPrintable(messages.join("\n")));
    QCOMPARE(severities[which], QString("warning"));
    const auto* dock = window.findChild<QDockWidget*>("errors");
    QCOMPARE(dock->windowTitle(), QString("Diagnostics (%1 ⚠)").arg(messages.size()));
    int marks = 0;
    const QAbstractItemModel& rows = *window.table().model();
    for (int i = 0; i < rows.rowCount(); ++i) {
        const QModelIndex name = rows.index(i, LayerTable::name);
        if (!name.data(Qt::DecorationRole).isNull()) {
            ++marks;
            QVERIFY(name.data(Qt::ToolTipRole).toString().contains("before its proof"));
        }
    }
    QVERIFY(marks > 0 && messages[which].contains(QString(": %1 of ").arg(marks)) &&
            messages[which].contains("not proven optimal"));

    report::Session large = session_of("bert-large", {"t4"});
    large.scenario.training = analysis::TrainingOptions{"adam"};
    large.scenario.batch = 256;
    QVERIFY(open_and_wait(window, large));
    bool listed = false;
    for (int i = 0; i < list->topLevelItemCount(); ++i) {
        listed = listed || list->topLevelItem(i)->text(0).contains("needs more memory than");
    }
    QVERIFY(listed);
}

void TestTraps::a_search_names_its_layer_and_its_cancel_does_not_take_its_place() {
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    Hands hands;
    hands.row(window.table(), LayerTable::name, "CONV2");
    window.show_page("mapping");
    auto* search = window.findChild<QPushButton*>("search");
    auto* cancel = window.findChild<QPushButton*>("cancel search");
    auto* found = window.findChild<QLabel*>("found");
    const QRect place(search->mapToGlobal(QPoint()), search->size());
    hands.click(*search);
    QVERIFY(cancel->isVisible());
    QCoreApplication::processEvents(); // the layout settles
    QVERIFY(!place.intersects(QRect(cancel->mapToGlobal(QPoint()), cancel->size())));
    QCOMPARE(window.findChild<QLabel*>("mapping layer")->text(), QString("CONV2 on Eyeriss v1"));
    QSignalSpy searched(&window, &MainWindow::searched);
    hands.row(window.table(), LayerTable::name, "CONV3"); // another one meanwhile
    QVERIFY(window.ladder().scene()->title.starts_with("CONV3"));
    QCOMPARE(window.findChild<QLabel*>("mapping layer")->text(), QString("CONV3 on Eyeriss v1"));
    QVERIFY2(found->text().startsWith("CONV2: "), qPrintable(found->text()));
    hands.click(*cancel);
    QVERIFY(searched.size() > 0 || searched.wait(kPatience_ms));
    QVERIFY2(found->text().startsWith("CONV2: "), qPrintable(found->text()));
    const auto& edits = window.session().mappings;
    if (found->text().contains("best so far")) { // what was found is used where it was looked for
        QCOMPARE(edits.size(), std::size_t{1});
        QCOMPARE(edits.front().layer, std::string("CONV2"));
    }
}

void TestTraps::a_search_ends_when_another_network_is_opened() {
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    Hands hands;
    hands.row(window.table(), LayerTable::name, "CONV2");
    window.show_page("mapping");
    hands.click(*window.findChild<QPushButton*>("search"));
    QVERIFY(window.mapping().searching());
    auto* network = window.findChild<QComboBox*>("network")->lineEdit();
    QVERIFY(answered(window, [&] {
        network->setFocus();
        network->selectAll();
        QTest::keyClicks(network, "mnist-cnn");
        QTest::keyClick(network, Qt::Key_Return);
    }));
    QVERIFY(!window.mapping().searching());
    QVERIFY(!window.findChild<QPushButton*>("cancel search")->isVisible());
    QVERIFY(!window.findChild<QLabel*>("found")->isVisible());
    QTRY_VERIFY_WITH_TIMEOUT(!window.searcher().busy(), kPatience_ms);
    QVERIFY(window.session().mappings.empty());
}

void TestTraps::scaling_does_not_train_while_inference_is_chosen() {
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("resnet50", {"a100-sxm-40gb"})));
    window.show_page("scaling");
    const auto& pane = *window.findChild<ScalingPane*>();
    auto* said = pane.findChild<QLabel*>("answer");
    QTRY_VERIFY(said->text().contains("the toolbar says inference"));
    QVERIFY(pane.answer() == nullptr);
    Hands hands;
    QVERIFY(answered(window, [&] { hands.link(*said, "train"); }));
    QCOMPARE(window.findChild<QComboBox*>("phase")->currentData().toString(), QString("adam"));
    QTRY_VERIFY_WITH_TIMEOUT(pane.answer() != nullptr, kPatience_ms);
    QVERIFY2(said->text().contains("devices: ") && said->text().contains("per step"),
             qPrintable(said->text()));
}

void TestTraps::scaling_joins_no_gpu_by_the_fabric_of_another_box() {
    MainWindow window(folders());
    show(window);
    report::Session session = session_of("resnet50", {"gh200-96gb"});
    session.scenario.training = analysis::TrainingOptions{"adam"};
    QVERIFY(open_and_wait(window, session));
    window.show_page("scaling");
    const auto& pane = *window.findChild<ScalingPane*>();
    auto* said = pane.findChild<QLabel*>("answer");
    QTRY_VERIFY(said->text().contains("Choose how the devices are joined"));
    QVERIFY(pane.answer() == nullptr);
    session.machines = {"h100-sxm-80gb"};
    session.scenario.machine = "h100-sxm-80gb";
    QVERIFY(open_and_wait(window, session));
    QTRY_COMPARE(pane.findChild<QComboBox*>("scaling fabric")->currentData().toString(),
                 QString("dgx-h100-ndr"));
}

void TestTraps::sparsity_does_not_analyse_another_machine_than_the_toolbar_names() {
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    window.show_page("sparsity");
    const auto& pane = *window.findChild<SparsePane*>();
    auto* said = pane.findChild<QLabel*>("answer");
    QTRY_VERIFY(said->text().contains("Eyeriss v1 has no description of how it skips zeros"));
    QVERIFY(pane.answer() == nullptr);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"scnn"})));
    QTRY_VERIFY_WITH_TIMEOUT(pane.answer() != nullptr, kPatience_ms);
    QVERIFY2(!said->text().contains("no description"), qPrintable(said->text()));
}

void TestTraps::kernels_of_no_layer_are_counted_per_step_as_layers_are() {
    QTemporaryDir folder;
    const QString run = written(folder.filePath("ten.csv"), ten_steps());
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    QVERIFY(answered(window, [&] { drop(window, run); }));
    QCOMPARE(layer(window, "CONV1").measured->executions, std::int64_t{10});
    QCOMPARE(cell(window.table(), "relu", LayerTable::time), QString("8 us")); // not 80
    QVERIFY2(window.findChild<QLabel*>("totals")->text().contains("8 us more of a step"),
             qPrintable(window.findChild<QLabel*>("totals")->text()));
}

void TestTraps::the_ladder_and_the_text_say_one_sign_of_a_measurement() {
    QTemporaryDir folder;
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    const double predicted = layer(window, "CONV2").time_s;
    const auto run = QString("kernel,layer,time_us\ngemm,CONV2,%1\n").arg(0.5e6 * predicted);
    QVERIFY(
        answered(window, [&] { drop(window, written(folder.filePath("run.csv"), run.toUtf8())); }));
    select(window, "CONV2");
    const analysis::LayerMeasurement& m = *layer(window, "CONV2").measured;
    const QString share =
        QString::fromStdString(report::signed_share(m.unexplained_s, m.predicted_s));
    QVERIFY(m.unexplained_s < 0.0);
    QCOMPARE(QString::fromStdString(window.ladder().scene()->bars.back().change), share + " time");
    QVERIFY2(window.steps().text().contains(share), qPrintable(window.steps().text()));
}

namespace {

template <class Action> bool judged(MainWindow& window, Action action) {
    QSignalSpy spy(&window.upgrade(), &UpgradePane::judged);
    action();
    return spy.size() > 0 || spy.wait(kPatience_ms);
}

bool ask(MainWindow& window, const QString& network, const QString& phase) {
    window.show_page("upgrade");
    return judged(window, [&] {
        window.upgrade().ask({network}, "v100-sxm2-16gb", {"a100-sxm-40gb"}, phase);
    });
}

} // namespace

void TestTraps::owned_gpus_are_charged_no_rent_and_their_field_is_off() {
    MainWindow window(folders());
    show(window);
    QVERIFY(ask(window, "resnet50", "sgd_momentum"));
    const double rented = window.upgrade().upgrades()[0].money.from_usd_per_hour;
    QVERIFY(rented > 0.5); // the catalog's rent
    auto* owned = window.findChild<QCheckBox*>("upgrade owned");
    QVERIFY(judged(window, [&] { owned->click(); }));
    const analysis::UpgradeMoney& money = window.upgrade().upgrades()[0].money;
    QVERIFY(money.from_owned);
    QVERIFY(money.from_usd_per_hour < 0.2 * rented); // power alone
    QVERIFY(window.upgrade().purchase().answers[0].now.owned);
    const auto& reasons = *window.findChild<QLabel*>("reasons");
    QVERIFY2(reasons.text().contains("is owned: no rent"), qPrintable(reasons.text()));
    QVERIFY(window.upgrade().command_line().ends_with("--owned --sweep-batch 1,4,16"));
    report::Session kept = window.session();
    QVERIFY(kept.upgrade && kept.upgrade->from_owned);
}

void TestTraps::hosts_are_named_and_the_same_host_can_be_asked_for() {
    MainWindow window(folders());
    show(window);
    QVERIFY(ask(window, "resnet50", "inference"));
    const analysis::Upgrade usual = window.upgrade().upgrades()[0];
    QVERIFY(usual.from_step.host != usual.to_step.host); // each the server of its years
    for (const std::string& host : {usual.from_step.host, usual.to_step.host}) {
        QVERIFY2(window.upgrade().headline().contains(QString::fromStdString(host)), host.c_str());
    }
    Hands hands;
    QVERIFY(judged(
        window, [&] { hands.choose(*window.findChild<QComboBox*>("upgrade to host"), "same"); }));
    const analysis::Upgrade same = window.upgrade().upgrades()[0];
    QCOMPARE(same.to_step.host, usual.from_step.host);
    QVERIFY(same.speedup.value < usual.speedup.value);
    QVERIFY(judged(
        window, [&] { hands.choose(*window.findChild<QComboBox*>("upgrade launch"), "graph"); }));
    QVERIFY(window.upgrade().upgrades()[0].from_s < same.from_s); // no host to wait for
    QVERIFY(window.upgrade().command_line().find("--launch graph") != std::string::npos);
}

void TestTraps::a_large_gap_gives_a_verdict_of_inference_with_its_level_named() {
    MainWindow window(folders());
    show(window);
    QVERIFY(ask(window, "resnet50", "inference"));
    QVERIFY(judged(
        window, [&] { window.findChild<QDoubleSpinBox*>("hour a100-sxm-40gb")->setValue(27.0); }));
    const analysis::Upgrade& u = window.upgrade().upgrades()[0];
    QVERIFY(u.threshold > 5.0 * u.speedup.high); // no interval comes near what is needed
    QCOMPARE(u.verdict, analysis::UpgradeVerdict::does_not);
    QVERIFY2(window.upgrade().headline().contains("likely to cost less") &&
                 window.upgrade().headline().contains("80 %"),
             qPrintable(window.upgrade().headline()));
    // the cards say the same as the table, and evidence and flips stand below
    const report::DrawnTable& cards = window.upgrade().candidates().drawing().figures;
    QCOMPARE(cards.rows.size(), std::size_t{1});
    QCOMPARE(std::get<double>(cards.rows[0][1]), u.speedup.value);
    QCOMPARE(std::get<double>(cards.rows[0][4]), u.threshold);
    const auto& decision = *window.findChild<QLabel*>("decision");
    QVERIFY(decision.text().contains("What would change the verdict"));
    QVERIFY(decision.text().contains("Published speedups"));
}

void TestTraps::the_sentence_is_about_the_candidate_that_pays() {
    MainWindow window(folders());
    show(window);
    window.show_page("upgrade");
    QVERIFY(judged(window, [&] {
        window.upgrade().ask({"resnet50"}, "v100-sxm2-16gb", {"a100-sxm-40gb", "l4"},
                             "sgd_momentum");
    }));
    const auto& upgrades = window.upgrade().upgrades();
    QVERIFY(upgrades[0].verdict != analysis::UpgradeVerdict::unpriced);
    QCOMPARE(upgrades[1].verdict, analysis::UpgradeVerdict::pays_off);
    // what was published for other GPUs is listed, and not on the card's scale
    const report::DrawnTable& cards = window.upgrade().candidates().drawing().figures;
    const auto& nearest = upgrades[1].nearest;
    const auto of_pair = std::count_if(nearest.begin(), nearest.end(), [](const auto& near) {
        return near.row.key.from.starts_with("v100-") && near.row.key.to.starts_with("l4");
    });
    QVERIFY(static_cast<std::size_t>(of_pair) < nearest.size());
    QVERIFY(std::get<double>(cards.rows[1][7]) <= static_cast<double>(of_pair));
    QVERIFY2(window.upgrade().headline().contains("Replace it: l4"),
             qPrintable(window.upgrade().headline()));
}

void TestTraps::an_onnx_file_that_leaves_sizes_open_asks_for_them() {
    const QString file =
        QString::fromStdString(tests::source_dir()) + "/tests/fuzz/corpus/onnx/bert_layer.onnx";
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("", {"t4"})));
    QVERIFY(answered(window, [&] { drop(window, file); }));
    auto* batch = window.findChild<QSpinBox*>("open size batch");
    auto* sequence = window.findChild<QSpinBox*>("open size seq");
    QVERIFY(batch != nullptr && batch->isVisible() && sequence != nullptr);
    Hands hands;
    batch->setValue(4);
    sequence->setValue(128);
    QVERIFY(answered(window, [&] { hands.click(*window.findChild<QPushButton*>("start sizes")); }));
    QVERIFY(!window.reports().empty() && window.plot().isVisible());
    QVERIFY(window.session().scenario.sizes == (std::vector<std::string>{"batch=4", "seq=128"}));
    QCOMPARE(window.findChild<QToolButton*>("sizes")->toolTip(), QString("batch 4\nseq 128"));
}

EYEROOF_WINDOW_TEST(TestTraps)

} // namespace test_gui_traps

#include "test_traps.moc"
