// Pictures of every tab and pane at the sizes that the window is made for, to be looked at.
//
//     pictures FOLDER [light|dark]     QT_SCALE_FACTOR=2 for a screen of 200 %
//     pictures FOLDER perspectives     those of the documents: each perspective in light and dark
//
// Writes FOLDER/PANE-WIDTHxHEIGHT-THEME.png, and FOLDER/report.html, the report of all panes.
#include "gui/panes/asking_pane.hpp"
#include "gui/window/themes.hpp"
#include "tests/gui/two_runs.hpp"
#include "tests/gui/window_tools.hpp"

#include <QApplication>
#include <QPushButton>
#include <QTemporaryDir>
#include <cstdio>

namespace {

using namespace eyeroof;
using namespace eyeroof::gui::testing; // NOLINT(google-build-using-namespace)

const QList<QSize> kSizes = {{1024, 700}, {1280, 800}, {1600, 1000}, {2560, 1440}};
const QStringList kPages = {"roofline", "mapping",      "details",  "errors",
                            "traffic",  "measurements", "baseline", "parameters",
                            "advice",   "timeline",     "memory",   "scaling",
                            "sparsity", "fusion",       "upgrade",  "tuning"};

// Until no pane works on an answer, and what is due is painted.
void settle(gui::MainWindow& window) {
    QTest::qWait(150);
    const auto still = [&window] {
        const auto panes = window.findChildren<gui::AskingPane*>();
        return std::none_of(panes.begin(), panes.end(),
                            [](const gui::AskingPane* pane) { return pane->busy(); });
    };
    QTest::qWaitFor(still, kPatience_ms);
    QTest::qWait(100);
}

// Two GPUs and a run of the first; a baseline and a change after it; an upgrade that is asked.
bool fill(gui::MainWindow& window, const QTemporaryDir& folder) {
    if (!open_and_wait(window, session_of("alexnet", {"v100-sxm2-16gb", "a100-sxm-40gb"}))) {
        return false;
    }
    answered(window, [&] { drop(window, written(folder.filePath("run.csv"), kRun)); });
    window.findChild<QPushButton*>("pin baseline")->click();
    answered(window, [&] { slider(window, "DRAM bandwidth")->setValue(10); });
    drop(window,
         QString::fromStdString(tests::source_dir()) + "/tests/fuzz/corpus/trials/one.jsonl");
    window.show_page("upgrade");
    window.upgrade().ask({"alexnet"}, "v100-sxm2-16gb", {"a100-sxm-40gb", "l4"});
    return QTest::qWaitFor([&] { return window.upgrade().upgrades().size() == 2; }, kPatience_ms);
}

// The colors that most pixels have.
QList<QRgb> frequent_colors(const QImage& image) {
    constexpr qsizetype most = 256;
    QHash<QRgb, int> counts;
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
            ++counts[image.pixel(x, y)];
        }
    }
    QList<QRgb> colors = counts.keys();
    std::sort(colors.begin(), colors.end(), [&](QRgb a, QRgb b) {
        return counts[a] != counts[b] ? counts[a] > counts[b] : a < b;
    });
    return colors.mid(0, most);
}

// With few colors, so that it is small enough for the repository.
bool save(gui::MainWindow& window, const QString& file) {
    const QImage image = window.grab().toImage().convertToFormat(QImage::Format_RGB32);
    return image
        .convertToFormat(QImage::Format_Indexed8, frequent_colors(image),
                         Qt::ThresholdDither | Qt::AvoidDither)
        .save(file);
}

bool fill_perspective(gui::MainWindow& window, gui::Perspective perspective,
                      const QTemporaryDir& folder) {
    switch (perspective) {
    case gui::Perspective::accelerator:
        return open_and_wait(window, session_of("alexnet", {"eyeriss-v1"}));
    case gui::Perspective::gpu:
        return open_and_wait(window, session_of("resnet50", {"v100-sxm2-16gb", "a100-sxm-40gb"}));
    case gui::Perspective::trace:
        return open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})) &&
               answered(window, [&] { drop(window, written(folder.filePath("run.csv"), kRun)); }) &&
               answered(window,
                        [&] { drop(window, written(folder.filePath("faster.csv"), kFaster)); });
    case gui::Perspective::upgrade:
        window.show_page("upgrade");
        window.upgrade().ask({"resnet50"}, "v100-sxm2-16gb", {"a100-sxm-40gb", "l4"},
                             "sgd_momentum");
        return QTest::qWaitFor([&] { return window.upgrade().upgrades().size() == 2; },
                               kPatience_ms);
    }
    return false;
}

// FOLDER/PERSPECTIVE-WIDTHxHEIGHT-THEME.png
int write_perspectives(const QString& target) {
    const QTemporaryDir folder;
    for (const gui::Perspective perspective : gui::kPerspectives) {
        gui::use_theme("light");
        gui::MainWindow window(folders());
        window.resize(kSizes[1]);
        window.show();
        QSignalSpy analysed(&window, &gui::MainWindow::analysed);
        if (!fill_perspective(window, perspective, folder)) {
            std::fputs("nothing to show\n", stderr);
            return 1;
        }
        if (perspective != gui::Perspective::upgrade && analysed.isEmpty()) {
            analysed.wait(kPatience_ms);
        }
        for (const QSize& size : {kSizes[0], kSizes[1], kSizes[2]}) {
            for (const char* theme : {"light", "dark"}) {
                gui::use_theme(theme);
                window.resize(size);
                settle(window);
                const QString file = QString("%1/%2-%3x%4-%5.png")
                                         .arg(target, gui::perspective_name(perspective).toLower())
                                         .arg(size.width())
                                         .arg(size.height())
                                         .arg(theme);
                if (!save(window, file)) {
                    std::fprintf(stderr, "cannot write %s\n", qPrintable(file));
                    return 1;
                }
            }
        }
    }
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
    }
    QApplication application(argc, argv);
    if (argc < 2) {
        std::fputs("pictures FOLDER [light|dark|perspectives]\n", stderr);
        return 2;
    }
    const QString target = argv[1];
    const QString theme = argc > 2 ? argv[2] : "light";
    if (theme == "perspectives") {
        return write_perspectives(target);
    }
    gui::use_theme(theme);
    const QTemporaryDir folder;
    gui::MainWindow window(folders());
    window.resize(kSizes[1]);
    window.show();
    settle(window);
    window.grab().save(target + "/start-" + theme + ".png");
    if (!fill(window, folder)) {
        std::fputs("nothing to show\n", stderr);
        return 1;
    }
    for (const QSize& size : kSizes) {
        window.resize(size);
        for (const QString& page : kPages) {
            window.show_page(page);
            settle(window);
            const QString file = QString("%1/%2-%3x%4-%5.png")
                                     .arg(target, page)
                                     .arg(size.width())
                                     .arg(size.height())
                                     .arg(theme);
            if (!window.grab().save(file)) {
                std::fprintf(stderr, "cannot write %s\n", qPrintable(file));
                return 1;
            }
        }
    }
    window.save_report(target + "/report.html");
    return 0;
}
