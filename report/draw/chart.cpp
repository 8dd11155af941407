#include "report/draw/chart.hpp"

#include "report/draw/chart_scene.hpp"
#include "report/draw/svg.hpp"

namespace eyeroof::report {

std::string chart_svg(const Chart& chart) {
    return to_svg(draw_chart(chart, {820.0, 440.0}), SvgTheme::automatic);
}

} // namespace eyeroof::report
