// A published claim as YAML: what was said and where, the commands that ask for the same, where our
// figures stand in their answers, and the numbers that explain a difference.
// Read by `eyeroof claims`; examples/claims/ has them.
//
//   eyeroof: claim/1
//   claim: A layer of 4096 outputs and 1024 inputs is bound by arithmetic at batch 512.
//   source: NVIDIA, GPU Performance Background User's Guide
//   runs: {large: eyeroof exam {here}/layer.yaml --on v100-sxm2-16gb --batch 512}
//   values: {flops: large /layers/0/flops, bytes: large /layers/0/compulsory_bytes}
//   figures:
//     - {name: intensity, published: 315, unit: FLOP/B, ours: flops / bytes}
// `report/schema/claim.schema.json` describes it to editors.
#pragma once

#include "base/provenance.hpp"
#include "base/result.hpp"
#include "hwdb/yaml.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::formats {

// A command line: the words behind "eyeroof". `{here}` in a word is the claim's folder.
struct ClaimRun {
    std::string name;
    std::vector<std::string> words;

    bool operator==(const ClaimRun&) const = default;
};

// A name for a number: in an answer (`run` and a path), or an expression of names before it.
struct ClaimValue {
    std::string name;
    std::string run;        // empty: `expression` counts
    std::string path;       // "/layers/name=CONV1/time_s", see analysis/claims/answer.hpp
    std::string is;         // 1 where the value at the path is this text, else 0
    std::string expression; // "a / b"

    bool operator==(const ClaimValue&) const = default;
};

// A number that explains a difference: a term, a missing parameter, or a counterfactual, the figure
// with one change.
struct ClaimReason {
    std::string text;
    std::string value; // an expression of the values' names
    std::string unit;
    bool counterfactual = false; // `gives` in place of `value`; its unit is the figure's

    bool operator==(const ClaimReason&) const = default;
};

// Published is a number, a range, a least, a most, or a statement that holds.
struct ClaimFigure {
    std::string name, unit;
    std::string ours; // an expression; 1 where a statement holds
    std::optional<double> low, high;
    bool statement = false;
    Confidence confidence = Confidence::paper;
    std::vector<ClaimReason> why;

    bool operator==(const ClaimFigure&) const = default;
};

// A line over lists in an answer.
struct ClaimLine {
    std::string label;
    std::string run, x, y; // paths with a *
    std::string over;      // y divides by this run's, empty: as it is

    bool operator==(const ClaimLine&) const = default;
};

struct ClaimPlot {
    std::vector<std::string> command; // that draws SVG; empty: lines, or bars of the figures
    std::string x_title, y_title;
    std::vector<ClaimLine> lines;

    bool operator==(const ClaimPlot&) const = default;
};

struct Claim {
    std::string name; // of the folder
    std::filesystem::path folder;
    std::string topic, claim, source;
    std::string agrees, differs; // in words
    bool measures = false;       // this machine: run where it is asked for by name
    std::vector<ClaimRun> runs;
    std::vector<ClaimValue> values;
    std::vector<ClaimFigure> figures;
    ClaimPlot plot;

    bool operator==(const Claim&) const = default;
};

// Errors: those of the YAML reader in one pass, "not-a-command" for runs that are none of eyeroof's
// or that write files, "unknown-run", "expression".
Result<Claim> load_claim(const std::filesystem::path& folder);
Result<Claim> read_claim(const hwdb::Document& document);
// The same of a text, without a name or a folder; `file` is the name in diagnostics.
Result<Claim> parse_claim(std::string text, const std::string& file);

// Folders with a claim.yaml, by name; the first of `folders` with a name has it.
std::vector<std::filesystem::path> claim_folders(const std::vector<std::filesystem::path>& folders);

} // namespace eyeroof::formats
