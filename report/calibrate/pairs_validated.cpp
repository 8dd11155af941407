#include "base/lines.hpp"
#include "report/answer/write.hpp"
#include "report/calibrate/validation_answers.hpp"

#include <fmt/format.h>

namespace eyeroof::report {

namespace {

using analysis::PairResult;
using analysis::PairsFigures;

// Shares of rows at one price ratio.
struct Decision {
    double price_ratio = 0.0, right = 0.0, guess_right = 0.0, stated_wrong = 0.0, called = 0.0,
           called_right = 0.0;
};

std::vector<Decision> decisions_of(const PairsFigures& f) {
    std::vector<Decision> decisions;
    for (std::size_t i = 0; i < analysis::kPriceRatios.size(); ++i) {
        decisions.push_back({analysis::kPriceRatios[i], f.right[i], f.guess_right[i],
                             f.stated_wrong[i], f.called[i], f.called_right[i]});
    }
    return decisions;
}

std::vector<Column<PairsFigures>> pair_columns() {
    return {{"kind", "kind", Unit::none, &PairsFigures::kind},
            {"match", "match", Unit::none, &PairsFigures::match},
            {"rows", "rows", Unit::count, &PairsFigures::rows},
            {"families", "families", Unit::count, &PairsFigures::families},
            {"mape", "error", Unit::share, &PairsFigures::mape, kAll,
             "mean |predicted / measured - 1|, a family counted once"},
            {"kernel_mape", "kernels", Unit::share, &PairsFigures::kernel_mape, kAll,
             "the same by kernels and host alone"},
            {"median_guess_mape", "median", Unit::share, &PairsFigures::guess_mape, kAll,
             "the same by the median of the others"},
            {"bandwidth_ratio_mape", "bandwidths", Unit::share, &PairsFigures::bandwidth_mape},
            {"peak_ratio_mape", "peaks", Unit::share, &PairsFigures::peak_mape},
            {"bias", "bias", Unit::share, &PairsFigures::bias},
            {"inside", "inside", Unit::share, &PairsFigures::inside, kAll,
             "share of rows inside their intervals"},
            {"rank_correlation", "order", Unit::none, &PairsFigures::order},
            nested<PairsFigures, Decision>(
                "decisions", "Decisions", decisions_of,
                {{"price_ratio", "price ratio", Unit::none, &Decision::price_ratio},
                 {"right", "right", Unit::share, &Decision::right},
                 {"guess_right", "by the median", Unit::share, &Decision::guess_right},
                 {"stated_wrong", "stated wrong", Unit::share, &Decision::stated_wrong},
                 {"called", "verdicts", Unit::share, &Decision::called, kAll,
                  "share of rows with a verdict"},
                 {"called_right", "right of them", Unit::share, &Decision::called_right, kAll,
                  "share of those that is right; 0 where there are none"}})};
}

AnswerTable pair_rows(const std::vector<PairResult>& rows) {
    const auto pair = [](auto member) {
        return [member](const PairResult& r) { return r.pair.*member; };
    };
    using Pair = analysis::MeasuredPair;
    const auto predicted = [](const PairResult& r) { return r.predicted.value; };
    const auto interval = [](const PairResult& r) {
        return range_text(r.predicted.low, r.predicted.high, Unit::none);
    };
    const auto error = [](const PairResult& r) { return r.predicted.value / r.pair.speedup - 1.0; };
    return make_table<PairResult>(
        "pairs", "Pairs", rows,
        {{"line", "", Unit::count, pair(&Pair::line)},
         {"network", "network", Unit::none, pair(&Pair::network)},
         {"family", "", Unit::none, pair(&Pair::family)},
         {"kind", "", Unit::none, &PairResult::kind},
         {"match", "", Unit::none, pair(&Pair::match)},
         {"from", "from", Unit::none, pair(&Pair::from)},
         {"to", "to", Unit::none, pair(&Pair::to)},
         {"measured", "measured", Unit::times, pair(&Pair::speedup)},
         {"predicted", "predicted", Unit::times, predicted},
         {"", "error", Unit::share, error, kPeople},
         {"", "80 % interval", Unit::none, interval, kPeople},
         {"low", "", Unit::times, [](const PairResult& r) { return r.predicted.low; }},
         {"high", "", Unit::times, [](const PairResult& r) { return r.predicted.high; }},
         {"kernels_and_host", "", Unit::times, &PairResult::kernel_speedup, kPrograms,
          "without what was learned from other pairs"},
         {"median_of_others", "", Unit::times, &PairResult::guess},
         {"peak_ratio", "", Unit::times, &PairResult::peak_ratio},
         {"bandwidth_ratio", "", Unit::times, &PairResult::bandwidth_ratio}});
}

AnswerTable transfer_kinds(const model::Transfer& transfer) {
    using Kind = std::pair<std::string, model::TransferKind>;
    return make_table<Kind>(
        "transfer.kinds", "Fitted on all", {transfer.kinds.begin(), transfer.kinds.end()},
        {{"kind", "kind", Unit::none, &Kind::first},
         {"spread", "spread of ln", Unit::none, [](const Kind& k) { return k.second.spread; }},
         {"families", "families", Unit::count, [](const Kind& k) { return k.second.families; }},
         {"rows", "rows", Unit::count, [](const Kind& k) { return k.second.rows; }}});
}

} // namespace

Answer pairs_validated(const analysis::PairsValidation& v) {
    Answer a;
    a.schema = "eyeroof/pairs/3";
    a.title = "Predicted and measured speedups";
    a.sentences = {
        fmt::format("{} of {}: mean error {:.1f} % ({:.1f} % by the median of the others), {:.0f} "
                    "% inside the 80 % intervals",
                    counted(v.all.rows, "row"),
                    v.all.families == 1 ? "1 family" : fmt::format("{} families", v.all.families),
                    100.0 * v.all.mape, 100.0 * v.all.guess_mape, 100.0 * v.all.inside),
        fmt::format("Fitted on all: ln(speedup) = {:.2f} ln(kernels and host)", v.transfer.share)};
    a.figures = {{"transfer.share", "", v.transfer.share}};
    a.tables = {pair_rows(v.rows)};
    add_groups(a, v.groups, v.all, pair_columns());
    a.tables.push_back(transfer_kinds(v.transfer));
    a.rows = "pairs";
    a.notes = {
        "Each family is predicted by what the others showed; a family counts once.",
        fmt::format("A verdict is given where its chance of being wrong is at most {:.0f} %.",
                    100.0 * analysis::kStatedWrong)};
    return a;
}

} // namespace eyeroof::report
