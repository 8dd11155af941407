#include "base/lines.hpp"
#include "base/markup.hpp"
#include "report/claims/claims_write.hpp"

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

constexpr std::size_t kFigureColumns = 40, kNumberColumns = 17; // columns of a claim's table

// A long name has a line of its own.
std::string figure_line(const FigureFound& f) {
    const std::string& name = f.figure.name;
    const bool fits = display_width(name) <= kFigureColumns;
    return fmt::format(
        "{}{} {} {} {}  {}\n", fits ? "" : masked_controls(name) + "\n",
        left(fits ? name : "", kFigureColumns), right(published_text(f.figure), kNumberColumns),
        right(ours_text(f), kNumberColumns), right(deviation_text(f), 9), verdict_name(f.verdict));
}

std::string one_text(const ClaimFound& found) {
    const formats::Claim& claim = found.claim;
    std::string text = masked_controls(claim.name) + "\n" + wrapped(claim.claim, 2, kTextColumns) +
                       wrapped("source: " + claim.source, 2, kTextColumns) + "\n";
    for (const formats::ClaimRun& run : claim.runs) {
        text += "  $ " + command_line(claim, run.words) + "\n";
    }
    if (found.skipped) {
        return text + "\n  It measures this machine: --only " + claim.name + " runs it.\n";
    }
    text +=
        fmt::format("\n{} {} {} {}\n", left("", kFigureColumns), right("published", kNumberColumns),
                    right("eyeroof", kNumberColumns), right("deviation", 9));
    for (const FigureFound& figure : found.figures) {
        text += figure_line(figure);
        for (const ReasonFound& reason : figure.why) {
            text += wrapped(reason_text(figure, reason), 4, kTextColumns);
        }
    }
    text += claim.agrees.empty() ? "" : "\n" + wrapped("Agrees: " + claim.agrees, 0, kTextColumns);
    text +=
        claim.differs.empty() ? "" : "\n" + wrapped("Differs: " + claim.differs, 0, kTextColumns);
    return text;
}

std::string figures_markdown(const ClaimFound& found) {
    std::string text = "| figure | published | eyeroof | deviation | |\n|---|---|---|---|---|\n";
    for (const FigureFound& f : found.figures) {
        text += fmt::format("| {} | {} | {} | {} | {} |\n", markdown_cell(f.figure.name),
                            published_text(f.figure), ours_text(f), deviation_text(f),
                            verdict_name(f.verdict));
    }
    return text + "\n";
}

std::string one_markdown(const ClaimFound& found) {
    const formats::Claim& claim = found.claim;
    std::string text = fmt::format("### {}\n\n{}\nSource: {}\n\n```text\n", claim.name,
                                   wrapped(claim.claim, 0, 120), claim.source);
    for (const formats::ClaimRun& run : claim.runs) {
        text += command_line(claim, run.words) + "\n";
    }
    text += "```\n\n";
    if (found.skipped) {
        return text + fmt::format("It measures the machine that it runs on: `eyeroof claims --only "
                                  "{}`.\n\n",
                                  claim.name);
    }
    text += figures_markdown(found);
    for (const FigureFound& figure : found.figures) {
        for (const ReasonFound& reason : figure.why) {
            text += fmt::format("- {}: {}\n", figure.figure.name, reason_text(figure, reason));
        }
    }
    text += text.ends_with("\n\n") ? "" : "\n";
    text += claim.agrees.empty() ? "" : "Agrees: " + claim.agrees + "\n\n";
    return text + (claim.differs.empty() ? "" : "Differs: " + claim.differs + "\n\n");
}

std::string topics_markdown(const ClaimsFound& claims) {
    std::string text, topic;
    for (const ClaimFound& found : claims) {
        if (found.claim.topic != topic) {
            topic = found.claim.topic;
            text += "## " + topic + "\n\n";
        }
        text += one_markdown(found);
    }
    return text;
}

} // namespace

std::string claims_table(const ClaimsFound& claims, std::size_t columns) {
    std::size_t widest = 5;
    for (const ClaimFound& found : claims) {
        widest = std::max(widest, display_width(found.claim.name));
    }
    std::string text = fmt::format("{} {} {}  what is claimed\n", left("claim", widest),
                                   left("agree", 15), right("worst", 9));
    constexpr std::size_t kOthers = 28; // columns between the name and the sentence
    const std::size_t said = columns > widest + kOthers ? columns - widest - kOthers : 0;
    for (const ClaimFound& found : claims) {
        const std::string& claim = found.claim.claim;
        text += fmt::format("{} {} {}  {}\n", left(found.claim.name, widest),
                            left(agreement_text(found), 15), right(worst_text(found), 9),
                            display_width(claim) <= said ? claim : left(claim, said));
    }
    return text + "\n" + wrapped(claims_summary(claims), 0, kTextColumns);
}

std::string claims_summary(const ClaimsFound& claims) {
    const auto count = [&](Verdict verdict) {
        std::size_t all = 0;
        for (const ClaimFound& found : claims) {
            all += found.count(verdict);
        }
        return all;
    };
    return fmt::format("{} claims: {} figures agree within 10 %, {} differ and are explained, {} "
                       "are unsourced, {} are unexplained",
                       claims.size(), count(Verdict::agrees), count(Verdict::explained),
                       count(Verdict::recalled), count(Verdict::differs));
}

std::string claims_text(const ClaimsFound& claims) {
    std::string text;
    for (const ClaimFound& found : claims) {
        text += (text.empty() ? "" : "\n") + one_text(found);
    }
    return text;
}

std::string claims_markdown(const ClaimsFound& claims) {
    std::string text =
        "# The field's claims, checked\n\n"
        "`eyeroof claims --format md` writes this page; `--format html` adds the "
        "pictures, and\n`eyeroof claims --only NAME` prints one claim. A figure "
        "agrees within 10 %. A larger\ndeviation is *explained* by a "
        "counterfactual that comes nearer: the figure with one parameter changed, "
        "and what\ndeviation that leaves. It shows what the change would account for, not "
        "that the change is the cause. *unsourced* marks a published figure "
        "without a source at hand: it is shown and not judged.\nEach claim is a "
        "folder of `examples/claims/`.\n\n"
        "| claim | agree | worst | what is claimed |\n|---|---|---|---|\n";
    for (const ClaimFound& found : claims) {
        text +=
            fmt::format("| [{0}](#{0}) | {1} | {2} | {3} |\n", found.claim.name,
                        agreement_text(found), worst_text(found), markdown_cell(found.claim.claim));
    }
    text += "\n" + topics_markdown(claims);
    text.pop_back();
    return text;
}

Answer claims_answer(const ClaimsFound& claims) {
    const auto claim = [](auto formats::Claim::*member) {
        return [member](const ClaimFound& found) { return found.claim.*member; };
    };
    const auto figure = [](auto formats::ClaimFigure::*member) {
        return [member](const FigureFound& found) { return found.figure.*member; };
    };
    const auto commands = [](const ClaimFound& found) {
        std::vector<std::string> lines;
        for (const formats::ClaimRun& run : found.claim.runs) {
            lines.push_back(command_line(found.claim, run.words));
        }
        return lines;
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
        {"verdict", [](const FigureFound& f) { return verdict_name(f.verdict); }},
        nested<FigureFound, ReasonFound>("why", "", &FigureFound::why, reasons, kJson)};
    Answer a;
    a.schema = "eyeroof/claims/1";
    a.title = "The field's claims, checked";
    a.sentences = {claims_summary(claims)};
    a.tables = {make_table<ClaimFound>(
        "claims", "", claims,
        {{"name", claim(&Claim::name)},
         {"topic", claim(&Claim::topic)},
         {"claim", claim(&Claim::claim)},
         {"source", claim(&Claim::source)},
         {"measures_this_machine", claim(&Claim::measures)},
         {"skipped", &ClaimFound::skipped},
         {"commands", commands},
         nested<ClaimFound, FigureFound>("figures", "", &ClaimFound::figures, figures, kJson),
         {"agrees", claim(&Claim::agrees)},
         {"differs", claim(&Claim::differs)}})};
    return a;
}

} // namespace eyeroof::report
