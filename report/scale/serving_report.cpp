// Serving as text, JSON, CSV and SVG.
#include "analysis/scale/serving.hpp"
#include "base/lines.hpp"
#include "report/draw/chart.hpp"
#include "report/scale/serving_write.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace eyeroof::report {

namespace {

using Json = nlohmann::ordered_json;

std::string row(const analysis::ServingPoint& p) {
    return fmt::format(
        "{:>6} {:>8} {:>9.4g} {:>9.4g} {:>15} {:>9.4g} {:>12.4g} {:>12.4g} {:>10.3g}{}{}\n",
        p.tensor, p.batch, p.ttft_s * 1e3, p.tpot_s * 1e3,
        fmt::format("{:.3g} to {:.3g}", p.tpot_s * p.tpot_band.low * 1e3,
                    p.tpot_s * p.tpot_band.high * 1e3),
        p.per_user(), p.per_device(), p.tokens_per_s, (p.weight_bytes + p.cache_bytes) / 1e9,
        p.front ? "  front" : "", p.within ? "" : "  over a limit");
}

std::string load_name(const analysis::ServingLoad& l) {
    return l.users > 0 ? fmt::format("{} users", l.users)
                       : fmt::format("{}{:.4g}/s", l.largest ? "largest " : "", l.rate);
}

std::string three(const analysis::Percentiles& p) {
    return fmt::format("{:.4g} / {:.4g} / {:.4g}", p.p50 * 1e3, p.p95 * 1e3, p.p99 * 1e3);
}

std::string loads_text(const analysis::Serving& s) {
    if (s.loads.empty()) {
        return {};
    }
    std::string text =
        fmt::format("\nunder load, simulated with {}: percentiles 50 / 95 / "
                    "99\n{:>6} {:>16} {:>26} {:>26} {:>9} "
                    "{:>10} {:>8} {:>6}\n",
                    analysis::engine_name(s.engine.kind), "tensor", "requests", "TTFT ms",
                    "TPOT ms", "served/s", "answer t/s", "running", "busy");
    for (const analysis::ServingLoad& l : s.loads) {
        const analysis::LoadResult& r = l.result;
        text +=
            fmt::format("{:>6} {:>16} {:>26} {:>26} {:>9.4g} {:>10.4g} {:>8.3g} {:>6}{}{}\n",
                        l.tensor, load_name(l), three(r.ttft), three(r.tpot), r.requests_per_s,
                        r.tokens_per_s, r.mean_running, fmt::format("{:.0f} %", 100 * r.busy),
                        r.keeps_up ? "" : "  the queue grows", l.within ? "" : "  over a limit");
    }
    return text;
}

Json json_of(const analysis::Percentiles& p) {
    return {{"mean", p.mean}, {"p50", p.p50}, {"p95", p.p95}, {"p99", p.p99}};
}

Json json_of(const analysis::ServingLoad& l) {
    return {{"tensor", l.tensor},
            {"devices", l.devices},
            {"rate", l.users > 0 ? Json() : Json(l.rate)},
            {"users", l.users > 0 ? Json(l.users) : Json()},
            {"largest", l.largest},
            {"ttft_s", json_of(l.result.ttft)},
            {"tpot_s", json_of(l.result.tpot)},
            {"wait_s", json_of(l.result.wait)},
            {"requests_per_s", l.result.requests_per_s},
            {"tokens_per_s", l.result.tokens_per_s},
            {"mean_running", l.result.mean_running},
            {"busy", l.result.busy},
            {"keeps_up", l.result.keeps_up},
            {"within", l.within}};
}

} // namespace

std::string serving_text(const analysis::Serving& s) {
    std::string text = fmt::format(
        "{} on {}, {}\nprompt {}, answer {} tokens; {:.4g} GB a device; engine {}\n\n{:>6} {:>8} "
        "{:>9} {:>9} {:>15} {:>9} {:>12} {:>12} {:>10}\n",
        masked_controls(s.network), masked_controls(s.machine), masked_controls(s.fabric), s.prompt,
        s.answer, s.capacity_bytes / 1e9, analysis::engine_name(s.engine.kind), "tensor",
        "requests", "TTFT ms", "TPOT ms", "80 % interval", "user t/s", "device t/s", "all t/s",
        "memory GB");
    for (const analysis::ServingPoint& p : s.points) {
        text += row(p);
    }
    if (s.best) {
        const analysis::ServingPoint& p = s.points[*s.best];
        text += fmt::format("\nmost within the limits: {:.4g} tokens/s a device, tensor {}, {} "
                            "requests; of a step of {:.4g} ms "
                            "messages take {:.4g}\n",
                            p.per_device(), p.tensor, p.batch, p.step_s * 1e3, p.message_s * 1e3);
    } else {
        text += "\nno point keeps both limits\n";
    }
    text += loads_text(s);
    for (const std::string& note : s.notes) {
        text += "note: " + masked_controls(note) + "\n";
    }
    return text;
}

std::string serving_json(const analysis::Serving& s) {
    Json points = Json::array();
    for (const analysis::ServingPoint& p : s.points) {
        points.push_back({{"tensor", p.tensor},
                          {"devices", p.devices},
                          {"requests", p.batch},
                          {"most_requests", p.most_batch},
                          {"prefill_s", p.prefill_s},
                          {"step_s", p.step_s},
                          {"message_s", p.message_s},
                          {"ttft_s", p.ttft_s},
                          {"tpot_s", p.tpot_s},
                          {"ttft_low_s", p.ttft_s * p.ttft_band.low},
                          {"ttft_high_s", p.ttft_s * p.ttft_band.high},
                          {"tpot_low_s", p.tpot_s * p.tpot_band.low},
                          {"tpot_high_s", p.tpot_s * p.tpot_band.high},
                          {"tokens_per_s", p.tokens_per_s},
                          {"tokens_per_s_user", p.per_user()},
                          {"tokens_per_s_device", p.per_device()},
                          {"weight_bytes", p.weight_bytes},
                          {"cache_bytes", p.cache_bytes},
                          {"within", p.within},
                          {"front", p.front}});
    }
    Json loads = Json::array();
    for (const analysis::ServingLoad& l : s.loads) {
        loads.push_back(json_of(l));
    }
    const Json json = {{"schema", "eyeroof/serve/1"},
                       {"network", s.network},
                       {"machine", s.machine},
                       {"fabric", s.fabric},
                       {"prompt", s.prompt},
                       {"answer", s.answer},
                       {"capacity_bytes", s.capacity_bytes},
                       {"engine", analysis::engine_name(s.engine.kind)},
                       {"best", s.best ? Json(*s.best) : Json()},
                       {"points", points},
                       {"loads", loads},
                       {"notes", s.notes}};
    return json.dump(2) + "\n";
}

std::string serving_csv(const analysis::Serving& s) {
    std::string text = "tensor,devices,requests,ttft_s,tpot_s,tokens_per_s,tokens_per_s_user,"
                       "tokens_per_s_device,weight_bytes,"
                       "cache_bytes,within,front\n";
    for (const analysis::ServingPoint& p : s.points) {
        text += fmt::format("{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{},{}\n",
                            p.tensor, p.devices, p.batch, p.ttft_s, p.tpot_s, p.tokens_per_s,
                            p.per_user(), p.per_device(), p.weight_bytes, p.cache_bytes,
                            p.within ? 1 : 0, p.front ? 1 : 0);
    }
    return text;
}

std::string serving_svg(const analysis::Serving& s) {
    Chart chart;
    chart.title =
        fmt::format("{} on {}: prompt {}, answer {}", s.network, s.machine, s.prompt, s.answer);
    chart.x_title = "tokens/s a user";
    chart.y_title = "tokens/s a device";
    for (const analysis::ServingPoint& p : s.points) {
        const std::string label = fmt::format("tensor {}", p.tensor);
        if (chart.lines.empty() || chart.lines.back().label != label) {
            chart.lines.push_back({label, {}, false, true});
        }
        chart.lines.back().points.emplace_back(p.per_user(), p.per_device());
    }
    return chart_svg(chart);
}

} // namespace eyeroof::report
