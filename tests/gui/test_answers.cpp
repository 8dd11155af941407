// Answers of the window that once were wrong or misled: whose gains, which layer, which roofs, what
// is missing from a table, what a cancelled search leaves behind; without a screen.
#include "analysis/what_if/sensitivity.hpp"
#include "base/units.hpp"
#include "formats/catalog.hpp"
#include "formats/mapping_yaml.hpp"
#include "gui/panes/answer_table.hpp"
#include "gui/panes/upgrade_form.hpp"
#include "gui/panes/upgrade_words.hpp"
#include "hwdb/catalog.hpp"
#include "report/exam/answer.hpp"
#include "tests/gui/registry.hpp"
#include "tests/gui/window_tools.hpp"

#include <QComboBox>
#include <QLabel>
#include <QPlainTextEdit>
#include <QTableView>
#include <QTemporaryDir>
#include <QTextEdit>
#include <QToolButton>

namespace test_gui_answers {

using namespace eyeroof;               // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui;          // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui::testing; // NOLINT(google-build-using-namespace)

class TestAnswers : public QObject {
    Q_OBJECT

  private slots:
    void the_second_machines_ladder_has_gains_of_its_own();
    void without_prices_nothing_is_said_to_pay();
    void prices_stand_with_their_sources_and_ages();
    void layers_of_one_name_are_told_apart();
    void an_edited_mapping_stays_with_its_row();
    void kernels_without_a_place_are_in_the_table_and_in_the_sums();
    void a_cancelled_search_leaves_the_choice_as_it_was();
    void of_roof_is_of_the_visible_roofs();
    void points_above_a_roof_are_explained_in_sight();
};

namespace {

constexpr const char* kTwins =
    "name: Twins\nsource: \"of this test\"\nlayers:\n"
    "  - {name: conv, op: conv2d, n: 1, c: 64, h: 56, w: 56, k: 64, r: 3, s: 3, pad: 1}\n"
    "  - {name: conv, op: conv2d, n: 1, c: 512, h: 7, w: 7, k: 512, r: 1, s: 1}\n";

constexpr const char* kRun = "kernel,layer,time_us,bytes_dram,flops_fp16_tensor\n"
                             "implicit_gemm_a,CONV1,60,40000000,211000000\n"
                             "implicit_gemm_b,CONV2,45,1200000,448000000\n"
                             "relu_kernel,,195,,\n";

model::Machine machine(const char* name) {
    return hwdb::load_machine(name, folders().machines).value();
}

// Of the points of a machine, those of a name in the order of the network.
std::vector<std::string> ids_of(MainWindow& window, const std::string& on,
                                const std::string& name) {
    std::vector<std::string> ids;
    for (const report::PlotPoint& point : window.plot().plot().points) {
        if (point.machine == on && point.name == name && !point.measured) {
            ids.push_back(point.id);
        }
    }
    return ids;
}

// The row of a name in the table; -1 where there is none.
int row_of(MainWindow& window, const QString& name) {
    const QAbstractItemModel& rows = *window.table().model();
    for (int row = 0; row < rows.rowCount(); ++row) {
        if (rows.index(row, LayerTable::name).data().toString() == name) {
            return row;
        }
    }
    return -1;
}

QString cell_of(MainWindow& window, int row, int column) {
    return window.table().model()->index(row, column).data().toString();
}

} // namespace

void TestAnswers::the_second_machines_ladder_has_gains_of_its_own() {
    const auto kernels_alone = [](std::vector<std::string> machines) {
        report::Session session = session_of("alexnet", std::move(machines));
        session.scenario.launch = model::Launch::none; // the host would bound both
        return session;
    };
    MainWindow window(folders());
    window.show();
    QVERIFY(open_and_wait(window, kernels_alone({"v100-sxm2-16gb", "a100-sxm-40gb"})));
    window.steps().show_network(true);
    const auto words = [&](const char* name) {
        const auto question = question_of(kernels_alone({name}));
        auto gains = analysis::sensitivities(question).value();
        std::erase_if(gains, [](const auto& gain) { // that quickens all and names nothing
            return gain.name.find("clock") != std::string::npos;
        });
        return QString::fromStdString(analysis::best_help_text(gains));
    };
    QVERIFY(words("a100-sxm-40gb") != words("v100-sxm2-16gb"));
    window.plot().set_selection({ids_of(window, "a100-sxm-40gb", "FC6").at(0)});
    QTRY_VERIFY2_WITH_TIMEOUT(window.steps().text().contains(words("a100-sxm-40gb")),
                              qPrintable(window.steps().text()), kPatience_ms);
    window.plot().set_selection({ids_of(window, "v100-sxm2-16gb", "FC6").at(0)});
    QVERIFY(!window.steps().text().contains(words("a100-sxm-40gb"))); // not for a moment
    QTRY_VERIFY_WITH_TIMEOUT(window.steps().text().contains(words("v100-sxm2-16gb")), kPatience_ms);
}

void TestAnswers::without_prices_nothing_is_said_to_pay() {
    MainWindow window(folders());
    window.show_page("upgrade");
    window.upgrade().ask({"resnet50"}, "a2", {"a30"});
    QTRY_COMPARE_WITH_TIMEOUT(window.upgrade().upgrades().size(), std::size_t{1}, kPatience_ms);
    const analysis::Upgrade& u = window.upgrade().upgrades()[0];
    QVERIFY(!u.money.priced);
    const QString headline = window.upgrade().headline();
    QVERIFY2(headline.contains("name the prices") &&
                 headline.contains(QString("%1x as fast").arg(u.speedup.value, 0, 'f', 2)),
             qPrintable(headline));
    for (const char* wrong : {"✓", "✗", "ays off"}) {
        QVERIFY2(!headline.contains(wrong), wrong);
        QVERIFY(!cell_text(window.upgrade().verdicts(), 0, "Verdict").contains(wrong));
    }
    QCOMPARE(cell_text(window.upgrade().verdicts(), 0, "Chance to pay off"), QString("-"));
    const QString reasons = window.findChild<QLabel*>("reasons")->text();
    QVERIFY2(!reasons.contains("would be enough") && !reasons.contains("is wrong"),
             qPrintable(reasons)); // than what?
}

void TestAnswers::prices_stand_with_their_sources_and_ages() {
    MainWindow window(folders());
    window.show_page("upgrade");
    window.upgrade().ask({"resnet50"}, "v100-sxm2-16gb", {"a100-sxm-40gb"}, "adam");
    QTRY_COMPARE_WITH_TIMEOUT(window.upgrade().upgrades().size(), std::size_t{1}, kPatience_ms);
    const analysis::Upgrade& u = window.upgrade().upgrades()[0];
    const QString reasons = window.findChild<QLabel*>("reasons")->text();
    QVERIFY2(reasons.contains(QString::fromStdString(u.money.to_price_source)) &&
                 reasons.contains(QString::fromStdString(u.money.from_price_source)),
             qPrintable(reasons));
    QVERIFY2(reasons.contains(" old"), qPrintable(reasons));
    for (const char* word : {"raining step", "batch", "eager", "adam"}) { // what is compared
        QVERIFY2(window.upgrade().headline().contains(word),
                 qPrintable(window.upgrade().headline()));
    }
    const QDate today(2026, 11, 22);
    QCOMPARE(age_of("Lambda price list, 2026-09-19", today), QString("2 months old"));
    QCOMPARE(age_of("in public price tables of September 2026", today), QString("2 months old"));
    QCOMPARE(age_of("a shop, 2023", today), QString("2 years old"));
    QCOMPARE(age_of("given", today), QString());
}

void TestAnswers::layers_of_one_name_are_told_apart() {
    QTemporaryDir folder;
    const QString file = written(folder.filePath("twins.yaml"), kTwins);
    MainWindow window(folders());
    window.show();
    QVERIFY(open_and_wait(window, session_of(qPrintable(file), {"eyeriss-v1"})));
    QCOMPARE(window.table().model()->rowCount(), 2);
    const auto ids = ids_of(window, "eyeriss-v1", "conv");
    QCOMPARE(ids.size(), std::size_t{2});
    const auto* details = window.findChild<QTextEdit*>("details text");
    QStringList mappings, values, texts;
    for (std::size_t row = 0; row < 2; ++row) {
        window.plot().set_selection({ids[row]});
        const analysis::LayerReport& own = window.reports()[0].layers[row];
        values << QString::fromStdString(window.ladder().scene()->bars.at(1).value);
        QCOMPARE(window.ladder().scene()->bars.at(8).value, format_si(own.time_s, "s", 4));
        mappings << window.mapping().editor().toPlainText();
        texts << details->toPlainText();
        QVERIFY(texts.back().contains(QString::fromStdString(format_si(own.time_s, "s"))));
    }
    QVERIFY(values[0] != values[1]);
    QVERIFY(mappings[0] != mappings[1]);
    QVERIFY(texts[0] != texts[1]);
}

void TestAnswers::an_edited_mapping_stays_with_its_row() {
    QTemporaryDir folder;
    const QString file = written(folder.filePath("twins.yaml"), kTwins);
    MainWindow window(folders());
    QVERIFY(open_and_wait(window, session_of(qPrintable(file), {"eyeriss-v1"})));
    const std::vector<analysis::LayerReport> before = window.reports()[0].layers;
    window.plot().set_selection({ids_of(window, "eyeriss-v1", "conv").at(1)});
    const auto eyeriss = machine("eyeriss-v1");
    window.mapping().editor().setPlainText(QString::fromStdString(formats::write_mapping_yaml(
        serial(before[1].mappings.at(0)), std::get<model::Accelerator>(eyeriss.kind))));
    QTRY_VERIFY(window.mapping().verdict().contains("slower"));
    QVERIFY(window.reports()[0].layers[0] == before[0]);
    const double slow_s = window.reports()[0].layers[1].time_s;
    QVERIFY(slow_s > before[1].time_s);
    const QString saved = folder.filePath("s.eyeroof.yaml");
    window.save_session(saved);
    MainWindow again(folders());
    QVERIFY(answered(again, [&] { again.open(saved); }));
    QVERIFY(again.session() == window.session());
    QCOMPARE(again.reports()[0].layers[0].time_s, before[0].time_s);
    QCOMPARE(again.reports()[0].layers[1].time_s, slow_s);
}

void TestAnswers::kernels_without_a_place_are_in_the_table_and_in_the_sums() {
    QTemporaryDir folder;
    const QString run = written(folder.filePath("run.csv"), kRun);
    MainWindow window(folders());
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    QVERIFY(answered(window, [&] { drop(window, run); }));
    const int relu = row_of(window, "relu_kernel");
    QVERIFY(relu >= 0);
    QCOMPARE(cell_of(window, relu, LayerTable::measured), QString("195 us"));
    QCOMPARE(cell_of(window, relu, LayerTable::rate), QString());
    QCOMPARE(cell_of(window, relu, LayerTable::share), QString("65.0 %")); // of 60 + 45 + 195 us
    // a layer has one row, and one measured time
    int rows = 0;
    for (int row = 0; row < window.table().model()->rowCount(); ++row) {
        rows += cell_of(window, row, LayerTable::name) == "CONV1" ? 1 : 0;
    }
    QCOMPARE(rows, 1);
    QCOMPARE(cell_of(window, row_of(window, "CONV1"), LayerTable::measured), QString("60 us"));
    QVERIFY(!cell_of(window, row_of(window, "CONV1"), LayerTable::measured_of_roof).isEmpty());
    // the sum of the measurement, and of its difference from the prediction
    const analysis::Measurement& m = *window.reports()[0].measured;
    const QString totals = window.findChild<QLabel*>("totals")->text();
    QVERIFY(m.measured_s == 105e-6);
    QVERIFY2(
        totals.contains(
            QString::fromStdString(report::measured_line(window.reports()[0])).toHtmlEscaped()),
        qPrintable(totals)); // as the command says it
    QVERIFY2(totals.contains("195 us more"), qPrintable(totals));
    // a selected row that the plot does not have is told about all the same
    window.table().selectRow(relu);
    const auto* details = window.findChild<QTextEdit*>("details text");
    QVERIFY2(details->toPlainText().contains("relu_kernel") &&
                 details->toPlainText().contains("not on the plot"),
             qPrintable(details->toPlainText()));
}

void TestAnswers::a_cancelled_search_leaves_the_choice_as_it_was() {
    MainWindow window(folders());
    window.show();
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    QVERIFY(open_and_wait(window, session_of("resnet50", {"eyeriss-v1"})));
    const report::Session before = window.session();
    auto* mapping = window.findChild<QComboBox*>("mapping");
    const int chosen = mapping->currentIndex();
    const int best = mapping->findText("best mapping");
    QVERIFY(best >= 0 && best != chosen);
    mapping->setCurrentIndex(best);
    emit mapping->activated(best);
    if (!window.examiner().busy()) {
        QSKIP("the search was over before it could be cancelled");
    }
    QVERIFY(!(window.session() == before)); // it is being asked for
    QTest::keyClick(&window, Qt::Key_Escape);
    QVERIFY(!window.examiner().busy() || window.session() == before);
    QCOMPARE(mapping->currentIndex(), chosen);
    QVERIFY(window.session() == before);
    QCOMPARE(report::cli_command(window.session()), report::cli_command(before));
    window.redo(); // asks again
    QCOMPARE(mapping->currentIndex(), best);
}

void TestAnswers::of_roof_is_of_the_visible_roofs() {
    MainWindow window(folders());
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    const auto of_fc6 = [&] {
        for (const report::ScenePoint& point : window.plot().scene().points) {
            if (point.name == "FC6") {
                return point;
            }
        }
        return report::ScenePoint{};
    };
    QCOMPARE(of_fc6().roof, std::string("DRAM"));
    const double rate = of_fc6().y;
    window.findChild<QToolButton*>("roof a100-sxm-40gb/memory/DRAM")->click();
    QVERIFY(of_fc6().roof != "DRAM");
    QVERIFY(of_fc6().roof_flops_per_s > 1e14); // arithmetic is all that is left
    QCOMPARE(of_fc6().of_bound, rate / of_fc6().roof_flops_per_s);
    const QString shown = cell_of(window, row_of(window, "FC6"), LayerTable::of_roof);
    QCOMPARE(shown, QString("%1 %").arg(100.0 * of_fc6().of_bound, 0, 'f', 1));
}

void TestAnswers::points_above_a_roof_are_explained_in_sight() {
    QTemporaryDir folder;
    const QString run =
        written(folder.filePath("run.csv"), "kernel,layer,time_us,bytes_dram,flops_fp16_tensor\n"
                                            "fast,CONV2,1,400000000,448000000\n");
    MainWindow window(folders());
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    QVERIFY(answered(window, [&] { drop(window, run); }));
    const auto& scene = window.plot().scene();
    QVERIFY(!scene.warnings.empty());
    QVERIFY(QString::fromStdString(scene.warnings.front()).contains("above a roof"));
    // predictions whose bytes an inner memory holds are no error, and that is said, too
    std::size_t held = 0;
    for (const report::ScenePoint& point : scene.points) {
        held += !point.above_roof && point.of_bound > 1.0 + report::kAboveRoofTolerance ? 1 : 0;
    }
    QCOMPARE(scene.notes.empty(), held == 0);
}

EYEROOF_WINDOW_TEST(TestAnswers)

} // namespace test_gui_answers

#include "test_answers.moc"
