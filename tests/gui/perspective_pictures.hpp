// Pictures of the documents: what each perspective of the window shows, with few colors.
#pragma once

#include "gui/panes/asking_pane.hpp"
#include "gui/window/themes.hpp"
#include "tests/gui/two_runs.hpp"
#include "tests/gui/window_tools.hpp"

#include <QApplication>
#include <QTemporaryDir>

namespace eyeroof::gui::testing {

inline const QList<QSize> kPictureSizes = {{1024, 700}, {1280, 800}, {1600, 1000}};
inline const QStringList kPictureThemes = {"light", "dark"};

// Until no pane works on an answer, and what is due is painted.
inline void settle(MainWindow& window) {
    QTest::qWait(150);
    const auto still = [&window] {
        const auto panes = window.findChildren<AskingPane*>();
        return std::none_of(panes.begin(), panes.end(),
                            [](const AskingPane* pane) { return pane->busy(); });
    };
    (void)QTest::qWaitFor(still, kPatience_ms); // a picture that still changes differs
    QTest::qWait(100);
}

// At most 256 colors of a picture, the most frequent first, each a little away from the others, so
// that a color of few pixels (a marker) has its own.
inline QList<QRgb> palette_of(const QImage& image) {
    constexpr qsizetype most = 256;
    constexpr int apart = 5; // of 255, in at least one channel
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
    const auto near = [](QRgb a, QRgb b) {
        return std::abs(qRed(a) - qRed(b)) < apart && std::abs(qGreen(a) - qGreen(b)) < apart &&
               std::abs(qBlue(a) - qBlue(b)) < apart;
    };
    QList<QRgb> chosen;
    for (const QRgb color : colors) {
        if (chosen.size() < most && std::none_of(chosen.begin(), chosen.end(),
                                                 [&](QRgb one) { return near(one, color); })) {
            chosen << color;
        }
    }
    return chosen;
}

// With few colors, so that it is small enough for the repository; it names the font, without which
// it cannot be compared.
inline QImage document_picture(MainWindow& window) {
    const QImage image = window.grab().toImage().convertToFormat(QImage::Format_RGB32);
    QImage few = image.convertToFormat(QImage::Format_Indexed8, palette_of(image),
                                       Qt::ThresholdDither | Qt::AvoidDither);
    few.setText("font", QFontInfo(QApplication::font()).family());
    return few;
}

inline bool fill_perspective(MainWindow& window, Perspective perspective,
                             const QTemporaryDir& folder) {
    switch (perspective) {
    case Perspective::accelerator:
        return open_and_wait(window, session_of("alexnet", {"eyeriss-v1"}));
    case Perspective::gpu:
        return open_and_wait(window, session_of("resnet50", {"v100-sxm2-16gb", "a100-sxm-40gb"}));
    case Perspective::trace:
        return open_and_wait(window, session_of("alexnet", {"a100-sxm-40gb"})) &&
               answered(window, [&] { drop(window, written(folder.filePath("run.csv"), kRun)); }) &&
               answered(window,
                        [&] { drop(window, written(folder.filePath("faster.csv"), kFaster)); });
    case Perspective::upgrade:
        window.show_page("upgrade");
        window.upgrade().ask({"resnet50"}, "v100-sxm2-16gb", {"a100-sxm-40gb", "l4"},
                             "sgd_momentum");
        return QTest::qWaitFor([&] { return window.upgrade().upgrades().size() == 2; },
                               kPatience_ms);
    }
    return false;
}

// Made, shown, filled, and analyzed.
inline bool show_perspective(MainWindow& window, Perspective perspective, QSize size,
                             const QTemporaryDir& folder) {
    window.resize(size);
    window.show();
    QSignalSpy analysed(&window, &MainWindow::analysed);
    if (!fill_perspective(window, perspective, folder)) {
        return false;
    }
    return perspective == Perspective::upgrade || !analysed.isEmpty() ||
           analysed.wait(kPatience_ms);
}

// "gpu-1280x800-light.png"; "gpu-1280x800-light-200.png" at 200 %.
inline QString picture_name(Perspective perspective, QSize size, const QString& theme) {
    const int percent = qRound(100.0 * qApp->devicePixelRatio());
    return QString("%1-%2x%3-%4%5.png")
        .arg(perspective_name(perspective).toLower())
        .arg(size.width())
        .arg(size.height())
        .arg(theme, percent == 100 ? QString() : QString("-%1").arg(percent));
}

} // namespace eyeroof::gui::testing
