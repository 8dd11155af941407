// How much room the lines above a roofline take: asked where the axes are placed and where the
// lines are drawn, so that both mean the same.
#pragma once

#include "report/draw/canvas.hpp"
#include "report/draw/fitted_text.hpp"

namespace eyeroof::report {

inline constexpr const char* kWarningMark = "! ";

inline double heading_width(const Canvas& canvas) {
    constexpr double margins = 2.0 * 16.0;
    return canvas.width - margins;
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
