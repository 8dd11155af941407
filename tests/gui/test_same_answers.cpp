// What stands in the window is what the commands answer: every line of the totals, every cell of
// the table of layers, and every row of the ladders, for scenarios and for traces.
#include "analysis/measured/lay_profile.hpp"
#include "analysis/measured/traced.hpp"
#include "analysis/scenario/fields.hpp"
#include "analysis/what_if/headline.hpp"
#include "base/units.hpp"
#include "formats/metric_family.hpp"
#include "formats/trace_gpu.hpp"
#include "gui/panes/answer_table.hpp"
#include "report/exam/answer.hpp"
#include "report/step/measured_track.hpp"
#include "tests/gui/registry.hpp"
#include "tests/gui/window_tools.hpp"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QTemporaryDir>
#include <QTextDocument>

namespace test_gui_same_answers {

using namespace eyeroof;               // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui;          // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui::testing; // NOLINT(google-build-using-namespace)

class TestSameAnswers : public QObject {
    Q_OBJECT

  private slots:
    void scenarios_say_in_the_window_what_the_commands_say_data();
    void scenarios_say_in_the_window_what_the_commands_say();
    void traces_say_in_the_window_what_the_commands_say_data();
    void traces_say_in_the_window_what_the_commands_say();
    void a_trace_typed_as_a_network_is_the_page_of_one_that_is_dropped();
    void kernels_of_two_gpus_stand_under_their_own_roofs();
    void reading_can_be_cancelled();
};

namespace {

// Figures that were compared, and those that differ, in words.
struct Compared {
    int count = 0;
    QStringList differ;

    void same(const QString& what, const QString& window, const QString& command) {
        ++count;
        if (window != command) {
            differ << QString("%1: '%2' in the window, '%3' by the command")
                          .arg(what, window, command);
        }
    }
    void same(const QString& what, const std::string& window, const std::string& command) {
        same(what, QString::fromStdString(window), QString::fromStdString(command));
    }
    void contains(const QString& what, const QString& window, const std::string& command) {
        ++count;
        if (!window.contains(QString::fromStdString(command))) {
            differ << QString("%1: the window lacks '%2' in '%3'")
                          .arg(what, QString::fromStdString(command), window);
        }
    }
};

QString plain(const QString& html) {
    QTextDocument document;
    document.setHtml(html);
    return document.toPlainText().simplified();
}

QString totals_of(MainWindow& window) {
    return plain(window.findChild<QLabel*>("totals")->text());
}

// What `exam` and `roofline` compute of a session, without the window.
struct Command {
    std::vector<model::Machine> machines;
    std::vector<analysis::Report> reports;
};

Command command_of(const report::Session& session) {
    Command answer;
    for (std::size_t i = 0; i < session.machines.size(); ++i) {
        const auto question =
            analysis::resolve(report::scenario_on(session, i), folders().data()).value();
        auto report = analysis::run(question).value();
        analysis::find_headline(report, question);
        answer.machines.push_back(question.machine);
        answer.reports.push_back(std::move(report));
    }
    return answer;
}

void compare_totals(MainWindow& window, const Command& command, Compared& compared) {
    const QString totals = totals_of(window);
    for (const analysis::Report& report : command.reports) {
        compared.contains("total", totals, format_si(report.total.time_s, "s", 4));
        for (const std::string& line : report::answer_lines(report)) {
            compared.contains("answer", totals, line);
        }
    }
}

// The cells of a point, as `roofline` has it.
void compare_row(const QAbstractItemModel& rows, int row, const report::PlotPoint& point,
                 const report::ScenePoint* placed, double share, Compared& compared) {
    const auto cell = [&](int column) { return rows.index(row, column).data().toString(); };
    const QString name = QString::fromStdString(point.machine + "/" + point.name);
    compared.same(name, rows.index(row, LayerTable::name).data(kFullText).toString(),
                  QString::fromStdString(point.name));
    compared.same(name + " time", cell(LayerTable::time).toStdString(),
                  format_si(point.total_s(), "s"));
    compared.same(name + " runs", cell(LayerTable::runs), QString::number(point.count, 'g', 6));
    compared.same(name + " share", cell(LayerTable::share),
                  QString("%1 %").arg(100.0 * share, 0, 'f', 1));
    compared.same(name + " limiter", cell(LayerTable::limiter).toStdString(), point.limiter);
    if (placed != nullptr) {
        compared.same(name + " rate", cell(LayerTable::rate).toStdString(),
                      format_si(placed->y, "FLOP/s"));
        compared.same(name + " intensity", cell(LayerTable::intensity),
                      QString::number(placed->x, 'g', 4));
        if (!placed->roof.empty()) {
            compared.same(name + " of roof", cell(LayerTable::of_roof),
                          QString("%1 %").arg(100.0 * placed->of_bound, 0, 'f', 1));
        }
    }
}

void compare_table(MainWindow& window, Command command, const report::Measured& measured,
                   Compared& compared) {
    const auto plot = report::make_plot("", command.machines, command.reports, measured).value();
    const auto scene = report::make_scene(plot, {}).value();
    std::map<std::size_t, const report::ScenePoint*> placed;
    std::map<std::size_t, double> shares;
    for (const report::ScenePoint& point : scene.points) {
        placed.try_emplace(point.source, &point);
        shares[point.source] = point.share;
    }
    for (const report::SceneRest& rest : scene.rest) {
        shares[rest.source] = rest.share;
    }
    const auto& rows = *qobject_cast<LayerTable*>(window.table().model());
    std::map<int, int> shown; // by row of the plot: the table is sorted
    for (int i = 0; i < rows.rowCount(); ++i) {
        shown[static_cast<int>(rows.row_of(i))] = i;
    }
    int row = 0;
    for (std::size_t i = 0; i < plot.points.size(); ++i) {
        const report::PlotPoint& point = plot.points[i];
        if (point.measured && point.layer) { // in its prediction's row
            compared.same(
                QString::fromStdString(point.name) + " measured",
                rows.index(shown[row - 1], LayerTable::measured).data().toString().toStdString(),
                format_si(point.total_s(), "s"));
            continue;
        }
        compare_row(rows, shown[row++], point, placed.contains(i) ? placed[i] : nullptr, shares[i],
                    compared);
    }
    compared.same("rows", QString::number(rows.rowCount()), QString::number(row));
}

void compare_ladder(const report::WaterfallScene& shown, const report::WaterfallScene& command,
                    Compared& compared) {
    compared.same("ladder", shown.title + ": " + shown.subtitle,
                  command.title + ": " + command.subtitle);
    compared.same("bars", QString::number(shown.bars.size()), QString::number(command.bars.size()));
    for (std::size_t i = 0; i < std::min(shown.bars.size(), command.bars.size()); ++i) {
        for (const auto field : {&report::WaterfallBar::name, &report::WaterfallBar::value,
                                 &report::WaterfallBar::change, &report::WaterfallBar::reason}) {
            compared.same("ladder", shown.bars[i].*field, command.bars[i].*field);
        }
    }
}

void compare_ladders(MainWindow& window, const Command& command, Compared& compared) {
    const auto scene_of = [&](const auto& make) {
        const LadderView& ladder = window.ladder();
        return make(report::Canvas{static_cast<double>(ladder.width()),
                                   static_cast<double>(ladder.height())});
    };
    const analysis::Report& report = command.reports.front();
    window.plot().set_selection({window.plot().plot().points.front().id}); // of that machine
    window.steps().show_network(true);
    compare_ladder(*window.ladder().scene(), scene_of([&](const report::Canvas& canvas) {
        return report::make_network_waterfall(report, canvas);
    }),
                   compared);
    window.steps().show_network(false);
    for (const std::size_t layer : {std::size_t{0}, report.layers.size() / 2}) {
        window.plot().set_selection({window.plot().plot().points.at(layer).id});
        if (window.plot().plot().points.at(layer).layer == layer) {
            compare_ladder(*window.ladder().scene(), scene_of([&](const report::Canvas& canvas) {
                return report::make_waterfall(report, layer, canvas);
            }),
                           compared);
        }
    }
    window.plot().set_selection({});
}

void end(const Compared& compared, int least) {
    QVERIFY2(compared.differ.isEmpty(), qPrintable(QString("%1 of %2 differ:\n%3")
                                                       .arg(compared.differ.size())
                                                       .arg(compared.count)
                                                       .arg(compared.differ.mid(0, 8).join("\n"))));
    QVERIFY2(compared.count >= least, qPrintable(QString::number(compared.count)));
}

// A recorded step of a network.
std::string recorded(const char* gpu, const char* name) {
    return (std::filesystem::path(tests::source_dir()) / "profiles/recorded" / gpu / "networks" /
            (std::string(name) + ".json.gz"))
        .string();
}

// What `exam TRACE` computes.
Command command_of_trace(const std::string& path, report::Measured& measured) {
    const auto trace = formats::load_trace_network(path).value();
    analysis::Scenario scenario;
    scenario.network = path;
    scenario.machine = formats::gpu_of_run(trace.profile.run, folders().machines).value();
    const auto question =
        analysis::resolve(scenario, {trace.network, {}}, folders().data()).value();
    auto report = analysis::run(question).value();
    analysis::find_headline(report, question);
    Command answer;
    measured.profiles = {trace.profile};
    for (const auto& folder : folders().metrics) {
        measured.families = formats::read_metric_families(folder).value();
    }
    const profiles::MetricFamily* family =
        profiles::family_of_profile(measured.families, trace.profile);
    analysis::lay_profile(report, trace.profile, family, {}).value();
    report.traced =
        analysis::traced_step(analysis::traced(trace, &question.machine, &report).value());
    answer.machines = {question.machine};
    answer.reports = {std::move(report)};
    return answer;
}

} // namespace

void TestSameAnswers::scenarios_say_in_the_window_what_the_commands_say_data() {
    QTest::addColumn<QString>("network");
    QTest::addColumn<QStringList>("machines");
    QTest::addColumn<QStringList>("fields"); // NAME=VALUE
    const auto add = [](const char* network, const QStringList& machines,
                        const QStringList& fields = {}) {
        const QString name = QString(network) + " " + machines.join(" ") + " " + fields.join(" ");
        QTest::newRow(qPrintable(name.simplified())) << QString(network) << machines << fields;
    };
    add("resnet50", {"a100-sxm-40gb"});
    add("resnet50", {"a100-sxm-40gb"}, {"launch=graph"});
    add("resnet50", {"a100-sxm-40gb"}, {"launch=none", "batch=32", "dtype=fp16"});
    add("resnet50", {"v100-sxm2-16gb", "a100-sxm-40gb", "h100-sxm-80gb"}, {"dtype=fp16"});
    add("resnet50", {"t4"}, {"phase=training", "batch=16"});
    add("bert-base", {"h200-sxm-141gb", "b200-sxm"}, {"launch=graph"});
    add("bert-base", {"h200-sxm-141gb", "mi300x"});
    add("bert-large", {"v100-sxm2-16gb"}, {"phase=training", "optimizer=adam"});
    add("alexnet", {"eyeriss-v1"});
    add("alexnet", {"eyeriss-v1"}, {"set=clock=400 MHz"});
    add("alexnet", {"eyeriss-v2"}, {"mapping=dataflow"});
    add("alexnet", {"a100-sxm-40gb"}, {"set=boost-clock=2.82 GHz", "launch=graph"});
    add("mobilenet-v1", {"eyeriss-v1"});
    add("mnist-cnn", {"tpu-v1"}, {"mapping=dataflow"});
    add("vgg16", {"l4"}, {"copies=batch"});
    add("vgg16", {"l4"}, {"copies=batch", "pageable=1"});
    add("googlenet", {"a10"}, {"streams=2"});
    add("mlp-2layer", {"a100-sxm-40gb"}, {"host-speed=2"});
    add("mlp-2layer", {"rtx-4090"}, {"dtype=tf32"});
    add("efficientnet-b0", {"h100-sxm-80gb"}, {"compiled=1"});
    add("mobilenet-v2", {"a30"}, {"layout=channels-first", "dtype=fp16"});
    add("ncf", {"h100-sxm-80gb"});
    add("unet-medical", {"a100-sxm-80gb"});
    add("gnmt", {"v100-sxm2-32gb"});
    add("resnet18", {"rtx-4090", "rtx-5090"}, {"dtype=fp16"});
    add("resnet34", {"mi250x", "mi300x", "mi355x"}, {"dtype=fp16", "launch=graph"});
    add("resnet50", {"gb200"}, {"phase=training", "batch=64", "optimizer=adam"});
    add("resnet50", {"jetson-agx-orin-64gb"}, {"dtype=int8"});
    add("resnet50", {"server-2x20"}, {"dtype=fp32"});
    add("alexnet", {"gtx-1080-ti"}, {"dtype=fp32"});
    add("alexnet", {"k40m", "titan-xp"}, {"dtype=fp32"});
    add("alexnet", {"server-2x48"}, {"dtype=fp32", "batch=8"});
    add("bert-base", {"t4", "l4"}, {"dtype=fp16", "batch=4"});
    add("bert-large", {"h100-sxm-80gb"}, {"launch=graph", "compiled=1", "dtype=fp16"});
    add("bert-base", {"mi210"}, {"phase=training", "optimizer=sgd"});
    add("gpt2", {"h200-sxm-141gb"});
    add("vit-b-16", {"a100-sxm-80gb"}, {"launch=graph"});
    add("mobilenet-v3-large", {"rtx-3060-12gb"}, {"dtype=fp16"});
    add("mobilenet-v3-small", {"l40s"}, {"copies=all"});
    add("efficientnet-b0", {"rtx-a6000"}, {"layout=channels-last", "dtype=fp16"});
    add("googlenet", {"p100-sxm2-16gb"}, {"streams=4"});
    add("nin", {"titan-v"}, {"launch=stream"});
    add("ssd300-resnet50", {"v100-sxm2-16gb"}, {"dtype=fp16"});
    add("unet-industrial", {"rtx-6000-ada"}, {"dtype=fp16"});
    add("transformer-xl", {"a40"});
    add("ncf", {"v100-sxm3-32gb"}, {"phase=training"});
    add("yolov8n", {"rtx-4070"}, {"dtype=fp16"});
    add("vgg16", {"rtx-2080-ti"}, {"set=dram-bandwidth=1 TB/s"});
    add("mlp-2layer", {"h100-sxm-80gb"}, {"set=sms=66", "launch=graph"});
    add("mlp-2layer", {"gb10"}, {"host-speed=0.5"});
    add("alexnet", {"eyeriss-v1-192"});
    add("alexnet", {"eyeriss-v2-dense"}, {"mapping=dataflow"});
    add("alexnet", {"diannao"}, {"mapping=dataflow"});
    add("alexnet", {"nvdla-large"}, {"mapping=dataflow"});
    add("mnist-cnn", {"shidiannao"}, {"mapping=dataflow"});
    add("mnist-cnn", {"gemmini"}, {"mapping=dataflow"});
    add("mobilenet-v1", {"npu-int8"}, {"mapping=dataflow"});
    add("tpu-mlp0", {"tpu-v1"}, {"mapping=dataflow"});
    add("mlp-2layer", {"tpu-v4"}, {"mapping=dataflow"});
    add("resnet18-c1-c12", {"nvdla-small"}, {"mapping=dataflow"});
}

void TestSameAnswers::scenarios_say_in_the_window_what_the_commands_say() {
    QFETCH(QString, network);
    QFETCH(QStringList, machines);
    QFETCH(QStringList, fields);
    std::vector<std::string> names;
    for (const QString& machine : machines) {
        names.push_back(machine.toStdString());
    }
    report::Session session = session_of(qPrintable(network), names);
    for (const QString& field : fields) {
        const auto* known = analysis::find_field(field.section('=', 0, 0).toStdString());
        QVERIFY2(known != nullptr, qPrintable(field));
        const auto wrong = known->set(session.scenario, {field.section('=', 1).toStdString()});
        QVERIFY2(!wrong.has_errors(), qPrintable(field));
    }
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session));
    const Command command = command_of(session);
    Compared compared;
    compare_totals(window, command, compared);
    compare_table(window, command, {}, compared);
    compare_ladders(window, command, compared);
    end(compared, 40);
}

void TestSameAnswers::traces_say_in_the_window_what_the_commands_say_data() {
    QTest::addColumn<QString>("path");
    const auto add = [](const char* gpu, const std::vector<const char*>& names) {
        for (const char* name : names) {
            QTest::addRow("%s %s", gpu, name) << QString::fromStdString(recorded(gpu, name));
        }
    };
    add("h100-sxm-80gb",
        {"resnet50-inference-fp16-nchw", "resnet50-inference-fp16-nhwc",
         "resnet50-training-fp16-nhwc", "bert-large-inference-fp16-nchw",
         "ssd300-vgg16-inference-fp16-nchw", "ssd300-vgg16-inference-fp16-nhwc",
         "unet-inference-fp16-nchw", "unet-inference-fp16-nhwc", "unet-training-fp16-nhwc"});
    add("h200-sxm-141gb",
        {"bert-large-inference-fp16-nchw", "mobilenet-v2-inference-fp16-nchw",
         "mobilenet-v2-inference-fp16-nhwc", "mobilenet-v2-training-fp16-nhwc",
         "resnet50-inference-fp16-nchw", "resnet50-inference-fp16-nhwc",
         "ssd300-vgg16-inference-fp16-nhwc", "ssd300-vgg16-training-fp16-nhwc",
         "unet-inference-fp16-nchw", "unet-inference-fp16-nhwc", "vit-b-16-inference-fp16-nchw"});
}

void TestSameAnswers::traces_say_in_the_window_what_the_commands_say() {
    QFETCH(QString, path);
    MainWindow window(folders());
    show(window);
    QVERIFY(answered(window, [&] { drop(window, path); }));
    report::Measured measured;
    const Command command = command_of_trace(path.toStdString(), measured);
    QCOMPARE(window.session().scenario.network, path.toStdString());
    QCOMPARE(window.session().machines, std::vector<std::string>{command.machines.at(0).id});
    QVERIFY(window.session().profiles.empty()); // it is the network
    Compared compared;
    compare_totals(window, command, compared);
    compare_table(window, command, measured, compared);
    compare_ladders(window, command, compared);
    end(compared, 100);
    const auto track = report::measured_track(measured.profiles.at(0), window.reports().at(0));
    QVERIFY(!track.empty()); // beside the predicted step
    for (const report::ScenePoint& point : window.plot().scene().points) {
        QVERIFY(!point.name.starts_with("void ")); // layers, by the names of their operators
    }
}

void TestSameAnswers::a_trace_typed_as_a_network_is_the_page_of_one_that_is_dropped() {
    const QString path =
        QString::fromStdString(recorded("h100-sxm-80gb", "resnet50-inference-fp16-nhwc"));
    MainWindow dropped(folders()), typed(folders());
    show(dropped);
    show(typed);
    QVERIFY(answered(dropped, [&] { drop(dropped, path); }));
    QVERIFY(answered(typed, [&] {
        auto* network = typed.findChild<QComboBox*>("network");
        network->setCurrentText(path);
        QTest::keyClick(network->lineEdit(), Qt::Key_Return);
    }));
    QCOMPARE(totals_of(typed), totals_of(dropped));
    QVERIFY(typed.plot().plot() == dropped.plot().plot());
    QVERIFY(typed.reports() == dropped.reports());
    QVERIFY(typed.reports().at(0).traced.has_value() && typed.reports()[0].measured.has_value());
    // and its session opens as the same page
    QTemporaryDir folder;
    const QString file = folder.filePath("s.eyeroof.yaml");
    dropped.save_session(file);
    MainWindow again(folders());
    show(again);
    QVERIFY(answered(again, [&] { again.open(file); }));
    QCOMPARE(totals_of(again), totals_of(dropped));
    // beside a network that is chosen it is a measurement
    MainWindow beside(folders());
    show(beside);
    QVERIFY(open_and_wait(beside, session_of("resnet50", {"h100-sxm-80gb"})));
    QVERIFY(answered(beside, [&] { drop(beside, path); }));
    QCOMPARE(beside.session().scenario.network, std::string("resnet50"));
    QCOMPARE(beside.session().profiles, std::vector<std::string>{path.toStdString()});
}

void TestSameAnswers::kernels_of_two_gpus_stand_under_their_own_roofs() {
    const std::string first = recorded("h100-sxm-80gb", "resnet50-inference-fp16-nhwc");
    const std::string second = recorded("h200-sxm-141gb", "resnet50-inference-fp16-nhwc");
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("resnet50", {"mi300x"})));
    for (const std::string& path : {first, second}) {
        QVERIFY(answered(window, [&] { drop(window, QString::fromStdString(path)); }));
    }
    QCOMPARE(window.session().machines,
             (std::vector<std::string>{"mi300x", "h100-sxm-80gb", "h200-sxm-141gb"}));
    int measured = 0;
    for (const report::PlotPoint& point : window.plot().plot().points) {
        QVERIFY(!point.measured || point.machine != "mi300x");
        measured += point.measured ? 1 : 0;
    }
    QVERIFY(measured > 0);
}

void TestSameAnswers::reading_can_be_cancelled() {
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("mlp-2layer", {"t4"})));
    const report::Session before = window.session();
    drop(window,
         QString::fromStdString(recorded("h100-sxm-80gb", "bert-large-training-fp16-nchw")));
    auto* cancel = window.findChild<QPushButton*>("cancel");
    QVERIFY(cancel->isVisible()); // the window answers while the file is read
    cancel->click();
    QVERIFY(!cancel->isVisible());
    QTest::qWait(100);
    QVERIFY(window.session() == before);
}

EYEROOF_WINDOW_TEST(TestSameAnswers)

} // namespace test_gui_same_answers

#include "test_same_answers.moc"
