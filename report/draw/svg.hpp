// Scenes as SVG: text stays text, colors are classes, and nothing is loaded from outside. Only
// writes: the scene holds all positions and figures.
#pragma once

#include "report/draw/drawing.hpp"
#include "report/draw/roofline_scene.hpp"
#include "report/draw/waterfall_scene.hpp"

#include <string>
#include <string_view>

namespace eyeroof::report {

// light or dark always; `automatic` follows the reader's setting where the viewer knows one, and is
// light elsewhere.
enum class SvgTheme { light, dark, automatic };

std::string to_svg(const Drawing& drawing, SvgTheme theme = SvgTheme::light);
std::string to_svg(const RooflineScene& scene, SvgTheme theme = SvgTheme::light);
std::string to_svg(const WaterfallScene& scene, SvgTheme theme = SvgTheme::light);

// Shared by the writers of SVG.
std::string svg_escape(std::string_view text); // for text and attributes; controls become '?'

// Of a text of class "halo": what lies below it keeps a little away.
inline constexpr std::string_view kHalo =
    " paint-order=\"stroke\" stroke-width=\"3\" stroke-linejoin=\"round\"";

std::string svg_open(const Canvas& canvas, std::string_view title, std::string_view description,
                     SvgTheme theme);

} // namespace eyeroof::report
