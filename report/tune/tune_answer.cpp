#include "report/tune/tune_answer.hpp"

#include "base/lines.hpp"
#include "base/units.hpp"
#include "report/draw/chart_scene.hpp"
#include "report/trials/search_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace eyeroof::report {

namespace {

using analysis::tune::Described, analysis::tune::EndToEnd, analysis::tune::Trial,
    analysis::tune::Tuned, analysis::tune::TuneResult;
using Knobs = std::vector<std::pair<std::string, Count>>;

// The best's time: measured beside others in the end where that was done.
double best_s(const Tuned& layer) {
    return layer.again_s > 0.0 ? layer.again_s : layer.best->outcome.cost;
}

double flops_per_s(const Tuned& layer) {
    return layer.work.flops() / best_s(layer);
}

std::size_t failures(const Tuned& layer) {
    return static_cast<std::size_t>(std::ranges::count_if(
        layer.trials, [](const Trial& trial) { return !trial.outcome.ok(); }));
}

// The search for the best, in sentences.
std::vector<std::string> search_details(const Tuned& layer) {
    if (!layer.best) {
        return {fmt::format("all {} failed", counted(layer.trials.size(), "trial"))};
    }
    std::vector<std::string> lines = {
        fmt::format("{} points{}{}{}", layer.space,
                    layer.valid ? fmt::format(", {} valid", *layer.valid) : "",
                    layer.seconds > 0.0 ? fmt::format(", trials took {:.3g} s", layer.seconds) : "",
                    layer.recalled > 0 ? fmt::format(", {} from the log", layer.recalled) : ""),
        fmt::format("the closed form predicts {} for it and prefers {} ({})",
                    format_si(layer.what.seconds, "s"), layer.preferred.text,
                    format_si(layer.preferred.seconds, "s"))};
    if (layer.again_s > 0.0) {
        lines.push_back(fmt::format("remeasured with the runners-up; {} in its trial",
                                    format_si(layer.best->outcome.cost, "s")));
    }
    for (const double share : {0.9, 0.95, 0.99}) {
        const auto at =
            analysis::tune::trials_to(layer.trials, analysis::tune::best_cost(layer.trials), share);
        lines.push_back(
            fmt::format("{:.0f} % of its best after {}", 100 * share, counted(*at, "trial")));
    }
    return lines;
}

const Limits kFromOne{.least = 1.0};

struct BoundRow {
    std::string step;
    double flops_per_s = 0.0;
    bool limits = false;
};

// The bounds of the best behind the second step, by closed form.
std::vector<BoundRow> tuned_bounds(const Tuned& layer, double clock_hz) {
    constexpr std::array kSteps = {"3 number of lanes", "4 physical dimensions", "5 storage",
                                   "6 average bandwidth", "7 instantaneous bandwidth"};
    std::vector<BoundRow> rows;
    for (std::size_t i = 0; layer.best && i < kSteps.size(); ++i) {
        rows.push_back(
            {kSteps[i], 2.0 * layer.what.bound[i + 2] * clock_hz, i + 2 == layer.what.limiter});
    }
    return rows;
}

// {"text": …, and the value of each knob}.
Column<Tuned> plan_column(const char* key, Described Tuned::*what, Knobs Tuned::*knobs) {
    struct Plan {};
    auto made = object<Tuned, Plan>(
        key, [](const Tuned&) { return std::optional(Plan()); },
        {{"text", [](const Plan&) { return std::string(); }},
         {"*", [](const Plan&) { return Count{0}; }}},
        "the value of each knob, and all of it in words");
    made.of = [what, knobs](const Tuned& layer) {
        AnswerTable plan;
        plan.form = Form::object;
        plan.columns = {{"text", "", Unit::none, kJson}};
        plan.rows = {std::vector<Value>{(layer.*what).text}};
        for (const auto& [name, value] : layer.*knobs) {
            plan.columns.push_back({name, "", Unit::none, kJson});
            plan.rows.front().emplace_back(value);
        }
        return value_of(plan);
    };
    return made;
}

struct CurveRow {
    std::size_t trial = 0; // from 1
    std::optional<double> best_s;
    const Trial* of = nullptr;
    bool better = false;
};

// Every trial with the best so far.
std::vector<CurveRow> best_curve(const Tuned& layer) {
    std::vector<CurveRow> rows;
    std::optional<double> best;
    for (const Trial& trial : layer.trials) {
        const bool better = trial.outcome.ok() && (!best || trial.outcome.cost < *best);
        best = better ? std::optional(trial.outcome.cost) : best;
        rows.push_back({rows.size() + 1, best, &trial, better});
    }
    return rows;
}

double at_s(const CurveRow& row) {
    return row.of->at_s;
}

std::vector<Column<Tuned>> best_columns() {
    const auto described = [](auto Described::*member) {
        return [member](const Tuned& t) { return t.what.*member; };
    };
    return {limited<Column<Tuned>>({"time_s", best_s}, kAboveZero),
            {"gflops_per_s", [](const Tuned& t) { return flops_per_s(t) / 1e9; }},
            {"measured_again", [](const Tuned& t) { return t.again_s > 0.0; }},
            plan_column("plan", &Tuned::what, &Tuned::knobs),
            limited<Column<Tuned>>({"predicted_s", described(&Described::seconds)}, kAboveZero),
            limited<Column<Tuned>>({"bound_macs_per_cycle", described(&Described::bound), kPrograms,
                                    "of the seven steps"},
                                   {.length = 7}),
            limited<Column<Tuned>>(
                {"limiting_step", [](const Tuned& t) { return t.what.limiter + 1; }}, kStepNumber)};
}

AnswerTable tuned_layers(const TuneResult& result, bool details) {
    const auto found = [](auto of) {
        return [of](const Tuned& t) {
            return t.best ? std::optional(std::invoke(of, t)) : std::nullopt;
        };
    };
    const auto trials = [](const Tuned& t) { return t.trials.size(); };
    const auto curve = [](const Tuned& t) {
        std::vector<CurveRow> rows = best_curve(t);
        std::erase_if(rows, [](const CurveRow& row) { return !row.better; });
        return rows;
    };
    const unsigned where = details ? kPeople : kPages;
    Column<Tuned> valid("valid_points", &Tuned::valid);
    valid.head.absent = true;
    AnswerTable made = make_table<Tuned>(
        "layers", "Layers", result.layers,
        {{"layer", "layer", Unit::none, [](const Tuned& t) { return t.work.name; }},
         {"", "time", Unit::seconds, found(best_s), kPeople},
         {"", "rate", Unit::flops_per_s, found(flops_per_s), kPeople},
         limited<Column<Tuned>>({"macs", [](const Tuned& t) { return t.work.macs(); }}, kFromOne),
         {"template", &Tuned::template_name},
         limited<Column<Tuned>>({"space_points", &Tuned::space}, kFromOne),
         {"trials", "trials", Unit::count, trials},
         {"failed_trials", "failed", Unit::count, failures},
         {"recalled_trials", &Tuned::recalled},
         {"search_s", &Tuned::seconds},
         {"stopped", &Tuned::stopped},
         {"exhausted", &Tuned::exhausted},
         valid,
         object<Tuned, Tuned>("best", found([](const Tuned& t) { return t; }), best_columns()),
         object<Tuned, Tuned>("predicted_best", [](const Tuned& t) { return std::optional(t); },
                              {{"time_s", [](const Tuned& t) { return t.preferred.seconds; }},
                               plan_column("plan", &Tuned::preferred, &Tuned::preferred_knobs)}),
         nested<Tuned, CurveRow>(
             "curve", "", curve,
             {limited<Column<CurveRow>>({"trial", &CurveRow::trial}, kFromOne),
              limited<Column<CurveRow>>({"best_s", &CurveRow::best_s}, kAboveZero),
              {"at_s", at_s}},
             kJson),
         {"", "best", Unit::line, [](const Tuned& t) { return t.what.text; }, kPeople},
         {"", "search", Unit::sentence, search_details, where},
         nested<Tuned, BoundRow>(
             "", "Bounds of the best, by closed form",
             [hz = result.clock_hz](const Tuned& t) { return tuned_bounds(t, hz); },
             {{"", "step", Unit::none, &BoundRow::step, kPeople},
              {"", "bound", Unit::flops_per_s, &BoundRow::flops_per_s, kPeople},
              {"", "largest loss", Unit::none, &BoundRow::limits, kPeople}},
             where)});
    return made;
}

AnswerTable trials_table(const TuneResult& result) {
    struct Row {
        std::string layer;
        CurveRow curve;
    };
    std::vector<Row> rows;
    for (const Tuned& layer : result.layers) {
        for (const CurveRow& row : best_curve(layer)) {
            rows.push_back({layer.work.name, row});
        }
    }
    const auto time_s = [](const Row& row) {
        const auto& outcome = row.curve.of->outcome;
        return outcome.ok() ? std::optional(outcome.cost) : std::nullopt;
    };
    return make_table<Row>(
        "trials", "", rows,
        {{"layer", &Row::layer, kCsv},
         {"trial", [](const Row& row) { return row.curve.trial; }, kCsv},
         {"round", [](const Row& row) { return row.curve.of->round; }, kCsv},
         {"time_s", time_s, kCsv},
         {"best_s", [](const Row& row) { return row.curve.best_s; }, kCsv},
         {"error", [](const Row& row) { return row.curve.of->outcome.error; }, kCsv},
         {"at_s", [](const Row& row) { return at_s(row.curve); }, kCsv}});
}

std::vector<Column<EndToEnd::Step>> network_step_columns(const EndToEnd& n) {
    using Step = EndToEnd::Step;
    static constexpr std::array kKinds = {"product", "max pooling", "mean pooling", "pointwise",
                                          "softmax"};
    const auto share = [n](double Step::*way) {
        return [way, all = n.steps_s(way)](const Step& step) { return step.*way / all; };
    };
    return {{"name", "step", Unit::none, &Step::name},
            limited<Column<Step>>(
                {"kind", "kind", Unit::none,
                 [](const Step& s) { return kKinds[static_cast<std::size_t>(s.kind)]; }},
                {.words = {kKinds.begin(), kKinds.end()}}),
            {"tuned_s", "tuned", Unit::seconds, &Step::tuned_s},
            {"library_s", n.library, Unit::seconds, &Step::library_s},
            {"tuned_share", "share", Unit::share, share(&Step::tuned_s), kAll,
             "of the sum of the steps"},
            {"library_share", "library's share", Unit::share, share(&Step::library_s)},
            {"", "library / tuned", Unit::times,
             [](const Step& s) { return s.library_s / s.tuned_s; }, kPeople}};
}

// The whole network with the tuned kernels and with a library.
AnswerTable network_table(const std::optional<EndToEnd>& network) {
    const auto steps = network_step_columns(network.value_or(EndToEnd()));
    const auto rows = one_or_none(network);
    const auto ratio = [](const EndToEnd& n) { return n.library_s / n.tuned_s; };
    using Of = Column<EndToEnd>;
    return make_table<EndToEnd>(
        "network", "Whole network", rows,
        {{"library", "library", Unit::none, &EndToEnd::library, kAll, "with its version"},
         limited<Of>({"threads", "threads", Unit::count, &EndToEnd::threads}, kFromOne),
         limited<Of>({"runs", "runs of each", Unit::count, &EndToEnd::runs, kAll, "alternating"},
                     kFromOne),
         limited<Of>({"statistic", "statistic", Unit::none,
                      [](const EndToEnd& n) { return n.least ? "least" : "median"; }, kAll,
                      "of the runs"},
                     {.words = {"median", "least"}}),
         limited<Of>({"tuned_s", "tuned end to end", Unit::seconds, &EndToEnd::tuned_s},
                     kAboveZero),
         limited<Of>({"library_s", "library", Unit::seconds, &EndToEnd::library_s}, kAboveZero),
         {"library_over_tuned", "library / tuned", Unit::times, ratio, kAll,
          "above 1: the tuned network is faster"},
         {"difference", &EndToEnd::difference, kPrograms, "of the results, over the largest value"},
         {"product_share", &EndToEnd::kernel_share, kPrograms,
          "of the tuned steps' time that convolutions and matrix products have"},
         nested<EndToEnd, EndToEnd::Step>("steps", "Steps", &EndToEnd::steps, steps)},
        Form::object);
}

Chart search_chart_of(const TuneResult& result) {
    Chart chart = trials_chart("Best so far against trials: " + result.search);
    for (const Tuned& layer : result.layers) {
        std::vector<double> costs;
        for (const Trial& trial : layer.trials) {
            costs.push_back(trial.outcome.cost);
        }
        ChartLine line = best_line(layer.work.name, layer.work.flops(), costs);
        if (!line.points.empty()) {
            chart.lines.push_back(std::move(line));
        }
    }
    return chart;
}

std::string network_sentence(const EndToEnd& n) {
    const bool faster = n.tuned_s <= n.library_s;
    return fmt::format("The tuned network is {:.2f}x as {} as {} end to end",
                       faster ? n.library_s / n.tuned_s : n.tuned_s / n.library_s,
                       faster ? "fast" : "slow", n.library);
}

} // namespace

Answer tune_answer(const TuneResult& result, bool details) {
    const std::string flags = result.toolchain.flags.empty() ? "" : ", " + result.toolchain.flags;
    Answer a;
    a.schema = "eyeroof/tune/1";
    a.title = "Tuning";
    a.sentences = {
        result.target != "model"
            ? fmt::format("Target: {} ({}{})", result.machine, result.toolchain.compiler, flags)
            : std::string("Target: synthetic closed-form model, no machine"),
        "Search: " + result.search};
    a.figures = {limited<Figure>({"target", "", result.target}, {.words = {"cpu", "gpu", "model"}}),
                 {"machine", "", result.machine},
                 {"compiler", "", result.toolchain.compiler},
                 {"flags", "", result.toolchain.flags},
                 {"search", "", result.search},
                 {"stopped", "", result.stopped}};
    if (result.stopped) {
        a.warnings = {"Stopped early; the results are the best so far"};
    }
    a.tables = {tuned_layers(result, details), network_table(result.network), trials_table(result)};
    a.rows = "trials";
    if (result.network) {
        const EndToEnd& n = *result.network;
        a.sentences.push_back(network_sentence(n));
        a.notes = {fmt::format("GEMMs take {:.1f} % of the tuned steps; results differ by {:.1e} "
                               "of the largest value; only softmax and additions are the same code",
                               100.0 * n.kernel_share(), n.difference)};
    }
    a.picture = [chart = search_chart_of(result)](const Canvas& canvas) {
        return draw_chart(chart, canvas);
    };
    return a;
}

} // namespace eyeroof::report
