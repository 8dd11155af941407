// The upgrade view under the mouse and the keyboard: fleets, prices, sweeps, pictures; without a
// screen.
#include "analysis/upgrade/surroundings.hpp"
#include "base/units.hpp"
#include "formats/catalog.hpp"
#include "gui/views/paint_scene.hpp"
#include "gui/window/themes.hpp"
#include "hwdb/catalog.hpp"
#include "report/upgrade/candidates_scene.hpp"
#include "tests/gui/registry.hpp"
#include "tests/gui/upgrade_tools.hpp"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QTabBar>
#include <QTemporaryDir>
#include <QToolButton>
#include <QTreeWidget>
#include <cmath>

namespace test_gui_upgrade {

using namespace eyeroof;               // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui;          // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui::testing; // NOLINT(google-build-using-namespace)

class TestUpgrade : public QObject {
    Q_OBJECT

  private slots:
    void networks_that_share_a_gpu_are_judged_together();
    void every_gpu_has_its_own_price();
    void a_purchase_has_a_payback_plot();
    void batches_and_precisions_are_swept();
    void a_wrong_list_is_marked_and_the_last_one_stays();
    void gpus_stand_side_by_side_with_the_difference();
    void a_row_has_what_a_buyer_needs();
    void rows_are_removed_again();
    void what_is_removed_leaves_nothing_behind();
    void pictures_are_exported_and_copied();
    void large_windows_show_all_pictures();
    void unknown_names_are_told_and_the_rest_is_judged();
    void the_question_is_part_of_sessions();
};

namespace {

model::Machine machine(const char* name) {
    return hwdb::load_machine(name, folders().machines).value();
}

model::Network network(const char* name) {
    return formats::load_network(name, folders().networks).value();
}

// What stands around the two GPUs unless told otherwise.
analysis::UpgradeOptions usual() {
    analysis::UpgradeOptions options;
    return analysis::with_surroundings(options, machine("v100-sxm2-16gb"), machine("a100-sxm-40gb"),
                                       {}, folders().machines)
        .value();
}

// The menu's entry of a shortcut; keys themselves need a window manager that makes windows active.
void press(MainWindow& window, const char* keys) {
    for (QAction* action : window.findChildren<QAction*>()) {
        if (action->shortcut() == QKeySequence(keys)) {
            return action->trigger();
        }
    }
    QFAIL("no such shortcut");
}

// Types a name into one of the choosers and presses Return, as a user does.
void choose(MainWindow& window, const char* box, const QString& name) {
    type_into(window.findChild<QComboBox*>(box)->lineEdit(), name);
}

} // namespace

void TestUpgrade::networks_that_share_a_gpu_are_judged_together() {
    MainWindow window(folders());
    window.show();
    window.show_page("upgrade");
    QVERIFY(judged(window, [&] {
        window.upgrade().ask({"resnet50", "bert-base"}, "v100-sxm2-16gb", {"a100-sxm-40gb"},
                             "inference");
    }));
    auto* share = window.findChild<QDoubleSpinBox*>("share resnet50");
    QVERIFY(share != nullptr && share->isVisible());
    QVERIFY(judged(window, [&] { share->setValue(3.0); }));
    const auto expected =
        analysis::upgrade_fleet({{network("resnet50"), 3.0}, {network("bert-base"), 1.0}},
                                machine("v100-sxm2-16gb"), machine("a100-sxm-40gb"), usual());
    const analysis::Upgrade& shown = window.upgrade().upgrades().at(0);
    QVERIFY(is_as_asked(window));
    QCOMPARE(shown.members.size(), std::size_t{2});
    QCOMPARE(shown.speedup.value, expected->speedup.value);
    QCOMPARE(shown.weights.at(0), 0.75);
    QCOMPARE(QString::fromStdString(window.upgrade().command_line()),
             QString("eyeroof upgrade resnet50@3 bert-base@1 --from v100-sxm2-16gb --to "
                     "a100-sxm-40gb --phase inference"));
}

void TestUpgrade::every_gpu_has_its_own_price() {
    MainWindow window(folders());
    window.show();
    window.show_page("upgrade");
    QVERIFY(judged(window, [&] {
        window.upgrade().ask({"resnet50"}, "v100-sxm2-16gb", {"a100-sxm-40gb", "l4"});
    }));
    window.upgrade().verdicts().selectRow(0);
    QVERIFY(judged(
        window, [&] { window.findChild<QDoubleSpinBox*>("hour a100-sxm-40gb")->setValue(9.5); }));
    QCOMPARE(window.upgrade().upgrades().at(0).money.to_usd_per_hour, 9.5);
    QVERIFY(window.upgrade().upgrades().at(1).money.to_usd_per_hour != 9.5);
    QVERIFY(window.upgrade().command_line().find("--to-per-hour 9.5") != std::string::npos);
    // where nothing is entered, the catalog's price is shown
    const auto* other = window.findChild<QDoubleSpinBox*>("hour l4");
    QVERIFY2(other->text().contains("$"), qPrintable(other->text()));
}

void TestUpgrade::a_purchase_has_a_payback_plot() {
    MainWindow window(folders());
    window.show();
    window.show_page("upgrade");
    QVERIFY(judged(window, [&] {
        window.upgrade().ask({"bert-large"}, "v100-sxm2-16gb", {"a100-sxm-40gb"});
    }));
    QVERIFY(window.upgrade().payback().drawing().figures.rows.empty()); // no price to buy it
    QVERIFY(judged(
        window, [&] { window.findChild<QDoubleSpinBox*>("buy a100-sxm-40gb")->setValue(9000.0); }));
    const analysis::UpgradeMoney& money = window.upgrade().upgrades().at(0).money;
    QVERIFY(money.break_even_months.has_value());
    const auto& rows = window.upgrade().payback().drawing().figures.rows;
    QCOMPARE(rows.size(), std::size_t{1});
    QCOMPARE(std::get<double>(rows[0][3]), *money.break_even_months);
    // by its own definition nothing is left of the outlay when it is paid back
    const double saved = *money.break_even_months *
                         (money.work_usd_per_month * window.upgrade().upgrades()[0].speedup.value -
                          money.power_usd_per_month);
    QVERIFY(std::abs(saved - *money.outlay_usd) < 1e-6 * *money.outlay_usd);
}

void TestUpgrade::batches_and_precisions_are_swept() {
    MainWindow window(folders());
    window.show();
    window.show_page("upgrade");
    QVERIFY(judged(window, [&] {
        window.upgrade().ask({"resnet50"}, "v100-sxm2-16gb", {"a100-sxm-40gb"}, "inference");
    }));
    QVERIFY(
        judged(window, [&] { type_into(window.findChild<QLineEdit*>("sweep batches"), "2, 32"); }));
    QVERIFY(judged(window, [&] {
        type_into(window.findChild<QLineEdit*>("sweep precisions"), "fp32, fp16:bf16");
    }));
    const auto whole = asked_purchase(window.upgrade().form().question());
    const auto expected = analysis::sweep_of(whole, whole.candidates.at(0), {2, 32},
                                             {{model::DataType::fp32, model::DataType::fp32},
                                              {model::DataType::fp16, model::DataType::bf16}});
    QVERIFY(window.upgrade().upgrades().at(0).sweep == expected.value());
    QVERIFY(is_as_asked(window));
    QCOMPARE(window.upgrade().sweep().drawing().figures.rows.size(), std::size_t{4});
    QVERIFY(window.upgrade().command_line().ends_with(
        "--sweep-batch 2,32 --sweep-dtype fp32:fp32,fp16:bf16"));
}

void TestUpgrade::a_wrong_list_is_marked_and_the_last_one_stays() {
    MainWindow window(folders());
    window.show();
    window.show_page("upgrade");
    auto* list = window.findChild<QLineEdit*>("sweep batches");
    const auto before = window.upgrade().form().question().sweep_batches;
    type_into(list, "4, many");
    QVERIFY(window.upgrade().form().question().sweep_batches == before);
    QVERIFY(list->toolTip().contains("65536"));
    QVERIFY(!analysis::read_types("fp16:quick").has_value());
    QVERIFY(analysis::read_batches("").has_value() && analysis::read_batches("")->empty());
}

void TestUpgrade::gpus_stand_side_by_side_with_the_difference() {
    MainWindow window(folders());
    window.show();
    window.show_page("upgrade");
    QVERIFY(judged(window, [&] {
        window.upgrade().ask({"resnet50"}, "v100-sxm2-16gb", {"a100-sxm-40gb", "t4"});
    }));
    window.upgrade().verdicts().selectRow(0);
    const AnswerTableView& layers = window.upgrade().layers();
    const auto header = [&](int column) {
        return layers.model()->headerData(column, Qt::Horizontal).toString();
    };
    QCOMPARE(header(3), QString("a100-sxm-40gb"));
    QCOMPARE(header(5), QString("t4"));
    QCOMPARE(header(7), QString("v100-sxm2-16gb"));
    QCOMPARE(header(8), QString("Difference"));
    const auto difference = [&] {
        return std::get<double>(layers.answer().value(layers.answer().index(0, 8)));
    };
    const double first = difference();
    window.upgrade().verdicts().selectRow(1);
    QVERIFY(difference() != first); // the difference is that of the GPU in view
    QVERIFY(window.upgrade().headline().contains("t4"));
    QVERIFY(window.upgrade().command_line().find("--to t4") != std::string::npos);
    QCOMPARE(window.upgrade().bars().drawing().figures.columns.size(), std::size_t{4});
}

void TestUpgrade::a_row_has_what_a_buyer_needs() {
    MainWindow window(folders());
    window.show();
    window.show_page("upgrade");
    QVERIFY(judged(window, [&] {
        window.upgrade().ask({"resnet50"}, "v100-sxm2-16gb", {"a100-sxm-40gb", "l4"}, "adam");
    }));
    const AnswerTableView& rows = window.upgrade().verdicts();
    const auto column = [&](const QString& header) {
        for (int c = 0; c < rows.model()->columnCount(); ++c) {
            if (rows.model()->headerData(c, Qt::Horizontal).toString().startsWith(header)) {
                return c;
            }
        }
        return -1;
    };
    for (const char* theme : {"light", "dark"}) {
        use_theme(theme);
        QCoreApplication::processEvents();
        for (int row = 0; row < rows.row_count(); ++row) {
            const auto verdict =
                window.upgrade().upgrades().at(static_cast<std::size_t>(row)).verdict;
            const report::Rgb ink = report::ink_of(report::role_of(verdict), theme_of(rows));
            const QModelIndex cell = rows.model()->index(row, column("Verdict"));
            QCOMPARE(cell.data(Qt::ForegroundRole).value<QColor>(), QColor(ink.r, ink.g, ink.b));
            QVERIFY(cell.data(Qt::FontRole).value<QFont>().bold());
        }
    }
    use_theme("desktop");
    const analysis::PurchaseAnswer& answer = window.upgrade().purchase().answers.at(0);
    QCOMPARE(cell_text(rows, 0, "Energy per 1,000 samples, now "),
             QString::fromStdString(format_si(answer.then.joules_per_1000.value(), "J")));
    const QModelIndex needed = rows.model()->index(0, column("Needed to pay off"));
    const QString basis = QString::fromStdString(answer.upgrade.threshold_basis);
    for (const QString& tip :
         {needed.data(Qt::ToolTipRole).toString(),
          rows.model()->headerData(needed.column(), Qt::Horizontal, Qt::ToolTipRole).toString()}) {
        QVERIFY2(tip.contains("(" + basis + ")"), qPrintable(tip));
    }
}

void TestUpgrade::rows_are_removed_again() {
    MainWindow window(folders());
    window.show();
    window.show_page("upgrade");
    QVERIFY(judged(window, [&] {
        window.upgrade().ask({"resnet50", "alexnet"}, "v100-sxm2-16gb", {"a100-sxm-40gb", "t4"});
    }));
    QVERIFY(judged(window, [&] { window.findChild<QToolButton*>("remove t4")->click(); }));
    QCOMPARE(window.upgrade().upgrades().size(), std::size_t{1});
    QVERIFY(judged(window, [&] { window.findChild<QToolButton*>("remove alexnet")->click(); }));
    QVERIFY(window.upgrade().upgrades().at(0).members.empty());
    window.findChild<QToolButton*>("remove a100-sxm-40gb")->click();
    QVERIFY(window.upgrade().upgrades().empty());
    QVERIFY(window.upgrade().command_line().empty());
}

void TestUpgrade::what_is_removed_leaves_nothing_behind() {
    MainWindow window(folders());
    window.show();
    window.show_page("upgrade");
    const auto round = [&] {
        const bool asked =
            judged(window, [&] { window.upgrade().ask({"mlp-2layer"}, "v100-sxm2-16gb", {"t4"}); });
        window.findChild<QToolButton*>("remove t4")->click();
        window.findChild<QToolButton*>("remove mlp-2layer")->click();
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        QCoreApplication::processEvents();
        return asked;
    };
    QVERIFY(round() && round()); // what labels and lists make once stays
    const auto widgets = window.findChildren<QObject*>().size();
    for (int i = 0; i < 5; ++i) {
        QVERIFY(round());
    }
    QCOMPARE(window.findChildren<QObject*>().size(), widgets);
}

void TestUpgrade::pictures_are_exported_and_copied() {
    QTemporaryDir folder;
    MainWindow window(folders());
    window.show();
    window.show_page("upgrade");
    QVERIFY(!export_picture(picture_of(window.upgrade().plot(), "upgrade"),
                            folder.filePath("empty.svg"))
                 .ok()); // an empty picture is an error, not a file
    QVERIFY(judged(
        window, [&] { window.upgrade().ask({"resnet50"}, "v100-sxm2-16gb", {"a100-sxm-80gb"}); }));
    for (DrawingView* view : window.upgrade().pictures()) {
        for (const char* ending : {"png", "svg", "pdf", "csv", "json", "tsv"}) {
            const QString file = folder.filePath(QString("picture.%1").arg(ending));
            QVERIFY2(export_picture(picture_of(*view, "upgrade"), file).ok(), ending);
            QVERIFY2(QFile(file).size() > 40, ending);
        }
    }
    press(window, "Ctrl+Alt+F");
    QTRY_VERIFY(QApplication::clipboard()->text().startsWith("to\tspeedup"));
    press(window, "Ctrl+Alt+C");
    QTRY_VERIFY(!QApplication::clipboard()->image().isNull());
    press(window, "Ctrl+C");
    QTRY_VERIFY(QApplication::clipboard()->text().startsWith("Layer\t"));
}

void TestUpgrade::large_windows_show_all_pictures() {
    MainWindow window(folders());
    window.show_page("upgrade");
    window.resize(1280, 800);
    window.show();
    QVERIFY(judged(window, [&] {
        window.upgrade().ask({"resnet50"}, "v100-sxm2-16gb", {"a100-sxm-80gb", "l4", "t4"});
    }));
    const auto visible = [&] {
        int count = 0;
        for (const DrawingView* view : window.upgrade().pictures()) {
            count += view->isVisible() ? 1 : 0;
        }
        return count;
    };
    for (const auto& [size, pictures] :
         {std::pair{QSize(1280, 800), 1}, {QSize(2560, 1440), 4}, {QSize(900, 600), 1}}) {
        window.resize(size);
        QCoreApplication::processEvents();
        QCOMPARE(visible(), pictures);
        for (const DrawingView* view : window.upgrade().pictures()) {
            const report::Drawing& drawing = view->drawing();
            for (const report::DrawnText& text : drawing.texts) {
                QVERIFY2(text.at.x >= 0.0 && text.at.x <= drawing.canvas.width &&
                             text.at.y <= drawing.canvas.height,
                         text.text.c_str());
            }
        }
    }
    auto* tabs = window.findChild<QTabBar*>("pictures");
    tabs->setCurrentIndex(3);
    QVERIFY(window.upgrade().sweep().isVisible());
}

void TestUpgrade::unknown_names_are_told_and_the_rest_is_judged() {
    MainWindow window(folders());
    window.show();
    window.show_page("upgrade");
    choose(window, "upgrade network", "resnet50");
    choose(window, "upgrade from", "t4");
    choose(window, "upgrade to", "l4");
    QTRY_COMPARE_WITH_TIMEOUT(window.upgrade().upgrades().size(), std::size_t{1}, kPatience_ms);
    QVERIFY(judged(window, [&] { choose(window, "upgrade to", "a100-smx-40gb"); }));
    QCOMPARE(window.upgrade().upgrades().size(), std::size_t{1});
    QCOMPARE(window.errors().topLevelItemCount(), 1);
    QVERIFY(window.errors().topLevelItem(0)->text(4).contains("did you mean 'a100-sxm-40gb'"));
    QVERIFY(judged(window, [&] { choose(window, "upgrade to", "a100-sxm"); }));
    QCOMPARE(window.upgrade().upgrades().size(), std::size_t{1});
    QCOMPARE(window.errors().topLevelItemCount(), 2);
    const QString which = "which one: a100-sxm-40gb, a100-sxm-80gb"; // it is the name of several
    QVERIFY(window.errors().topLevelItem(0)->text(4).contains(which) ||
            window.errors().topLevelItem(1)->text(4).contains(which));
}

void TestUpgrade::the_question_is_part_of_sessions() {
    QTemporaryDir folder;
    analysis::UpgradeQuestion question;
    question.networks = {{"resnet50", 2.0}, {"bert-base", 1.0}};
    question.from = {"v100-sxm2-16gb", model::DataType::fp16, 2.5, 900.0};
    question.to = {{"a100-sxm-40gb", {}, 3.75, {}}, {"l4", model::DataType::bf16, {}, 2500.0}};
    question.phase = "adam";
    question.batch = 4;
    question.utilization = 0.5;
    question.sweep_batches = {1, 2};
    question.sweep_types = {{model::DataType::fp32, model::DataType::bf16}};
    question.pue = 1.2;
    question.kg_co2_per_kwh = 0.05;
    question.age_years = 2.5;
    question.budget_usd = 200000.0;
    question.samples = 1.3e9;
    question.deadline_days = 14.0;
    question.more = "--attention fused --to-host-speed 1.5";
    MainWindow window(folders());
    QVERIFY(judged(window, [&] { window.upgrade().ask(question); }));
    QVERIFY(window.upgrade().form().question() == question);
    const QString file = folder.filePath("s.eyeroof.yaml");
    window.save_session(file);
    MainWindow other(folders());
    QVERIFY(judged(other, [&] { other.open(file); }));
    QVERIFY(other.upgrade().form().question() == question);
    QCOMPARE(other.upgrade().headline(), window.upgrade().headline());
    QCOMPARE(other.upgrade().upgrades().size(), std::size_t{2});
}

EYEROOF_WINDOW_TEST(TestUpgrade)

} // namespace test_gui_upgrade

#include "test_upgrade.moc"
