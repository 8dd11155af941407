// What the readers of Timeloop's files share: keys in both spellings, factors, permutations, sets
// of data spaces, and targets.
#pragma once

#include "formats/expression.hpp"
#include "formats/template.hpp"
#include "formats/timeloop.hpp"
#include "hwdb/yaml.hpp"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::formats::timeloop {

// Templates are expanded, and merge keys (<<, <<<) put in, as Timeloop's front end does.
Result<hwdb::Document> open(std::string text, const std::string& file,
                            const TemplateWords& words = {});

// The numbers under `variables` at the top of a file, as far as they are numbers or expressions of
// those above them.
Variables variables_of(const hwdb::Node& root);

// The member whose key is `key`, with underscores or with hyphens; absent when there is none.
hwdb::Node member(const hwdb::Node& node, std::string_view key);

// One that is listed and has a value other than an empty list: `what` is not supported.
void refuse(const hwdb::Node& node, std::string_view key, std::string_view what);

enum class Limit { exact, least, most };

struct Factor {
    model::Dim dim;
    Count trips; // exact, 0: all of the dimension
    Limit limit = Limit::exact;
    std::optional<Count> last = std::nullopt; // "P4,2": trips of the last visit
};

// "R3 S1", "R=3,S=1", "C<=4 K>2" or a list of such words; blanks around the sign are passed over.
std::vector<Factor> factors_of(const hwdb::Node& node, const TimeloopNames& names);
// "RSP", "R S P" or a list of names; innermost first.
std::vector<model::Dim> permutation_of(const hwdb::Node& node, const TimeloopNames& names);
model::OperandSet operands_of(const hwdb::Node& node, const TimeloopNames& names);

// Energies of a component's actions in pJ, as Accelergy's tables (ERT, ERT_summary) name them; the
// costliest of an action's entries, as Timeloop takes it.
struct Energies {
    std::optional<double> read, write, update, compute, leak; // leak: of an instance and cycle
    std::set<std::string> tables;                             // their whole names: "system.PE.spad"
    SourceLocation where;                                     // of the first
};
// Of the tables in a document, by component: "system.PE[0..167].spad" is spad. Empty without
// tables.
std::map<std::string, Energies> energies_of(const hwdb::Node& root);

// Where the spatial loops of a target lie: a level and some of its axes.
struct Spread {
    std::size_t level = 0;
    std::vector<std::size_t> axes; // all of the level's, or those that the target's node opens
    bool own = false;              // the node opens the axes itself (version 0.4)
};

std::optional<std::size_t> level_named(const model::Accelerator& machine, std::string_view name);
std::optional<Spread> spread_of(const model::Accelerator& machine, std::string_view name);
// Levels and nodes with axes, for "did you mean".
std::vector<std::string> target_names(const model::Accelerator& machine);

} // namespace eyeroof::formats::timeloop
