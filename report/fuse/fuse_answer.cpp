#include "report/fuse/fuse_answer.hpp"

#include "base/lines.hpp"
#include "base/units.hpp"
#include "report/draw/chart_scene.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::report {

namespace {

using analysis::FuseCost;
using analysis::FusedGroup;
using analysis::FusePoint;
using analysis::FuseResult;

const char* sizes_name(model::fuse::SizesTried sizes) {
    return sizes == model::fuse::SizesTried::all                    ? "all"
           : sizes == model::fuse::SizesTried::each_number_of_tiles ? "each_number_of_tiles"
                                                                    : "thinned";
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

// What "best" means here, and what it does not.
std::string proof_text(const FuseResult& r) {
    return (r.unfit() > 0   ? std::string("least")
            : r.lone_proved ? std::string("proven optimal")
                            : std::string("best found")) +
           " among partitions into neighbors, overlap modes, and " + sizes_text(r.sizes) +
           "; a convolution alone among its even mappings with perfect factors, products in tiles "
           "of "
           "rows, pairs in any order of tiles" +
           (r.lone_proved ? "" : "; mappings of some single layers are not proven optimal");
}

// "17.9 MB of memory traffic, 41 % less than layer by layer (30.4 MB)"
std::string beside(double together, double apart, const char* unit, const char* what) {
    const double saved = apart > 0.0 ? 1.0 - together / apart : 0.0;
    return format_si(together, unit) + what +
           (saved < 1e-6 ? std::string(", the same as layer by layer")
                         : fmt::format(", {:.3g} % less than layer by layer ({})", 100.0 * saved,
                                       format_si(apart, unit)));
}

std::vector<std::string> group_sentences(const FuseResult& r) {
    std::vector<std::string> lines = {
        beside(r.together.bytes, r.apart.bytes, "B", " of memory traffic"),
        beside(r.together.time_s, r.apart.time_s, "s", " at peak and full bandwidth")};
    if (r.together.energy_j > 0.0) {
        lines.push_back(beside(r.together.energy_j, r.apart.energy_j, "J",
                               " in MACs and the outermost memory"));
    }
    const auto fused = std::ranges::count_if(
        r.groups, [](const FusedGroup& group) { return group.layers.size() > 1; });
    lines.push_back(
        fmt::format("{}, {} of several layers", counted(r.groups.size(), "group"), fused));
    return lines;
}

template <class Row>
void add_cost(std::vector<Column<Row>>& columns, const std::string& side, const std::string& title,
              FuseCost Row::*cost) {
    const auto add = [&](const char* key, Unit unit, double FuseCost::*member, unsigned where,
                         const char* meaning) {
        columns.emplace_back(
            side + key, title, unit, [cost, member](const Row& row) { return row.*cost.*member; },
            where, meaning);
    };
    add(".dram_bytes", Unit::bytes, &FuseCost::bytes, kAll, "to and from outside the chip");
    add(".macs", Unit::macs, &FuseCost::macs, kPrograms, "with what is computed twice");
    add(".time_s", Unit::seconds, &FuseCost::time_s, kPrograms,
        "the larger of work at peak and bytes at full bandwidth, group after group");
    add(".energy_j", Unit::joules, &FuseCost::energy_j, kPrograms,
        "of MACs and of the outermost memory, not of what moves on the chip; 0: the machine names "
        "no energies");
}

AnswerTable groups_of(const FuseResult& r) {
    std::vector<Column<FusedGroup>> columns = {
        {"layers", "layers", Unit::none, &FusedGroup::layers},
        {"count", "runs", Unit::count, &FusedGroup::count}};
    add_cost(columns, "apart", "apart", &FusedGroup::apart);
    add_cost(columns, "together", "together", &FusedGroup::together);
    const auto again = [](const FusedGroup& g) {
        return g.apart.macs > 0.0 ? g.together.macs / g.apart.macs : 1.0;
    };
    columns.insert(columns.end(),
                   {{"", "MACs", Unit::times, again, kPeople, "together, of those apart"},
                    {"buffer_bytes", "buffer", Unit::iec_bytes, &FusedGroup::buffer_bytes, kAll,
                     "that the group needs"},
                    {"fits", "fits", Unit::none, &FusedGroup::fits, kAll,
                     "no: a layer fits nowhere, and each tensor is counted once"},
                    {"how", "how", Unit::sentence, &FusedGroup::how},
                    {"ends", "ends because", Unit::sentence, &FusedGroup::ends, kAll,
                     "why the group does not go on"}});
    return make_table("groups", "", r.groups, columns);
}

struct Totals {
    FuseCost cost;
};

void add_totals(std::vector<Figure>& figures, const std::string& side, const FuseCost& cost) {
    std::vector<Column<Totals>> columns;
    add_cost(columns, "totals." + side, "", &Totals::cost);
    add_figures(figures, {cost}, columns);
}

std::vector<Figure> figures_of(const FuseResult& r) {
    const analysis::Chip& chip = r.chip;
    std::vector<Figure> figures = {
        {"network", "", r.network},
        {"machine", "", chip.id},
        {"buffer.name", "buffer", chip.buffer},
        {"buffer.bytes", "capacity", chip.buffer_bytes, Unit::iec_bytes},
        {"dram_bytes_per_s", "", chip.dram_bytes_per_s, Unit::bytes_per_s, kPrograms,
         "0: no limit"},
        {"", "memory bandwidth",
         chip.dram_bytes_per_s > 0.0 ? format_si(chip.dram_bytes_per_s, "B/s") : "without limit",
         Unit::none, kPeople},
        {"macs_per_s", "peak", chip.macs_per_s, Unit::macs_per_s},
        {"objective", "least", r.aim == analysis::FuseAim::traffic ? "traffic" : "latency",
         Unit::none, kAll, "traffic or latency"},
        {"proof.least", "", r.unfit() == 0 && r.lone_proved, Unit::none, kPrograms,
         "whether the sums are proven optimal"},
        {"proof.groups_that_do_not_fit", "", r.unfit(), Unit::count, kPrograms,
         "above 0 the sums are lower bounds"},
        {"proof.tile_sizes", "", sizes_name(r.sizes), Unit::none, kPrograms,
         "all, each_number_of_tiles, or thinned"},
        {"proof.edges", "", r.edges_known ? "graph" : "order of layers", Unit::none, kPrograms,
         "from where it is known which layer reads what"},
        {"between", "", r.between, Unit::none, kPrograms, "layers that are not counted"}};
    add_totals(figures, "together", r.together);
    add_totals(figures, "apart", r.apart);
    return figures;
}

Chart chart_of(const std::string& title, const analysis::Chip& chip,
               const std::vector<FusePoint>& curve) {
    ChartLine together{"layers together", {}, true};
    ChartLine apart{"layer by layer", {}, true};
    for (const FusePoint& p : curve) {
        if (p.fits) {
            together.points.emplace_back(p.buffer_bytes, p.together_bytes);
            apart.points.emplace_back(p.buffer_bytes, p.apart_bytes);
        }
    }
    Chart chart;
    chart.title = title;
    chart.x_title = "buffer, bytes";
    chart.y_title = "traffic to memory, bytes";
    chart.lines = {std::move(apart), std::move(together)};
    chart.marks.push_back(
        {chip.buffer_bytes,
         fmt::format("{} of {}: {}", chip.buffer, chip.id, format_iec(chip.buffer_bytes, "B")),
         true});
    return chart;
}

AnswerTable points_of(const std::vector<FusePoint>& curve) {
    double most = 1.0;
    for (const FusePoint& p : curve) {
        most = p.fits ? std::max(most, p.apart_bytes) : most;
    }
    const auto share = [most](const FusePoint& p) {
        return std::min(1.0, p.together_bytes / most);
    };
    const auto gain = [](const FusePoint& p) { return p.apart_bytes / p.together_bytes; };
    return make_table<FusePoint>(
        "points", "", curve,
        {{"buffer_bytes", "buffer", Unit::iec_bytes, &FusePoint::buffer_bytes},
         {"apart_dram_bytes", "apart", Unit::bytes, &FusePoint::apart_bytes},
         {"together_dram_bytes", "together", Unit::bytes, &FusePoint::together_bytes},
         {"", "gain", Unit::times, gain, kPeople},
         {"fits", "fits", Unit::none, &FusePoint::fits, kAll,
          "no: some layer fits nowhere, and both are lower bounds"},
         {"", "together, of the largest", Unit::bar, share, kText}});
}

} // namespace

Answer fuse_answer(const FuseResult& r) {
    Answer a;
    a.schema = "eyeroof/fuse/1";
    a.title = "Fusion of " + r.network;
    a.sentences = group_sentences(r);
    if (r.unfit() > 0) {
        a.warnings.push_back(fmt::format("{} of {} do not fit and count each tensor once: the sums "
                                         "are lower bounds",
                                         r.unfit(), counted(r.groups.size(), "group")));
    }
    a.figures = figures_of(r);
    a.tables = {groups_of(r)};
    a.bars = "together.time_s";
    if (!r.between.empty()) {
        a.notes.push_back(fmt::format("not counted: {} applied on the way or moved separately",
                                      counted(r.between.size(), "layer")));
    }
    a.notes.push_back(proof_text(r));
    a.notes.emplace_back(
        r.edges_known ? "edges: the network's graph; what several layers read leaves the chip"
                      : "edges: the order of the layers; an output that a later layer also reads "
                        "is not seen (a `graph` in the network's file states it)");
    return a;
}

Answer fuse_curve_answer(const std::string& network, const analysis::Chip& chip,
                         const std::vector<FusePoint>& curve) {
    Answer a;
    a.schema = "eyeroof/fuse-curve/1";
    a.title = network + ": least traffic by buffer";
    a.sentences = {a.title};
    if (std::ranges::any_of(curve, [](const FusePoint& p) { return !p.fits; })) {
        a.warnings = {"in buffers that some layer does not fit, both traffics are lower bounds"};
    }
    a.figures = {{"network", "", network}};
    a.tables = {points_of(curve)};
    a.picture = [chart = chart_of(a.title, chip, curve)](const Canvas& canvas) {
        return draw_chart(chart, canvas);
    };
    return a;
}

} // namespace eyeroof::report
