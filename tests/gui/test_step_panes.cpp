// Panes in the middle: the step over time, its memory, many devices, zeros, fusion; and how the
// network is run: phase, launch mode, sizes.
#include "gui/panes/fusion/fusion_pane.hpp"
#include "gui/panes/memory/memory_pane.hpp"
#include "gui/panes/scaling/scaling_pane.hpp"
#include "gui/panes/sparse/sparse_pane.hpp"
#include "gui/panes/timeline/timeline_pane.hpp"
#include "gui/panes/traffic/traffic_pane.hpp"
#include "report/session/session.hpp"
#include "tests/gui/registry.hpp"
#include "tests/gui/window_tools.hpp"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>
#include <QWheelEvent>
#include <cmath>

namespace test_gui_step_panes {

using namespace eyeroof;               // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui;          // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui::testing; // NOLINT(google-build-using-namespace)

class TestStepPanes : public QObject {
    Q_OBJECT

  private slots:
    void the_timeline_is_that_of_the_step_and_selects_layers();
    void the_timeline_follows_what_is_turned_and_zooms();
    void memory_tells_the_peak_and_the_largest_batch();
    void scaling_shows_points_and_can_be_cancelled();
    void zeros_and_fusion_are_those_of_the_studies();
    void launch_mode_and_phase_are_those_of_the_command_line();
    void sizes_of_the_network_are_fields();
};

namespace {

template <class Kind> Kind& pane(MainWindow& window) {
    return *window.findChild<Kind*>();
}

// The pane in front, with its answer.
template <class Kind> bool shown(MainWindow& window) {
    Kind& wanted = pane<Kind>(window);
    QSignalSpy spy(&wanted, &AskingPane::answered);
    window.show_page(wanted.name());
    return spy.size() > 0 || spy.wait(kPatience_ms);
}

template <class Kind, class Action> bool asked_again(MainWindow& window, Action action) {
    QSignalSpy spy(&pane<Kind>(window), &AskingPane::answered);
    action();
    return spy.size() > 0 || spy.wait(kPatience_ms);
}

void choose(MainWindow& window, const char* name, const QVariant& value) {
    auto* box = window.findChild<QComboBox*>(name);
    box->setCurrentIndex(box->findData(value));
    emit box->activated(box->currentIndex());
}

double figure_of(const report::Answer& answer, std::string_view key) {
    for (const report::Figure& figure : answer.figures) {
        if (figure.head.key == key) {
            return std::get<double>(figure.value);
        }
    }
    return std::nan("");
}

// The middle of the longest kernel's box.
QPoint place_of(const report::Drawing& drawing) {
    const report::DrawnBox* widest = nullptr;
    for (const report::DrawnBox& box : drawing.boxes) {
        if (box.role == report::ColourRole::series1 &&
            (widest == nullptr || box.box.width > widest->box.width)) {
            widest = &box;
        }
    }
    return widest == nullptr ? QPoint()
                             : QPointF(widest->box.left + widest->box.width / 2.0,
                                       widest->box.top + widest->box.height / 2.0)
                                   .toPoint();
}

std::size_t longest_kernel(const TimelineAnswer& answer) {
    const auto& spans = answer.timeline().spans;
    return static_cast<std::size_t>(std::max_element(spans.begin(), spans.end(),
                                                     [](const auto& a, const auto& b) {
                                                         return a.end_s - a.start_s <
                                                                b.end_s - b.start_s;
                                                     }) -
                                    spans.begin());
}

analysis::Report run_of(const report::Session& session) {
    return analysis::run(question_of(session)).value();
}

} // namespace

void TestStepPanes::the_timeline_is_that_of_the_step_and_selects_layers() {
    MainWindow window(folders());
    window.resize(1400, 900);
    window.show();
    QVERIFY(open_and_wait(window, session_of("resnet50", {"v100-sxm2-16gb"})));
    QVERIFY(shown<TimelinePane>(window));
    TimelinePane& timeline = pane<TimelinePane>(window);
    const TimelineAnswer* answer = timeline.answer();
    QVERIFY(answer != nullptr);
    QVERIFY(!answer->program().chain); // the catalog's file has a graph
    QVERIFY(answer->timeline() == run_of(window.session()).timeline);
    QCOMPARE(answer->timeline().time_s, window.reports().front().total.time_s);
    // a click on the longest kernel selects its layer everywhere
    const std::size_t op = longest_kernel(*answer);
    const std::string layer = answer->program().layers[answer->program().operators[op].layer].name;
    QTest::mouseClick(&timeline.picture(), Qt::LeftButton, {},
                      place_of(timeline.picture().drawing()));
    QCOMPARE(window.session().view.selection.size(), std::size_t(1));
    QVERIFY(window.session().view.selection.begin()->find(layer) != std::string::npos);
    QCOMPARE(window.table().selectionModel()->selectedRows().size(), 1);
    // and stands out
    const auto& boxes = timeline.picture().drawing().boxes;
    QVERIFY(std::any_of(boxes.begin(), boxes.end(), [&](const auto& box) {
        return box.role == report::ColourRole::selection;
    }));
    // nothing to ask without a GPU
    QVERIFY(answered(window, [&] { window.open_session(session_of("alexnet", {"eyeriss-v1"})); }));
    QTRY_VERIFY(timeline.answer() == nullptr);
    QVERIFY(timeline.findChild<QLabel*>("answer")->text().contains("on a GPU"));
}

void TestStepPanes::the_timeline_follows_what_is_turned_and_zooms() {
    MainWindow window(folders());
    window.resize(1400, 900);
    window.show();
    QVERIFY(open_and_wait(window, session_of("resnet18", {"v100-sxm2-16gb"})));
    QVERIFY(shown<TimelinePane>(window));
    TimelinePane& timeline = pane<TimelinePane>(window);
    const auto line = [&]() -> const analysis::step::Timeline& {
        return timeline.answer()->timeline();
    };
    QVERIFY(line().wait_host_s > 0.0); // calls take longer than such kernels
    const double calls = line().time_s;
    QVERIFY(asked_again<TimelinePane>(window, [&] { choose(window, "launch", "none"); }));
    QVERIFY(line().time_s < calls);
    const double before = line().time_s;
    QVERIFY(asked_again<TimelinePane>(window, [&] {
        slider(window, "boost clock")->setValue(slider(window, "boost clock")->maximum());
    }));
    QTRY_VERIFY(timeline.answer() != nullptr && line().time_s < before);
    // its own choices are the scenario's, and are undone as others are
    QVERIFY(asked_again<TimelinePane>(window, [&] { choose(window, "timeline copies", "all"); }));
    QVERIFY(!line().copies.empty());
    QVERIFY(window.session().scenario.copies == analysis::Copies::all);
    QCOMPARE(window.reports().front().total.time_s, line().time_s);
    QVERIFY(asked_again<TimelinePane>(window, [&] { window.undo(); }));
    QVERIFY(line().copies.empty());
    QCOMPARE(window.findChild<QComboBox*>("timeline copies")->currentData().toString(),
             QString("none"));
    // the wheel zooms at the pointer, a double click and 0 show all again
    ZoomView& picture = timeline.picture();
    const QPoint middle(picture.width() / 2, picture.height() / 2);
    QWheelEvent wheel(middle, picture.mapToGlobal(middle), {}, {0, 480}, Qt::NoButton,
                      Qt::NoModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&picture, &wheel);
    QVERIFY(picture.zoomed());
    const auto window_before = picture.window();
    QTest::keyClick(&picture, Qt::Key_Right);
    QVERIFY(picture.window().from > window_before.from);
    QTest::keyClick(&picture, Qt::Key_0);
    QVERIFY(!picture.zoomed());
}

void TestStepPanes::memory_tells_the_peak_and_the_largest_batch() {
    MainWindow window(folders());
    window.resize(1400, 900);
    window.show();
    report::Session session = session_of("resnet50", {"v100-sxm2-16gb"});
    session.scenario.training = analysis::TrainingOptions{"adam"};
    QVERIFY(open_and_wait(window, session));
    QVERIFY(shown<MemoryPane>(window));
    MemoryPane& memory = pane<MemoryPane>(window);
    const MemoryAnswer* answer = memory.answer();
    QVERIFY(answer != nullptr);
    QCOMPARE(answer->program().optimizer, std::string("adam"));
    QVERIFY(answer->memory().peak < answer->limit);
    QVERIFY(answer->largest_batch && *answer->largest_batch > 1);
    const auto text = memory.findChild<QLabel*>("answer")->text();
    QVERIFY2(text.contains(QString("that fits: %1.").arg(*answer->largest_batch)),
             qPrintable(text));
    // the largest batch fits, one more does not
    const auto largest = *answer->largest_batch;
    session.scenario.batch = largest;
    QVERIFY(asked_again<MemoryPane>(window, [&] { window.open_session(session); }));
    QTRY_VERIFY(memory.answer() != nullptr && memory.answer()->of->batch == largest);
    QVERIFY(memory.answer()->largest_batch == largest); // of the same network
    QVERIFY(memory.answer()->memory().peak <= memory.answer()->limit);
    const double tight = 1.1 * static_cast<double>(memory.answer()->memory().peak);
    QCOMPARE(memory.findChild<QLabel*>("answer")->text().contains("fragmentation"),
             tight > static_cast<double>(memory.answer()->limit));
    session.scenario.batch = largest + 1;
    QVERIFY(asked_again<MemoryPane>(window, [&] { window.open_session(session); }));
    QTRY_VERIFY(memory.answer() != nullptr && memory.answer()->of->batch == largest + 1);
    QVERIFY(memory.answer()->memory().peak > memory.answer()->limit);
    QVERIFY(memory.findChild<QLabel*>("answer")->text().contains("does not fit"));
    // a click on a tensor selects its layer
    auto* holders = window.findChild<QTableView*>("memory rows");
    QVERIFY(holders->model()->rowCount() > 0);
    holders->selectRow(0);
    QTRY_COMPARE(window.session().view.selection.size(), std::size_t(1));
}

void TestStepPanes::scaling_shows_points_and_can_be_cancelled() {
    MainWindow window(folders());
    window.resize(1400, 900);
    window.show();
    report::Session session = session_of("resnet50", {"a100-sxm-80gb"});
    session.scenario.training = analysis::TrainingOptions{"adam"};
    QVERIFY(open_and_wait(window, session));
    QVERIFY(shown<ScalingPane>(window));
    ScalingPane& scaling = pane<ScalingPane>(window);
    QVERIFY(scaling.answer() != nullptr);
    QCOMPARE(scaling.answer()->tables.front().rows.size(), std::size_t(9)); // 1 … 256
    const auto* rows = window.findChild<QTableView*>("scaling rows")->model();
    QCOMPARE(rows->rowCount(), 9);
    QCOMPARE(rows->index(3, 0).data().toString(), QString("8"));
    auto* devices = window.findChild<QLineEdit*>("scaling devices");
    devices->setText("eight");
    devices->setModified(true);
    QVERIFY(asked_again<ScalingPane>(window, [&] { emit devices->editingFinished(); }));
    QVERIFY(scaling.answer() == nullptr); // what is shown is what is asked
    QVERIFY(!scaling.findChild<QLabel*>("answer")->text().isEmpty());
    // a search that takes long is told to stop, and the pane says so
    devices->setText("512..8192");
    devices->setModified(true);
    report::Session large = session_of("llama-3-70b", {"h100-sxm-80gb"});
    large.scenario.training = analysis::TrainingOptions{"adam"};
    QVERIFY(answered(window, [&] { window.open_session(large); }));
    emit devices->editingFinished();
    QVERIFY(scaling.busy());
    scaling.findChild<QPushButton*>("cancel answer")->click();
    QVERIFY(!scaling.findChild<QPushButton*>("cancel answer")->isVisible());
    QVERIFY(scaling.findChild<QLabel*>("answer")->text().contains("Cancelled"));
}

void TestStepPanes::zeros_and_fusion_are_those_of_the_studies() {
    MainWindow window(folders());
    window.resize(1400, 900);
    window.show();
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    QVERIFY(shown<SparsePane>(window));
    QVERIFY(pane<SparsePane>(window).answer() == nullptr); // Eyeriss v1 skips nothing
    QVERIFY(asked_again<SparsePane>(window, [&] { choose(window, "sparse machine", "scnn"); }));
    QVERIFY(asked_again<SparsePane>(window,
                                    [&] { choose(window, "sparse densities", "alexnet-pruned"); }));
    const report::Answer* sparse = pane<SparsePane>(window).answer();
    QVERIFY(sparse != nullptr);
    const auto said = pane<SparsePane>(window).findChild<QLabel*>("answer")->text();
    for (const std::string& sentence : sparse->sentences) {
        QVERIFY2(said.contains(QString::fromStdString(sentence).toHtmlEscaped()), qPrintable(said));
    }
    QCOMPARE(window.findChild<QTableView*>("sparse rows")->model()->rowCount(),
             static_cast<int>(sparse->tables.front().rows.size()));
    QVERIFY(figure_of(*sparse, "totals.speed_up") > 1.0);
    QVERIFY(shown<FusionPane>(window));
    const auto fused = [&](const char* key) {
        return figure_of(*pane<FusionPane>(window).answer(), key);
    };
    QVERIFY(pane<FusionPane>(window).answer() != nullptr);
    QVERIFY(fused("totals.together.dram_bytes") < fused("totals.apart.dram_bytes"));
    const double own = fused("buffer.bytes");
    auto* buffer = window.findChild<QLineEdit*>("fusion buffer");
    buffer->setText("8 MiB");
    buffer->setModified(true);
    const double before = fused("totals.together.dram_bytes");
    QVERIFY(asked_again<FusionPane>(window, [&] { emit buffer->editingFinished(); }));
    QVERIFY(fused("buffer.bytes") > own);
    QVERIFY(fused("totals.together.dram_bytes") < before);
    const auto shown_text = [&] {
        return pane<FusionPane>(window).findChild<QLabel*>("answer")->text();
    };
    QVERIFY(!shown_text().contains("lower bounds"));
    buffer->setText("64 B");
    buffer->setModified(true);
    QVERIFY(asked_again<FusionPane>(window, [&] { emit buffer->editingFinished(); }));
    QVERIFY(shown_text().contains("the sums are lower bounds"));
    QVERIFY(!shown_text().contains("proven optimal among"));
}

void TestStepPanes::launch_mode_and_phase_are_those_of_the_command_line() {
    MainWindow window(folders());
    window.resize(1400, 900);
    window.show();
    QVERIFY(open_and_wait(window, session_of("resnet18", {"v100-sxm2-16gb"})));
    QCOMPARE(window.reports().front().total.time_s, run_of(window.session()).total.time_s);
    QVERIFY(window.session().scenario == session_of("resnet18", {"v100-sxm2-16gb"}).scenario);
    QVERIFY(answered(window, [&] { choose(window, "launch", "stream"); }));
    const double inference = window.reports().front().total.time_s;
    QVERIFY(answered(window, [&] { choose(window, "phase", "sgd_momentum"); }));
    const report::Session session = window.session();
    QVERIFY(session.scenario.training == analysis::TrainingOptions{"sgd_momentum"});
    QVERIFY(session.scenario.launch == model::Launch::stream);
    QVERIFY(window.reports().front().total.time_s > 2.0 * inference);
    QCOMPARE(window.reports().front().total.time_s, run_of(session).total.time_s);
    const std::string line = report::cli_command(session);
    for (const char* option : {"--phase training", "--launch stream"}) {
        QVERIFY2(line.find(option) != std::string::npos, line.c_str());
    }
    // they are undone, and come back from a session's file
    QVERIFY(answered(window, [&] { window.undo(); }));
    QVERIFY(!window.session().scenario.training);
    const auto read = report::parse_session(report::write_session(session), "s.yaml");
    QVERIFY(read.ok() && *read == session);
    // energy, energy times delay, operator and shape stand in the pane beside
    select(window, "layer1_0_conv1");
    window.show_page("traffic");
    const QString told = window.findChild<QLabel*>("traffic head")->text();
    for (const char* word : {"Operator and shape", "Energy of one", "Network"}) {
        QVERIFY2(told.contains(word) || window.session().view.selection.empty(), word);
    }
}

void TestStepPanes::sizes_of_the_network_are_fields() {
    MainWindow window(folders());
    window.resize(1400, 900);
    window.show();
    QVERIFY(open_and_wait(window, session_of("bert-base", {"a100-sxm-40gb"})));
    const double before = window.reports().front().total.time_s;
    auto* button = window.findChild<QToolButton*>("sizes");
    QVERIFY(button->isEnabled());
    QList<QDoubleSpinBox*> fields;
    for (QDoubleSpinBox* field : window.findChildren<QDoubleSpinBox*>()) {
        if (field->objectName().startsWith("size ")) {
            fields << field;
        }
    }
    QVERIFY(fields.size() >= 3);
    auto* layers = window.findChild<QDoubleSpinBox*>("size layers");
    QVERIFY(layers != nullptr);
    QCOMPARE(layers->value(), 12.0); // of the variant, not of the file
    QVERIFY(answered(window, [&] { layers->setValue(24.0); }));
    QCOMPARE(window.session().scenario.network, std::string("bert-base"));
    QCOMPARE(window.session().scenario.sizes, std::vector<std::string>{"layers=24"});
    QVERIFY(window.windowTitle().contains("bert-base:layers=24"));
    QVERIFY(window.reports().front().total.time_s > 1.6 * before);
    QVERIFY(button->text().contains("layers 24"));
    QVERIFY(answered(window, [&] { layers->setValue(12.0); }));
    QVERIFY(window.session().scenario.sizes.empty());
    // a name with sizes behind it has them in its fields
    QVERIFY(answered(
        window, [&] { window.open_session(session_of("bert-base:layers=6", {"a100-sxm-40gb"})); }));
    QCOMPARE(window.findChild<QDoubleSpinBox*>("size layers")->value(), 6.0);
    // a network that declares none has none to offer
    QVERIFY(answered(window, [&] { window.open_session(session_of("alexnet", {"eyeriss-v1"})); }));
    QCOMPARE(button->isEnabled(),
             !window.findChildren<QDoubleSpinBox*>(QRegularExpression("^size ")).isEmpty());
}

EYEROOF_WINDOW_TEST(TestStepPanes)

} // namespace test_gui_step_panes

#include "test_step_panes.moc"
