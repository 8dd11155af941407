#include "base/lines.hpp"
#include "report/answer/write.hpp"
#include "report/calibrate/validation_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace eyeroof::report {

namespace {

using analysis::ClusterFigures;
using analysis::ClusterResult;
using analysis::RunBand;

std::vector<Column<ClusterFigures>> cluster_columns() {
    return {{"table", "table", Unit::none, &ClusterFigures::table},
            {"metric", "metric", Unit::none, &ClusterFigures::metric},
            {"rows", "rows", Unit::count, &ClusterFigures::rows, kAll, "held out"},
            {"error", "error", Unit::share, &ClusterFigures::error, kAll,
             "mean |predicted / published - 1|"},
            {"worst", "worst", Unit::share, &ClusterFigures::worst},
            {"median_ratio", "median", Unit::times, &ClusterFigures::median, kAll,
             "predicted / published"},
            {"within", "in 1.5x", Unit::share, &ClusterFigures::within, kAll,
             "share of rows within a factor of 1.5"},
            {"inside", "inside", Unit::share, &ClusterFigures::inside, kAll,
             "share of rows inside their 80 % intervals"},
            {"too_large", "", Unit::count, &ClusterFigures::too_large, kPrograms,
             "rows that ran, and need more than the device's memory"}};
}

using Held = std::pair<std::string, double>;

AnswerTable bands_of(const std::vector<RunBand>& bands) {
    std::set<std::string> ways; // to leave rows out, that any kind of prediction has
    for (const RunBand& band : bands) {
        for (const auto& [way, share] : band.held_out) {
            ways.insert(way);
        }
    }
    const auto interval = [](const RunBand& b) { return range_text(b.low, b.high, Unit::none); };
    const auto held = [](const RunBand& b) {
        return std::vector<Held>(b.held_out.begin(), b.held_out.end());
    };
    std::vector<Column<RunBand>> columns = {
        {"kind", "kind", Unit::none, &RunBand::kind},
        {"rows", "rows", Unit::count, &RunBand::rows},
        {"low", "", Unit::none, &RunBand::low, kPrograms, "published over predicted"},
        {"high", "", Unit::none, &RunBand::high},
        {"", "interval", Unit::none, interval, kPeople},
        {"", "width", Unit::times, &RunBand::width, kPeople},
        {"inside", "inside", Unit::share, &RunBand::inside, kAll, "share of the rows inside it"},
        {"inside_own", "own", Unit::share, &RunBand::shipped, kAll,
         "share of the rows inside the program's own interval"},
        nested<RunBand, Held>(
            "held_out", "", held,
            {{"way", "", Unit::none, &Held::first}, {"inside", "", Unit::share, &Held::second}},
            kPrograms,
            "share inside intervals fitted without their source, GPU, model, or "
            "table")};
    for (const std::string& way : ways) {
        columns.emplace_back(
            "", way, Unit::share,
            [way](const RunBand& b) {
                const auto found = b.held_out.find(way);
                return found == b.held_out.end() ? std::nullopt : std::optional(found->second);
            },
            kPeople, "share inside an interval fitted without their " + way);
    }
    return make_table("bands", "Intervals by kind, and rows inside those fitted without them",
                      bands, columns);
}

// "llama-3-8b, 8 devices, tensor 1"
std::string words_of(const analysis::ClusterRow& row) {
    std::string words;
    for (const std::string column : {"network", "machine", "operation", "devices", "tensor",
                                     "prompt", "answer", "users", "bytes"}) {
        const auto cell = row.cells.find(column);
        if (cell != row.cells.end() && !cell->second.empty()) {
            const bool name = column == "network" || column == "machine" || column == "operation";
            words += (words.empty() ? "" : ", ") + (name ? "" : column + " ") + cell->second;
        }
    }
    return words;
}

std::vector<Column<ClusterResult>> row_columns(bool people) {
    const unsigned where = people ? kPeople : kPrograms;
    const auto row = [](auto member) {
        return [member](const ClusterResult& r) { return r.row.*member; };
    };
    const auto known = [](double ClusterResult::*member) {
        return [member](const ClusterResult& r) {
            return r.memory > 0.0 ? std::optional(r.*member) : std::nullopt;
        };
    };
    using Row = analysis::ClusterRow;
    std::vector<Column<ClusterResult>> columns = {
        {"line", "line", Unit::count, row(&Row::line), where, "of the table"},
        {"table", "table", Unit::none, row(&Row::table), where},
        {"metric", "metric", Unit::none, row(&Row::metric), where},
        {"held_out", "", Unit::none, row(&Row::held_out), where,
         "false: a constant was chosen with this row in view"},
        {"published", "published", Unit::none, row(&Row::published), where},
        {"predicted", "predicted", Unit::none, &ClusterResult::predicted, where},
        {"low", "", Unit::none, &ClusterResult::low, where, "one published figure in ten is below"},
        {"high", "", Unit::none, &ClusterResult::high, where,
         "one published figure in ten is above"},
        {"memory_bytes", "", Unit::bytes, known(&ClusterResult::memory), where,
         "of a training step, on the fullest device"},
        {"capacity_bytes", "", Unit::bytes, known(&ClusterResult::capacity), where,
         "that the device has"}};
    if (people) {
        columns.emplace_back(
            "", "what ran", Unit::sentence, [](const ClusterResult& r) { return words_of(r.row); },
            kPeople);
    }
    return columns;
}

AnswerTable farthest_off(std::vector<ClusterResult> rows, std::size_t worst) {
    std::ranges::sort(rows, std::ranges::greater{},
                      [](const ClusterResult& r) { return std::fabs(std::log(r.ratio())); });
    rows.resize(std::min(rows.size(), worst));
    return make_table("", "Farthest off", rows, row_columns(true));
}

} // namespace

Answer clusters_validated(const analysis::ClusterValidation& v, std::size_t worst) {
    Answer a;
    a.schema = "eyeroof/clusters/2";
    a.title = "Predicted and published runs of many devices";
    a.sentences = {fmt::format("{} of published runs held out: mean error {:.1f} %, {:.0f} % "
                               "inside the 80 % interval",
                               counted(v.all.rows, "row"), 100.0 * v.all.error,
                               100.0 * v.all.inside)};
    if (v.all.too_large > 0) {
        a.warnings = {counted(v.all.too_large, "row") +
                      " that ran need more than a device's memory by this model"};
    }
    add_groups(a, v.groups, v.all, cluster_columns());
    a.tables.push_back(bands_of(v.bands));
    a.tables.push_back(farthest_off(v.rows, worst));
    a.tables.push_back(make_table("rows", "", v.rows, row_columns(false)));
    a.rows = "rows";
    return a;
}

} // namespace eyeroof::report
