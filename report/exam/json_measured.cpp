#include "report/exam/json_measured.hpp"

namespace eyeroof::report {

namespace {

using Json = nlohmann::ordered_json;

// `predicted` and `measured` in the unit that stands beside them.
Json disagreement_json(const analysis::Disagreement& d) {
    Json json = {{"step", d.step},
                 {"quantity", d.quantity},
                 {"unit", d.unit},
                 {"predicted", d.predicted},
                 {"measured", d.measured}};
    if (d.accounts_s) {
        json["accounts_s"] = *d.accounts_s;
    }
    return json;
}

Json disagreements_json(const std::vector<analysis::Disagreement>& all) {
    Json list = Json::array();
    for (const analysis::Disagreement& d : all) {
        list.push_back(disagreement_json(d));
    }
    return list;
}

void add(Json& json, const char* key, const std::optional<double>& value) {
    if (value) {
        json[key] = *value;
    }
}

} // namespace

Json measured_json(const analysis::LayerMeasurement& m) {
    Json json = {{"time_s", m.time_s},
                 {"kernel_s", m.kernel_s},
                 {"predicted_s", m.predicted_s},
                 {"unexplained_s", m.unexplained_s},
                 {"remaining_s", m.remaining_s},
                 {"executions", m.executions},
                 {"executions_assumed", m.executions_assumed},
                 {"launches", m.launches},
                 {"kernel", m.kernel},
                 {"under_replay", m.under_replay},
                 {"method", profiles::match_method_name(m.method)},
                 {"confidence", m.confidence},
                 {"work_check", profiles::work_check_name(m.work_check)}};
    add(json, "gap_s", m.gap_s);
    add(json, "flops", m.flops);
    if (!m.pipe.empty()) {
        json["pipe"] = m.pipe;
    }
    add(json, "type_share", m.type_share);
    if (m.in_interval) {
        json["in_interval"] = *m.in_interval;
    }
    add(json, "clock_hz", m.clock_hz);
    add(json, "tensor_active_percent", m.tensor_active_percent);
    add(json, "occupancy_percent", m.occupancy_percent);
    Json bytes = Json::array();
    for (const analysis::LevelMeasurement& level : m.bytes) {
        bytes.push_back({{"level", level.level}, {"bytes", level.bytes}});
    }
    json["bytes"] = bytes;
    json["disagreements"] = disagreements_json(m.disagreements);
    return json;
}

Json measured_json(const analysis::Measurement& all) {
    Json unmatched = Json::array();
    for (const analysis::UnmatchedKernel& kernel : all.unmatched) {
        unmatched.push_back(
            {{"kernel", kernel.name}, {"calls", kernel.calls}, {"time_s", kernel.time_s}});
    }
    return {{"facts", all.facts},
            {"notes", all.notes},
            {"layers", all.layers},
            {"predicted_s", all.predicted_s},
            {"time_s", all.measured_s},
            {"unexplained_s", all.unexplained_s},
            {"remaining_s", all.remaining_s},
            {"by_step", disagreements_json(all.by_step)},
            {"matched_share", all.matched_share},
            {"unmatched_s", all.unmatched_s},
            {"unmatched", unmatched}};
}

Json ceilings_json(const std::vector<analysis::CeilingRow>& ceilings) {
    Json list = Json::array();
    for (const analysis::CeilingRow& row : ceilings) {
        const char* const unit = !row.level.empty()       ? "bytes_per_s"
                                 : !row.precision.empty() ? "flops_per_s"
                                                          : "s";
        Json json = {{"name", row.name}, {"unit", unit}, {"measured", row.measured}};
        if (row.described > 0.0) {
            json["described"] = row.described;
        }
        for (const auto& [key, value] :
             {std::pair{"level", row.level}, {"precision", row.precision}, {"pipe", row.pipe}}) {
            if (!value.empty()) {
                json[key] = value;
            }
        }
        json["spread"] = row.spread;
        json["how"] = row.how;
        list.push_back(std::move(json));
    }
    return list;
}

} // namespace eyeroof::report
