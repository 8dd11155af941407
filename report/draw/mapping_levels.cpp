#include "base/units.hpp"
#include "report/draw/mapping_sections.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::report {

using model::Accelerator;

namespace {

constexpr double kIndent = 12.0;

ColourRole tensor_role(std::size_t operand) {
    return series_role(operand);
}

// What of a store's capacity a tile may take: half of a double buffer.
double live_capacity(const model::Store& store) {
    return static_cast<double>(*store.capacity_bytes) / std::max(1, store.buffers);
}

void add_store(MappingPage& page, const model::Level& level, const model::Store& store,
               const analysis::LayerReport& layer) {
    const double capacity = live_capacity(store);
    page.figure("buffer", level.name, "capacity bytes", capacity);
    double used = 0.0;
    std::string text;
    double x = MappingPage::kRim;
    page.y += 24.0;
    const double bar_top = page.y - 4.0;
    page.box({MappingPage::kRim, bar_top, page.inner(), 10.0}, ColourRole::grid, 1.0);
    for (const model::Operand o : model::kAllOperands) {
        const auto row = std::find_if(
            layer.traffic.begin(), layer.traffic.end(), [&](const analysis::TrafficRow& r) {
                return r.level == level.name && r.tensor == operand_name(o);
            });
        if (!store.operands.contains(o) || row == layer.traffic.end() || row->tile_bytes == 0) {
            continue;
        }
        const double bytes = static_cast<double>(row->tile_bytes);
        page.figure("buffer", level.name, std::string(operand_name(o)) + " bytes", bytes);
        const std::string held = fmt::format("{} {}", operand_name(o), format_iec(bytes, "B", 3));
        const double width =
            std::min(page.inner() * bytes / capacity, MappingPage::kRim + page.inner() - x);
        page.box({x, bar_top, std::max(1.0, width), 10.0}, tensor_role(index(o)), 1.0, held);
        x += width;
        used += bytes;
        text += (text.empty() ? "" : ", ") + held;
    }
    page.drawing.texts.push_back(
        {{MappingPage::kRim, bar_top - 5.0},
         fmt::format("{}: {} of {}{}", level.name, text.empty() ? "nothing" : text,
                     format_iec(capacity, "B", 3), store.buffers > 1 ? " a buffer" : ""),
         ColourRole::text,
         kSmallPx});
    page.drawing.texts.push_back({{MappingPage::kRim + page.inner(), bar_top - 5.0},
                                  fmt::format("{:.0f} %", 100.0 * used / capacity),
                                  used > capacity ? ColourRole::warning : ColourRole::text,
                                  kSmallPx,
                                  1.0});
    page.y += 8.0;
}

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

} // namespace

void add_buffers(MappingPage& page, const Accelerator& machine,
                 const analysis::LayerReport& layer) {
    page.heading("Buffers: what one instance holds");
    for (const model::Level& level : machine.levels) {
        for (const model::Store& store : level.stores) {
            if (store.capacity_bytes) {
                add_store(page, level, store, layer);
            }
        }
    }
    page.legend({{tensor_role(0), 1.0, "input"},
                 {tensor_role(1), 1.0, "weight"},
                 {tensor_role(2), 1.0, "output"}});
}

void add_nest(MappingPage& page, const Accelerator& machine, const model::Mapping& mapping) {
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
        page.box({MappingPage::kRim + indent - 7.0, top, 3.0, page.y - top + 3.0}, series_role(i),
                 1.0);
        page.y += 3.0;
    }
}

} // namespace eyeroof::report
