#include "report/scale/serving_answer.hpp"

#include "base/lines.hpp"
#include "base/units.hpp"
#include "report/answer/write.hpp"
#include "report/draw/chart_scene.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::report {

namespace {

using analysis::Percentiles;
using analysis::Serving;
using analysis::ServingLoad;
using analysis::ServingPoint;

std::string seconds_of(double value) {
    return format_si(value, "s");
}

std::string tpot_interval(const ServingPoint& p) {
    return range_text(p.tpot_s * p.tpot_band.low, p.tpot_s * p.tpot_band.high, Unit::seconds);
}

// "4 tokens drafted, 2.77 made per step"
void add_drafts(const Serving& s, std::vector<std::string>& lines) {
    const analysis::Speculation& drafts = s.speculation;
    if (drafts.tokens > 0) {
        lines.push_back(
            fmt::format("{} drafted{}, {:.3g} made per step", counted(drafts.tokens, "token"),
                        drafts.draft ? " by " + drafts.draft->name : std::string(), drafts.made()));
    }
    if (s.decode_groups > 0 && !s.points.empty()) {
        lines.push_back(fmt::format("{} and {}; a prompt's KV cache moves in {}",
                                    counted(s.prefill_groups, "prefill group"),
                                    counted(s.decode_groups, "decode group"),
                                    seconds_of(s.points[0].transfer_s)));
    }
}

// "tensor parallel 8, experts on 8 devices"
std::string layout_text(const ServingPoint& p) {
    return fmt::format("tensor parallel {}", p.tensor) +
           (p.data > 1 ? fmt::format(", {} replicas of attention", p.data) : "") +
           (p.expert > 1 ? fmt::format(", experts on {} devices", p.expert) : "");
}

// "tried 1, 2 devices"; empty where there was one choice.
std::string devices_tried(const Serving& s) {
    std::vector<Count> counts;
    for (const ServingPoint& p : s.points) {
        counts.push_back(p.devices);
    }
    std::ranges::sort(counts);
    counts.erase(std::ranges::unique(counts).begin(), counts.end());
    return counts.size() < 2 ? std::string()
                             : fmt::format("tried {} devices", fmt::join(counts, ", "));
}

// What a step is made of.
std::string step_text(const ServingPoint& p) {
    const auto share = [&](double seconds) { return 100.0 * seconds / p.step_s; };
    const double products = p.step_s - p.attention_s - p.message_s - p.host_s;
    std::string text =
        fmt::format("A step of {}: GEMMs and norms {:.0f} %, attention {:.0f} %",
                    seconds_of(p.step_s), share(std::max(products, 0.0)), share(p.attention_s));
    if (p.message_s > 0.0) {
        text += fmt::format(", communication {:.0f} %", share(p.message_s));
    }
    return text + fmt::format(", the engine's CPU time {:.0f} %", share(p.host_s));
}

// As rate_text() has it, of a column of numbers.
double all_digits(double per_s) {
    return per_s < 1000.0 ? per_s : std::round(per_s);
}

// What keeps more tokens per second from this point.
std::string limit_text(const Serving& s, const ServingPoint& p) {
    if (p.prompted_per_s > 0.0) {
        // A decode group runs as many requests as prompts supply: equal rates are the prompts'.
        const bool prompts = p.prompted_per_s < 1.001 * p.decoded_per_s;
        return fmt::format(
            "Bound by the {} groups: {:.3g} requests/s; the {} groups reach {:.3g}",
            prompts ? "prefill" : "decode", prompts ? p.prompted_per_s : p.decoded_per_s,
            prompts ? "decode" : "prefill", prompts ? p.decoded_per_s : p.prompted_per_s);
    }
    if (p.batch >= p.most_batch) {
        return p.engine_full ? fmt::format("Bound by {}'s default of {} at once", s.engine.name,
                                           counted(p.most_batch / p.data, "request"))
                             : std::string("Bound by memory, which holds no more requests");
    }
    // The next larger number of requests that was tried.
    const ServingPoint* more = nullptr;
    for (const ServingPoint& q : s.points) {
        if (q.tensor == p.tensor && q.batch > p.batch && (!more || q.batch < more->batch)) {
            more = &q;
        }
    }
    if (more == nullptr) {
        return "Bound by --requests: no more were tried";
    }
    const bool late = s.tpot_limit_s > 0.0 && more->tpot_s > s.tpot_limit_s;
    return more->within
               ? fmt::format("Bound by prompts: {} give no more, {} tokens/s per device",
                             counted(more->batch, "request"), rate_text(more->per_device()))
               : fmt::format("Bound by the {} of {}: {} take {}", late ? "TPOT" : "TTFT",
                             seconds_of(late ? s.tpot_limit_s : s.ttft_limit_s),
                             counted(more->batch, "request"),
                             seconds_of(late ? more->tpot_s : more->ttft_s));
}

std::vector<std::string> serving_sentences(const Serving& s) {
    std::vector<std::string> lines;
    if (s.best) {
        const ServingPoint& p = s.points[*s.best];
        lines = {
            fmt::format("At most {} tokens/s per device{}: {} at a time on {}, {}",
                        rate_text(p.per_device()),
                        s.ttft_limit_s > 0.0 || s.tpot_limit_s > 0.0 ? " within the limits" : "",
                        counted(p.batch, "request"), counted(p.devices, "device"), layout_text(p)),
            fmt::format("TTFT {}, TPOT {} ({}); {} of {} per device", seconds_of(p.ttft_s),
                        seconds_of(p.tpot_s), tpot_interval(p),
                        format_si(p.weight_bytes + p.cache_bytes, "B"),
                        format_si(s.capacity_bytes, "B"))};
        lines.push_back(step_text(p));
        lines.push_back(limit_text(s, p));
    } else {
        lines = {"No number of requests meets the limits"};
    }
    add_drafts(s, lines);
    return lines;
}

// A figure and its 80 % interval: `key` with "_low" and "_high" before its unit.
void add_interval(std::vector<Column<ServingPoint>>& columns, const std::string& key,
                  const std::string& unit, double ServingPoint::*value,
                  analysis::ErrorBand ServingPoint::*band) {
    columns.emplace_back(
        key + "_low" + unit, "", Unit::none,
        [value, band](const ServingPoint& p) { return p.*value * (p.*band).low; }, kPrograms,
        "one published server in ten is below");
    columns.emplace_back(
        key + "_high" + unit, "", Unit::none,
        [value, band](const ServingPoint& p) { return p.*value * (p.*band).high; }, kPrograms,
        "one published server in ten is above");
}

AnswerTable serving_points(const Serving& s) {
    using P = ServingPoint;
    std::vector<Column<P>> columns = {
        {"tensor", "tensor", Unit::count, &P::tensor, kAll, "devices that share every GEMM"},
        {"data", "replicas", Unit::count, &P::data, kAll, "of attention"},
        {"expert", "", Unit::count, &P::expert, kPrograms, "devices that share the experts"},
        {"devices", "devices", Unit::count, &P::devices},
        {"requests", "requests", Unit::count, &P::batch, kAll, "at once, of all replicas"},
        {"most_requests", "", Unit::count, &P::most_batch, kPrograms,
         "that memory holds, or the engine takes"},
        {"prefill_s", "", Unit::seconds, &P::prefill_s, kPrograms, "of one prompt"},
        {"step_s", "", Unit::seconds, &P::step_s, kPrograms, "one token of all requests"},
        {"attention_s", "", Unit::seconds, &P::attention_s, kPrograms, "of step_s"},
        {"message_s", "", Unit::seconds, &P::message_s, kPrograms, "of step_s: communication"},
        {"host_s", "", Unit::seconds, &P::host_s, kPrograms,
         "of step_s: the engine's CPU time that no kernel hides"},
        {"transfer_s", "", Unit::seconds, &P::transfer_s, kPrograms,
         "of a prompt's cache to the devices that compute next tokens"},
        {"ttft_s", "TTFT", Unit::seconds, &P::ttft_s, kAll,
         "time to first token, in a steady state"},
        {"tpot_s", "TPOT", Unit::seconds, &P::tpot_s, kAll, "time per output token after it"},
        {"", "80 % interval", Unit::none, tpot_interval, kPeople,
         "of TPOT: eight published servers in ten lie within"}};
    add_interval(columns, "ttft", "_s", &P::ttft_s, &P::ttft_band);
    add_interval(columns, "tpot", "_s", &P::tpot_s, &P::tpot_band);
    columns.emplace_back("tokens_per_s", "", Unit::none, &P::tokens_per_s, kPrograms,
                         "output tokens, all devices together");
    add_interval(columns, "tokens", "_per_s", &P::tokens_per_s, &P::rate_band);
    columns.insert(
        columns.end(),
        {{"tokens_per_s_user", "", Unit::none, &P::per_user, kPrograms},
         {"", "user t/s", Unit::count, [](const P& p) { return all_digits(p.per_user()); },
          kPeople},
         {"tokens_per_s_device", "", Unit::none, &P::per_device, kPrograms},
         {"", "device t/s", Unit::count, [](const P& p) { return all_digits(p.per_device()); },
          kPeople},
         {"", "memory", Unit::bytes, [](const P& p) { return p.weight_bytes + p.cache_bytes; },
          kPeople, "per device: weights and KV cache"},
         {"weight_bytes", "", Unit::bytes, &P::weight_bytes, kPrograms, "per device"},
         {"cache_bytes", "", Unit::bytes, &P::cache_bytes, kPrograms, "KV cache per device"},
         {"within", "within", Unit::none, &P::within, kAll, "both limits"},
         {"front", "front", Unit::none, &P::front, kAll,
          "Pareto front of tokens/s per user and per device"}});
    return make_table("points", "", s.points, columns);
}

void add_percentiles(std::vector<Column<ServingLoad>>& columns, const std::string& key,
                     const std::string& title, Percentiles analysis::LoadResult::*of,
                     const char* meaning) {
    const auto add = [&](const char* name, double Percentiles::*value) {
        columns.emplace_back(
            key + "." + name, title.empty() ? title : title + " " + name, Unit::seconds,
            [of, value](const ServingLoad& l) {
                const Percentiles& all = l.result.*of;
                return all.values > 0 ? std::optional(all.*value) : std::nullopt;
            },
            name == std::string_view("mean") ? kPrograms : kAll, meaning);
    };
    add("mean", &Percentiles::mean);
    add("p50", &Percentiles::p50);
    add("p95", &Percentiles::p95);
    add("p99", &Percentiles::p99);
}

template <class T>
Column<ServingLoad> of_result(const char* key, const char* title, Unit unit,
                              T analysis::LoadResult::*member, const char* meaning) {
    return {key,  title,  unit, [member](const ServingLoad& l) { return l.result.*member; },
            kAll, meaning};
}

AnswerTable loads_table(const Serving& s) {
    using L = ServingLoad;
    const auto rate = [](const L& l) {
        return l.users > 0 || l.recorded ? std::nullopt : std::optional(l.rate);
    };
    const auto users = [](const L& l) {
        return l.users > 0 ? std::optional(l.users) : std::nullopt;
    };
    std::vector<Column<L>> columns = {
        {"tensor", "tensor", Unit::count, &L::tensor},
        {"devices", "devices", Unit::count, &L::devices},
        {"rate", "rate", Unit::none, rate, kAll,
         "requests/s that arrive; null: users in a closed loop, or recorded arrivals"},
        {"users", "users", Unit::count, users},
        {"recorded", "", Unit::none, &L::recorded, kPrograms, "arrivals of a file"},
        {"largest", "largest", Unit::none, &L::largest, kAll,
         "the largest rate within the limits"}};
    add_percentiles(columns, "ttft_s", "TTFT", &analysis::LoadResult::ttft,
                    "null: no request had output tokens");
    add_percentiles(columns, "tpot_s", "TPOT", &analysis::LoadResult::tpot,
                    "null: no request had two output tokens");
    add_percentiles(columns, "wait_s", "", &analysis::LoadResult::wait,
                    "from arrival to the first step that computes the prompt");
    using R = analysis::LoadResult;
    columns.insert(
        columns.end(),
        {of_result("requests_per_s", "served/s", Unit::none, &R::requests_per_s, ""),
         {"tokens_per_s", "", Unit::none, [](const L& l) { return l.result.tokens_per_s; },
          kPrograms},
         {"", "tokens/s", Unit::count, [](const L& l) { return all_digits(l.result.tokens_per_s); },
          kPeople},
         of_result("mean_running", "", Unit::none, &R::mean_running,
                   "requests that hold KV cache, mean over time"),
         of_result("busy", "busy", Unit::share, &R::busy, "share of the time that a step runs"),
         {"prompts_busy", "", Unit::share, [](const L& l) { return l.result.prompts_busy; },
          kPrograms, "the same of prefill servers"},
         of_result("keeps_up", "keeps up", Unit::none, &R::keeps_up,
                   "no: the queue grows, as more arrive than are served"),
         {"within", "within", Unit::none, &L::within, kAll,
          "both limits, at the 95th percentile"}});
    return make_table("loads", fmt::format("Under load, simulated with {}", s.engine.id), s.loads,
                      columns);
}

Chart front_chart(const Serving& s, const std::string& title) {
    Chart chart;
    chart.title = title;
    chart.x_title = "tokens/s per user";
    chart.y_title = "tokens/s per device";
    for (const ServingPoint& p : s.points) {
        const std::string label = fmt::format("tensor {}", p.tensor);
        if (chart.lines.empty() || chart.lines.back().label != label) {
            chart.lines.push_back({label, {}, false, true});
        }
        chart.lines.back().points.emplace_back(p.per_user(), p.per_device());
    }
    return chart;
}

} // namespace

Answer serving_answer(const Serving& s) {
    Answer a;
    a.schema = "eyeroof/serve/1";
    a.title =
        fmt::format("{} on {}: prompt {}, answer {}", s.network, s.machine, s.prompt, s.answer);
    a.sentences = serving_sentences(s);
    const auto grows =
        std::ranges::count_if(s.loads, [](const ServingLoad& l) { return !l.result.keeps_up; });
    if (grows > 0) {
        a.warnings.push_back("under " + counted(grows, "load") +
                             " the queue grows: more arrive than are served");
    }
    a.figures = {
        {"network", "", s.network},
        {"machine", "", s.machine},
        {"fabric", "fabric", s.fabric},
        {"prompt", "prompt", s.prompt, Unit::count, kAll, "tokens of a request"},
        {"answer", "answer", s.answer, Unit::count, kAll, "tokens of a request"},
        {"cached", "", s.cached, Unit::count, kPrograms,
         "tokens of a prompt that are not computed"},
        {"capacity_bytes", "", s.capacity_bytes, Unit::bytes, kPrograms, "of a device"},
        {"engine", "engine", s.engine.id, Unit::none, kAll,
         "whose policies and host times are assumed"},
        {"drafted", "", s.speculation.tokens, Unit::count, kPrograms,
         "tokens that a step checks of each request beside the next one; 0: no speculative "
         "decoding"},
        {"prefill_groups", "", s.prefill_groups, Unit::count, kPrograms,
         "of tensor devices that compute prompts alone; 0: prompts and next tokens share devices"},
        {"decode_groups", "", s.decode_groups, Unit::count, kPrograms,
         "of tensor devices that compute next tokens alone"},
        {"tokens_per_step", "", s.speculation.made(), Unit::none, kPrograms,
         "of each request, expected"},
        {"best", "", s.best, Unit::count, kPrograms,
         "index into points: most tokens a device within the limits; null: none"}};
    a.tables = {serving_points(s), loads_table(s)};
    a.notes = s.notes;
    if (const std::string tried = devices_tried(s); !tried.empty()) {
        a.notes.push_back(tried);
    }
    a.picture = [chart = front_chart(s, a.title)](const Canvas& canvas) {
        return draw_chart(chart, canvas);
    };
    return a;
}

} // namespace eyeroof::report
