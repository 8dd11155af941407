// Pictures of every tab and pane at the sizes that the window is made for, to be looked at.
//
//     pictures FOLDER [light|dark]     QT_SCALE_FACTOR=2 for a screen of 200 %
//     pictures FOLDER perspectives     those of the documents: each perspective in light and dark
//
// Writes FOLDER/PANE-WIDTHxHEIGHT-THEME.png, and FOLDER/report.html, the report of all panes.
#include "tests/gui/perspective_pictures.hpp"

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

// FOLDER/PERSPECTIVE-WIDTHxHEIGHT-THEME.png
int write_perspectives(const QString& target) {
    const QTemporaryDir folder;
    const bool scaled = qApp->devicePixelRatio() > 1.0; // large pictures: of one size
    for (const gui::Perspective perspective : gui::kPerspectives) {
        for (const QSize& size : scaled ? kPictureSizes.mid(0, 1) : kPictureSizes) {
            gui::use_theme("light");
            gui::MainWindow window(folders()); // as it opens at that size
            if (!show_perspective(window, perspective, size, folder)) {
                std::fputs("nothing to show\n", stderr);
                return 1;
            }
            for (const QString& theme : kPictureThemes) {
                gui::use_theme(theme);
                settle(window);
                constexpr int smallest = 0; // as PNG takes it: the best compression
                const QString file = target + "/" + picture_name(perspective, size, theme);
                if (!document_picture(window).save(file, "PNG", smallest)) {
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
