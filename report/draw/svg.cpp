#include "report/draw/svg.hpp"

#include "base/lines.hpp"
#include "report/draw/roofline_drawing.hpp"

#include <fmt/format.h>

namespace eyeroof::report {

namespace {

std::string theme_rules(Theme theme) {
    std::string css;
    for (std::size_t i = 0; i < kColourRoles; ++i) {
        const auto role = static_cast<ColourRole>(i);
        const std::string colour = hex(colour_of(role, theme));
        css += fmt::format(".f-{0}{{fill:{1}}}.s-{0}{{stroke:{1}}}\n", role_name(role), colour);
        const std::string ink = hex(ink_of(role, theme));
        css += ink == colour ? "" : fmt::format("text.f-{}{{fill:{}}}\n", role_name(role), ink);
    }
    css += fmt::format(".halo{{stroke:{}}}\n", hex(colour_of(ColourRole::plot, theme)));
    return css;
}

} // namespace

std::string svg_escape(std::string_view content) {
    std::string escaped;
    for (const char c : masked_controls(content)) {
        switch (c) {
        case '&':
            escaped += "&amp;";
            break;
        case '<':
            escaped += "&lt;";
            break;
        case '>':
            escaped += "&gt;";
            break;
        case '"':
            escaped += "&quot;";
            break;
        default:
            escaped += c;
        }
    }
    return escaped;
}

std::string svg_open(const Canvas& canvas, std::string_view title, std::string_view description,
                     SvgTheme theme) {
    std::string css = theme_rules(theme == SvgTheme::dark ? Theme::dark : Theme::light);
    if (theme == SvgTheme::automatic) {
        css += "@media (prefers-color-scheme: dark){\n" + theme_rules(Theme::dark) + "}\n";
    }
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" font-family=\"'Helvetica Neue', Arial, "
        "'Liberation Sans', 'DejaVu Sans', sans-serif\">\n<title>{2}</title>\n<desc>{3}</desc>\n"
        "<style>\n{4}</style>\n"
        "<rect class=\"f-background\" width=\"{0:.0f}\" height=\"{1:.0f}\"/>\n",
        canvas.width, canvas.height, svg_escape(title), svg_escape(description), css);
}

std::string to_svg(const RooflineScene& scene, SvgTheme theme) {
    return to_svg(drawn(scene), theme);
}

} // namespace eyeroof::report
