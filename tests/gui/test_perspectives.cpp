// What of the window is in sight: perspectives and their panes, room for the plot, the first page,
// names of all controls, models of all lists; and three stories, their clicks counted.
#include "gui/jobs/offered.hpp"
#include "gui/panes/answer_table.hpp"
#include "gui/panes/timeline/timeline_pane.hpp"
#include "gui/panes/upgrade_form.hpp"
#include "gui/window/perspectives.hpp"
#include "report/step/measured_track.hpp"
#include "tests/gui/hands.hpp"
#include "tests/gui/registry.hpp"
#include "tests/gui/two_runs.hpp"

#include <QAbstractItemModelTester>
#include <QAbstractSlider>
#include <QAbstractSpinBox>
#include <QCheckBox>
#include <QDialog>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTextBrowser>
#include <QToolButton>

namespace test_gui_perspectives {

using namespace eyeroof;               // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui;          // NOLINT(google-build-using-namespace)
using namespace eyeroof::gui::testing; // NOLINT(google-build-using-namespace)

class TestPerspectives : public QObject {
    Q_OBJECT

  private slots:
    void what_is_opened_brings_its_panes_and_hides_those_that_do_not_apply();
    void a_chosen_perspective_stays_until_another_kind_is_opened();
    void small_windows_leave_room_for_the_plot();
    void the_first_page_is_a_click_from_an_answer();
    void an_empty_window_has_no_tab_that_would_be_empty();
    void the_sheet_of_keys_lists_every_menu_entry_that_has_keys();
    void menus_and_tabs_have_one_name_each();
    void every_control_has_a_name();
    void every_model_keeps_the_rules_of_models();
    void a_measured_track_stands_above_the_predicted_step();
    void gaps_of_a_measured_track_have_their_causes();
    void a_kernel_of_the_step_is_found_by_its_name();
    void rows_have_a_menu();
    void a_kernel_is_assigned_to_a_layer_by_its_menu_taken_back_and_saved();
    void story_of_an_architect();
    void story_of_an_owner();
    void story_of_a_performance_engineer();
};

namespace {

// Docks that are not hidden, behind others or not; and tabs.
QStringList panes_of(MainWindow& window) {
    QStringList names;
    for (const QDockWidget* dock : window.findChildren<QDockWidget*>()) {
        if (!dock->isHidden()) {
            names << dock->objectName();
        }
    }
    const auto* tabs = qobject_cast<QTabWidget*>(window.centralWidget());
    for (int i = 0; i < tabs->count(); ++i) {
        if (tabs->isTabVisible(i)) {
            names << tabs->tabText(i);
        }
    }
    return names;
}

QString shown_perspective(MainWindow& window) {
    return window.findChild<QComboBox*>("perspective")->currentText();
}

// At most twelve clicks; the time is the program's own.
void within_limits(const char* story, const Hands& hands, const QElapsedTimer& timer) {
    qInfo("%s: %d clicks, %d keys, %d drops, %lld ms", story, hands.clicks, hands.keys, hands.drops,
          static_cast<long long>(timer.elapsed()));
    QVERIFY(hands.clicks <= 12);
}

bool judged(MainWindow& window) {
    return QTest::qWaitFor([&] { return !window.upgrade().upgrades().empty(); }, kPatience_ms);
}

} // namespace

void TestPerspectives::what_is_opened_brings_its_panes_and_hides_those_that_do_not_apply() {
    QTemporaryDir folder;
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    QCOMPARE(shown_perspective(window), QString("Accelerator"));
    QStringList panes = panes_of(window);
    for (const char* there :
         {"layers", "steps", "what-if", "advice", "mapping", "Sparsity", "Fusion"}) {
        QVERIFY2(panes.contains(there), there);
    }
    for (const char* away : {"measurements", "Timeline", "Memory", "Scaling", "Upgrade"}) {
        QVERIFY2(!panes.contains(away), away);
    }
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    QCOMPARE(shown_perspective(window), QString("GPU"));
    panes = panes_of(window);
    for (const char* there :
         {"layers", "steps", "what-if", "advice", "Timeline", "Memory", "Scaling", "Upgrade"}) {
        QVERIFY2(panes.contains(there), there);
    }
    for (const char* away : {"mapping", "measurements", "Sparsity"}) {
        QVERIFY2(!panes.contains(away), away);
    }
    QVERIFY(answered(window, [&] { drop(window, written(folder.filePath("run.csv"), kRun)); }));
    QCOMPARE(shown_perspective(window), QString("Trace"));
    panes = panes_of(window);
    QVERIFY(panes.contains("measurements") && panes.contains("Timeline"));
    QVERIFY(!panes.contains("Scaling") && !panes.contains("parameters"));
    window.show_page("scaling"); // by hand, and it stays while it is in front
    QVERIFY(panes_of(window).contains("Scaling"));
}

void TestPerspectives::a_chosen_perspective_stays_until_another_kind_is_opened() {
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    Hands hands;
    auto* chooser = window.findChild<QComboBox*>("perspective");
    hands.choose(*chooser, static_cast<int>(Perspective::upgrade));
    QVERIFY(window.upgrade().isVisible());
    QVERIFY(!window.plot().isVisible());
    hands.choose(*chooser, static_cast<int>(Perspective::trace));
    QVERIFY(window.plot().isVisible());
    QVERIFY(panes_of(window).contains("measurements"));
    QVERIFY(answered(window, [&] { slider(window, "DRAM bandwidth")->setValue(10); }));
    QCOMPARE(shown_perspective(window), QString("Trace")); // the same kind: what was chosen stays
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    QCOMPARE(shown_perspective(window), QString("Accelerator"));
}

void TestPerspectives::small_windows_leave_room_for_the_plot() {
    for (const QSize size : {QSize(1024, 700), QSize(1280, 720), QSize(1280, 800)}) {
        for (const char* machine : {"eyeriss-v1", "a100-sxm-40gb"}) {
            MainWindow window(folders());
            show(window, size);
            QVERIFY(open_and_wait(window, session_of("alexnet", {machine})));
            QTest::qWait(50);
            qInfo("%dx%d, %s: %d px of plot", size.width(), size.height(), machine,
                  window.plot().height());
            QVERIFY(window.size() == size);
            QVERIFY(window.plot().height() >= 280); // 70 px before
        }
    }
}

void TestPerspectives::the_first_page_is_a_click_from_an_answer() {
    for (const char* entry : {"entry accelerator", "entry gpu"}) {
        MainWindow window(folders());
        show(window);
        Hands hands;
        QVERIFY(answered(window, [&] { hands.click(*window.findChild<QPushButton*>(entry)); }));
        QVERIFY(window.plot().isVisible() && !window.reports().empty());
        QCOMPARE(hands.clicks, 1);
    }
    MainWindow window(folders());
    show(window);
    Hands hands;
    hands.click(*window.findChild<QPushButton*>("entry upgrade"));
    QVERIFY(judged(window) && window.upgrade().isVisible());
    QCOMPARE(hands.clicks, 1);
    QVERIFY(window.findChild<QPushButton*>("entry trace") != nullptr);
    MainWindow traced(folders()); // a recorded trace
    show(traced);
    auto* files = traced.findChild<QLabel*>("start files");
    const QString trace = offered_by(folders()).trace;
    QVERIFY(!trace.isEmpty());
    QVERIFY(answered(traced, [&] { hands.link(*files, trace); }));
    QCOMPARE(traced.session().machines, std::vector<std::string>{"h100-sxm-80gb"});
    QCOMPARE(shown_perspective(traced), QString("Trace"));
}

void TestPerspectives::an_empty_window_has_no_tab_that_would_be_empty() {
    MainWindow window(folders());
    show(window);
    QCOMPARE(panes_of(window), QStringList({"Roofline", "Upgrade"}));
    window.findChild<QPushButton*>("entry upgrade")->click();
    QVERIFY(judged(window));
    QCOMPARE(panes_of(window), QStringList({"Roofline", "Upgrade"}));
}

void TestPerspectives::the_sheet_of_keys_lists_every_menu_entry_that_has_keys() {
    MainWindow window(folders());
    show(window);
    for (QAction* action : window.findChildren<QAction*>()) {
        if (action->shortcut() == QKeySequence("F1")) {
            action->trigger();
        }
    }
    auto* sheet = window.findChild<QDialog*>("shortcuts");
    QVERIFY(sheet != nullptr);
    const QString text = sheet->findChild<QTextBrowser*>()->toPlainText();
    int listed = 0;
    for (const QMenu* menu : window.menuBar()->findChildren<QMenu*>()) {
        for (const QAction* action : menu->actions()) {
            if (!action->shortcut().isEmpty()) {
                const QString name = QString(action->text()).remove('&');
                QVERIFY2(text.contains(name), qPrintable(name));
                ++listed;
            }
        }
    }
    QVERIFY(listed > 20);
}

void TestPerspectives::menus_and_tabs_have_one_name_each() {
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    QStringList entries;
    for (const QMenu* menu : window.menuBar()->findChildren<QMenu*>()) {
        for (const QAction* action : menu->actions()) {
            entries << QString(action->text()).remove('&');
        }
    }
    const auto* tabs = qobject_cast<QTabWidget*>(window.centralWidget());
    for (int i = 0; i < tabs->count(); ++i) {
        QVERIFY2(entries.contains(tabs->tabText(i)), qPrintable(tabs->tabText(i)));
    }
}

void TestPerspectives::every_control_has_a_name() {
    QTemporaryDir folder;
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    drop(window, written(folder.filePath("run.csv"), kRun));
    window.show_page("upgrade");
    window.upgrade().ask({"alexnet", "resnet50"}, "v100-sxm2-16gb", {"a100-sxm-40gb"});
    QVERIFY(judged(window));
    QStringList nameless;
    const auto has_name = [](const QWidget& widget) { return !widget.accessibleName().isEmpty(); };
    for (QWidget* widget : window.findChildren<QWidget*>()) {
        const bool own = widget->parentWidget() != nullptr &&
                         !qobject_cast<QComboBox*>(widget->parentWidget()) &&
                         !qobject_cast<QAbstractSpinBox*>(widget->parentWidget()) &&
                         !widget->objectName().startsWith("qt_");
        const auto* button = qobject_cast<QAbstractButton*>(widget);
        const bool field = qobject_cast<QComboBox*>(widget) != nullptr ||
                           qobject_cast<QAbstractSpinBox*>(widget) != nullptr ||
                           qobject_cast<QLineEdit*>(widget) != nullptr ||
                           (qobject_cast<QAbstractSlider*>(widget) != nullptr &&
                            qobject_cast<QSlider*>(widget) != nullptr) ||
                           qobject_cast<QAbstractItemView*>(widget) != nullptr;
        const bool header = qobject_cast<QHeaderView*>(widget) != nullptr;
        const bool silent = button != nullptr && button->text().isEmpty() && !has_name(*button);
        const bool parts =
            widget->inherits("QTabBar") || widget->inherits("QTableCornerButton") ||
            widget->inherits("QComboBoxListView") || widget->inherits("QLineEditIconButton") ||
            widget->inherits("QDockWidgetTitleButton") || widget->inherits("QToolBarExtension");
        if (own && !header && !parts && ((field && !has_name(*widget)) || silent)) {
            nameless << QString("%1 '%2' in %3")
                            .arg(widget->metaObject()->className(), widget->objectName(),
                                 widget->parentWidget()->objectName());
        }
    }
    QVERIFY2(nameless.isEmpty(), qPrintable(nameless.join("\n")));
}

void TestPerspectives::every_model_keeps_the_rules_of_models() {
    QTemporaryDir folder;
    MainWindow window(folders());
    show(window);
    std::vector<std::unique_ptr<QAbstractItemModelTester>> testers;
    for (QAbstractItemView* view : window.findChildren<QAbstractItemView*>()) {
        if (view->model() != nullptr) {
            testers.push_back(std::make_unique<QAbstractItemModelTester>(
                view->model(), QAbstractItemModelTester::FailureReportingMode::QtTest));
        }
    }
    for (QAbstractItemModel* model : window.findChildren<QAbstractItemModel*>()) {
        testers.push_back(std::make_unique<QAbstractItemModelTester>(
            model, QAbstractItemModelTester::FailureReportingMode::QtTest));
    }
    testers.push_back(std::make_unique<QAbstractItemModelTester>(
        window.table().model(), QAbstractItemModelTester::FailureReportingMode::QtTest));
    QVERIFY(testers.size() > 10);
    // all that fills, changes, sorts, and empties them
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    QVERIFY(open_and_wait(window, session_of("resnet50", {"a100-sxm-40gb", "t4"})));
    QVERIFY(answered(window, [&] { slider(window, "DRAM bandwidth")->setValue(10); }));
    QVERIFY(answered(window, [&] { drop(window, written(folder.filePath("run.csv"), kRun)); }));
    window.table().sortByColumn(LayerTable::rate, Qt::AscendingOrder);
    window.findChild<QLineEdit*>("filter")->setText("conv1");
    for (const char* page :
         {"measurements", "baseline", "traffic", "advice", "memory", "upgrade"}) {
        window.show_page(page);
        QTest::qWait(100);
    }
    window.upgrade().ask({"alexnet"}, "v100-sxm2-16gb", {"a100-sxm-40gb", "l4"});
    QVERIFY(judged(window));
    window.open_session({});
    QTest::qWait(100);
}

void TestPerspectives::a_measured_track_stands_above_the_predicted_step() {
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    // two steps of two kernels, 100 us apart, the second step numbered as the profiler does
    profiles::Profile profile;
    profile.kernels.resize(2);
    profile.kernels[0].name = "gemm_a";
    profile.kernels[1].name = "gemm_b";
    for (int i = 0; i < 4; ++i) {
        profiles::Launch launch;
        launch.kernel = static_cast<std::uint32_t>(i % 2);
        launch.start_ns = 1000000 * (i / 2) + 100000 * (i % 2);
        launch.duration_ns = 50000.0;
        launch.step = 7 + i / 2;
        profile.launches.push_back(launch);
    }
    const analysis::Report& report = window.reports()[0];
    const auto track =
        std::make_shared<const report::MeasuredTrack>(report::measured_track(profile, report));
    QCOMPARE(track->slices.size(), std::size_t{2}); // one step of the two
    QCOMPARE(track->slices[1].name, std::string("gemm_b"));
    double first = report.timeline.spans.front().start_s;
    for (const auto& span : report.timeline.spans) {
        first = std::min(first, span.start_s);
    }
    QCOMPARE(track->slices[0].start_s, first); // aligned with the first predicted kernel
    QVERIFY(std::abs(track->slices[1].start_s - first - 100e-6) < 1e-12);
    const model::Gpu gpu = std::get<model::Gpu>(question_of(window.session()).machine.kind);
    report::TimelineLook look;
    look.measured = track;
    const report::Drawing drawing = report::draw_timeline({report, gpu}, {900.0, 300.0}, look);
    QVERIFY(
        std::any_of(drawing.figures.rows.begin(), drawing.figures.rows.end(), [](const auto& row) {
            return std::get<std::string>(row[0]) == "measured" &&
                   std::get<std::string>(row[1]) == "gemm_b";
        }));
    const report::BusySeconds busy = report::busy_in({first, first + 120e-6}, *track, report);
    QVERIFY(std::abs(busy.measured - 70e-6) < 1e-12); // the second is cut at the range's end
    profile.launches[0].start_ns = profiles::kNone;
    profile.launches.resize(1);
    QVERIFY(report::measured_track(profile, report).empty()); // starts are not known
}

void TestPerspectives::gaps_of_a_measured_track_have_their_causes() {
    // Kernels of 10 us that start at 0, 30, 50, 70, and 90 us. The second is launched at 18 us, the
    // third at 5 us, the fourth at 55 us with a copy from 61 to 65 us, the launch of the fifth is
    // not recorded.
    constexpr std::array<std::int64_t, 5> kStarts_us = {0, 30, 50, 70, 90};
    constexpr std::array<std::int64_t, 5> kCalled_us = {-3, 18, 5, 55, 0};
    profiles::Profile profile;
    profile.kernels.resize(1);
    profile.kernels[0].name = "gemm";
    for (std::size_t i = 0; i < kStarts_us.size(); ++i) {
        profiles::Launch launch;
        launch.start_ns = 1000 * (1000 + kStarts_us[i]);
        launch.called_ns = i == 4 ? profiles::kNone : 1000 * (1000 + kCalled_us[i]);
        launch.duration_ns = 10000.0;
        launch.step = 1;
        profile.launches.push_back(launch);
    }
    profiles::DeviceCopy copy;
    copy.start_ns = 1000 * 1061;
    copy.duration_ns = 4000.0;
    profile.copies.push_back(copy);

    const report::MeasuredTrack track = report::measured_track(profile, analysis::Report{});
    using Wait = report::MeasuredWait;
    const std::vector<report::MeasuredGap> expected = {
        {10e-6, 18e-6, Wait::host, "gemm"},   {18e-6, 30e-6, Wait::launch, "gemm"},
        {40e-6, 50e-6, Wait::device, "gemm"}, {60e-6, 61e-6, Wait::device, "gemm"},
        {61e-6, 65e-6, Wait::copy, "gemm"},   {65e-6, 70e-6, Wait::device, "gemm"},
        {80e-6, 90e-6, Wait::unknown, "gemm"}};
    QCOMPARE(track.gaps.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        QVERIFY(track.gaps[i].cause == expected[i].cause);
        QVERIFY(std::abs(track.gaps[i].start_s - expected[i].start_s) < 1e-12);
        QVERIFY(std::abs(track.gaps[i].end_s - expected[i].end_s) < 1e-12);
    }
    // All of the step is a kernel or a gap; a range cuts both.
    const report::BusySeconds busy = report::busy_in({0.0, 64e-6}, track, analysis::Report{});
    double total = busy.measured;
    for (const double seconds : busy.waits) {
        total += seconds;
    }
    QVERIFY(std::abs(total - 64e-6) < 1e-12);
    QVERIFY(std::abs(busy.waits[static_cast<std::size_t>(Wait::copy)] - 3e-6) < 1e-12);
}

void TestPerspectives::a_kernel_of_the_step_is_found_by_its_name() {
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    Hands hands;
    hands.tab(window, "Timeline");
    const auto* pane = window.findChild<TimelinePane*>();
    QTRY_VERIFY_WITH_TIMEOUT(pane->answer() != nullptr, kPatience_ms);
    auto* field = window.findChild<QLineEdit*>("timeline find");
    hands.click(*field);
    hands.type(*field, "pool");
    const auto found = [&] {
        hands.press(*field, Qt::Key_Return);
        return window.statusBar()->currentMessage();
    };
    QVERIFY2(found().startsWith("POOL1: 1 of 3 kernels"),
             qPrintable(window.statusBar()->currentMessage()));
    const auto shown = window.findChild<TimelinePane*>()->picture().window();
    QVERIFY(shown.to - shown.from < 0.2); // nearer to it
    const auto& step = window.reports()[0].timeline;
    std::size_t pool = 0;
    while (window.reports()[0].layers[pool].layer.name != "POOL1") {
        ++pool;
    }
    const double middle = 0.5 * (shown.from + shown.to) * step.time_s;
    QVERIFY(step.spans[pool].start_s <= middle && middle <= step.spans[pool].end_s);
    QVERIFY(window.steps().text().contains("Step")); // its layer is selected in all panes
    QVERIFY(found().startsWith("POOL2: 2 of 3"));
    QVERIFY(found().startsWith("POOL5: 3 of 3"));
    QVERIFY(found().startsWith("POOL1: 1 of 3")); // around
    hands.type(*field, "x");
    QVERIFY(found().startsWith("No kernel of the step"));
}

void TestPerspectives::rows_have_a_menu() {
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"eyeriss-v1"})));
    const std::size_t all = window.plot().scene().points.size();
    Hands hands;
    hands.row(window.table(), LayerTable::name, "CONV2");
    const auto choose = [&](const QString& entry) {
        emit window.table().customContextMenuRequested({5, 5});
        auto* menu = window.findChild<QMenu*>("row menu");
        for (QAction* action : menu->actions()) {
            if (action->text() == entry) {
                QVERIFY(action->isEnabled());
                action->trigger();
            }
        }
        delete menu;
    };
    choose("Zoom to it");
    QVERIFY(window.plot().view().x && window.plot().view().y);
    choose("Filter by its name");
    QCOMPARE(window.plot().scene().points.size(), std::size_t{1});
    window.findChild<QLineEdit*>("filter")->clear();
    choose("Hide");
    QCOMPARE(window.plot().scene().points.size(), all - 1);
    choose("Show all again");
    QCOMPARE(window.plot().scene().points.size(), all);
}

void TestPerspectives::a_kernel_is_assigned_to_a_layer_by_its_menu_taken_back_and_saved() {
    QTemporaryDir folder;
    MainWindow window(folders());
    show(window);
    QVERIFY(open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})));
    QVERIFY(answered(window, [&] { drop(window, written(folder.filePath("run.csv"), kRun)); }));
    QVERIFY(!layer(window, "POOL1").measured);
    Hands hands;
    const auto choose = [&](const QString& entry) {
        hands.row(window.table(), LayerTable::name, "relu"); // a kernel of no layer
        emit window.table().customContextMenuRequested({5, 5});
        auto* menu = window.findChild<QMenu*>("row menu");
        QAction* found = nullptr;
        for (QMenu* each : QList<QMenu*>{menu} + menu->findChildren<QMenu*>()) {
            for (QAction* action : each->actions()) {
                found = action->text() == entry ? action : found;
            }
        }
        QVERIFY2(found != nullptr && found->isEnabled(), qPrintable(entry));
        found->trigger();
        delete menu;
    };
    QVERIFY(answered(window, [&] { choose("POOL1"); }));
    QVERIFY(layer(window, "POOL1").measured);
    QCOMPARE(layer(window, "POOL1").measured->time_s, 8e-6);
    QVERIFY(window.isWindowModified());
    const QString file = folder.filePath("by-hand.yaml");
    window.save_assignments(file);
    QCOMPARE(window.session().assignments, file.toStdString());
    MainWindow other(folders()); // what was saved is read as the same
    QVERIFY(open_and_wait(other, session_of("alexnet", {"a100-sxm-40gb"})));
    QVERIFY(answered(other, [&] { drop(other, folder.filePath("run.csv")); }));
    QVERIFY(answered(other, [&] { drop(other, file); }));
    QCOMPARE(layer(other, "POOL1").measured->time_s, 8e-6);
    window.assign_kernel("gemm_a", "FC6");
    QTRY_VERIFY(layer(window, "FC6").measured);
    window.table().clearSelection();
    emit window.table().customContextMenuRequested({5, 5});
    auto* menu = window.findChild<QMenu*>("row menu");
    for (QAction* action : menu->actions()) {
        if (action->text() == "Take the last assignment back") {
            action->trigger();
        }
    }
    QTRY_VERIFY(!layer(window, "FC6").measured && layer(window, "CONV1").measured);
}

// Which step costs CONV1 most, what stands behind it, and what twice of it brings; then a better
// mapping of it.
void TestPerspectives::story_of_an_architect() {
    MainWindow window(folders());
    show(window);
    Hands hands;
    QElapsedTimer timer;
    timer.start();
    QVERIFY(answered(window,
                     [&] { hands.click(*window.findChild<QPushButton*>("entry accelerator")); }));
    hands.row(window.table(), LayerTable::name, "CONV1");
    QTRY_VERIFY_WITH_TIMEOUT(window.steps().text().contains("behind it"), kPatience_ms);
    for (const report::WaterfallBar& bar : window.ladder().scene()->bars) {
        if (bar.worst) {
            hands.click(window.ladder(),
                        QPoint(static_cast<int>(bar.row.left + 20),
                               static_cast<int>(bar.row.top + bar.row.height / 2)));
            break;
        }
    }
    QCOMPARE(QString::fromStdString(window.what_if().selected()), QString("dram-link-bandwidth"));
    const double before = window.reports()[0].total.time_s;
    auto* number = window.what_if().findChild<QLineEdit*>("DRAM link bandwidth value");
    hands.click(*number);
    hands.press(*number, Qt::Key_A, Qt::ControlModifier);
    hands.type(*number, "x2");
    QVERIFY(answered(window, [&] { hands.press(*number, Qt::Key_Return); }));
    QVERIFY(window.reports()[0].total.time_s < before);
    hands.dock_tab(window, "Mapping");
    QSignalSpy found(&window, &MainWindow::searched);
    hands.click(*window.findChild<QPushButton*>("search"));
    QVERIFY(found.size() > 0 || found.wait(kPatience_ms));
    within_limits("architect", hands, timer);
}

// Sixteen V100 that are paid for: what does an A100 bring, and what would flip the answer?
void TestPerspectives::story_of_an_owner() {
    MainWindow window(folders());
    show(window);
    Hands hands;
    QElapsedTimer timer;
    timer.start();
    hands.click(*window.findChild<QPushButton*>("entry upgrade"));
    QVERIFY(judged(window));
    const auto next = [&](auto action) {
        QSignalSpy spy(&window.upgrade(), &UpgradePane::judged);
        action();
        QVERIFY(spy.size() > 0 || spy.wait(kPatience_ms));
    };
    next([&] { hands.click(*window.findChild<QCheckBox*>("upgrade owned"), {8, 8}); });
    auto* count = window.findChild<QSpinBox*>("upgrade count");
    hands.click(*count);
    hands.press(*count, Qt::Key_A, Qt::ControlModifier);
    hands.type(*count, "16");
    next([&] { hands.press(*count, Qt::Key_Return); });
    auto* buy = window.findChild<QDoubleSpinBox*>("buy a100-sxm-40gb");
    hands.click(*buy);
    hands.press(*buy, Qt::Key_A, Qt::ControlModifier);
    hands.type(*buy, "9000");
    next([&] { hands.press(*buy, Qt::Key_Return); });
    const analysis::PurchaseAnswer& answer = window.upgrade().purchase().answers.at(0);
    QVERIFY(answer.now.owned && answer.now.devices == 16.0 && answer.then.bought);
    QCOMPARE(answer.then.devices, std::round(answer.then.devices)); // whole GPUs
    QVERIFY2(window.upgrade().headline().contains("16 v100-sxm2-16gb"),
             qPrintable(window.upgrade().headline()));
    QVERIFY(
        window.findChild<QLabel*>("decision")->text().contains("What would change the verdict"));
    within_limits("owner", hands, timer);
}

// Two runs of a step: which is compared, where it loses against the prediction, and the kernels of
// both beside each other.
void TestPerspectives::story_of_a_performance_engineer() {
    QTemporaryDir folder;
    const QString run = written(folder.filePath("run.csv"), kRun);
    const QString faster = written(folder.filePath("faster.csv"), kFaster);
    MainWindow window(folders());
    show(window);
    Hands hands;
    QElapsedTimer timer;
    timer.start();
    QVERIFY(answered(window, [&] { hands.click(*window.findChild<QPushButton*>("entry gpu")); }));
    auto* network = window.findChild<QComboBox*>("network")->lineEdit();
    hands.click(*network);
    hands.press(*network, Qt::Key_A, Qt::ControlModifier);
    QVERIFY(answered(window, [&] {
        hands.type(*network, "alexnet");
        hands.press(*network, Qt::Key_Return);
    }));
    QVERIFY(answered(window, [&] { hands.drop(window, run); }));
    QVERIFY(answered(window, [&] { hands.drop(window, faster); }));
    hands.header(window.table(), LayerTable::unexplained);
    hands.dock_tab(window, "Measurements");
    auto* chooser = window.findChild<QComboBox*>("compared run");
    QVERIFY(answered(window, [&] { hands.choose(*chooser, faster); }));
    QVERIFY(window.findChild<QLabel*>("totals")->text().contains("(faster.csv)"));
    auto& files = *window.findChild<AnswerTableView*>("measurement files");
    hands.row(files, 0, "run.csv");
    hands.row(files, 0, "faster.csv", Qt::ControlModifier);
    QCOMPARE(window.findChild<AnswerTableView*>("measured kernels")->row_count(), 4);
    within_limits("performance engineer", hands, timer);
}

EYEROOF_WINDOW_TEST(TestPerspectives)

} // namespace test_gui_perspectives

#include "test_perspectives.moc"
