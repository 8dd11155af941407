// The parameters of a machine that can be changed: clock, axes, buffers, bandwidths, peaks; and a
// machine with changed values.
#pragma once

#include "base/result.hpp"
#include "model/machine/machine.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace eyeroof::analysis {

struct Parameter {
    std::string key;  // for command lines and files, unique on the machine: "dram-bandwidth"
    std::string name; // for people: "DRAM bandwidth"
    std::string unit; // of value; "B" for capacities; empty for counts
    double value = 0.0;
    bool whole = false; // only whole numbers
    std::function<void(model::Machine&, double)> set;
    std::vector<std::string> fields = {}; // of the description that it changes: "dram.bandwidth"
    // Other units of machine files: what one of them is in the parameter's own. {"B/s", 1 / clock}.
    std::vector<std::pair<std::string, double>> units = {};
    // What-if analyses turn it too. Energies and numbers of buffers are set by their key alone.
    bool tried = true;
    // Words of operands: "words" is another unit where all have one width. {"input", 16 bit}.
    std::vector<std::pair<std::string, int>> words = {};
};

// "DRAM bandwidth" as a key: "dram-bandwidth". A second parameter of the same name gets a number.
std::string parameter_key(std::string_view name);

// In the machine's order, outermost memory first. Unlimited and unknown quantities have no
// parameter.
std::vector<Parameter> parameters_of(const model::Machine& machine);
// The parameters that what-if analyses vary.
std::vector<Parameter> tried_parameters(const model::Machine& machine);

// A parameter set to a value, in the parameter's unit.
struct Change {
    std::string key;
    double value = 0.0;

    bool operator==(const Change&) const = default;
};

inline constexpr int kExactDigits = 12; // more than people type

// "64 KiB", "1.2 TB/s", "14": what parse_value reads again as the same value. Fewer digits round
// all but counts and capacities.
std::string value_text(const Parameter& parameter, double value, int digits = kExactDigits);
// A quantity in any unit that a machine file takes there, in any case where that says which; a
// whole number for counts; or "x2" for twice the machine's own. Errors: those of
// parse_quantity_any_case; "ambiguous-unit" for words of operands that have words of different
// widths; "bad-value" for what is no count, or not positive.
Result<double> parse_value(const Parameter& parameter, std::string_view text);

// Reads "dram-bandwidth=1.2 TB/s"; the key in any case, blanks and underscores for hyphens.
// "power-cap=300 W" lowers the board's power limit, or one that another change sets, and never
// raises it. Errors: "bad-change" without '='; "unknown-parameter" with the nearest key; those of
// parse_value; "no-power-cap" of a host, an accelerator, or a GPU of unknown power; "bad-value" of
// a cap below a tenth of the limit.
Result<Change> parse_change(const model::Machine& machine, std::string_view text);
std::string change_text(const model::Machine& machine, const Change& change);

// The machine with the changes, in order; its name says that it is changed, its id stays. Errors:
// "unknown-parameter"; what validate() says of the result.
Result<model::Machine> changed(const model::Machine& machine, const std::vector<Change>& changes);
// The same from texts, all mistakes at once.
Result<model::Machine> changed(const model::Machine& machine,
                               const std::vector<std::string>& texts);

// The machine with all of the changes but a power cap; nullopt where none lowers its power limit.
std::optional<model::Machine> uncapped(const model::Machine& machine,
                                       const std::vector<std::string>& texts);

// A machine with its changes as machine YAML under a name of its own: id and name are `id`, the
// summary says what it came from and what is different. A GPU keeps the constants fitted for its
// origin.
std::string changed_machine_yaml(const model::Machine& origin, const std::vector<Change>& changes,
                                 const std::string& id);

} // namespace eyeroof::analysis
