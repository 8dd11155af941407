#include "report/measured/traced_json.hpp"

#include <nlohmann/json.hpp>

namespace eyeroof::report {

namespace {

using Json = nlohmann::ordered_json;

Json device_json(const profiles::DeviceTime& t) {
    return {{"total_s", t.total_s},
            {"computation_s", t.computation_s},
            {"communication_s", t.communication_s},
            {"exposed_communication_s", t.exposed_communication_s},
            {"copies_s", t.copies_s},
            {"exposed_copies_s", t.exposed_copies_s},
            {"idle_s", t.idle_s},
            {"host_bound_s", t.host_bound_s},
            {"launch_latency_s", t.launch_latency_s},
            {"gaps", t.gaps},
            {"longest_gap_s", t.longest_gap_s}};
}

Json path_json(const analysis::CriticalPath& path) {
    Json longest = Json::array();
    for (const analysis::PathKernel& kernel : path.longest) {
        longest.push_back(
            {{"kernel", kernel.name}, {"calls", kernel.calls}, {"time_s", kernel.seconds}});
    }
    return {{"total_s", path.total_s()},
            {"computation_s", path.computation_s},
            {"communication_s", path.communication_s},
            {"copies_s", path.copies_s},
            {"host_s", path.host_s},
            {"launch_s", path.launch_s},
            {"wait_s", path.wait_s},
            {"longest", longest}};
}

Json row_json(const analysis::TracedRow& row) {
    Json json = {{"layer", row.layer},
                 {"operator", row.op},
                 {"input_dims", row.dims},
                 {"category", row.category},
                 {"found", formats::found_name(row.found)},
                 {"runs", row.count},
                 {"measured_s", row.measured_s},
                 {"share", row.share},
                 {"alone_runs", row.alone_runs},
                 {"alone_s", row.alone_s},
                 {"flops", row.flops},
                 {"bytes", row.bytes},
                 {"above_roof", row.above_roof()}};
    const auto put = [&json](const char* key, const std::optional<double>& value) {
        if (value) {
            json[key] = *value;
        }
    };
    put("bound_s", row.bound_s);
    put("predicted_s", row.predicted_s);
    put("low_s", row.low_s);
    put("high_s", row.high_s);
    const auto text = [&json](const char* key, const std::string& value) {
        if (!value.empty()) {
            json[key] = value;
        }
    };
    text("why", row.why);
    text("bound_by", row.bound_by);
    text("cause", row.cause);
    text("doubt", row.doubt);
    text("not_compared", row.not_compared);
    return json;
}

Json comparisons_json(const analysis::Traced& traced) {
    Json list = Json::array();
    for (const analysis::TracedComparison& c : traced.comparisons) {
        list.push_back({{"name", c.name},
                        {"shapes", c.rows},
                        {"median_error", c.median_error},
                        {"median_ratio", c.bias},
                        {"inside", c.coverage},
                        {"inside_of_model", c.model_coverage},
                        {"measured_s", c.measured_s},
                        {"predicted_s", c.predicted_s}});
    }
    return list;
}

Json modules_json(const analysis::Traced& traced) {
    Json list = Json::array();
    for (const analysis::TracedModule& module : traced.modules) {
        Json json = {{"path", module.path},
                     {"instances", module.instances},
                     {"kernels", module.kernels},
                     {"forward_s", module.forward_s},
                     {"backward_s", module.backward_s}};
        if (module.predicted_s) {
            json["predicted_s"] = *module.predicted_s;
        }
        list.push_back(std::move(json));
    }
    return list;
}

} // namespace

Json traced_json(const analysis::Traced& traced) {
    Json json = {{"step", traced.step},
                 {"gpu", traced.gpu},
                 {"machine", traced.machine},
                 {"kernel_s", traced.kernel_s},
                 {"layered_share", traced.layered_share()},
                 {"placed_share", traced.placed_share()},
                 {"beside_s", traced.beside_s},
                 {"forward_s", traced.forward_s},
                 {"backward_s", traced.backward_s}};
    if (traced.device) {
        json["device"] = device_json(*traced.device);
    }
    if (traced.path) {
        json["critical_path"] = path_json(*traced.path);
    }
    json["categories"] = Json::array();
    for (const analysis::TracedCategory& row : traced.categories) {
        json["categories"].push_back({{"name", row.name},
                                      {"runs", row.runs},
                                      {"measured_s", row.measured_s},
                                      {"share", row.share}});
    }
    json["rows"] = Json::array();
    for (const analysis::TracedRow& row : traced.rows) {
        json["rows"].push_back(row_json(row));
    }
    json["comparisons"] = comparisons_json(traced);
    json["not_compared"] = Json::array();
    for (const analysis::TracedLeftOut& out : traced.left_out) {
        json["not_compared"].push_back(
            {{"why", out.why}, {"shapes", out.rows}, {"measured_s", out.measured_s}});
    }
    json["modules"] = modules_json(traced);
    json["changes"] = Json::array();
    for (const analysis::TracedChange& change : traced.changes) {
        json["changes"].push_back(
            {{"what", change.what}, {"why", change.why}, {"saves_s", change.saves_s}});
    }
    return json;
}

Json ranks_json(const analysis::Ranks& ranks) {
    Json json = {{"imbalance", ranks.imbalance},
                 {"sides", Json::array()},
                 {"collectives", Json::array()},
                 {"waits_s", ranks.waits}};
    for (const analysis::RankSide& side : ranks.ranks) {
        json["sides"].push_back({{"name", side.name},
                                 {"device", device_json(side.time)},
                                 {"waits_s", side.waits_s},
                                 {"delays_s", side.delays_s},
                                 {"last", side.last}});
    }
    for (const analysis::RankCollective& row : ranks.collectives) {
        json["collectives"].push_back({{"name", row.name},
                                       {"calls", row.calls},
                                       {"unmatched", row.unmatched},
                                       {"mean_s", row.mean_s},
                                       {"least_s", row.least_s},
                                       {"waits_s", row.waits_s},
                                       {"last", ranks.ranks[row.last].name}});
    }
    return json;
}

} // namespace eyeroof::report
