#include "report/fuse/fuse_report.hpp"

#include "base/csv.hpp"
#include "base/json.hpp"
#include "base/lines.hpp"
#include "base/units.hpp"
#include "report/draw/chart.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace eyeroof::report {

using Json = nlohmann::ordered_json;

namespace {

std::string names(const analysis::FusedGroup& group) {
    return group.layers.size() == 1 ? group.layers.front()
                                    : fmt::format("{} … {} ({})", group.layers.front(),
                                                  group.layers.back(), group.layers.size());
}

std::string bytes(double value) {
    return format_si(value, "B");
}

Json cost_json(const analysis::FuseCost& cost) {
    return {{"dram_bytes", cost.bytes},
            {"macs", cost.macs},
            {"time_s", cost.time_s},
            {"energy_j", cost.energy_j}};
}

std::string sizes_text(model::fuse::SizesTried sizes) {
    switch (sizes) {
    case model::fuse::SizesTried::all:
        return "all tile sizes";
    case model::fuse::SizesTried::each_number_of_tiles:
        return "tile sizes (all of planes up to 64, beyond one for each number of tiles)";
    case model::fuse::SizesTried::thinned:
        return "tile sizes (of planes above 4,096 numbers of tiles an eighth apart, at most "
               "65,536 of them)";
    }
    return {};
}

const char* aim_name(analysis::FuseAim aim) {
    return aim == analysis::FuseAim::traffic ? "traffic" : "latency";
}

// What "best" means here, and what it does not.
std::string proof_text(const analysis::FuseResult& r) {
    const std::string unfit =
        fmt::format("{} of {} not fit and counted with each tensor once: ", r.unfit(),
                    counted(r.groups.size(), "group"));
    const std::string searched =
        r.lone_proved ? "" : "; mappings of some single layers are not proven optimal";
    return wrapped((r.unfit() > 0   ? unfit + "the sums are lower bounds, least"
                    : r.lone_proved ? std::string("proven optimal")
                                    : std::string("best found")) +
                       " among partitions into neighbors, overlap modes, and " +
                       sizes_text(r.sizes) +
                       "; a convolution alone among its mappings with perfect factors, products in "
                       "tiles of rows, "
                       "pairs in any order of tiles" +
                       searched,
                   0, kTextColumns) +
           wrapped(r.edges_known
                       ? "edges: the network's graph; what several layers read leaves the chip"
                       : "edges: the order of the layers; an output that a later layer also reads "
                         "is not seen (a `graph` in the network's file states it)",
                   0, kTextColumns);
}

// "17.9 MB of memory traffic, 41 % less than layer by layer (30.4 MB)"
std::string beside(double together, double apart, const char* unit, const char* what) {
    const double saved = apart > 0.0 ? 1.0 - together / apart : 0.0;
    return wrapped(format_si(together, unit) + what +
                       (saved < 1e-6 ? std::string(", the same as layer by layer")
                                     : fmt::format(", {:.3g} % less than layer by layer ({})",
                                                   100.0 * saved, format_si(apart, unit))),
                   0, kTextColumns);
}

std::string answer_text(const analysis::FuseResult& r) {
    const auto fused = std::count_if(r.groups.begin(), r.groups.end(),
                                     [](const auto& group) { return group.layers.size() > 1; });
    std::string text = beside(r.together.bytes, r.apart.bytes, "B", " of memory traffic");
    text += beside(r.together.time_s, r.apart.time_s, "s", " at peak and full bandwidth");
    if (r.together.energy_j > 0.0) {
        text +=
            beside(r.together.energy_j, r.apart.energy_j, "J", " in MACs and the outermost memory");
    }
    text += wrapped_parts(
        {fmt::format("{} group{}, {} of several layers", r.groups.size(),
                     r.groups.size() == 1 ? "" : "s", fused),
         fmt::format("{} of {} on chip", format_iec(r.chip.buffer_bytes, "B"),
                     masked_controls(r.chip.buffer)),
         r.chip.dram_bytes_per_s > 0.0 ? bytes(r.chip.dram_bytes_per_s) + "/s of memory bandwidth"
                                       : std::string("memory bandwidth without limit"),
         format_si(r.chip.macs_per_s, "MAC/s"), fmt::format("least {}", aim_name(r.aim))},
        0, kTextColumns);
    return text;
}

const char* sizes_name(model::fuse::SizesTried sizes) {
    return sizes == model::fuse::SizesTried::all                    ? "all"
           : sizes == model::fuse::SizesTried::each_number_of_tiles ? "each_number_of_tiles"
                                                                    : "thinned";
}

} // namespace

std::string fuse_text(const analysis::FuseResult& r) {
    std::string text = answer_text(r);
    text += fmt::format("\n{} {:>10} {:>10} {:>7} {:>10}\n", left("group", 30), "apart", "together",
                        "MACs", "buffer");
    for (const analysis::FusedGroup& g : r.groups) {
        text +=
            fmt::format("{} {:>10} {:>10} {:>6.2f}x {:>10}\n", left(masked_controls(names(g)), 30),
                        bytes(g.apart.bytes), bytes(g.together.bytes),
                        g.apart.macs > 0.0 ? g.together.macs / g.apart.macs : 1.0,
                        format_iec(g.buffer_bytes, "B"));
        text += wrapped(g.how + "; " + masked_controls(g.ends), 2, kTextColumns);
    }
    text += "\n";
    if (!r.between.empty()) {
        text += fmt::format("not counted: {} applied on the way or moved separately\n",
                            counted(r.between.size(), "layer"));
    }
    return text + proof_text(r);
}

std::string fuse_json(const analysis::FuseResult& r) {
    Json groups = Json::array();
    for (const analysis::FusedGroup& g : r.groups) {
        groups.push_back({{"layers", g.layers},
                          {"count", g.count},
                          {"how", g.how},
                          {"fits", g.fits},
                          {"buffer_bytes", g.buffer_bytes},
                          {"together", cost_json(g.together)},
                          {"apart", cost_json(g.apart)},
                          {"ends", g.ends}});
    }
    return json_document(
        {{"schema", "eyeroof/fuse/1"},
         {"network", r.network},
         {"machine", r.chip.id},
         {"buffer", {{"name", r.chip.buffer}, {"bytes", r.chip.buffer_bytes}}},
         {"dram_bytes_per_s", r.chip.dram_bytes_per_s},
         {"macs_per_s", r.chip.macs_per_s},
         {"objective", aim_name(r.aim)},
         {"proof",
          {{"least", r.unfit() == 0 && r.lone_proved},
           {"groups_that_do_not_fit", r.unfit()},
           {"tile_sizes", sizes_name(r.sizes)},
           {"edges", r.edges_known ? "graph" : "order of layers"}}},
         {"groups", std::move(groups)},
         {"between", r.between},
         {"totals", {{"together", cost_json(r.together)}, {"apart", cost_json(r.apart)}}}});
}

std::string fuse_csv(const analysis::FuseResult& r) {
    std::string text = "first,last,layers,count,fits,buffer_bytes,dram_bytes,apart_dram_bytes,macs,"
                       "apart_macs,time_s,apart_time_s,energy_j,apart_energy_j,how,ends\n";
    for (const analysis::FusedGroup& g : r.groups) {
        text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                            csv_quoted(g.layers.front()), csv_quoted(g.layers.back()),
                            g.layers.size(), g.count, g.fits, g.buffer_bytes, g.together.bytes,
                            g.apart.bytes, g.together.macs, g.apart.macs, g.together.time_s,
                            g.apart.time_s, g.together.energy_j, g.apart.energy_j,
                            csv_quoted(g.how), csv_quoted(g.ends));
    }
    return text;
}

std::string fuse_curve_text(const std::string& network,
                            const std::vector<analysis::FusePoint>& curve) {
    std::string text = fmt::format("{}: least traffic by buffer\n\n{:>12} {:>11} {:>11} {:>7}\n",
                                   masked_controls(network), "buffer", "apart", "together", "");
    double most = 1.0;
    for (const analysis::FusePoint& p : curve) {
        most = p.fits ? std::max(most, p.apart_bytes) : most;
    }
    for (const analysis::FusePoint& p : curve) {
        if (!p.fits) {
            text +=
                fmt::format("{:>12} some layer does not fit\n", format_iec(p.buffer_bytes, "B"));
            continue;
        }
        text += fmt::format("{:>12} {:>11} {:>11} {:>6.2f}x {}\n", format_iec(p.buffer_bytes, "B"),
                            bytes(p.apart_bytes), bytes(p.together_bytes),
                            p.apart_bytes / p.together_bytes,
                            bar(p.together_bytes / most, p.apart_bytes / most, 30));
    }
    return text;
}

std::string fuse_curve_json(const std::string& network,
                            const std::vector<analysis::FusePoint>& curve) {
    Json points = Json::array();
    for (const analysis::FusePoint& p : curve) {
        points.push_back({{"buffer_bytes", p.buffer_bytes},
                          {"together_dram_bytes", p.together_bytes},
                          {"apart_dram_bytes", p.apart_bytes},
                          {"fits", p.fits}});
    }
    return json_document(
        {{"schema", "eyeroof/fuse-curve/1"}, {"network", network}, {"points", std::move(points)}});
}

std::string fuse_curve_csv(const std::vector<analysis::FusePoint>& curve) {
    std::string text = "buffer_bytes,together_dram_bytes,apart_dram_bytes,fits\n";
    for (const analysis::FusePoint& p : curve) {
        text +=
            fmt::format("{},{},{},{}\n", p.buffer_bytes, p.together_bytes, p.apart_bytes, p.fits);
    }
    return text;
}

std::string fuse_curve_svg(const std::string& network, const analysis::Chip& chip,
                           const std::vector<analysis::FusePoint>& curve) {
    Chart chart;
    chart.title = network + ": least traffic by buffer";
    chart.x_title = "buffer, bytes";
    chart.y_title = "traffic to memory, bytes";
    ChartLine together{"layers together", {}, true};
    ChartLine apart{"layer by layer", {}, true};
    for (const analysis::FusePoint& p : curve) {
        if (p.fits) {
            together.points.emplace_back(p.buffer_bytes, p.together_bytes);
            apart.points.emplace_back(p.buffer_bytes, p.apart_bytes);
        }
    }
    chart.lines = {std::move(apart), std::move(together)};
    chart.marks.push_back(
        {chip.buffer_bytes,
         fmt::format("{} of {}: {}", chip.buffer, chip.id, format_iec(chip.buffer_bytes, "B")),
         true});
    return chart_svg(chart);
}

} // namespace eyeroof::report
