// Height of the heading lines above a roofline. The placement of the axes and the drawing of the
// lines both use it, so that they agree.
#pragma once

#include "report/draw/canvas.hpp"
#include "report/draw/fitted_text.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

inline constexpr const char* kWarningMark = "! ";

inline constexpr double kBoldWider = 1.08; // than the same text not bold

// On a low canvas title and series share a row. The subtitle, which stays in the description, and
// notes are left out.
inline bool is_low(const Canvas& canvas) {
    constexpr double least = 320.0;
    return canvas.height < least;
}

inline double heading_width(const Canvas& canvas) {
    constexpr double margins = 2.0 * 16.0;
    return canvas.width - margins;
}

// The title of a low canvas: as much of it as leaves the row to the series, too.
inline std::string low_title(const std::string& title, const Canvas& canvas) {
    return fitted(title, kFontPx * kBoldWider, 0.45 * heading_width(canvas));
}

// Of warnings or notes, each of them as long as it is.
inline std::size_t heading_lines(const std::vector<std::string>& texts, const char* mark,
                                 const Canvas& canvas) {
    std::size_t lines = 0;
    for (const std::string& text : texts) {
        lines += wrapped_to_width(mark + text, kFontPx, heading_width(canvas)).size();
    }
    return lines;
}

} // namespace eyeroof::report
