// Evaluates claims: published figures beside the figures of the results.
#pragma once

#include "analysis/claims/answer.hpp"
#include "formats/claim_yaml.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace eyeroof::analysis::claims {

// A deviation beyond this must be explained by a number.
inline constexpr double kAgrees = 0.10;

// agrees: within kAgrees of what is published, in its range, or the statement holds. explained:
// beyond it, with at least one counterfactual that comes nearer. recalled: the published figure has
// no source at hand, so it is shown and not judged. differs: beyond it, and nothing explains it.
enum class Verdict { agrees, explained, recalled, differs };
std::string_view verdict_name(Verdict verdict);

struct ReasonFound {
    std::string text;
    double value = 0.0;
    std::string unit;
    std::optional<double> left; // of a counterfactual: its deviation from what is published
};

struct FigureFound {
    formats::ClaimFigure figure;
    double ours = 0.0;
    double deviation = 0.0; // (ours - published) / published, to the nearer end of a range
    Verdict verdict = Verdict::agrees;
    std::vector<ReasonFound> why;
};

struct LineFound {
    std::string label;
    std::vector<std::pair<double, double>> points;
};

struct ClaimFound {
    formats::Claim claim;
    bool skipped = false; // it measures this machine, and was not selected by name
    std::vector<FigureFound> figures;
    std::vector<LineFound> lines; // of its plot
    std::string picture;          // SVG of its plot's command

    std::size_t count(Verdict verdict) const;
    // Of the figures that are judged, statements left out; 0 where there are none.
    double worst() const;
    // Whether every deviation is explained.
    bool holds() const { return count(Verdict::differs) == 0; }
};

// ours against what is published: 0 within a range.
double deviation_of(const formats::ClaimFigure& figure, double ours);

// Errors: those of paths and expressions, with the value's or figure's name.
Result<ClaimFound> judge(const formats::Claim& claim, const Answers& answers);

} // namespace eyeroof::analysis::claims
