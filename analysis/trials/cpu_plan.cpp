#include "analysis/trials/cpu_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis::tune {

namespace {

constexpr std::array<std::array<Axis, 3>, 6> kOrders = {{
    {Axis::rows, Axis::cols, Axis::depth},
    {Axis::rows, Axis::depth, Axis::cols},
    {Axis::cols, Axis::rows, Axis::depth},
    {Axis::cols, Axis::depth, Axis::rows},
    {Axis::depth, Axis::rows, Axis::cols},
    {Axis::depth, Axis::cols, Axis::rows},
}};
constexpr Count kMostTileRows = 14;
constexpr Count kMostTileVectors = 4;

std::vector<Count> counted(Count from, Count to) {
    std::vector<Count> values;
    for (Count value = from; value <= to; ++value) {
        values.push_back(value);
    }
    return values;
}

std::vector<Count> powers(Count from, Count to) {
    std::vector<Count> values;
    for (Count value = from; value <= to; value *= 2) {
        values.push_back(value);
    }
    return values;
}

Count rounded(Count value, Count to) {
    return ceil_div(value, to) * to;
}

Rule register_rule(Count registers) {
    return {"registers", {0, 1}, [registers](std::span<const Count> v) {
                return v[0] * v[1] + v[1] + 1 <= registers;
            }};
}

Rule block_rule(std::string name, std::vector<std::size_t> knobs, Count most) {
    return {std::move(name), std::move(knobs), [most](std::span<const Count> v) {
                const Count tile = v.size() == 3 ? v[0] * v[1] : v[0];
                return v.back() >= std::min(tile, most);
            }};
}

} // namespace

Space cpu_space(const Workload& work, const CpuMachine& machine, int threads) {
    constexpr std::array<Count, 8> kRows = {8, 16, 32, 64, 128, 256, 512, 1024};
    constexpr std::array<Count, 7> kCols = {16, 32, 64, 128, 256, 512, 1024};
    constexpr std::array<Count, 7> kDepths = {16, 32, 64, 128, 256, 512, 1024};
    std::vector<Knob> knobs = {
        {"tile_rows", counted(1, kMostTileRows)},
        {"tile_vectors", counted(1, kMostTileVectors)},
        {"length", powers(4, machine.lanes)},
        {"block_rows", up_to(kRows, work.rows)},
        {"block_cols", up_to(kCols, work.cols)},
        {"block_depth", up_to(kDepths, work.depth)},
        {"order", counted(0, 5)},
        {"pack_rows", {0, 1}},
        {"pack_cols", {0, 1}},
        {"rows_inside", {0, 1}},
        {"taps_inside", work.taps() > 1 ? counted(0, 1) : counted(0, 0)},
        {"unroll", powers(1, 8)},
        {"prefetch", {0, 4, 8, 16}},
    };
    if (threads > 1) {
        knobs.push_back({"threads", counted(1, threads)});
        knobs.push_back({"threads_on_cols", {0, 1}});
    }
    std::vector<Rule> rules = {register_rule(machine.registers),
                               block_rule("block of rows", {0, 3}, work.rows),
                               block_rule("block of columns", {1, 2, 4}, work.cols)};
    return {std::move(knobs), std::move(rules)};
}

CpuPlan cpu_plan(const Space& space, const Point& point) {
    const auto value = [&](std::size_t knob) { return space.value(point, knob); };
    CpuPlan plan;
    plan.tile_rows = value(0);
    plan.tile_vectors = value(1);
    plan.length = value(2);
    plan.block_rows = rounded(value(3), plan.tile_rows);
    plan.block_cols = rounded(value(4), plan.tile_cols());
    plan.block_depth = value(5);
    plan.order = kOrders[static_cast<std::size_t>(value(6))];
    plan.pack_rows = value(7) != 0;
    plan.pack_cols = value(8) != 0;
    plan.rows_inside = value(9) != 0;
    plan.taps_inside = value(10) != 0;
    plan.unroll = value(11);
    plan.prefetch = value(12);
    if (space.knobs().size() > 13) {
        plan.threads = value(13);
        plan.threads_on_cols = value(14) != 0;
    }
    return plan;
}

std::string plan_text(const CpuPlan& plan) {
    std::string order;
    for (const Axis axis : plan.order) {
        order += axis == Axis::rows ? 'm' : axis == Axis::cols ? 'n' : 'k';
    }
    std::string text =
        fmt::format("tile {}x{}x{}, blocks {}x{}x{} {}{}, unroll {}", plan.tile_rows,
                    plan.tile_vectors, plan.length, plan.block_rows, plan.block_cols,
                    plan.block_depth, order, plan.rows_inside ? ", rows inside" : "", plan.unroll);
    text += plan.pack_rows ? ", input packed" : "";
    text += plan.pack_cols ? ", weights packed" : "";
    text += plan.taps_inside ? ", taps inside" : "";
    text += plan.prefetch > 0 ? fmt::format(", fetched {} ahead", plan.prefetch) : "";
    text += plan.threads > 1 ? fmt::format(", {} threads on {}", plan.threads,
                                           plan.threads_on_cols ? "columns" : "rows")
                             : "";
    return text;
}

} // namespace eyeroof::analysis::tune
