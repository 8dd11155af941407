// How large the window is when it opens for the first time.
#pragma once

#include <QSize>

namespace eyeroof::gui {

// The usual size, or as much of it as the screen has (in its own pixels, after scaling) beside the
// window's frame.
inline QSize first_size(const QSize& screen) {
    constexpr QSize usual(1280, 800);
    constexpr int frame = 40; // the title above
    return screen.isEmpty() ? usual
                            : usual.boundedTo(QSize(screen.width(), screen.height() - frame));
}

} // namespace eyeroof::gui
