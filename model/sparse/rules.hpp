// What a machine of levels does about zeros: in which format words of an operand rest and travel,
// which accesses are left out where another operand is zero, and what the units do about them.
// Beside an Accelerator, which has no zeros. Read by analysis/sparse; used by
// twin_of().
//
// The three choices (format, gating, skipping) and leader and follower: Wu et al., "Sparseloop",
// MICRO 2022.
#pragma once

#include "model/accelerator/accelerator.hpp"
#include "model/sparse/format.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace eyeroof::model::sparse {

// gate: nothing moves, the cycle passes. skip: the cycle is not spent.
enum class Saving { gate, skip };

// Reads of `operand` at a level, of results also their writes, are left out where one of the
// leaders is zero. Looked at are so many words of a leader together: all of them must be zero.
struct LeftOut {
    Saving how = Saving::gate;
    Operand operand = Operand::weight;
    OperandSet leaders;
    Count leader_words = 1;

    bool operator==(const LeftOut&) const = default;
};

struct LevelRules {
    // Ranks, outermost first; none: plain words. Words rest in this format, and travel inwards in
    // it. Where it would take more bits than plain words, they are plain.
    PerOperand<std::vector<Rank>> formats;
    std::vector<LeftOut> left_out;

    bool operator==(const LevelRules&) const = default;
};

struct UnitRule {
    Saving how = Saving::gate; // of a MAC …
    OperandSet leaders;        // … with a zero among these operands
    double gated_pj = 0.0;     // what such a MAC takes
    // Lanes of a unit take non-zero words of this operand together, for one word of the other: they
    // need ceil(X / lanes) cycles for X of them. Lanes are what the innermost level fans out to.
    std::optional<Operand> lanes;

    bool operator==(const UnitRule&) const = default;
};

struct Rules {
    std::vector<LevelRules> levels; // as Accelerator::levels
    std::optional<UnitRule> units;

    bool operator==(const Rules&) const = default;
};

// Every violated rule; fields are "levels.GLB.formats.weight" and "units". "no-such-operand": a
// format or a rule for an operand that the level neither stores nor sends. "no-metadata": accesses
// that are skipped, not gated, where the leader is not in a format that tells where its zeros are,
// at this level or, for units, at the innermost one that holds it. "leads-itself".
Diagnostics validate(const Rules& rules, const Accelerator& machine);

} // namespace eyeroof::model::sparse
