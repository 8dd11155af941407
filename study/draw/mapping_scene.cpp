#include "study/draw/mapping_scene.hpp"

#include "model/base/units.hpp"
#include "model/gpu/predict.hpp"
#include "study/draw/pe_array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::study {

using model::Accelerator;
using model::Count;

namespace {

constexpr double kRim = 10.0;
constexpr double kLine = 17.0;
constexpr double kIndent = 12.0;
constexpr double kMostArrayHeight = 230.0;
constexpr double kFine = 3.0; // cells below this many pixels are drawn in runs

ColourRole tensor_role(std::size_t operand) {
    return series_role(operand);
}

// Puts sections below each other.
class Page {
  public:
    explicit Page(double width) : width_(std::max(width, 240.0)) {}

    Drawing drawing;
    double y = kRim;
    double width() const { return width_; }
    double inner() const { return width_ - 2.0 * kRim; }

    void heading(const std::string& text) {
        y += kLine;
        drawing.texts.push_back({{kRim, y}, text, ColourRole::text, kFontPx, 0.0, true});
        y += 6.0;
    }
    // Wrapped at blanks.
    void line(const std::string& text, double indent = 0.0, ColourRole role = ColourRole::text) {
        std::string rest = text;
        while (!rest.empty()) {
            std::size_t end = rest.size();
            while (text_width(rest.substr(0, end), kSmallPx) > inner() - indent) {
                const std::size_t blank = rest.rfind(' ', end - 1);
                if (blank == std::string::npos || blank == 0) {
                    break;
                }
                end = blank;
            }
            y += kLine - 2.0;
            drawing.texts.push_back({{kRim + indent, y}, rest.substr(0, end), role, kSmallPx});
            rest = end < rest.size() ? rest.substr(end + 1) : std::string{};
        }
    }
    void box(const Box& box, ColourRole role, double opacity, const std::string& tip = {},
             bool outline = false) {
        drawing.boxes.push_back({box, role, opacity, outline, tip});
    }
    void figure(const std::string& part, const std::string& where, const std::string& what,
                double value) {
        drawing.figures.rows.push_back({part, where, what, value});
    }
    Drawing finish(const std::string& title) {
        drawing.figures.columns = {"part", "where", "what", "value"};
        drawing.canvas = {width_, y + kRim};
        drawing.title = title;
        return std::move(drawing);
    }

  private:
    double width_;
};

std::string loops_text(const model::LevelMapping& level, const model::Level& machine) {
    std::string text;
    for (const model::TemporalLoop& loop : level.temporal) {
        text += fmt::format("{}for {} {}", text.empty() ? "" : ", ", letter(loop.dim), loop.bound);
    }
    for (const model::SpatialLoop& loop : level.spatial) {
        text += fmt::format("{}spread {} {} over {}", text.empty() ? "" : ", ", letter(loop.dim),
                            loop.bound, machine.fanout[loop.axis].name);
    }
    return text;
}

void add_nest(Page& page, const Accelerator& machine, const model::Mapping& mapping) {
    page.heading("Loop nest");
    for (std::size_t i = 0; i < mapping.levels.size(); ++i) {
        const double indent = kIndent * static_cast<double>(i) + 8.0;
        for (const model::TemporalLoop& loop : mapping.levels[i].temporal) {
            page.figure("loop", machine.levels[i].name, fmt::format("for {}", letter(loop.dim)),
                        static_cast<double>(loop.bound));
        }
        for (const model::SpatialLoop& loop : mapping.levels[i].spatial) {
            page.figure("loop", machine.levels[i].name,
                        fmt::format("spread {} over {}", letter(loop.dim),
                                    machine.levels[i].fanout[loop.axis].name),
                        static_cast<double>(loop.bound));
        }
        const double top = page.y + 4.0;
        std::string keeps;
        for (const model::Operand o : model::kAllOperands) {
            if (mapping.levels[i].keeps.contains(o)) {
                keeps += (keeps.empty() ? "" : ", ") + std::string(operand_name(o));
            }
        }
        page.line(machine.levels[i].name + (keeps.empty() ? "" : " keeps " + keeps), indent);
        const std::string loops = loops_text(mapping.levels[i], machine.levels[i]);
        if (!loops.empty()) {
            page.line(loops, indent + kIndent, ColourRole::faint);
        }
        page.box({kRim + indent - 7.0, top, 3.0, page.y - top + 3.0}, series_role(i), 1.0);
        page.y += 3.0;
    }
}

std::string activity_text(double share) {
    return share <= 0.0  ? "idle"
           : share < 1.0 ? fmt::format("active in {:.1f} % of the steps", 100.0 * share)
                         : "active in every step";
}

void paint_cell(Page& page, const Box& box, double share) {
    const bool idle = share <= 0.0;
    const bool partial = !idle && share < 1.0;
    page.box(box,
             idle      ? ColourRole::grid
             : partial ? ColourRole::series2
                       : ColourRole::series1,
             idle      ? 1.0
             : partial ? 0.35 + 0.65 * share
                       : 1.0,
             activity_text(share));
}

// Small cells of equal activity become one box.
void add_cells(Page& page, const ArrayWork& work, double left, double cell_x, double cell_y) {
    const bool fine = std::min(cell_x, cell_y) < kFine;
    const double gap = fine ? 0.0 : std::min(1.5, std::min(cell_x, cell_y) * 0.12);
    for (Count row = 0; row < work.rows;) {
        Count rows = 1;
        const auto same_row = [&](Count other) {
            const auto begin =
                work.active.begin() + static_cast<std::ptrdiff_t>(row * work.columns);
            const auto there =
                work.active.begin() + static_cast<std::ptrdiff_t>(other * work.columns);
            return std::equal(begin, begin + static_cast<std::ptrdiff_t>(work.columns), there);
        };
        while (fine && row + rows < work.rows && same_row(row + rows)) {
            ++rows;
        }
        for (Count column = 0; column < work.columns;) {
            const double share = work.at(column, row);
            Count columns = 1;
            while (fine && column + columns < work.columns &&
                   work.at(column + columns, row) == share) {
                ++columns;
            }
            paint_cell(page,
                       {left + static_cast<double>(column) * cell_x + gap / 2.0,
                        page.y + static_cast<double>(row) * cell_y + gap / 2.0,
                        static_cast<double>(columns) * cell_x - gap,
                        static_cast<double>(rows) * cell_y - gap},
                       share);
            const bool one = columns == 1 && rows == 1;
            page.figure(one ? "unit" : "units",
                        one ? fmt::format("column {} row {}", column, row)
                            : fmt::format("columns {} to {} rows {} to {}", column,
                                          column + columns - 1, row, row + rows - 1),
                        "share of steps active", share);
            column += columns;
        }
        row += rows;
    }
}

struct LegendItem {
    ColourRole role;
    double opacity;
    std::string text;
};

void add_legend(Page& page, const std::vector<LegendItem>& items) {
    double x = kRim;
    page.y += kLine;
    for (const LegendItem& item : items) {
        const double width = 16.0 + text_width(item.text, kSmallPx) + 12.0;
        if (x > kRim && x + width > page.width() - kRim) {
            x = kRim;
            page.y += kLine;
        }
        page.box({x, page.y - 9.0, 10.0, 10.0}, item.role, item.opacity);
        page.drawing.texts.push_back({{x + 15.0, page.y}, item.text, ColourRole::text, kSmallPx});
        x += width;
    }
}

void count_units(const ArrayWork& work, MappingScene& scene) {
    for (const double share : work.active) {
        (share <= 0.0 ? scene.idle : share < 1.0 ? scene.sometimes : scene.always) += 1;
        scene.averaged += share;
    }
}

void add_array(Page& page, const ArrayWork& work, MappingScene& scene) {
    page.heading(fmt::format("Array of {} x {} units", work.columns, work.rows));
    if (work.active.empty()) {
        return page.line("too large to draw", 0.0, ColourRole::faint);
    }
    count_units(work, scene);
    const double cell = std::min({page.inner() / static_cast<double>(work.columns),
                                  kMostArrayHeight / static_cast<double>(work.rows), 22.0});
    // very flat arrays get taller cells, so that there is something to see
    const double cell_y =
        std::max(cell, std::min(14.0, kMostArrayHeight / 4.0 / static_cast<double>(work.rows)));
    page.y += 4.0;
    add_cells(page, work, kRim, cell, cell_y);
    page.y += cell_y * static_cast<double>(work.rows) + 2.0;
    if (!work.column_axes.empty()) {
        page.line(fmt::format("columns: {}{}", work.column_axes,
                              work.row_axes.empty() ? "" : "; rows: " + work.row_axes),
                  0.0, ColourRole::faint);
    }
    add_legend(page, {{ColourRole::series1, 1.0, fmt::format("{} in every step", scene.always)},
                      {ColourRole::series2, 0.7, fmt::format("{} fragmented", scene.sometimes)},
                      {ColourRole::grid, 1.0, fmt::format("{} idle", scene.idle)}});
    scene.summary = fmt::format(
        "{} of {} units work in every step, {} in some, {} never; {:.1f} on average over {} steps",
        scene.always, work.active.size(), scene.sometimes, scene.idle, scene.averaged, work.steps);
    page.line(
        fmt::format("{:.1f} units active on average over {} steps", scene.averaged, work.steps),
        0.0, ColourRole::faint);
}

// What of a store's capacity a tile may take: half of a double buffer.
double live_capacity(const model::Store& store) {
    return static_cast<double>(*store.capacity_bytes) / std::max(1, store.buffers);
}

void add_store(Page& page, const model::Level& level, const model::Store& store,
               const LayerReport& layer) {
    const double capacity = live_capacity(store);
    page.figure("buffer", level.name, "capacity bytes", capacity);
    double used = 0.0;
    std::string text;
    double x = kRim;
    page.y += 24.0;
    const double bar_top = page.y - 4.0;
    page.box({kRim, bar_top, page.inner(), 10.0}, ColourRole::grid, 1.0);
    for (const model::Operand o : model::kAllOperands) {
        const auto row =
            std::find_if(layer.traffic.begin(), layer.traffic.end(), [&](const TrafficRow& r) {
                return r.level == level.name && r.tensor == operand_name(o);
            });
        if (!store.operands.contains(o) || row == layer.traffic.end() || row->tile_bytes == 0) {
            continue;
        }
        const double bytes = static_cast<double>(row->tile_bytes);
        page.figure("buffer", level.name, std::string(operand_name(o)) + " bytes", bytes);
        const std::string held =
            fmt::format("{} {}", operand_name(o), model::format_iec(bytes, "B", 3));
        const double width = std::min(page.inner() * bytes / capacity, kRim + page.inner() - x);
        page.box({x, bar_top, std::max(1.0, width), 10.0}, tensor_role(index(o)), 1.0, held);
        x += width;
        used += bytes;
        text += (text.empty() ? "" : ", ") + held;
    }
    page.drawing.texts.push_back(
        {{kRim, bar_top - 5.0},
         fmt::format("{}: {} of {}{}", level.name, text.empty() ? "nothing" : text,
                     model::format_iec(capacity, "B", 3), store.buffers > 1 ? " a buffer" : ""),
         ColourRole::text,
         kSmallPx});
    page.drawing.texts.push_back({{kRim + page.inner(), bar_top - 5.0},
                                  fmt::format("{:.0f} %", 100.0 * used / capacity),
                                  used > capacity ? ColourRole::warning : ColourRole::text,
                                  kSmallPx,
                                  1.0});
    page.y += 8.0;
}

void add_buffers(Page& page, const Accelerator& machine, const LayerReport& layer) {
    page.heading("Buffers: what one instance holds");
    for (const model::Level& level : machine.levels) {
        for (const model::Store& store : level.stores) {
            if (store.capacity_bytes) {
                add_store(page, level, store, layer);
            }
        }
    }
    add_legend(page, {{tensor_role(0), 1.0, "input"},
                      {tensor_role(1), 1.0, "weight"},
                      {tensor_role(2), 1.0, "output"}});
}

MappingScene accelerator_scene(const model::Machine& machine, const LayerReport& layer,
                               std::size_t nest, double width) {
    MappingScene scene;
    Page page(width);
    const auto& accelerator = std::get<Accelerator>(machine.kind);
    const auto problems = model::problems_of(layer.layer);
    if (!problems || nest >= layer.mappings.size() || nest >= problems->size()) {
        page.line("This layer does not run on the array: only its memory traffic counts.");
        scene.drawing = page.finish("No mapping");
        return scene;
    }
    const ArrayWork work = array_work((*problems)[nest], accelerator, layer.mappings[nest]);
    add_array(page, work, scene);
    add_buffers(page, accelerator, layer);
    add_nest(page, accelerator, layer.mappings[nest]);
    scene.drawing = page.finish(scene.summary);
    return scene;
}

// The result as a grid of tiles; at most so many rows and columns are drawn, the rest is told.
void add_tiles(Page& page, const model::Product& product, const model::KernelMapping& mapping) {
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
            const Box box{kRim + c * cell, page.y + r * cell, cell - 1.0, cell - 1.0};
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

void add_waves(Page& page, const model::Waves& waves, int sms, MappingScene& scene) {
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
        page.box({kRim + sm % columns * cell, page.y + sm / columns * cell, cell - 1.5, cell - 1.5},
                 in_last   ? ColourRole::series1
                 : earlier ? ColourRole::series2
                           : ColourRole::grid,
                 in_last || !earlier ? 1.0 : 0.6,
                 in_last   ? "works in every wave"
                 : earlier ? "idle in the last wave"
                           : "idle");
    }
    page.y += cell * rows;
    add_legend(page, {{ColourRole::series1, 1.0, "works in every wave"},
                      {ColourRole::series2, 0.6, "idle in the last wave"},
                      {ColourRole::grid, 1.0, "idle"}});
    scene.summary = fmt::format("{:.0f} CTAs in {:.0f} waves over {} SMs, {:.1f} % of the turns "
                                "have work",
                                waves.ctas, waves.full, sms, 100.0 * waves.efficiency);
}

MappingScene gpu_scene(const model::Gpu& gpu, const LayerReport& layer, double width) {
    MappingScene scene;
    Page page(width);
    page.heading("Kernel");
    page.line(layer.mapping_text);
    if (!layer.kernel || !layer.kernel->product) {
        page.line(
            layer.kernel && layer.kernel->mapping
                ? "Its tiles are no tiles of the result and cannot be drawn on it: they cover "
                  "transformed inputs, or several products in turn. Step 4 counts them."
                : "No product: elements stream through all SMs.",
            0.0, ColourRole::faint);
        scene.drawing = page.finish("Kernel: " + layer.mapping_text);
        return scene;
    }
    add_tiles(page, *layer.kernel->product, *layer.kernel->mapping);
    add_waves(page, *layer.kernel->waves, gpu.sms, scene);
    scene.drawing = page.finish(scene.summary);
    return scene;
}

} // namespace

std::string tip_at(const Drawing& drawing, Place place) {
    for (auto box = drawing.boxes.rbegin(); box != drawing.boxes.rend(); ++box) {
        if (!box->tip.empty() && overlap(box->box, {place.x, place.y, 0.1, 0.1})) {
            return box->tip;
        }
    }
    return {};
}

MappingScene make_mapping_scene(const model::Machine& machine, const LayerReport& layer,
                                std::size_t nest, double width) {
    if (const auto* gpu = std::get_if<model::Gpu>(&machine.kind)) {
        return gpu_scene(*gpu, layer, width);
    }
    return accelerator_scene(machine, layer, nest, width);
}

} // namespace eyeroof::study
