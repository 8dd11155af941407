// The size of a picture, and the sizes of its texts.
#pragma once

namespace eyeroof::report {

struct Canvas {
    double width = 1000.0;
    double height = 640.0;

    bool operator==(const Canvas&) const = default;
};

inline constexpr double kFontPx = 12.0;
inline constexpr double kSmallPx = 11.0; // ticks, labels of points, reasons
inline constexpr double kTitlePx = 16.0;

} // namespace eyeroof::report
