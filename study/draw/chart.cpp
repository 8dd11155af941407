#include "study/draw/chart.hpp"

#include "study/draw/chart_scene.hpp"
#include "study/draw/svg.hpp"

namespace eyeroof::study {

std::string chart_svg(const Chart& chart) {
    return to_svg(draw_chart(chart, {820.0, 440.0}));
}

} // namespace eyeroof::study
