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
    return fmt::format("{:>6} {:>8} {:>9.4g} {:>9.4g} {:>9.4g} {:>12.4g} {:>12.4g} {:>10.3g}{}{}\n",
                       p.tensor, p.batch, p.ttft_s * 1e3, p.tpot_s * 1e3, p.per_user(),
                       p.per_device(), p.tokens_per_s, (p.weight_bytes + p.cache_bytes) / 1e9,
                       p.front ? "  front" : "", p.within ? "" : "  over a limit");
}

} // namespace

std::string serving_text(const analysis::Serving& s) {
    std::string text = fmt::format(
        "{} on {}, {}\nprompt {}, answer {} tokens; {:.4g} GB a device\n\n{:>6} {:>8} {:>9} {:>9} "
        "{:>9} {:>12} {:>12} {:>10}\n",
        masked_controls(s.network), masked_controls(s.machine), masked_controls(s.fabric), s.prompt,
        s.answer, s.capacity_bytes / 1e9, "tensor", "requests", "TTFT ms", "TPOT ms", "user t/s",
        "device t/s", "all t/s", "memory GB");
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
                          {"tokens_per_s", p.tokens_per_s},
                          {"tokens_per_s_user", p.per_user()},
                          {"tokens_per_s_device", p.per_device()},
                          {"weight_bytes", p.weight_bytes},
                          {"cache_bytes", p.cache_bytes},
                          {"within", p.within},
                          {"front", p.front}});
    }
    const Json json = {{"schema", "eyeroof/serve/1"},
                       {"network", s.network},
                       {"machine", s.machine},
                       {"fabric", s.fabric},
                       {"prompt", s.prompt},
                       {"answer", s.answer},
                       {"capacity_bytes", s.capacity_bytes},
                       {"best", s.best ? Json(*s.best) : Json()},
                       {"points", points},
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
