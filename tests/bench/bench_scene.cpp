// How smooth the explorer is: frames while zooming, all panes while a slider is dragged, and the
// time to the first paint. Paints into pictures, without a screen.
#include "gui/window/main_window.hpp"
#include "tests/paths.hpp"
#include "tests/traces.hpp"

#include <benchmark/benchmark.h>

#include <QAbstractEventDispatcher>
#include <QApplication>
#include <QFile>
#include <QSlider>
#include <QTemporaryDir>
#include <cmath>
#include <cstdlib>
#include <ctime>

namespace {

using namespace eyeroof;

gui::Folders folders() {
    const std::filesystem::path root = tests::source_dir();
    return {{root / "hwdb"}, {root / "examples/networks"}, {root / "profiles/metrics"}};
}

// Points spread over the plot, of all shapes and sizes, below the roofs of a machine.
report::PlotInput many_points(std::int64_t count) {
    report::PlotInput input;
    input.machines = {
        {"m",
         "M",
         {{"m/c", "m", "units", analysis::RoofKind::compute, "", 1e13, false, ""},
          {"m/d", "m", "DRAM", analysis::RoofKind::memory, "DRAM", 1e12, false, ""}}}};
    for (std::int64_t i = 0; i < count; ++i) {
        const double along = static_cast<double>(i) / static_cast<double>(count);
        const double across = static_cast<double>(i * 7919 % 1000) / 1000.0;
        report::PlotPoint point;
        point.id = point.name = "kernel" + std::to_string(i);
        point.machine = "m";
        point.limiter_step = static_cast<std::size_t>(1 + i % 7);
        point.time_s = 1e-6 * (1.0 + across * 50.0);
        point.flops = point.time_s * std::pow(10.0, 8.0 + 4.5 * across);
        point.bytes = {{"DRAM", point.flops / std::pow(10.0, -2.0 + 5.0 * along)}};
        input.points.push_back(std::move(point));
    }
    return input;
}

// A notch of the wheel and the frame that follows. Budget: 16 ms for 5,000, 33 ms for 50,000.
void zoom_frame(benchmark::State& state) {
    gui::RooflineView view;
    view.resize(1200, 800);
    view.set_plot(many_points(state.range(0)));
    view.grab();
    QImage frame(view.size(), QImage::Format_ARGB32_Premultiplied);
    int notch = 0;
    for (auto _ : state) {
        view.zoom_at({600, 400}, notch++ / 10 % 2 == 0 ? 0.95 : 1.0 / 0.95);
        view.render(&frame);
    }
}
BENCHMARK(zoom_frame)->Arg(5000)->Arg(50000)->Unit(benchmark::kMillisecond);

// Moving the pointer over a plot that stays. Budget: 1 ms.
void hover_frame(benchmark::State& state) {
    gui::RooflineView view;
    view.resize(1200, 800);
    view.set_plot(many_points(state.range(0)));
    view.grab();
    QImage frame(view.size(), QImage::Format_ARGB32_Premultiplied);
    for (auto _ : state) {
        view.render(&frame);
    }
}
BENCHMARK(hover_frame)->Arg(5000)->Unit(benchmark::kMillisecond);

// A table of so many different layers, as a file.
QString many_layers(const QTemporaryDir& folder, int count) {
    QFile file(folder.filePath("layers.csv"));
    if (!file.open(QIODevice::WriteOnly)) {
        std::abort();
    }
    file.write("name,op,m,n,k\n");
    for (int i = 0; i < count; ++i) {
        file.write(QString("layer%1,gemm,%2,%3,%4\n")
                       .arg(i)
                       .arg(64 + i % 97 * 16)
                       .arg(64 + i % 89 * 32)
                       .arg(64 + i % 83 * 8)
                       .toUtf8());
    }
    return file.fileName();
}

// One step of a slider: examined in the background, shown in all panes, painted. Budget: 33 ms on
// ResNet-50.
void slider_drag(benchmark::State& state, const char* network, const char* machine,
                 const char* parameter) {
    gui::MainWindow window(folders());
    window.resize(1280, 800);
    window.show();
    bool shown = false;
    QObject::connect(&window, &gui::MainWindow::shown, &window, [&shown] { shown = true; });
    report::Session session;
    const QTemporaryDir folder;
    session.scenario.network = network[0] == '#'
                                   ? many_layers(folder, std::atoi(network + 1)).toStdString()
                                   : std::string(network);
    session.machines = {machine};
    session.scenario.machine = machine;
    window.open_session(session);
    while (!shown) {
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    }
    auto* slider = window.what_if().findChild<QSlider*>(parameter);
    if (slider == nullptr) {
        return state.SkipWithError("no such slider");
    }
    slider->setSliderDown(true); // held, as by a pointer
    int step = 0;
    for (auto _ : state) {
        shown = false;
        slider->setValue(++step % 40 + 1);
        while (!shown) {
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
        }
        benchmark::DoNotOptimize(window.grab());
    }
}
BENCHMARK_CAPTURE(slider_drag, a100, "resnet50", "a100-sxm-40gb", "DRAM bandwidth")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(slider_drag, layers_5000, "#5000", "a100-sxm-40gb", "DRAM bandwidth")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(slider_drag, eyeriss, "resnet50", "eyeriss-v1", "DRAM link bandwidth")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// The longest time that this thread worked without looking at its events, in seconds of the
// processor: other programs do not count.
class LongestBlock : public QObject {
  public:
    LongestBlock() {
        auto* events = QAbstractEventDispatcher::instance();
        connect(events, &QAbstractEventDispatcher::awake, this, [this] { take(); });
        connect(events, &QAbstractEventDispatcher::aboutToBlock, this, [this] { take(); });
        take();
        longest_s_ = 0.0;
    }
    double seconds() {
        take();
        return longest_s_;
    }

  private:
    void take() {
        timespec now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        const double at = static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
        longest_s_ = std::max(longest_s_, at - last_s_);
        last_s_ = at;
    }
    double last_s_ = 0.0, longest_s_ = 0.0;
};

// A trace of so many megabytes, until its points are there.
// Budget: 2 s, and no block over 100 ms, for 200 MB. EYEROOF_TRACE names another file.
void open_trace(benchmark::State& state) {
    const QTemporaryDir folder;
    QString name = qEnvironmentVariable("EYEROOF_TRACE");
    if (name.isEmpty()) {
        tests::TraceText trace;
        constexpr int kOperators = 100, kBytes = 48'000; // of a step
        for (int number = 1; number <= state.range(0) * 1'000'000 / kBytes; ++number) {
            trace.step(number, kOperators);
            for (int k = 0; k < kOperators; ++k) {
                trace.op("aten::mm", "[[1024,1024],[1024,1024]]", "[\"c10::Half\",\"c10::Half\"]");
                trace.kernel("sm90_xmma_gemm_f16f16_f16f32_f32_nn_n_tilesize128x128x64", 12.5);
                trace.next();
            }
        }
        QFile file(name = folder.filePath("trace.json"));
        if (!file.open(QIODevice::WriteOnly) || file.write(trace.text().c_str()) <= 0) {
            return state.SkipWithError("cannot write the trace");
        }
    }
    for (auto _ : state) {
        gui::MainWindow window(folders());
        window.resize(1280, 800);
        window.show();
        benchmark::DoNotOptimize(window.grab());
        LongestBlock block;
        bool shown = false;
        QObject::connect(&window, &gui::MainWindow::shown, &window, [&shown] { shown = true; });
        window.open(name);
        while (!shown) {
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
        }
        benchmark::DoNotOptimize(window.grab());
        state.counters["longest_block_ms"] = 1e3 * block.seconds();
    }
}
BENCHMARK(open_trace)->Arg(200)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);

// A window made, shown and painted; the process itself starts before. Budget: 400 ms.
void first_paint(benchmark::State& state) {
    for (auto _ : state) {
        gui::MainWindow window(folders());
        window.show();
        benchmark::DoNotOptimize(window.grab());
    }
}
BENCHMARK(first_paint)->Unit(benchmark::kMillisecond);

} // namespace

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
