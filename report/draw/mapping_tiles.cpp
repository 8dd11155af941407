#include "model/gpu/predict.hpp"
#include "report/draw/mapping_sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::report {

// The result as a grid of tiles; at most so many rows and columns are drawn, the rest is counted.
void add_tiles(MappingPage& page, const model::Product& product,
               const model::KernelMapping& mapping) {
    constexpr double most = 28.0;
    const double rows = std::ceil(product.m / mapping.tile.tm);
    const double columns = std::ceil(product.n / mapping.tile.tn);
    page.heading("Tiles of the result");
    page.line(fmt::format(
        "{:.0f} x {:.0f} results in tiles of {} x {}: {:.0f} x {:.0f} tiles{}{}", product.m,
        product.n, mapping.tile.tm, mapping.tile.tn, rows, columns,
        mapping.splits > 1 ? fmt::format(", each split over {} CTAs", mapping.splits) : "",
        product.batch > 1.0 ? fmt::format(", {:.0f} products", product.batch) : ""));
    page.figure("tiles", "result", "rows", rows);
    page.figure("tiles", "result", "columns", columns);
    page.figure("tiles", "tile", "height", mapping.tile.tm);
    page.figure("tiles", "tile", "width", mapping.tile.tn);
    page.figure("tiles", "result", "splits", mapping.splits);
    // A tall result lies on its side, or its tiles would be too small to see.
    const bool turned = rows > columns;
    const double shown_rows = std::min(turned ? columns : rows, most);
    const double shown_columns = std::min(turned ? rows : columns, most);
    const double cell = std::min({page.inner() / shown_columns, 150.0 / shown_rows, 26.0});
    page.y += 6.0;
    const auto filled = [&](double at, double count, double size, double tile) {
        return count <= most && at + 1.0 == count ? (size - at * tile) / tile : 1.0;
    };
    for (double r = 0.0; r < shown_rows; ++r) {
        for (double c = 0.0; c < shown_columns; ++c) {
            const double m = filled(turned ? c : r, rows, product.m, mapping.tile.tm);
            const double n = filled(turned ? r : c, columns, product.n, mapping.tile.tn);
            const double high = turned ? n : m;
            const double wide = turned ? m : n;
            const Box box{MappingPage::kRim + c * cell, page.y + r * cell, cell - 1.0, cell - 1.0};
            const bool whole = high >= 1.0 && wide >= 1.0;
            page.box(box, ColourRole::grid, 1.0,
                     whole ? "a whole tile"
                           : fmt::format("{:.0f} % of this tile are results", 100 * high * wide));
            page.box({box.left, box.top, box.width * wide, box.height * high},
                     whole ? ColourRole::series1 : ColourRole::series2, 1.0);
        }
    }
    page.y += cell * shown_rows;
    if (turned || rows > most || columns > most) {
        page.line(fmt::format("{}{}{}",
                              rows > most || columns > most
                                  ? fmt::format("the first {:.0f} x {:.0f} of them", shown_rows,
                                                shown_columns)
                                  : "",
                              turned && (rows > most || columns > most) ? ", " : "",
                              turned ? "on their side: rows of the result run to the right" : ""),
                  0.0, ColourRole::faint);
    }
}

void add_waves(MappingPage& page, const model::Waves& waves, int sms, MappingScene& scene) {
    page.heading("Waves over the SMs");
    const double last = waves.ctas - (waves.full - 1.0) * sms;
    page.figure("waves", "SMs", "count", sms);
    page.figure("waves", "grid", "CTAs", waves.ctas);
    page.figure("waves", "grid", "waves", waves.full);
    page.figure("waves", "last", "CTAs", last);
    page.figure("waves", "all", "share of SM turns with work", waves.efficiency);
    page.figure("waves", "all", "share of tiles that are results", waves.tile_efficiency);
    scene.always = waves.full > 1.0 ? sms : static_cast<Count>(last);
    scene.idle = waves.full > 1.0 ? 0 : sms - scene.always;
    scene.averaged = waves.efficiency * sms;
    page.line(fmt::format("{:.0f} CTAs in {:.0f} wave{} over {} SMs; the last one fills {:.0f} of "
                          "them. {:.1f} % of the SM turns have work, {:.1f} % of their tiles are "
                          "results.",
                          waves.ctas, waves.full, waves.full > 1.0 ? "s" : "", sms, last,
                          100.0 * waves.efficiency, 100.0 * waves.tile_efficiency));
    const int columns = std::max(1, static_cast<int>(std::ceil(std::sqrt(2.2 * sms))));
    const int rows = (sms + columns - 1) / columns;
    const double cell = std::min({page.inner() / columns, 130.0 / rows, 18.0});
    page.y += 6.0;
    for (int sm = 0; sm < sms; ++sm) {
        const bool in_last = sm < last;
        const bool earlier = waves.full > 1.0;
        page.box({MappingPage::kRim + sm % columns * cell, page.y + sm / columns * cell, cell - 1.5,
                  cell - 1.5},
                 in_last   ? ColourRole::series1
                 : earlier ? ColourRole::series2
                           : ColourRole::grid,
                 in_last || !earlier ? 1.0 : 0.6,
                 in_last   ? "works in every wave"
                 : earlier ? "idle in the last wave"
                           : "idle");
    }
    page.y += cell * rows;
    page.legend({{ColourRole::series1, 1.0, "works in every wave"},
                 {ColourRole::series2, 0.6, "idle in the last wave"},
                 {ColourRole::grid, 1.0, "idle"}});
    scene.summary = fmt::format("{:.0f} CTAs in {:.0f} waves over {} SMs, {:.1f} % of the turns "
                                "have work",
                                waves.ctas, waves.full, sms, 100.0 * waves.efficiency);
}

} // namespace eyeroof::report
