// Figures of claims in words.
#include "base/shell.hpp"
#include "base/units.hpp"
#include "report/claims/claims_write.hpp"

#include <fmt/format.h>

#include <cmath>

namespace eyeroof::report {

using analysis::claims::ClaimFound;
using analysis::claims::Verdict;

namespace {

constexpr double kMostWhole = 1e13;

std::string with_unit(const std::string& number, const std::string& unit) {
    return unit.empty() ? number : unit == "x" ? number + "x" : number + " " + unit;
}

// Units that take no prefix: ratios, shares, and what is counted.
bool plain(const std::string& unit) {
    return unit.empty() || unit == "x" || unit == "%" || unit == "ms" || unit == "us" ||
           unit.find('/') != std::string::npos || unit.size() > 4;
}

std::string percent_text(double share) {
    const double percent = 100.0 * share;
    return std::abs(percent) < 0.05      ? "0 %"
           : std::abs(percent) >= 1000.0 ? fmt::format("{:+.2g} %", percent)
                                         : fmt::format("{:+.1f} %", percent);
}

} // namespace

std::string agreement_text(const ClaimFound& found) {
    if (found.skipped) {
        return "this machine";
    }
    const std::size_t judged = found.figures.size() - found.count(Verdict::recalled);
    std::string text =
        judged == 0 ? "" : fmt::format("{}/{}", found.count(Verdict::agrees), judged);
    if (found.count(Verdict::recalled) > 0) {
        text +=
            fmt::format("{}{} unsourced", text.empty() ? "" : ", ", found.count(Verdict::recalled));
    }
    return text;
}

std::string worst_text(const ClaimFound& found) {
    return found.skipped || found.figures.size() == found.count(Verdict::recalled)
               ? ""
               : percent_text(found.worst());
}

std::string figure_number(double value, const std::string& unit) {
    const double size = std::abs(value);
    if (value == std::floor(value) && size < kMostWhole && (plain(unit) || size < 1e4)) {
        return with_unit(fmt::format("{:.0f}", value), unit);
    }
    if (plain(unit) || (size >= 0.1 && size < 1e4)) {
        return with_unit(size >= 1e6 ? format_si(value, "", 4) : fmt::format("{:.4g}", value),
                         unit);
    }
    return format_si(value, unit, 4);
}

std::string published_text(const formats::ClaimFigure& figure) {
    if (figure.statement) {
        return "yes";
    }
    if (!figure.high) {
        return "at least " + figure_number(*figure.low, figure.unit);
    }
    if (!figure.low) {
        return "at most " + figure_number(*figure.high, figure.unit);
    }
    return *figure.low == *figure.high ? figure_number(*figure.low, figure.unit)
                                       : fmt::format("{} to {}", figure_number(*figure.low, ""),
                                                     figure_number(*figure.high, figure.unit));
}

std::string ours_text(const analysis::claims::FigureFound& found) {
    return found.figure.statement ? (found.ours != 0.0 ? "yes" : "no")
                                  : figure_number(found.ours, found.figure.unit);
}

std::string deviation_text(const analysis::claims::FigureFound& found) {
    if (found.figure.statement ||
        (found.deviation == 0.0 && found.figure.low != found.figure.high)) {
        return found.deviation == 0.0 ? "" : "no";
    }
    return percent_text(found.deviation);
}

std::string reason_text(const analysis::claims::FigureFound& found,
                        const analysis::claims::ReasonFound& reason) {
    const bool statement = found.figure.statement && reason.left;
    const std::string text = fmt::format("{}: {}", reason.text,
                                         statement ? (reason.value != 0.0 ? "yes" : "no")
                                                   : figure_number(reason.value, reason.unit));
    if (!reason.left || statement) {
        return text;
    }
    const bool within = *reason.left == 0.0 && found.figure.low != found.figure.high;
    return text + (within ? ", which agrees" : fmt::format(" ({})", percent_text(*reason.left)));
}

std::string command_line(const formats::Claim& claim, const std::vector<std::string>& words) {
    const std::string here = "{here}";
    std::string line = "eyeroof";
    for (std::string word : words) {
        if (const std::size_t at = word.find(here); at != std::string::npos) {
            word.replace(at, here.size(), "examples/claims/" + claim.name);
        }
        line += " " + shell_quoted(word);
    }
    return line;
}

} // namespace eyeroof::report
