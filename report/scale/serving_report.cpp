// Serving as text, JSON, CSV and SVG.
#include "analysis/scale/serving.hpp"
#include "base/json.hpp"
#include "base/lines.hpp"
#include "report/draw/chart.hpp"
#include "report/scale/serving_write.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace eyeroof::report {

namespace {

using Json = nlohmann::ordered_json;

std::string ms(double seconds) {
    return fmt::format("{:.3g}", seconds * 1e3);
}

std::string row(const analysis::ServingPoint& p) {
    return fmt::format(
        "{:>6} {:>8} {:>9} {:>8} {:>14} {:>8.4g} {:>10.4g} {:>7.3g} {}{}\n", p.tensor, p.batch,
        ms(p.ttft_s), ms(p.tpot_s),
        fmt::format("{} … {}", ms(p.tpot_s * p.tpot_band.low), ms(p.tpot_s * p.tpot_band.high)),
        p.per_user(), p.per_device(), (p.weight_bytes + p.cache_bytes) / 1e9, p.front ? "*" : " ",
        p.within ? "" : "!");
}

std::string load_name(const analysis::ServingLoad& l) {
    return l.users > 0 ? counted(l.users, "user")
                       : fmt::format("{}{:.4g}/s", l.largest ? "largest " : "", l.rate);
}

std::string three(const analysis::Percentiles& p) {
    return fmt::format("{}/{}/{}", ms(p.p50), ms(p.p95), ms(p.p99));
}

std::string loads_text(const analysis::Serving& s) {
    if (s.loads.empty()) {
        return {};
    }
    std::string text = fmt::format(
        "\nunder load, simulated with {}; p50/p95/p99\n{:>6} {:>13} {:>16} {:>15} {:>8} {:>8} "
        "{:>5}\n",
        analysis::engine_name(s.engine.kind), "tensor", "requests", "TTFT, ms", "TPOT, ms",
        "served/s", "tokens/s", "busy");
    for (const analysis::ServingLoad& l : s.loads) {
        const analysis::LoadResult& r = l.result;
        text += fmt::format("{:>6} {:>13} {:>16} {:>15} {:>8.3g} {:>8.4g} {:>5}{}\n", l.tensor,
                            load_name(l), three(r.ttft), three(r.tpot), r.requests_per_s,
                            r.tokens_per_s, fmt::format("{:.0f} %", 100 * r.busy),
                            l.within ? "" : " !");
        text += r.keeps_up ? "" : "       the queue grows: more arrive than are served\n";
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

namespace {

// "tensor parallel 8, experts on 8 devices"
std::string layout_text(const analysis::ServingPoint& p) {
    return fmt::format("tensor parallel {}", p.tensor) +
           (p.data > 1 ? fmt::format(", {} replicas of attention", p.data) : "") +
           (p.expert > 1 ? fmt::format(", experts on {} devices", p.expert) : "");
}

std::string answer_text(const analysis::Serving& s) {
    if (!s.best) {
        return "No number of requests keeps the limits.\n";
    }
    const analysis::ServingPoint& p = s.points[*s.best];
    return wrapped(fmt::format("At most {:.4g} tokens/s per device{}: {} at a time on {}, {}",
                               p.per_device(), s.limited ? " within the limits" : "",
                               counted(p.batch, "request"), counted(p.devices, "device"),
                               layout_text(p)),
                   0, kTextColumns) +
           wrapped(fmt::format("TTFT {} ms, TPOT {} ms ({} … {} ms); {:.3g} GB of {:.3g} GB a "
                               "device",
                               ms(p.ttft_s), ms(p.tpot_s), ms(p.tpot_s * p.tpot_band.low),
                               ms(p.tpot_s * p.tpot_band.high),
                               (p.weight_bytes + p.cache_bytes) / 1e9, s.capacity_bytes / 1e9),
                   0, kTextColumns) +
           (p.message_s > 0.0 ? wrapped(fmt::format("Of a step of {} ms messages take {} ms",
                                                    ms(p.step_s), ms(p.message_s)),
                                        0, kTextColumns)
                              : std::string());
}

} // namespace

namespace {

// "4 tokens drafted, 2.77 made per step"; empty without speculation.
std::string drafts_text(const analysis::Speculation& drafts) {
    return drafts.tokens > 0
               ? fmt::format("{} drafted{}, {:.3g} made per step", counted(drafts.tokens, "token"),
                             drafts.draft ? " by " + masked_controls(drafts.draft->name)
                                          : std::string(),
                             drafts.made())
               : std::string();
}

// "2 prefill groups and 6 decode groups, a prompt's cache moves in 12 ms"; empty where they share.
std::string groups_text(const analysis::Serving& s) {
    return s.decode_groups > 0 && !s.points.empty()
               ? fmt::format("{} and {}, a prompt's cache moves in {} ms",
                             counted(s.prefill_groups, "prefill group"),
                             counted(s.decode_groups, "decode group"), ms(s.points[0].transfer_s))
               : std::string();
}

} // namespace

namespace {

// "1, 2, and 8 devices" of the points.
std::string devices_text(const analysis::Serving& s) {
    std::vector<std::string> counts;
    for (const analysis::ServingPoint& p : s.points) {
        if (counts.empty() || counts.back() != fmt::format("{}", p.devices)) {
            counts.push_back(fmt::format("{}", p.devices));
        }
    }
    return counts == std::vector<std::string>{"1"}
               ? std::string("1 device")
               : fmt::format("{} devices", fmt::join(counts, ", "));
}

} // namespace

std::string serving_text(const analysis::Serving& s) {
    std::string text = answer_text(s);
    std::vector<std::string> parts = {
        fmt::format("prompt {}{}, answer {}", s.prompt,
                    s.cached > 0 ? fmt::format(" ({} cached)", s.cached) : std::string(),
                    counted(s.answer, "token")),
        devices_text(s),
        fmt::format("engine {}", analysis::engine_name(s.engine.kind)),
        drafts_text(s.speculation),
        groups_text(s),
        masked_controls(s.fabric)};
    std::erase_if(parts, [](const std::string& part) { return part.empty(); });
    text += wrapped_parts(parts, 0, kTextColumns);
    text +=
        fmt::format("\n{:>6} {:>8} {:>9} {:>8} {:>14} {:>8} {:>10} {:>7}\n", "tensor", "requests",
                    "TTFT, ms", "TPOT, ms", "80 % interval", "user t/s", "device t/s", "GB");
    for (const analysis::ServingPoint& p : s.points) {
        text += row(p);
    }
    const bool over = std::any_of(s.points.begin(), s.points.end(),
                                  [](const auto& point) { return !point.within; });
    text += fmt::format("* on the Pareto front of tokens/s per user and per device{}\n",
                        over ? "; ! over a limit" : "");
    text += loads_text(s);
    for (const std::string& note : s.notes) {
        text += wrapped("note: " + masked_controls(note), 0, kTextColumns);
    }
    return text;
}

std::string serving_json(const analysis::Serving& s) {
    Json points = Json::array();
    for (const analysis::ServingPoint& p : s.points) {
        points.push_back({{"tensor", p.tensor},
                          {"data", p.data},
                          {"expert", p.expert},
                          {"devices", p.devices},
                          {"requests", p.batch},
                          {"most_requests", p.most_batch},
                          {"prefill_s", p.prefill_s},
                          {"step_s", p.step_s},
                          {"message_s", p.message_s},
                          {"transfer_s", p.transfer_s},
                          {"ttft_s", p.ttft_s},
                          {"tpot_s", p.tpot_s},
                          {"ttft_low_s", p.ttft_s * p.ttft_band.low},
                          {"ttft_high_s", p.ttft_s * p.ttft_band.high},
                          {"tpot_low_s", p.tpot_s * p.tpot_band.low},
                          {"tpot_high_s", p.tpot_s * p.tpot_band.high},
                          {"tokens_per_s", p.tokens_per_s},
                          {"tokens_low_per_s", p.tokens_per_s * p.rate_band.low},
                          {"tokens_high_per_s", p.tokens_per_s * p.rate_band.high},
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
                       {"cached", s.cached},
                       {"capacity_bytes", s.capacity_bytes},
                       {"engine", analysis::engine_name(s.engine.kind)},
                       {"drafted", s.speculation.tokens},
                       {"prefill_groups", s.prefill_groups},
                       {"decode_groups", s.decode_groups},
                       {"tokens_per_step", s.speculation.made()},
                       {"best", s.best ? Json(*s.best) : Json()},
                       {"points", points},
                       {"loads", loads},
                       {"notes", s.notes}};
    return json_document(json);
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
    chart.y_title = "tokens/s per device";
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
