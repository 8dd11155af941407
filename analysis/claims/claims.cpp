#include "analysis/claims/claims.hpp"

#include "formats/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis::claims {

namespace {

using formats::Claim;
using formats::ClaimFigure;

constexpr double kTiny = 1e-300; // what a published zero is divided by

Result<double> worked_out(const std::string& expression, const formats::Variables& values) {
    return formats::evaluate(expression, values, formats::Exponents::allowed);
}

Result<formats::Variables> values_of(const Claim& claim, const Answers& answers) {
    formats::Variables values;
    Diagnostics found;
    for (const formats::ClaimValue& value : claim.values) {
        const auto number = value.run.empty()  ? worked_out(value.expression, values)
                            : value.is.empty() ? answers.number(value.run, value.path)
                                               : answers.is(value.run, value.path, value.is);
        if (number) {
            values[value.name] = *number;
        }
        found.append(number.diagnostics());
    }
    return found.has_errors() ? Result<formats::Variables>(std::move(found))
                              : Result<formats::Variables>(std::move(values));
}

Verdict verdict_of(const FigureFound& found) {
    if (found.figure.confidence == Confidence::recalled) {
        return Verdict::recalled;
    }
    if (std::abs(found.deviation) <= kAgrees) {
        return Verdict::agrees;
    }
    const bool nearer =
        std::any_of(found.why.begin(), found.why.end(), [&](const ReasonFound& reason) {
            return reason.left && std::abs(*reason.left) < std::abs(found.deviation);
        });
    return nearer ? Verdict::explained : Verdict::differs;
}

Result<FigureFound> figure_of(const ClaimFigure& figure, const formats::Variables& values) {
    FigureFound found;
    found.figure = figure;
    const auto ours = worked_out(figure.ours, values);
    if (!ours) {
        return ours.diagnostics();
    }
    found.ours = *ours;
    found.deviation = deviation_of(figure, *ours);
    for (const formats::ClaimReason& reason : figure.why) {
        const auto value = worked_out(reason.value, values);
        if (!value) {
            return value.diagnostics();
        }
        found.why.push_back({reason.text, *value, reason.unit, {}});
        if (reason.counterfactual) {
            found.why.back().left = deviation_of(figure, *value);
        }
    }
    found.verdict = verdict_of(found);
    return found;
}

Result<LineFound> line_of(const formats::ClaimLine& line, const Answers& answers) {
    const auto xs = answers.numbers(line.run, line.x);
    const auto ys = answers.numbers(line.run, line.y);
    const auto over = line.over.empty() ? ys : answers.numbers(line.over, line.y);
    Diagnostics all = xs.diagnostics();
    all.append(ys.diagnostics());
    all.append(over.diagnostics());
    if (all.has_errors()) {
        return all;
    }
    if (xs->size() != ys->size() || over->size() != ys->size()) {
        return Result<LineFound>::failure(
            "lengths", fmt::format("the line '{}' has {} x, {} y, and {} below", line.label,
                                   xs->size(), ys->size(), over->size()));
    }
    LineFound found{line.label, {}};
    for (std::size_t i = 0; i < xs->size(); ++i) {
        const double y = line.over.empty() ? (*ys)[i] : (*ys)[i] / (*over)[i];
        found.points.emplace_back((*xs)[i], y);
    }
    return found;
}

} // namespace

std::string_view verdict_name(Verdict verdict) {
    switch (verdict) {
    case Verdict::agrees:
        return "agrees";
    case Verdict::explained:
        return "explained";
    case Verdict::recalled:
        return "unsourced";
    case Verdict::differs:
        return "differs";
    }
    return {};
}

std::size_t ClaimFound::count(Verdict verdict) const {
    return static_cast<std::size_t>(
        std::count_if(figures.begin(), figures.end(),
                      [verdict](const FigureFound& f) { return f.verdict == verdict; }));
}

double ClaimFound::worst() const {
    double worst = 0.0;
    for (const FigureFound& figure : figures) {
        if (figure.verdict != Verdict::recalled && !figure.figure.statement &&
            std::abs(figure.deviation) > std::abs(worst)) {
            worst = figure.deviation;
        }
    }
    return worst;
}

double deviation_of(const ClaimFigure& figure, double ours) {
    if (figure.statement) {
        return ours != 0.0 ? 0.0 : -1.0;
    }
    const bool below = figure.low && ours < *figure.low;
    const bool above = figure.high && ours > *figure.high;
    if (!below && !above) {
        return 0.0;
    }
    const double end = below ? *figure.low : *figure.high;
    return (ours - end) / std::max(std::abs(end), kTiny);
}

Result<ClaimFound> judge(const Claim& claim, const Answers& answers) {
    const auto values = values_of(claim, answers);
    Diagnostics all = values.diagnostics();
    if (all.has_errors()) {
        return all;
    }
    ClaimFound found;
    found.claim = claim;
    for (const ClaimFigure& figure : claim.figures) {
        auto one = figure_of(figure, *values);
        all.append(one.diagnostics());
        if (one) {
            found.figures.push_back(*std::move(one));
        }
    }
    for (const formats::ClaimLine& line : claim.plot.lines) {
        auto one = line_of(line, answers);
        all.append(one.diagnostics());
        if (one) {
            found.lines.push_back(*std::move(one));
        }
    }
    return all.has_errors() ? Result<ClaimFound>(std::move(all))
                            : Result<ClaimFound>(std::move(found));
}

} // namespace eyeroof::analysis::claims
