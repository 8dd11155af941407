// How wide words are, where they rest and while they accumulate, and what tiles of them take up.
#pragma once

#include "model/accelerator/accelerator.hpp"
#include "model/accelerator/counting.hpp"
#include "model/workload/problem.hpp"

#include <optional>

namespace eyeroof::model {

// Bytes of one word of an operand in a level's stores, or on one of its networks. A result that is
// complete has the width at rest of the level; until then it is a partial sum and has the width in
// which the units accumulate. Of operands that are only read all words are complete.
struct DataWidth {
    double complete = 0.0;
    double partial = 0.0;

    // Of `words` results that leave for the level, given how many in all are ever completed: each
    // result comes once more after its last partial sum.
    double of_results(double words, double completed) const {
        const double last = words < completed ? words : completed;
        return complete * last + partial * (words - last);
    }
    bool operator==(const DataWidth&) const = default;
};

DataWidth stored_width(const Problem& problem, const Accelerator& accelerator, std::size_t level,
                       Operand operand);
// Zeros are coded away where the channel does that.
DataWidth sent_width(const Problem& problem, const Accelerator& accelerator, std::size_t level,
                     const Channel& channel, Operand operand);

// Words that a tile of these extents takes up: distinct ones; under Timeloop's counting the box
// around them. The largest Count when it does not fit one.
Count held_words(const Problem& problem, Operand operand, const Extents& tile, Counting counting);

// Bytes that so many words of one operand take up in a store: whole banks, once per buffer. nullopt
// when they do not fit 63 bits.
std::optional<Count> bytes_in(const Store& store, Count words, int bits);

// The same for the tiles of the kept operands, words at rest.
std::optional<Count> held_bytes(const Problem& problem, const Accelerator& accelerator,
                                std::size_t level, const Store& store, OperandSet keeps,
                                const Extents& tile, Counting counting);

} // namespace eyeroof::model
