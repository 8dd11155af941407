// The upgrade view under the mouse and the keyboard: fleets, prices, sweeps, pictures; without a
// screen.
#include "analysis/upgrade/surroundings.hpp"
#include "formats/catalog.hpp"
#include "gui/panes/upgrade_form.hpp"
#include "hwdb/catalog.hpp"
#include "tests/gui/asked_purchase.hpp"
#include "tests/gui/registry.hpp"
#include "tests/gui/window_tools.hpp"

#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QPushButton>
#include <QRegularExpression>
#include <QSpinBox>
#include <QTabBar>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QTimer>
#include <QToolButton>
#include <QTreeWidget>
#include <cmath>
#include <map>

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
    void rows_are_removed_again();
    void what_is_removed_leaves_nothing_behind();
    void pictures_are_exported_and_copied();
    void large_windows_show_all_pictures();
    void unknown_names_are_told_and_the_rest_is_judged();
    void the_question_is_part_of_sessions();
    void every_option_of_the_command_line_has_its_field();
    void each_field_of_the_terms_asks_as_its_option_does();
    void left_open_the_page_asks_what_the_command_does();
    void what_is_left_open_cannot_be_set_beside_it();
    void an_amount_that_cannot_be_read_is_marked_and_the_last_one_stays();
    void other_options_are_typed_as_on_the_command_line();
    void owned_gpus_that_cost_nothing_are_kept();
    void the_sheet_to_sign_is_saved_as_one_page();
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

// All figures of all candidates are those of the command; sweeps are the page's own.
bool is_as_asked(MainWindow& window) {
    auto expected = analysis::purchase(asked_purchase(window.upgrade().form().question())).value();
    auto shown = window.upgrade().purchase().answers;
    for (auto* answers : {&expected.answers, &shown}) {
        for (analysis::PurchaseAnswer& answer : *answers) {
            answer.upgrade.sweep.clear();
        }
    }
    return shown == expected.answers;
}

// The next verdicts after an action.
template <class Action> bool judged(MainWindow& window, Action action) {
    QSignalSpy spy(&window.upgrade(), &UpgradePane::judged);
    action();
    return spy.size() > 0 || spy.wait(kPatience_ms);
}

void enter(QWidget* edit, const QString& text) {
    QVERIFY(edit != nullptr);
    if (auto* line = qobject_cast<QLineEdit*>(edit)) {
        line->selectAll();
    }
    QTest::keyClicks(edit, text);
    QTest::keyClick(edit, Qt::Key_Return);
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
    enter(window.findChild<QComboBox*>(box)->lineEdit(), name);
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
    QVERIFY(judged(window, [&] { enter(window.findChild<QLineEdit*>("sweep batches"), "2, 32"); }));
    QVERIFY(judged(window, [&] {
        enter(window.findChild<QLineEdit*>("sweep precisions"), "fp32, fp16:bf16");
    }));
    const auto whole = asked_purchase(window.upgrade().form().question());
    const auto expected = analysis::sweep_of(whole, whole.candidates.at(0), {2, 32},
                                             {{model::DataType::fp32, model::DataType::fp32},
                                              {model::DataType::fp16, model::DataType::bf16}});
    QVERIFY(window.upgrade().upgrades().at(0).sweep == expected.value());
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
    enter(list, "4, many");
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
    const auto header = [&](int column) {
        return window.upgrade().layers().horizontalHeaderItem(column)->text();
    };
    QCOMPARE(header(3), QString("a100-sxm-40gb"));
    QCOMPARE(header(5), QString("t4"));
    QCOMPARE(header(7), QString("v100-sxm2-16gb"));
    QCOMPARE(header(8), QString("Difference"));
    const auto difference = [&] {
        return window.upgrade().layers().item(0, 8)->data(Qt::UserRole).toDouble();
    };
    const double first = difference();
    window.upgrade().verdicts().selectRow(1);
    QVERIFY(difference() != first); // the difference is that of the GPU in view
    QVERIFY(window.upgrade().headline().contains("t4"));
    QVERIFY(window.upgrade().command_line().find("--to t4") != std::string::npos);
    QCOMPARE(window.upgrade().bars().drawing().figures.columns.size(), std::size_t{4});
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

namespace {

// What the program prints.
QByteArray printed(QStringList arguments) {
    QProcess program;
    program.start(EYEROOF_PROGRAM, arguments);
    return program.waitForFinished(kPatience_ms) ? program.readAllStandardOutput() : QByteArray();
}

// The answer of the command line that the window shows for its question.
QJsonObject answer_of_command(MainWindow& window) {
    QString line = QString::fromStdString(window.upgrade().command_line()); // for a shell
    line.replace(0, static_cast<int>(qstrlen("eyeroof")), EYEROOF_PROGRAM);
    QProcess shell;
    shell.start("/bin/sh", {"-c", line + " --format json"});
    const QByteArray text =
        shell.waitForFinished(kPatience_ms) ? shell.readAllStandardOutput() : QByteArray();
    return QJsonDocument::fromJson(text).object().value("purchase").toObject();
}

// Long options in the help, without dashes.
QStringList options_of(const QString& help) {
    QStringList names;
    static const QRegularExpression option("^ +(?:-\\w, ?)?--([a-z0-9-]+)",
                                           QRegularExpression::MultilineOption);
    for (auto it = option.globalMatch(help); it.hasNext();) {
        names << it.next().captured(1);
    }
    return names;
}

// Which field of the page is which option.
const std::map<QString, const char*> kFieldOfOption = {{"from", "upgrade from"},
                                                       {"to", "upgrade to"},
                                                       {"count", "upgrade count"},
                                                       {"phase", "upgrade phase"},
                                                       {"optimizer", "upgrade phase"},
                                                       {"batch", "upgrade batch"},
                                                       {"largest-batch", "upgrade largest batch"},
                                                       {"launch", "upgrade launch"},
                                                       {"layout", "upgrade layout"},
                                                       {"compiled", "upgrade compiled"},
                                                       {"dtype", "upgrade from precision"},
                                                       {"from-dtype", "upgrade from precision"},
                                                       {"to-dtype", "precision l4"},
                                                       {"host", "upgrade from host"},
                                                       {"from-host", "upgrade from host"},
                                                       {"to-host", "upgrade to host"},
                                                       {"owned", "upgrade owned"},
                                                       {"from-per-hour", "upgrade from hour"},
                                                       {"resale", "upgrade resale"},
                                                       {"to-per-hour", "hour l4"},
                                                       {"buy", "buy l4"},
                                                       {"age", "owner age"},
                                                       {"utilization", "owner use"},
                                                       {"power-price", "owner power"},
                                                       {"pue", "owner pue"},
                                                       {"co2", "owner co2"},
                                                       {"host-per-month", "owner host"},
                                                       {"years", "owner years"},
                                                       {"budget", "owner budget"},
                                                       {"samples", "owner samples"},
                                                       {"deadline", "owner deadline"},
                                                       {"threshold", "owner threshold"},
                                                       {"measured-old", "owner measured old"},
                                                       {"measured-new", "owner measured new"},
                                                       {"sweep-batch", "sweep batches"},
                                                       {"sweep-dtype", "sweep precisions"},
                                                       {"prices", "upgrade prices"},
                                                       {"output", "save sheet"},
                                                       {"format", "save sheet"}};

// Options about the command itself: where its question comes from and how it is printed. The window
// has sessions, and shows the details always.
const QStringList kOfTheCommand = {"help", "help-all", "fleet", "scenario", "details", "fail-if",
                                   "hwdb", "color", "threads", "quiet", "progress", "networks",
                                   "time-limit", "power-limit",
                                   // of a service, which the window does not ask yet
                                   "prompt", "answer", "ttft", "tpot", "engine"};

} // namespace

// Neither drifts from the other: a new option of the command needs a field or a reason here.
void TestUpgrade::every_option_of_the_command_line_has_its_field() {
    MainWindow window(folders());
    window.show();
    window.show_page("upgrade");
    QVERIFY(judged(window, [&] { window.upgrade().ask({"resnet50"}, "t4", {"l4"}); }));
    const QStringList options = options_of(QString::fromUtf8(printed({"upgrade", "--help-all"})));
    QVERIFY2(options.size() > 40, qPrintable(options.join(' ')));
    const auto more = analysis::more_names();
    for (const QString& option : options) {
        const auto field = kFieldOfOption.find(option);
        if (field != kFieldOfOption.end()) {
            QVERIFY2(window.upgrade().findChild<QWidget*>(field->second) != nullptr,
                     qPrintable(option));
            continue;
        }
        const bool typed = std::find(more.begin(), more.end(), option.toStdString()) != more.end();
        QVERIFY2(typed || kOfTheCommand.contains(option), qPrintable("--" + option));
    }
    for (const auto& [option, name] : kFieldOfOption) {
        QVERIFY2(options.contains(option), qPrintable("the command has no --" + option));
    }
    for (const std::string& name : more) {
        QVERIFY2(options.contains(QString::fromStdString(name)), name.c_str());
    }
}

void TestUpgrade::each_field_of_the_terms_asks_as_its_option_does() {
    MainWindow window(folders());
    window.show();
    window.show_page("upgrade");
    QVERIFY(judged(
        window, [&] { window.upgrade().ask({"resnet50"}, "v100-sxm2-16gb", {"a100-sxm-80gb"}); }));
    const auto spin = [&](const char* name, double value) {
        return judged(window, [&] { window.findChild<QDoubleSpinBox*>(name)->setValue(value); });
    };
    const auto type = [&](const char* name, const QString& amount) {
        return judged(window, [&] { enter(window.findChild<QLineEdit*>(name), amount); });
    };
    QVERIFY(judged(window, [&] { window.findChild<QSpinBox*>("upgrade count")->setValue(16); }));
    QVERIFY(spin("buy a100-sxm-80gb", 16000.0));
    QVERIFY(spin("owner pue", 1.2));
    QVERIFY(spin("owner co2", 0.05));
    QVERIFY(spin("owner power", 0.3));
    QVERIFY(spin("owner years", 2.0));
    QVERIFY(judged(window, [&] { window.findChild<QSpinBox*>("owner use")->setValue(40); }));
    QVERIFY(type("owner budget", "$90,000"));
    QVERIFY(type("owner samples", "1.3e9"));
    QVERIFY(type("owner deadline", "2 weeks"));
    QVERIFY(type("owner measured old", "60k/min"));
    const std::string line = window.upgrade().command_line();
    for (const char* part :
         {"--pue 1.2", "--co2 0.05", "--power-price 0.3", "--years 2", "--utilization 0.4",
          "--budget 90000", "--deadline 14", "--measured-old 1000", "--count 16", "--buy 16000"}) {
        QVERIFY2(line.find(part) != std::string::npos, (line + " lacks " + part).c_str());
    }
    const QJsonObject answer = answer_of_command(window);
    const analysis::PurchaseAnswer& shown = window.upgrade().purchase().answers.at(0);
    const QJsonObject then = answer.value("candidates").toArray().at(0).toObject();
    QCOMPARE(QString::fromStdString(window.upgrade().purchase().sentence),
             answer.value("sentence").toString());
    QCOMPARE(shown.then.usd_per_year, then.value("usd_per_year").toDouble());
    QCOMPARE(shown.then.kwh_per_year, then.value("kwh_per_year").toDouble());
    QCOMPARE(shown.then.kg_co2_per_year, then.value("kg_co2_per_year").toDouble());
    QCOMPARE(*shown.then.job_days, then.value("job_days").toDouble());
    QVERIFY(!shown.over_budget.empty());
    QCOMPARE(QString::fromStdString(shown.over_budget), then.value("over_budget").toString());
    QVERIFY(window.upgrade().headline().contains("Over the budget"));
    QString figures = window.findChild<QLabel*>("reasons")->text();
    for (int column = 0; column < window.upgrade().verdicts().columnCount(); ++column) {
        figures += "\n" + window.upgrade().verdicts().horizontalHeaderItem(column)->text();
    }
    for (const char* figure : {"Cost per year, now $", "Cost per 1,000 samples, now $",
                               "Energy per year, now ", "CO2 per year, now ", "Job time, now ",
                               "Devices, same work, now 16", "PUE 1.2", "0.05 kg CO2/kWh"}) {
        QVERIFY2(figures.contains(figure), qPrintable(figures));
    }
}

void TestUpgrade::left_open_the_page_asks_what_the_command_does() {
    MainWindow window(folders());
    window.show();
    window.show_page("upgrade");
    QVERIFY(judged(window, [&] {
        window.upgrade().ask({"resnet50"}, "v100-sxm2-16gb", {"a100-sxm-80gb", "h100-sxm-80gb"});
    }));
    QVERIFY(judged(window, [&] { window.findChild<QSpinBox*>("upgrade count")->setValue(16); }));
    const QJsonObject answer =
        QJsonDocument::fromJson(
            printed({"upgrade", "resnet50", "--from", "v100-sxm2-16gb", "--count", "16", "--to",
                     "a100-sxm-80gb", "--to", "h100-sxm-80gb", "--format", "json"}))
            .object()
            .value("purchase")
            .toObject();
    QCOMPARE(QString::fromStdString(window.upgrade().purchase().sentence),
             answer.value("sentence").toString());
    QVERIFY(is_as_asked(window));
    QVERIFY(window.upgrade().headline().contains("depends on the price table"));
    QVERIFY(window.upgrade().command_line().find("--phase") == std::string::npos);
    QVERIFY(window.findChild<QLabel*>("decision")->text().contains("Without buying"));
    QCOMPARE(window.upgrade().purchase().answers[0].beside.size(), std::size_t{2}); // inference
    // and inference is asked for by its name
    auto* phase = window.findChild<QComboBox*>("upgrade phase");
    QVERIFY(judged(window, [&] {
        phase->setCurrentIndex(phase->findData("inference"));
        emit phase->activated(phase->currentIndex());
    }));
    QVERIFY(window.upgrade().command_line().find("--phase inference") != std::string::npos);
    QCOMPARE(QString::fromStdString(window.upgrade().purchase().answers[0].upgrade.run),
             QString::fromStdString(window.upgrade().upgrades()[0].run));
    QVERIFY(is_as_asked(window));
    const QJsonObject named =
        QJsonDocument::fromJson(
            printed({"upgrade", "resnet50", "--from", "v100-sxm2-16gb", "--count", "16", "--to",
                     "a100-sxm-80gb", "--to", "h100-sxm-80gb", "--phase", "inference", "--format",
                     "json"}))
            .object()
            .value("purchase")
            .toObject();
    const QJsonArray candidates = named.value("candidates").toArray();
    QCOMPARE(static_cast<std::size_t>(candidates.size()),
             window.upgrade().purchase().answers.size());
    for (const analysis::PurchaseAnswer& shown : window.upgrade().purchase().answers) {
        const auto same = std::find_if(candidates.begin(), candidates.end(), [&](const auto& one) {
            return one.toObject().value("gpu").toString().toStdString() == shown.then.gpu;
        });
        QVERIFY(same != candidates.end());
        const QJsonObject then = same->toObject();
        QCOMPARE(shown.upgrade.speedup.value,
                 then.value("speedup").toObject().value("value").toDouble());
        QCOMPARE(shown.then.usd_per_year, then.value("usd_per_year").toDouble());
        QCOMPARE(shown.then.kwh_per_year, then.value("kwh_per_year").toDouble());
    }
    QCOMPARE(QString::fromStdString(window.upgrade().purchase().sentence),
             named.value("sentence").toString());
}

void TestUpgrade::what_is_left_open_cannot_be_set_beside_it() {
    MainWindow window(folders());
    window.show();
    window.show_page("upgrade");
    QVERIFY(judged(window, [&] { window.upgrade().ask({"resnet50"}, "t4", {"l4"}); }));
    const std::vector<const char*> fields = {"upgrade batch",  "upgrade launch",
                                             "upgrade layout", "upgrade compiled",
                                             "precision l4",   "upgrade largest batch"};
    for (const char* name : fields) {
        QVERIFY2(!window.findChild<QWidget*>(name)->isEnabled(), name);
    }
    auto* phase = window.findChild<QComboBox*>("upgrade phase");
    phase->setCurrentIndex(phase->findData("adam"));
    for (const char* name : fields) {
        QVERIFY2(window.findChild<QWidget*>(name)->isEnabled(), name);
    }
    window.findChild<QCheckBox*>("upgrade largest batch")->click(); // in place of a batch
    QVERIFY(!window.findChild<QWidget*>("upgrade batch")->isEnabled());
    QTRY_VERIFY_WITH_TIMEOUT(window.upgrade().command_line().find(
                                 "--optimizer adam --largest-batch") != std::string::npos,
                             kPatience_ms);
}

void TestUpgrade::an_amount_that_cannot_be_read_is_marked_and_the_last_one_stays() {
    MainWindow window(folders());
    window.show();
    window.show_page("upgrade");
    QVERIFY(judged(window, [&] { window.upgrade().ask({"resnet50"}, "t4", {"l4"}); }));
    auto* budget = window.findChild<QLineEdit*>("owner budget");
    enter(budget, "200k");
    QVERIFY(window.upgrade().form().question().budget_usd == 200000.0);
    enter(budget, "two hundred");
    QVERIFY(window.upgrade().form().question().budget_usd == 200000.0);
    QVERIFY2(budget->toolTip().contains("'two hundred' is not"), qPrintable(budget->toolTip()));
    budget->clear();
    QTest::keyClick(budget, Qt::Key_Return);
    QVERIFY(!window.upgrade().form().question().budget_usd);
    QVERIFY(budget->toolTip().startsWith("Most to spend"));
}

void TestUpgrade::other_options_are_typed_as_on_the_command_line() {
    MainWindow window(folders());
    window.show();
    window.show_page("upgrade");
    QVERIFY(judged(
        window, [&] { window.upgrade().ask({"bert-base"}, "v100-sxm2-16gb", {"a100-sxm-80gb"}); }));
    const double usual = window.upgrade().upgrades()[0].speedup.value;
    auto* more = window.findChild<QLineEdit*>("upgrade more");
    QVERIFY(judged(window,
                   [&] { enter(more, "--to-set 'dram-bandwidth=1 TB/s' --from-host-speed 2"); }));
    QVERIFY(window.upgrade().upgrades()[0].speedup.value != usual);
    QVERIFY(window.upgrade().command_line().find("--to-set 'dram-bandwidth=1 TB/s'") !=
            std::string::npos);
    QCOMPARE(QString::fromStdString(window.upgrade().purchase().sentence),
             answer_of_command(window).value("sentence").toString());
    for (const auto& [wrong, why] : {std::pair{"--sequence 512", "is no option"},
                                     {"512", "is no option"},
                                     {"--batch 4", "field of its own"},
                                     {"--states", "has no value"},
                                     {"--states som", "--states"}}) {
        enter(more, wrong);
        QVERIFY2(more->toolTip().contains(why), qPrintable(more->toolTip()));
        QVERIFY(window.upgrade().form().question().more.starts_with("--to-set"));
    }
    // what says what runs needs a phase: the command would take it for inference
    enter(more, "--attention fused");
    QTRY_VERIFY_WITH_TIMEOUT(window.errors().topLevelItemCount() > 0, kPatience_ms);
    QVERIFY(window.errors().topLevelItem(0)->text(4).contains("choose inference or training"));
}

void TestUpgrade::owned_gpus_that_cost_nothing_are_kept() {
    MainWindow window(folders());
    window.show();
    window.show_page("upgrade");
    QVERIFY(judged(
        window, [&] { window.upgrade().ask({"resnet50"}, "v100-sxm2-16gb", {"a100-sxm-80gb"}); }));
    QVERIFY(judged(window, [&] { window.findChild<QCheckBox*>("upgrade owned")->click(); }));
    QVERIFY(window.upgrade().upgrades()[0].money.from_usd_per_hour > 0.0); // power
    QVERIFY(
        judged(window, [&] { window.findChild<QDoubleSpinBox*>("owner power")->setValue(0.0); }));
    QCOMPARE(window.upgrade().upgrades()[0].money.from_usd_per_hour, 0.0);
    QVERIFY2(window.upgrade().headline().contains("per year instead of nothing"),
             qPrintable(window.upgrade().headline()));
    QCOMPARE(window.upgrade().verdicts().item(0, 3)->text(), QString("never enough"));
    QVERIFY(window.findChild<QLabel*>("reasons")->text().contains("No speedup is enough"));
    for (DrawingView* view : window.upgrade().pictures()) {
        for (const report::DrawnText& text : view->drawing().texts) {
            QVERIFY2(std::isfinite(text.at.x) && std::isfinite(text.at.y) &&
                         text.text.find("inf") == std::string::npos &&
                         text.text.find("nan") == std::string::npos,
                     text.text.c_str());
        }
    }
}

void TestUpgrade::the_sheet_to_sign_is_saved_as_one_page() {
    QTemporaryDir folder;
    MainWindow window(folders());
    window.show();
    window.show_page("upgrade");
    auto* button = window.findChild<QPushButton*>("save sheet");
    QVERIFY(!button->isVisible()); // nothing to sign
    QVERIFY(!window.upgrade().save_sheet(folder.filePath("none.html")).ok());
    QVERIFY(judged(window, [&] {
        window.upgrade().ask({"resnet50"}, "v100-sxm2-16gb", {"a100-sxm-80gb", "h100-sxm-80gb"});
    }));
    const QString file = folder.filePath("sheet.html");
    QApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
    QTimer::singleShot(300, &window, [file] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        QVERIFY(dialog != nullptr);
        dialog->findChild<QLineEdit*>()->setText(file);
        QTest::keyClick(dialog->findChild<QLineEdit*>(), Qt::Key_Return);
    });
    QTest::mouseClick(button, Qt::LeftButton);
    QFile sheet(file);
    QVERIFY(sheet.open(QIODevice::ReadOnly));
    const QByteArray saved = sheet.readAll();
    QVERIFY(saved.contains("@page") && saved.contains("Signed"));
    // the same content as the command line's, but for how it came about
    const auto written = [&](const char* ending) {
        const QString path = folder.filePath(QString("sheet.%1").arg(ending));
        const bool ok = window.upgrade().save_sheet(path).ok();
        QFile out(path);
        return ok && out.open(QIODevice::ReadOnly) ? out.readAll() : QByteArray();
    };
    const auto command = [&](const char* format) {
        return printed({"upgrade", "resnet50", "--from", "v100-sxm2-16gb", "--to", "a100-sxm-80gb",
                        "--to", "h100-sxm-80gb", "--format", format});
    };
    window.findChild<QLineEdit*>("sweep batches")->clear();
    QVERIFY(judged(window, [&] { enter(window.findChild<QLineEdit*>("sweep batches"), ""); }));
    QCOMPARE(written("txt"), command("text"));
    QCOMPARE(written("csv"), command("csv"));
    QVERIFY(command("md").startsWith(written("md").trimmed()));
    const QByteArray page = written("html");
    QVERIFY(page.contains("</main>"));
    QCOMPARE(page.left(page.indexOf("</main>")), command("html").left(page.indexOf("</main>")));
    QVERIFY(!window.upgrade().save_sheet(folder.filePath("sheet.doc")).ok());
}

EYEROOF_WINDOW_TEST(TestUpgrade)

} // namespace test_gui_upgrade

#include "test_upgrade.moc"
