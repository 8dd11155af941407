#include "gui/knobs.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::gui {

namespace {

using model::Accelerator;
using model::Gpu;
using model::Machine;

Accelerator& accelerator(Machine& machine) {
    return std::get<Accelerator>(machine.kind);
}
Gpu& gpu(Machine& machine) {
    return std::get<Gpu>(machine.kind);
}
model::Count whole(double value) {
    return static_cast<model::Count>(std::llround(std::max(1.0, value)));
}

void add_level(std::vector<Knob>& knobs, const model::Level& level, std::size_t index) {
    for (std::size_t s = 0; s < level.stores.size(); ++s) {
        if (const auto capacity = level.stores[s].capacity_bytes) {
            const std::string which =
                level.stores.size() > 1 ? " " + std::to_string(s + 1) : std::string{};
            knobs.push_back({level.name + which + " capacity", "B", static_cast<double>(*capacity),
                             true, [=](Machine& m, double v) {
                                 accelerator(m).levels[index].stores[s].capacity_bytes = whole(v);
                             }});
        }
    }
    for (std::size_t c = 0; c < level.channels.size(); ++c) {
        const model::Channel& channel = level.channels[c];
        if (std::isfinite(channel.down_bytes_per_cycle)) {
            const std::string name = channel.name.empty() ? level.name : channel.name;
            knobs.push_back({name + " bandwidth", "B/cycle", channel.down_bytes_per_cycle, false,
                             [=](Machine& m, double v) {
                                 auto& changed = accelerator(m).levels[index].channels[c];
                                 const double factor = v / changed.down_bytes_per_cycle;
                                 changed.down_bytes_per_cycle = v;
                                 changed.up_bytes_per_cycle *= factor;
                             }});
        }
    }
    for (std::size_t a = 0; a < level.fanout.size(); ++a) {
        if (level.fanout[a].size > 1) {
            knobs.push_back({"axis " + level.fanout[a].name, "",
                             static_cast<double>(level.fanout[a].size), true,
                             [=](Machine& m, double v) {
                                 accelerator(m).levels[index].fanout[a].size = whole(v);
                             }});
        }
    }
}

std::vector<Knob> knobs(const Accelerator& machine) {
    std::vector<Knob> all = {{"clock", "Hz", machine.clock_hz, false,
                              [](Machine& m, double v) { accelerator(m).clock_hz = v; }}};
    for (std::size_t i = 0; i < machine.levels.size(); ++i) {
        add_level(all, machine.levels[i], i);
    }
    return all;
}

std::vector<Knob> knobs(const Gpu& machine) {
    std::vector<Knob> all;
    all.push_back({"SMs", "", static_cast<double>(machine.sms), true, [](Machine& m, double v) {
                       const double factor = static_cast<double>(whole(v)) / gpu(m).sms;
                       gpu(m).sms = static_cast<int>(whole(v));
                       for (model::Rate& rate : gpu(m).rates) {
                           rate.flops_per_s *= factor; // each SM brings its own units
                       }
                   }});
    all.push_back({"boost clock", "Hz", machine.boost_hz, false, [](Machine& m, double v) {
                       const double factor = v / gpu(m).boost_hz;
                       gpu(m).boost_hz = v;
                       gpu(m).tensor_hz *= factor;
                       gpu(m).base_hz *= factor;
                       for (model::Rate& rate : gpu(m).rates) {
                           rate.flops_per_s *= factor;
                       }
                   }});
    all.push_back({"DRAM bandwidth", "B/s", machine.dram_bytes_per_s, false,
                   [](Machine& m, double v) { gpu(m).dram_bytes_per_s = v; }});
    if (machine.l2_bytes > 0.0) {
        all.push_back({"L2 capacity", "B", machine.l2_bytes, true,
                       [](Machine& m, double v) { gpu(m).l2_bytes = v; }});
    }
    if (machine.l2_bytes_per_s > 0.0) {
        all.push_back({"L2 bandwidth", "B/s", machine.l2_bytes_per_s, false,
                       [](Machine& m, double v) { gpu(m).l2_bytes_per_s = v; }});
    }
    return all;
}

} // namespace

std::vector<Knob> knobs_of(const model::Machine& machine) {
    return std::visit([](const auto& kind) { return knobs(kind); }, machine.kind);
}

} // namespace eyeroof::gui
