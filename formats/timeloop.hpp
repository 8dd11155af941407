// Timeloop's files: architecture, problem, mapping and constraints, as far as they describe what
// eyeroof models. What is not supported is an error with its name, file and line.
//
// Read: flat architectures (`arch:`, storage innermost first); trees (`architecture:` version 0.2
// and 0.3 with `subtree` and `local`, "name[0..N]" for N + 1 instances); and the lists of nodes of
// version 0.4 (`!Component`, `!Container`, `!Parallel`, `!Hierarchical`). Problems of shape
// cnn-layer, or with `dimensions` and `data_spaces` of their own. Mappings and constraints as lists
// of targets under `mapping`, `mapspace`, `architecture_constraints`, `mapspace_constraints`, and
// inside the nodes of a 0.4 architecture; a factor of 0 is all of the dimension. Energies of
// accesses as attributes, or from Accelergy's tables. Hyphens and underscores in keys mean the
// same.
#pragma once

#include "formats/template.hpp"
#include "mapper/problem_space.hpp"
#include "model/accelerator/mapping.hpp"
#include "model/machine/machine.hpp"
#include "model/workload/network.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace eyeroof::formats {

enum class TimeloopKind { none, architecture, problem, mapping, constraints };

// By the first top-level key that belongs to a kind.
TimeloopKind timeloop_kind(std::string_view text);
// Whether a file, which may hold several kinds, has this one.
bool timeloop_has(std::string_view text, TimeloopKind kind);

// What a problem calls its dimensions and tensors.
struct TimeloopNames {
    std::map<std::string, model::Dim, std::less<>> dims;       // "M": K of the cnn-layer
    std::map<std::string, model::Operand, std::less<>> spaces; // "Weights"
    std::optional<model::Extents> sizes = std::nullopt;        // where they are known
};
// R S P Q C K (or M) N and G; Weights, Inputs, Outputs.
const TimeloopNames& cnn_layer_names();

struct NamedText {
    std::string text;
    std::string file;
};
// Energies come from the tables (ERT) in the file itself, and before those from `tables`, if it has
// a file name. `file` names the machine too. Axes below a level are "x" and "y"; those that a node
// of version 0.4 opens carry its name: "PE.x". Words are counted and not bits: where sizes differ
// between levels, a warning says so. `words`: values of a template's variables. Where the variables
// count bits of words, as CiMLoop's do, words count whole.
Result<model::Machine> parse_timeloop_architecture(std::string text, const std::string& file,
                                                   const NamedText& tables = {},
                                                   const TemplateWords& words = {});

struct TimeloopProblem {
    model::Network network; // one convolution or matrix product, named after the file
    TimeloopNames names;
};
Result<TimeloopProblem> parse_timeloop_problem(std::string text, const std::string& file);

// Names of levels and dimensions are Timeloop's; P and R lie along what eyeroof calls rows.
Result<model::Mapping> parse_timeloop_mapping(std::string text, const std::string& file,
                                              const model::Accelerator& machine,
                                              const TimeloopNames& names = cnn_layer_names());

// Constraints, and where each stands: "levels[1].temporal.K", "levels[1].spatial.K",
// "levels[1].keep.input", "min_utilization".
struct PlacedConstraints {
    mapper::Constraints rules;
    std::map<std::string, SourceLocation> places;
};
Result<PlacedConstraints>
parse_timeloop_constraints(std::string text, const std::string& file,
                           const model::Accelerator& machine,
                           const TimeloopNames& names = cnn_layer_names(),
                           PlacedConstraints known = {}); // on top of which these come

// A dimension that lies along x and along y of one level, for which Timeloop's mappings have one
// place, is laid along one of them, which counts the same. Errors: "unsupported" where it fits
// neither.
Result<std::string> write_timeloop_mapping(const model::Mapping& mapping,
                                           const model::Accelerator& machine,
                                           const TimeloopNames& names = cnn_layer_names());

} // namespace eyeroof::formats
