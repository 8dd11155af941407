#include "report/exam/layer_columns.hpp"

#include "analysis/exam/report_figures.hpp"
#include "analysis/exam/report_warnings.hpp"
#include "base/csv.hpp"
#include "formats/layer_text.hpp"
#include "report/exam/measured_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace eyeroof::report {

namespace {

using analysis::LayerReport;

constexpr const char* kInputKey = "input"; // of columns of the table that is repeated

struct Step {
    std::size_t number = 0; // from 1
    const model::StepBound* bound = nullptr;
};

Column<LayerReport> chain_column(const char* key, model::Chain LayerReport::*chain,
                                 const char* meaning) {
    const auto rows = [chain](const LayerReport& layer) {
        std::vector<Step> steps;
        for (std::size_t i = 0; i < model::kSteps; ++i) {
            steps.push_back({i + 1, &(layer.*chain)[i]});
        }
        return steps;
    };
    const std::vector<std::string> names(model::kStepNames.begin(), model::kStepNames.end());
    const std::vector<Column<Step>> columns = {
        limited<Column<Step>>({"step", &Step::number}, kStepNumber),
        limited<Column<Step>>(
            {"name", [](const Step& s) { return model::kStepNames[s.number - 1]; }},
            {.words = names}),
        limited<Column<Step>>(
            {"bound_macs_per_cycle", [](const Step& s) { return s.bound->macs_per_cycle; }},
            kAboveZero),
        {"limit", [](const Step& s) { return s.bound->limit; }},
        {"reason", [](const Step& s) { return s.bound->reason; }}};
    return limited(nested<LayerReport, Step>(key, "", rows, columns, kJson, meaning),
                   {.length = model::kSteps});
}

Column<LayerReport> limits_column() {
    struct Limit {
        std::size_t step = 0;
        double without = 0.0, share = 0.0;
    };
    const auto rows = [](const LayerReport& layer) {
        std::vector<Limit> limits;
        for (std::size_t i = 0; i < model::kSteps; ++i) {
            limits.push_back({i + 1, layer.limits.without[i], layer.limits.share[i]});
        }
        return limits;
    };
    const std::vector<Column<Limit>> columns = {
        limited<Column<Limit>>({"step", &Limit::step}, kStepNumber),
        {"time_without_s", &Limit::without, kJson,
         "counterfactual: the time if this step alone were ideal"},
        {"share_s", &Limit::share, kJson,
         "of time_s, whatever the order of the steps (Shapley value)"}};
    return limited(nested<LayerReport, Limit>("limits.steps", "", rows, columns, kJson),
                   {.length = model::kSteps});
}

std::vector<Column<model::LevelMapping>> level_columns() {
    using model::LevelMapping;
    const auto keeps = [](const LevelMapping& level) {
        std::vector<std::string> names;
        for (const model::Operand operand : model::kAllOperands) {
            if (level.keeps.contains(operand)) {
                names.emplace_back(model::operand_name(operand));
            }
        }
        return names;
    };
    const auto dim = [](const auto& loop) { return std::string(1, model::letter(loop.dim)); };
    return {
        {"keeps", keeps},
        nested<LevelMapping, model::TemporalLoop>(
            "temporal", "", &LevelMapping::temporal,
            {{"dim", dim}, {"bound", &model::TemporalLoop::bound}}, kJson),
        nested<LevelMapping, model::SpatialLoop>(
            "spatial", "", &LevelMapping::spatial,
            {{"dim", dim},
             {"bound", &model::SpatialLoop::bound},
             {"axis", [](const model::SpatialLoop& loop) { return static_cast<int>(loop.axis); },
              kJson, "index into the level's fan-out"}},
            kJson)};
}

std::vector<Column<model::KernelForm>> kernel_columns() {
    using model::KernelForm, model::KernelMapping, model::Product, model::Waves;
    const auto of_waves = [](double Waves::*member) {
        return [member](const KernelForm& form) {
            return form.waves ? std::optional(form.waves.value().*member) : std::nullopt;
        };
    };
    const auto splits = [](const KernelForm& form) {
        return form.mapping ? std::optional(form.mapping->splits) : std::nullopt;
    };
    return absent_if_unknown<KernelForm>(
        {{"algorithm", &KernelForm::algorithm},
         object<KernelForm, KernelMapping>(
             "cta", &KernelForm::mapping,
             {{"m", [](const KernelMapping& k) { return k.tile.tm; }},
              {"n", [](const KernelMapping& k) { return k.tile.tn; }},
              {"k_slices", [](const KernelMapping& k) { return k.tile.slices; }, kJson,
               "warps of a CTA that share k"}}),
         {"k_splits", splits, kJson, "CTAs that share k"},
         object<KernelForm, Product>("product", &KernelForm::product,
                                     {{"batch", &Product::batch},
                                      {"m", &Product::m},
                                      {"n", &Product::n},
                                      {"k", &Product::k}},
                                     "what the tiles cover, where they are tiles of the layer's "
                                     "own result"),
         {"ctas", of_waves(&Waves::ctas)},
         {"waves", of_waves(&Waves::full)},
         {"wave_efficiency", of_waves(&Waves::efficiency), kJson, "CTAs over the turns of all SMs"},
         {"tile_efficiency", of_waves(&Waves::tile_efficiency), kJson,
          "results over the elements of all tiles"}});
}

void add_mapping(std::vector<Column<LayerReport>>& columns) {
    using mapper::Certificate, model::Mapping;
    columns.push_back({"mapping.text", &LayerReport::mapping_text, kJson});
    columns.push_back(nested<LayerReport, Mapping>(
        "mapping.nests", "", &LayerReport::mappings,
        {nested<Mapping, model::LevelMapping>(
            "levels", "", &Mapping::levels, level_columns(), kJson,
            "the machine's levels, outermost first; loops from outer to inner")},
        kJson, "one per loop nest of the layer; none on GPUs"));
    columns.push_back(object<LayerReport, model::KernelForm>(
        "mapping.kernel", &LayerReport::kernel, kernel_columns(),
        "of the library, on GPUs only: tiles of the result that a CTA computes, and CTAs over "
        "the SMs"));
    columns.push_back(nested<LayerReport, Certificate>(
        "certificates", "", &LayerReport::certificates,
        {{"objective", &Certificate::objective},
         {"value", &Certificate::value},
         {"lower_bound", &Certificate::lower_bound},
         {"gap", &Certificate::gap},
         {"proved", &Certificate::proved},
         {"space", &Certificate::space, kJson, "what the bound holds for"},
         {"note", &Certificate::note}},
        kJson,
        "for searched mappings, one per loop nest: value of the objective, and a lower bound of "
        "all mappings",
        Form::list_if_any));
}

Column<LayerReport> traffic_column() {
    using analysis::TrafficRow;
    return nested<LayerReport, TrafficRow>(
        "traffic", "", &LayerReport::traffic,
        {{"level", &TrafficRow::level},
         {"tensor", &TrafficRow::tensor},
         {"read_bytes", &TrafficRow::read_bytes},
         {"write_bytes", &TrafficRow::write_bytes},
         {"energy_j", &TrafficRow::energy_j},
         {"tile_bytes", &TrafficRow::tile_bytes, kJson,
          "held by one instance of the level at a time"}},
        kJson, "all instances of a level together, outermost level first");
}

bool is_searched(const LayerReport& layer) {
    return !layer.certificates.empty();
}

// CSV alone: the largest gap of a layer's searches, and whether all were proved.
void add_proofs(std::vector<Column<LayerReport>>& columns) {
    const auto gap = [](const LayerReport& layer) {
        const auto most =
            std::ranges::max_element(layer.certificates, {}, &mapper::Certificate::gap);
        return is_searched(layer) ? std::optional(most->gap) : std::nullopt;
    };
    const auto proved = [](const LayerReport& layer) {
        return is_searched(layer) ? std::optional(std::ranges::all_of(layer.certificates,
                                                                      &mapper::Certificate::proved))
                                  : std::nullopt;
    };
    columns.push_back({"gap", gap, kCsv});
    columns.push_back({"proved", proved, kCsv});
}

void add_names(std::vector<Column<LayerReport>>& columns) {
    const auto of = [](const auto& get) {
        return [get](const LayerReport& l) { return get(l.layer); };
    };
    using model::Layer;
    columns.push_back({"name", of([](const Layer& l) { return l.name; }), kJson});
    columns.push_back({"op", of([](const Layer& l) { return model::op_name(l.op); }), kJson});
    columns.push_back(limited<Column<LayerReport>>(
        {"direction", of([](const Layer& l) { return model::direction_name(l.direction); }), kJson},
        {.words = {"fwd", "bwd_data", "bwd_weight"}}));
    columns.push_back(
        {"dtype", of([](const Layer& l) { return model::data_type_name(l.types.input); }), kJson});
    columns.push_back({"count", of([](const Layer& l) { return l.count; }), kJson,
                       "executions in the network; all other figures are of one"});
}

void add_results(std::vector<Column<LayerReport>>& columns, const analysis::Report& report,
                 bool every) {
    constexpr std::size_t kAverageBandwidth = 6;
    columns.push_back({"time_s", &LayerReport::time_s});
    columns.push_back({"low_s", &LayerReport::low_s});
    columns.push_back({"high_s", &LayerReport::high_s});
    columns.push_back({"limiter", &LayerReport::limiter});
    const auto bound_s = [&machine = report.machine](const LayerReport& layer) {
        return analysis::seconds_at(machine, layer, kAverageBandwidth);
    };
    columns.push_back({"step6_bound_s", bound_s, kCsv});
    if (std::ranges::any_of(report.layers, is_searched)) {
        add_proofs(columns);
    }
    if (report.measured || every) {
        add_measured(columns);
    }
    if (!report.ceilings.empty() || every) {
        add_measured_roof(columns);
    }
    columns.push_back({"macs", &LayerReport::macs});
    columns.push_back({"flops", &LayerReport::flops});
    columns.push_back(
        {"utilization", &LayerReport::utilization, kPrograms, "macs / (units * cycles)"});
    columns.push_back({"energy_j", &LayerReport::energy_j});
    columns.push_back({"outer_bytes", &LayerReport::outer_bytes});
    columns.push_back(
        limited<Column<LayerReport>>({"limiter_step", &LayerReport::limiter_step, kPrograms,
                                      "the binding step: the bound that the result sits at"},
                                     kStepNumber));
    for (std::size_t step = 1; step <= model::kSteps; ++step) {
        const auto bound = [step](const LayerReport& layer) {
            return layer.steps[step - 1].macs_per_cycle;
        };
        columns.push_back({fmt::format("step{}_macs_per_cycle", step), bound, kCsv});
    }
}

void add_details(std::vector<Column<LayerReport>>& columns, const analysis::Report& report) {
    const auto units = [&machine = report.machine](const LayerReport& layer) {
        return analysis::units_of(machine, layer);
    };
    const auto split = [](double analysis::TimeSplit::*part) {
        return [part](const LayerReport& layer) { return layer.split.*part; };
    };
    const auto leakage = [](const LayerReport& layer) {
        return layer.leakage_j > 0.0 ? std::optional(layer.leakage_j) : std::nullopt;
    };
    using analysis::TimeSplit;
    const std::vector<Column<LayerReport>> more = {
        {"compulsory_bytes", &LayerReport::bytes},
        chain_column("steps", &LayerReport::steps,
                     "of the mapping: the seven Eyexam steps in order; bounds never rise"),
        chain_column("machine_steps", &LayerReport::machine_steps, "no mapping exceeds them"),
        {"units", units, kPrograms,
         "MAC per cycle of machine.clock_hz of the units that serve this layer's type"},
        {"active_pes.allocated", [](const LayerReport& l) { return l.active.allocated; }},
        {"active_pes.averaged", [](const LayerReport& l) { return l.active.averaged; }},
        {"cycles", &LayerReport::cycles},
        {"processing_time_s", &LayerReport::processing_time_s, kPrograms,
         "without stalls on the outermost memory"},
        {"time_split.compute_s", split(&TimeSplit::compute_s)},
        {"time_split.on_chip_stall_s", split(&TimeSplit::on_chip_stall_s)},
        {"time_split.dram_stall_s", split(&TimeSplit::dram_stall_s)},
        {"time_split.overhead_s", split(&TimeSplit::overhead_s)},
        limited<Column<LayerReport>>({"limits.binding_step", &LayerReport::limiter_step},
                                     kStepNumber),
        {"limits.binding", [](const LayerReport& l) { return model::limit_name(l.limit); }},
        {"limits.units_at_work_s", [](const LayerReport& l) { return l.limits.at_work; }, kPrograms,
         "work / (units * clock); with all share_s it is time_s"},
        limits_column(),
        {"leakage_j", leakage, kPrograms, "of energy_j; where the machine leaks"},
        traffic_column()};
    columns.insert(columns.end(), more.begin(), more.end());
    add_mapping(columns);
    columns.push_back({"notes", &LayerReport::notes, kJson});
}

std::string remarks(const analysis::Report& report) {
    const std::string uncosted = analysis::uncosted_share_text(report);
    const std::string sum = analysis::step_sum_text(report);
    return uncosted + (uncosted.empty() || sum.empty() ? "" : "; ") + sum;
}

// In the place of a limit why the rows above may not add up to it.
std::vector<Value> sums_of(const analysis::Report& report, const std::vector<Head>& columns) {
    const analysis::Total& total = report.total;
    std::map<std::string, Value> sums = {{"name", std::string("total")},
                                         {"op", std::string("total")},
                                         {"time_s", total.time_s},
                                         {"low_s", value_of(total.low_s)},
                                         {"high_s", value_of(total.high_s)},
                                         {"limiter", remarks(report)},
                                         {"macs", total.macs},
                                         {"flops", total.flops},
                                         {"utilization", total.utilization},
                                         {"energy_j", total.energy_j},
                                         {"outer_bytes", total.outer_bytes}};
    if (report.measured) {
        sums["measured_s"] = report.measured->measured_s;
        sums["compared_s"] = report.measured->predicted_s;
        sums["unexplained_s"] = report.measured->unexplained_s;
        sums["remaining_s"] = report.measured->remaining_s;
    }
    std::vector<Value> row;
    for (const Head& head : columns) {
        const bool input = head.key == kInputKey;
        const auto found = sums.find(input ? head.title : head.key);
        const bool sum =
            found != sums.end() && (!input || head.title == "name" || head.title == "op");
        row.push_back(sum ? found->second : Value());
    }
    return row;
}

// Cells of the header (record 0) or of the row below it (1), as the table's reader takes them: only
// the header tells the separator, and that a row may begin with '#'.
std::vector<std::string> cells_in(const std::string& header, const std::string& row, int which) {
    const std::string lines = header + "\n" + row;
    CsvReader reader(lines, "");
    CsvRecord record;
    Diagnostics ignored;
    std::vector<std::string> cells;
    for (int i = 0; i <= which && reader.next(record, ignored); ++i) {
        cells.clear();
        for (const CsvCell& cell : record.cells) {
            cells.emplace_back(cell.text);
        }
    }
    return cells;
}

// The table's rows that the report's layers came from. Filters keep or leave all layers of one
// name, so the names in their order tell; empty when they do not fit.
std::vector<const std::string*> rows_of(const analysis::Report& report,
                                        const formats::LayerTable& input) {
    std::vector<const std::string*> rows;
    for (std::size_t i = 0; i < input.layers.size() && rows.size() < report.layers.size(); ++i) {
        if (input.layers[i].name == report.layers[rows.size()].layer.name) {
            rows.push_back(&input.rows[i]);
        }
    }
    if (rows.size() != report.layers.size()) {
        rows.clear();
    }
    return rows;
}

} // namespace

AnswerTable layers_table(const analysis::Report& report, const formats::LayerTable* input,
                         bool every) {
    std::vector<Column<LayerReport>> columns;
    add_names(columns);
    add_results(columns, report, every);
    add_details(columns, report);
    AnswerTable table =
        make_table_later("layers", report.layers, absent_if_unknown(std::move(columns)));
    const std::vector<const std::string*> rows =
        input == nullptr ? std::vector<const std::string*>() : rows_of(report, *input);
    const bool repeat = !rows.empty();
    std::vector<Head> heads;
    const auto add = [&heads](std::string_view name) {
        heads.push_back({kInputKey, std::string(name), Unit::none, kCsv, {}, Kind::text});
    };
    if (repeat) {
        std::ranges::for_each(cells_in(input->header, "", 0), add);
    } else {
        std::ranges::for_each(formats::column_names(), add);
    }
    table.columns.insert(table.columns.begin(), heads.begin(), heads.end());
    table.make = [&report, rows, input, found = std::move(table.make)](std::size_t i) {
        std::vector<Value> cells;
        const auto add_cell = [&cells](const std::string& text) { cells.emplace_back(text); };
        if (rows.empty()) {
            std::ranges::for_each(formats::layer_to_text(report.layers[i].layer), add_cell);
        } else {
            std::ranges::for_each(cells_in(input->header, *rows[i], 1), add_cell);
        }
        std::ranges::move(found(i), std::back_inserter(cells));
        return cells;
    };
    table.sums = sums_of(report, table.columns);
    return table;
}

} // namespace eyeroof::report
