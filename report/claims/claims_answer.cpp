// Published claims beside the program's figures, as an answer.
#include "base/lines.hpp"
#include "report/claims/claims_write.hpp"
#include "report/draw/chart.hpp"
#include "report/draw/chart_scene.hpp"
#include "report/draw/fitted_text.hpp"
#include "report/draw/linear_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::report {

using analysis::claims::ClaimFound;
using analysis::claims::FigureFound;
using analysis::claims::ReasonFound;
using analysis::claims::Verdict;
using analysis::claims::verdict_name;

namespace {

constexpr double kClaimWidth = 820.0, kBarNames = 300.0, kBarValues = 170.0, kBarsTop = 64.0,
                 kPair = 34.0, kBarHeight = 11.0;

double largest(const FigureFound& f) {
    return std::max({std::abs(f.ours), std::abs(f.figure.high.value_or(0.0)),
                     std::abs(f.figure.low.value_or(0.0))});
}

// A figure's pair of bars: what is published above, a band between the ends of a range.
void add_pair(Drawing& d, const FigureFound& f, double top) {
    const double scale = (kClaimWidth - kBarNames - kBarValues) / std::max(largest(f), 1e-300);
    const double low = std::abs(f.figure.low.value_or(0.0));
    const double high = std::abs(f.figure.high.value_or(low));
    d.texts.push_back({{kBarNames - 8.0, top + 16.0},
                       fitted(f.figure.name, kSmallPx, kBarNames - 18.0),
                       ColourRole::text,
                       kSmallPx,
                       1.0});
    const double from = f.figure.low == f.figure.high || !f.figure.low ? 0.0 : low;
    const double to = std::max(high, low);
    d.boxes.push_back(
        {{kBarNames + scale * from, top, std::max(1.5, scale * (to - from)), kBarHeight},
         ColourRole::frame,
         1.0,
         false,
         f.figure.name + ", published: " + published_text(f.figure)});
    d.boxes.push_back(
        {{kBarNames, top + kBarHeight + 1.0, std::max(1.0, scale * std::abs(f.ours)), kBarHeight},
         ColourRole::series1,
         f.verdict == Verdict::agrees ? 1.0 : 0.6,
         false,
         f.figure.name + ", eyeroof: " + ours_text(f)});
    d.texts.push_back({{kBarNames + scale * to + 6.0, top + kBarHeight - 2.0},
                       published_text(f.figure),
                       ColourRole::faint,
                       kSmallPx - 1.0});
    d.texts.push_back({{kBarNames + scale * std::abs(f.ours) + 6.0, top + 2.0 * kBarHeight - 1.0},
                       ours_text(f),
                       ColourRole::text,
                       kSmallPx - 1.0});
    d.figures.rows.push_back({f.figure.name, f.figure.low.value_or(0.0), high, f.ours});
}

// The published figures lie on the curves as dashed lines where they are of the curve's axis.
Drawing curves(const ClaimFound& found, const Canvas& canvas) {
    Chart chart;
    chart.title = found.claim.name;
    chart.x_title = found.claim.plot.x_title;
    chart.y_title = found.claim.plot.y_title;
    for (const analysis::claims::LineFound& line : found.lines) {
        chart.lines.push_back({line.label, line.points, false, true, true});
    }
    return draw_chart(chart, canvas);
}

Drawing claim_bars(const ClaimFound& found) {
    Drawing d;
    std::size_t rows = 0;
    d.figures.columns = {"figure", "published_low", "published_high", "ours"};
    for (const FigureFound& f : found.figures) {
        if (!f.figure.statement) {
            add_pair(d, f, kBarsTop + kPair * static_cast<double>(rows));
            ++rows;
        }
    }
    d.canvas = {kClaimWidth,
                kBarsTop + kPair * static_cast<double>(std::max<std::size_t>(rows, 1)) + 6.0};
    add_heading(d, found.claim.name,
                rows == 0 ? "statements without a figure"
                          : "published (gray) and eyeroof, each pair to its own scale");
    return d;
}

std::vector<std::string> claim_commands(const ClaimFound& found) {
    std::vector<std::string> lines;
    for (const formats::ClaimRun& run : found.claim.runs) {
        lines.push_back(command_line(found.claim, run.words));
    }
    return lines;
}

std::string claims_summary(const ClaimsFound& claims) {
    const auto count = [&](Verdict verdict) {
        std::size_t all = 0;
        for (const ClaimFound& found : claims) {
            all += found.count(verdict);
        }
        return all;
    };
    return fmt::format("{}: {} within 10 %, {} explained, {} unsourced, {} unexplained",
                       counted(claims.size(), "claim"), counted(count(Verdict::agrees), "figure"),
                       count(Verdict::explained), count(Verdict::recalled),
                       count(Verdict::differs));
}

// A claim with its commands, figures, and reasons.
Answer claim_part(const ClaimFound& found) {
    const formats::Claim& claim = found.claim;
    Answer a;
    a.title = claim.name;
    a.sentences = {claim.claim, "Source: " + claim.source};
    a.commands = claim_commands(found);
    if (found.skipped) {
        a.notes = {"It measures this machine: eyeroof claims --only " + claim.name};
        return a;
    }
    const auto why = [](const FigureFound& figure) {
        std::vector<std::string> reasons;
        for (const ReasonFound& reason : figure.why) {
            reasons.push_back(reason_text(figure, reason));
        }
        return reasons;
    };
    a.tables = {make_table<FigureFound>(
        "", "", found.figures,
        {{"", "figure", Unit::line, [](const FigureFound& f) { return f.figure.name; }, kPeople},
         {"", "published", Unit::none,
          [](const FigureFound& f) { return published_text(f.figure); }, kPeople},
         {"", "eyeroof", Unit::none, ours_text, kPeople},
         {"", "deviation", Unit::none, deviation_text, kPeople},
         {"", "verdict", Unit::none, [](const FigureFound& f) { return verdict_name(f.verdict); },
          kPeople},
         {"", "reasons", Unit::sentence, why, kPeople}})};
    for (const auto& [title, text] :
         {std::pair("Agrees: ", claim.agrees), std::pair("Differs: ", claim.differs)}) {
        if (!text.empty()) {
            a.notes.push_back(title + text);
        }
    }
    const bool statements =
        std::ranges::all_of(found.figures, [](const FigureFound& f) { return f.figure.statement; });
    if (!found.picture.empty()) {
        a.svg = found.picture.substr(std::min(found.picture.find("<svg"), found.picture.size()));
    } else if (!found.lines.empty()) {
        a.picture = [found](const Canvas& canvas) { return curves(found, canvas); };
    } else if (!statements) {
        a.picture = [found](const Canvas&) { return claim_bars(found); };
    }
    return a;
}

} // namespace

Answer claims_answer(const ClaimsFound& claims, bool listed) {
    const unsigned judged = listed ? 0 : kPeople;
    const auto claim = [](auto formats::Claim::*member) {
        return [member](const ClaimFound& found) { return found.claim.*member; };
    };
    const auto figure = [](auto formats::ClaimFigure::*member) {
        return [member](const FigureFound& found) { return found.figure.*member; };
    };
    const std::vector<Column<ReasonFound>> reasons = {{"text", &ReasonFound::text},
                                                      {"value", &ReasonFound::value},
                                                      {"unit", &ReasonFound::unit},
                                                      {"deviation", &ReasonFound::left}};
    using formats::Claim, formats::ClaimFigure;
    const std::vector<Column<FigureFound>> figures = {
        {"name", figure(&ClaimFigure::name)},
        {"unit", figure(&ClaimFigure::unit)},
        {"statement", figure(&ClaimFigure::statement)},
        {"published_low", figure(&ClaimFigure::low)},
        {"published_high", figure(&ClaimFigure::high)},
        {"confidence", [](const FigureFound& f) { return confidence_name(f.figure.confidence); }},
        {"ours", &FigureFound::ours},
        {"deviation", &FigureFound::deviation},
        limited<Column<FigureFound>>(
            {"verdict", [](const FigureFound& f) { return verdict_name(f.verdict); }},
            {.words = {"agrees", "explained", "unsourced", "differs"}}),
        nested<FigureFound, ReasonFound>("why", "", &FigureFound::why, reasons, kJson)};
    Answer a;
    a.schema = "eyeroof/claims/1";
    a.title = listed ? "The field's claims" : "The field's claims, checked";
    a.sentences = {listed ? counted(claims.size(), "claim") : claims_summary(claims)};
    a.tables = {make_table<ClaimFound>(
        "claims", "", claims,
        {{"name", "claim", Unit::none, claim(&Claim::name)},
         {"", "agree", Unit::none, agreement_text, judged},
         {"", "worst", Unit::none, worst_text, judged},
         {"topic", "topic", Unit::none, claim(&Claim::topic), kPrograms | kPages},
         {"", "runs here", Unit::none, claim(&Claim::measures), listed ? kPeople : 0},
         {"claim", "what is claimed", Unit::line, claim(&Claim::claim)},
         {"source", claim(&Claim::source)},
         {"measures_this_machine", claim(&Claim::measures)},
         {"skipped", &ClaimFound::skipped},
         {"commands", claim_commands},
         nested<ClaimFound, FigureFound>("figures", "", &ClaimFound::figures, figures, kJson),
         {"agrees", claim(&Claim::agrees)},
         {"differs", claim(&Claim::differs)}})};
    if (listed) {
        a.notes = {"eyeroof claims --only NAME checks one. Claims that run here measure this "
                   "machine, and only by name",
                   "Each claim is a folder of examples/claims/"};
        return a;
    }
    for (const ClaimFound& found : claims) {
        a.parts.push_back(claim_part(found));
    }
    a.notes = {
        "A figure agrees within 10 %. A larger deviation is explained by a counterfactual that "
        "comes nearer, the figure with one parameter changed: it shows what the change would "
        "account for, not that the change is the cause. Unsourced marks a published figure "
        "without a source at hand, which is not judged.",
        "Each claim is a folder of examples/claims/"};
    return a;
}

} // namespace eyeroof::report
