#include "report/exam/measured_columns.hpp"

#include "report/measured/measured_text.hpp"

#include <fmt/format.h>

namespace eyeroof::report {

namespace {

using analysis::CeilingRow;
using analysis::Disagreement;
using analysis::LayerMeasurement;
using analysis::LayerReport;
using analysis::Measurement;

template <class Row>
Column<Row> disagreements(const char* key, std::vector<Disagreement> Row::*of) {
    return nested<Row, Disagreement>(
        key, "", of,
        absent_if_unknown<Disagreement>(
            {{"step", &Disagreement::step},
             {"quantity", &Disagreement::quantity},
             {"unit", &Disagreement::unit, kJson, "of predicted and measured: B, FLOP, Hz, s, %"},
             {"predicted", &Disagreement::predicted},
             {"measured", &Disagreement::measured},
             limited<Column<Disagreement>>(
                 {"accounts_s", &Disagreement::accounts_s, kJson,
                  "what it adds to the time; absent where it is only a symptom"},
                 kAnySign)}),
        kJson, "counters that are not what the prediction counted on");
}

std::vector<Column<LayerMeasurement>> layer_measurement() {
    using M = LayerMeasurement;
    using analysis::LevelMeasurement;
    return absent_if_unknown<M>(
        {{"time_s", &M::time_s, kJson, "kernel_s + gap_s"},
         {"kernel_s", &M::kernel_s},
         {"predicted_s", &M::predicted_s, kJson, "without launches where gap_s is absent"},
         limited<Column<M>>({"unexplained_s", &M::unexplained_s, kJson,
                             "time_s - predicted_s: the sum of all accounts_s and remaining_s"},
                            kAnySign),
         limited<Column<M>>({"remaining_s", &M::remaining_s, kJson, "that no counter accounts for"},
                            kAnySign),
         {"executions", &M::executions},
         {"executions_assumed", &M::executions_assumed},
         {"launches", &M::launches},
         {"kernel", &M::kernel},
         {"under_replay", &M::under_replay},
         {"method", [](const M& m) { return profiles::match_method_name(m.method); }},
         {"confidence", &M::confidence},
         {"work_check", [](const M& m) { return profiles::work_check_name(m.work_check); }, kJson,
          "counted operations against 2MNK: unknown, fits, padding, fewer, more"},
         {"gap_s", &M::gap_s, kJson,
          "device idle before and between its kernels; absent where starts are not known"},
         {"flops", &M::flops, kJson, "counted"},
         {"pipe", [](const M& m) { return known_text(m.pipe); }},
         {"type_share", &M::type_share, kJson,
          "of the counted operations in the layer's own data type"},
         {"in_interval", &M::in_interval},
         {"clock_hz", &M::clock_hz},
         {"tensor_active_percent", &M::tensor_active_percent},
         {"occupancy_percent", &M::occupancy_percent},
         nested<M, LevelMeasurement>(
             "bytes", "", &M::bytes,
             {{"level", &LevelMeasurement::level}, {"bytes", &LevelMeasurement::bytes}}, kJson),
         disagreements("disagreements", &M::disagreements)});
}

// "step 6 DRAM bytes 1.5" for each: measured over predicted.
std::string ratios_of(const LayerMeasurement& m) {
    std::string text;
    for (const Disagreement& d : m.disagreements) {
        text += fmt::format("{}step {} {} {:.3g}", text.empty() ? "" : "; ", d.step, d.quantity,
                            d.predicted > 0.0 ? d.measured / d.predicted : 0.0);
    }
    return text;
}

const char* unit_of(const CeilingRow& row) {
    return !row.level.empty() ? "bytes_per_s" : !row.precision.empty() ? "flops_per_s" : "s";
}

} // namespace

void add_measured(std::vector<Column<LayerReport>>& columns) {
    columns.push_back(object<LayerReport, LayerMeasurement>(
        "measured", &LayerReport::measured, layer_measurement(),
        "the step below seven, of one execution"));
    const auto in_csv = [&columns](const char* key, auto get) {
        const auto of = [get](const LayerReport& layer) {
            return layer.measured ? std::optional(std::invoke(get, *layer.measured)) : std::nullopt;
        };
        columns.push_back({key, of, kCsv});
    };
    in_csv("measured_s", [](const LayerMeasurement& m) { return m.time_s; });
    in_csv("compared_s", [](const LayerMeasurement& m) { return m.predicted_s; });
    in_csv("unexplained_s", [](const LayerMeasurement& m) { return m.unexplained_s; });
    in_csv("remaining_s", [](const LayerMeasurement& m) { return m.remaining_s; });
    in_csv("executions", [](const LayerMeasurement& m) { return m.executions; });
    in_csv("disagreements", ratios_of);
}

void add_measured_roof(std::vector<Column<LayerReport>>& columns) {
    using analysis::MeasuredRoof;
    columns.push_back(object<LayerReport, MeasuredRoof>(
        "measured_roof", &LayerReport::roof,
        {{"time_s", &MeasuredRoof::time_s}, {"by", &MeasuredRoof::by}},
        "the least time that the measured ceilings allow"));
    const auto time = [](const LayerReport& layer) {
        return layer.roof ? std::optional(layer.roof->time_s) : std::nullopt;
    };
    const auto by = [](const LayerReport& layer) {
        return layer.roof ? std::optional(layer.roof->by) : std::nullopt;
    };
    columns.push_back({"measured_roof_s", time, kCsv});
    columns.push_back({"measured_roof", by, kCsv});
}

AnswerTable measured_table(const analysis::Report& report) {
    using analysis::UnmatchedKernel;
    return make_table<Measurement>(
        "measured", "", one_or_none(report.measured),
        {{"facts", &Measurement::facts, kJson},
         {"notes", &Measurement::notes, kJson},
         {"layers", &Measurement::layers, kJson, "that were measured; sums are over them"},
         {"predicted_s", &Measurement::predicted_s, kJson},
         {"time_s", &Measurement::measured_s, kJson},
         limited<Column<Measurement>>({"unexplained_s", &Measurement::unexplained_s, kJson},
                                      kAnySign),
         limited<Column<Measurement>>({"remaining_s", &Measurement::remaining_s, kJson}, kAnySign),
         disagreements("by_step", &Measurement::by_step),
         {"matched_share", &Measurement::matched_share, kJson, "of the kernels' time"},
         {"unmatched_s", &Measurement::unmatched_s, kJson},
         nested<Measurement, UnmatchedKernel>("unmatched", "", &Measurement::unmatched,
                                              {{"kernel", &UnmatchedKernel::name},
                                               {"calls", &UnmatchedKernel::calls},
                                               {"time_s", &UnmatchedKernel::time_s}},
                                              kJson)},
        Form::object);
}

AnswerTable ceilings_of(const analysis::Report& report) {
    const auto described = [](const CeilingRow& row) {
        return row.described > 0.0 ? std::optional(row.described) : std::nullopt;
    };
    const auto text = [](std::string CeilingRow::*member) {
        return [member](const CeilingRow& row) { return known_text(row.*member); };
    };
    return make_table<CeilingRow>(
        "ceilings", "Measured ceilings", report.ceilings,
        absent_if_unknown<CeilingRow>(
            {{"name", "ceiling", Unit::none, &CeilingRow::name, kJson | kPages},
             {"unit", unit_of, kJson},
             {"measured", &CeilingRow::measured, kJson},
             {"", "measured", Unit::none, ceiling_text, kPages},
             {"described", described, kJson},
             {"level", text(&CeilingRow::level), kJson},
             {"precision", text(&CeilingRow::precision), kJson},
             {"pipe", text(&CeilingRow::pipe), kJson},
             {"spread", "spread", Unit::share, &CeilingRow::spread, kJson | kPages},
             {"how", "how", Unit::none, &CeilingRow::how, kJson | kPages}}),
        Form::list_if_any);
}

} // namespace eyeroof::report
