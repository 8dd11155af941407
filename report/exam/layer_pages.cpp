#include "report/exam/layer_pages.hpp"

#include "analysis/exam/report_figures.hpp"
#include "report/answer/write.hpp"
#include "report/exam/answer.hpp"
#include "report/exam/words.hpp"
#include "report/measured/measured_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace eyeroof::report {

namespace {

using analysis::LayerReport;
using analysis::Report;

// Layers of one operator whose shown figures are equal, under the first one's name.
struct Equal {
    const LayerReport* layer = nullptr;
    Count runs = 0;
    double time_s = 0.0; // of all runs
};

std::vector<Equal> equal_layers(const Report& report) {
    std::vector<Equal> rows;
    std::map<std::string, std::size_t> known;
    for (std::size_t i = 0; i < report.layers.size(); ++i) {
        const LayerReport& layer = report.layers[i];
        const analysis::WorkFigure work = analysis::work_of(layer);
        std::string key =
            fmt::format("{} {} {} {} {} {}", static_cast<int>(layer.layer.op),
                        format_si(work.amount, work.unit, 4), format_si(layer.time_s, "s", 4),
                        percent(layer.utilization), layer.limiter_step, layer.limiter);
        if (layer.measured) { // its own figures stand in its details
            key += fmt::format(" measured {}", i);
        }
        const auto [at, is_new] = known.emplace(std::move(key), rows.size());
        if (is_new) {
            rows.push_back({&layer});
        }
        rows[at->second].runs += layer.layer.count;
        rows[at->second].time_s += layer.time_s * static_cast<double>(layer.layer.count);
    }
    return rows;
}

struct LadderStep {
    std::size_t step = 0;
    const LayerReport* layer = nullptr;
    double units = 0.0;

    const model::StepBound& bound() const { return layer->steps[step - 1]; }
    const model::StepBound& machine() const { return layer->machine_steps[step - 1]; }
    double lost() const { return 1.0 - analysis::kept_at(layer->steps, units, step); }
    bool loses() const { return lost() > 5e-4; }
};

std::vector<Column<LadderStep>> ladder_columns() {
    using S = LadderStep;
    const auto shares = [](const S& s) {
        return std::vector<double>{analysis::share_after(s.layer->steps, s.units, s.step),
                                   analysis::share_after(s.layer->machine_steps, s.units, s.step)};
    };
    const auto name = [](const S& s) {
        return fmt::format("{} {}", s.step, model::kStepNames[s.step - 1]);
    };
    const auto loss = [](const S& s) { return s.loses() ? "−" + percent(s.lost()) : ""; };
    const auto limit = [](const S& s) { return s.loses() ? s.bound().limit : std::string(); };
    return {{"", "step", Unit::none, name, kPages},
            {"", "mapping, MAC/cycle", Unit::none,
             [](const S& s) { return s.bound().macs_per_cycle; }, kPages},
            {"", "machine, MAC/cycle", Unit::none,
             [](const S& s) { return s.machine().macs_per_cycle; }, kPages},
            {"", "of the peak", Unit::bar, shares, kPages, "of the mapping; pale: of the machine"},
            {"", "loss", Unit::none, loss, kPages},
            {"", "to", Unit::none, limit, kPages},
            {"", "because", Unit::sentence, [](const S& s) { return s.bound().reason; }, kPages}};
}

std::vector<LadderStep> ladder_of(const Report& report, const LayerReport& layer) {
    std::vector<LadderStep> steps;
    for (std::size_t step = 1; step <= model::kSteps; ++step) {
        steps.push_back({step, &layer, analysis::units_of(report.machine, layer)});
    }
    return steps;
}

std::vector<double> shares_after_steps(const Report& report, const LayerReport& layer) {
    std::vector<double> shares;
    for (const LadderStep& s : ladder_of(report, layer)) {
        shares.push_back(analysis::share_after(layer.steps, s.units, s.step));
    }
    return shares;
}

template <class Get> auto of_layer(Get get) {
    return [get](const Equal& row) { return std::invoke(get, *row.layer); };
}

struct Measured { // a row of the table of what was measured; no layer: the sums
    std::string name;
    std::optional<double> predicted_s, measured_s, unexplained_s;
    std::optional<std::int64_t> executions;
    std::vector<std::string> why;
};

std::vector<Measured> measured_rows(const Report& report) {
    std::vector<Measured> rows;
    for (const LayerReport& layer : report.layers) {
        if (!layer.measured) {
            rows.push_back({layer.layer.name, {}, {}, {}, {}, {"not measured"}});
            continue;
        }
        const analysis::LayerMeasurement& m = *layer.measured;
        rows.push_back({layer.layer.name, m.predicted_s, m.time_s, m.unexplained_s, m.executions,
                        measured_lines(layer)});
    }
    const analysis::Measurement& all = *report.measured;
    rows.push_back({"total",
                    all.predicted_s,
                    all.measured_s,
                    all.unexplained_s,
                    {},
                    {signed_time(all.remaining_s) + " that no counter accounts for"}});
    return rows;
}

} // namespace

AnswerTable layers_for_pages(const Report& report) {
    const auto work = [](const LayerReport& layer) {
        const analysis::WorkFigure figure = analysis::work_of(layer);
        return format_si(figure.amount, figure.unit, 4);
    };
    const auto interval = [](const LayerReport& layer) {
        return range_text(layer.low_s, layer.high_s, Unit::seconds);
    };
    const auto share = [all_s = layers_time(report)](const Equal& row) {
        return all_s > 0.0 ? row.time_s / all_s : 0.0;
    };
    const auto left = [&report](const Equal& row) {
        return shares_after_steps(report, *row.layer);
    };
    const auto ladder = [&report](const Equal& row) { return ladder_of(report, *row.layer); };
    std::vector<Column<Equal>> columns = {
        {"", "layer", Unit::none, of_layer([](const LayerReport& l) { return l.layer.name; }),
         kPages},
        {"", "runs", Unit::count, &Equal::runs, kPages, "of this and of equal layers"},
        {"", "operator", Unit::none,
         of_layer([](const LayerReport& l) { return model::op_name(l.layer.op); }), kPages},
        {"", "work", Unit::none, of_layer(work), kPages},
        {"", "time", Unit::seconds, of_layer(&LayerReport::time_s), kPages, "of one run"}};
    if (std::ranges::any_of(report.layers,
                            [](const LayerReport& l) { return l.low_s.has_value(); })) {
        columns.push_back({"", "80 % interval", Unit::none, of_layer(interval), kPages});
    }
    const std::vector<Column<Equal>> more = {
        {"", "share", Unit::share, share, kPages, "of the time of all layers"},
        {"", "utilization", Unit::share, of_layer(&LayerReport::utilization), kPages},
        {"", "(step) bound by", Unit::none, of_layer(&bound_label), kPages},
        {"", "units left after each step", Unit::share, left, kPages,
         "of the machine's, after each of the seven Eyexam steps"},
        nested<Equal, LadderStep>("", "The seven steps of every layer", ladder, ladder_columns(),
                                  kPages)};
    columns.insert(columns.end(), more.begin(), more.end());
    return make_table<Equal>("", "Layers", equal_layers(report), columns);
}

AnswerTable savings_table(const Report& report) {
    const auto step = [](const Saving& saving) {
        return fmt::format("{} {}", saving.loss.step, model::kStepNames[saving.loss.step - 1]);
    };
    const auto name = [&report](const Saving& saving) {
        return report.layers[saving.loss.layer].layer.name;
    };
    const auto share = [&report](const Saving& saving) {
        return report.total.time_s > 0.0 ? saving.loss.lost_s / report.total.time_s : 0.0;
    };
    const auto limit = [&report](const Saving& saving) {
        return report.layers[saving.loss.layer].steps[saving.loss.step - 1].limit;
    };
    const auto reason = [&report](const Saving& saving) { return saving_reason(report, saving); };
    return make_table<Saving>(
        "", "Potential savings from removing one bottleneck", savings_of(report),
        {{"", "layer", Unit::none, name, kPages},
         {"", "equal layers", Unit::count, &Saving::equal, kPages},
         {"", "saves", Unit::seconds, [](const Saving& s) { return s.loss.lost_s; }, kPages},
         {"", "share", Unit::share, share, kPages},
         {"", "step", Unit::none, step, kPages},
         {"", "limit", Unit::none, limit, kPages},
         {"", "because", Unit::sentence, reason, kPages}});
}

AnswerTable measured_for_pages(const Report& report) {
    using M = Measured;
    const auto unexplained = [](const M& m) {
        return m.unexplained_s ? signed_time(*m.unexplained_s) : std::string();
    };
    const auto share = [](const M& m) {
        return m.unexplained_s ? signed_share(*m.unexplained_s, *m.predicted_s) : std::string();
    };
    return make_table<M>(
        "", "Measured, below step seven", measured_rows(report),
        {{"", "layer", Unit::none, &M::name, kPages},
         {"", "predicted", Unit::seconds, &M::predicted_s, kPages},
         {"", "measured", Unit::seconds, &M::measured_s, kPages},
         {"", "unexplained", Unit::none, unexplained, kPages},
         {"", "share", Unit::none, share, kPages, "of the prediction"},
         {"", "executions", Unit::count, &M::executions, kPages},
         {"", "how, and which step's counters disagree", Unit::sentence, &M::why, kPages}});
}

} // namespace eyeroof::report
