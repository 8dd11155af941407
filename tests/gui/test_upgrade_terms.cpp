// The upgrade view beside the command line: each option has its field, and the same question has
// the same answer.
#include "tests/gui/registry.hpp"
#include "tests/gui/upgrade_tools.hpp"

#include <QApplication>
#include <QCheckBox>
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
#include <QTemporaryDir>
#include <QTimer>
#include <QTreeWidget>
#include <cmath>
#include <map>

namespace test_gui_upgrade_terms {

using namespace eyeroof;               // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui;          // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui::testing; // NOLINT(google-build-using-namespace)

class TestUpgradeTerms : public QObject {
    Q_OBJECT

  private slots:
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
                                   "requests", "prompt", "answer", "ttft", "tpot", "engine"};

} // namespace

// Neither drifts from the other: a new option of the command needs a field or a reason here.
void TestUpgradeTerms::every_option_of_the_command_line_has_its_field() {
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

void TestUpgradeTerms::each_field_of_the_terms_asks_as_its_option_does() {
    MainWindow window(folders());
    window.show();
    window.show_page("upgrade");
    QVERIFY(judged(
        window, [&] { window.upgrade().ask({"resnet50"}, "v100-sxm2-16gb", {"a100-sxm-80gb"}); }));
    const auto spin = [&](const char* name, double value) {
        return judged(window, [&] { window.findChild<QDoubleSpinBox*>(name)->setValue(value); });
    };
    const auto type = [&](const char* name, const QString& amount) {
        return judged(window, [&] { type_into(window.findChild<QLineEdit*>(name), amount); });
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
    QCOMPARE(*shown.then.kwh_per_year, then.value("kwh_per_year").toDouble());
    QCOMPARE(*shown.then.kg_co2_per_year, then.value("kg_co2_per_year").toDouble());
    QCOMPARE(*shown.then.job_days, then.value("job_days").toDouble());
    QVERIFY(!shown.over_budget.empty());
    QCOMPARE(QString::fromStdString(shown.over_budget), then.value("over_budget").toString());
    QVERIFY(window.upgrade().headline().contains("Over the budget"));
    QString figures = window.findChild<QLabel*>("reasons")->text();
    const AnswerModel& verdicts = window.upgrade().verdicts().answer();
    for (int column = 0; column < verdicts.columnCount(); ++column) {
        figures += "\n" + verdicts.headerData(column, Qt::Horizontal).toString();
    }
    for (const char* figure : {"Cost per year, now $", "Cost per 1,000 samples, now $",
                               "Energy per year, now ", "CO2 per year, now ", "Job time, now ",
                               "Devices, same work, now 16", "PUE 1.2", "0.05 kg CO2/kWh"}) {
        QVERIFY2(figures.contains(figure), qPrintable(figures));
    }
}

void TestUpgradeTerms::left_open_the_page_asks_what_the_command_does() {
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
        QCOMPARE(*shown.then.kwh_per_year, then.value("kwh_per_year").toDouble());
    }
    QCOMPARE(QString::fromStdString(window.upgrade().purchase().sentence),
             named.value("sentence").toString());
}

void TestUpgradeTerms::what_is_left_open_cannot_be_set_beside_it() {
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

void TestUpgradeTerms::an_amount_that_cannot_be_read_is_marked_and_the_last_one_stays() {
    MainWindow window(folders());
    window.show();
    window.show_page("upgrade");
    QVERIFY(judged(window, [&] { window.upgrade().ask({"resnet50"}, "t4", {"l4"}); }));
    auto* budget = window.findChild<QLineEdit*>("owner budget");
    type_into(budget, "200k");
    QVERIFY(window.upgrade().form().question().budget_usd == 200000.0);
    type_into(budget, "two hundred");
    QVERIFY(window.upgrade().form().question().budget_usd == 200000.0);
    QVERIFY2(budget->toolTip().contains("'two hundred' is not"), qPrintable(budget->toolTip()));
    budget->clear();
    QTest::keyClick(budget, Qt::Key_Return);
    QVERIFY(!window.upgrade().form().question().budget_usd);
    QVERIFY(budget->toolTip().startsWith("Most to spend"));
}

void TestUpgradeTerms::other_options_are_typed_as_on_the_command_line() {
    MainWindow window(folders());
    window.show();
    window.show_page("upgrade");
    QVERIFY(judged(
        window, [&] { window.upgrade().ask({"bert-base"}, "v100-sxm2-16gb", {"a100-sxm-80gb"}); }));
    const double usual = window.upgrade().upgrades()[0].speedup.value;
    auto* more = window.findChild<QLineEdit*>("upgrade more");
    QVERIFY(judged(
        window, [&] { type_into(more, "--to-set 'dram-bandwidth=1 TB/s' --from-host-speed 2"); }));
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
        type_into(more, wrong);
        QVERIFY2(more->toolTip().contains(why), qPrintable(more->toolTip()));
        QVERIFY(window.upgrade().form().question().more.starts_with("--to-set"));
    }
    // what says what runs needs a phase: the command would take it for inference
    type_into(more, "--attention fused");
    QTRY_VERIFY_WITH_TIMEOUT(window.errors().topLevelItemCount() > 0, kPatience_ms);
    QVERIFY(window.errors().topLevelItem(0)->text(4).contains("choose inference or training"));
}

void TestUpgradeTerms::owned_gpus_that_cost_nothing_are_kept() {
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
    QCOMPARE(cell_text(window.upgrade().verdicts(), 0, "Needed to pay off"), QString("never"));
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

void TestUpgradeTerms::the_sheet_to_sign_is_saved_as_one_page() {
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
    QVERIFY(judged(window, [&] { type_into(window.findChild<QLineEdit*>("sweep batches"), ""); }));
    QCOMPARE(written("txt"), command("text"));
    QCOMPARE(written("csv"), command("csv"));
    QVERIFY(command("md").startsWith(written("md").trimmed()));
    const QByteArray page = written("html");
    QVERIFY(page.contains("</main>"));
    QCOMPARE(page.left(page.indexOf("</main>")), command("html").left(page.indexOf("</main>")));
    QVERIFY(!window.upgrade().save_sheet(folder.filePath("sheet.doc")).ok());
}

EYEROOF_WINDOW_TEST(TestUpgradeTerms)

} // namespace test_gui_upgrade_terms

#include "test_upgrade_terms.moc"
