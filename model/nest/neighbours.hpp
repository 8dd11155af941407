// Timeloop's neighbour links: a tile that the PE beside held one step ago comes from there instead
// of from the level above.
#pragma once

#include "model/accelerator/accelerator.hpp"
#include "model/nest/flow.hpp"

namespace eyeroof::model::nest {

struct LinkTransfers {
    Count not_sent = 0; // words that one instance of the parent does not have to send
    Count passed = 0;   // words that its children hand to each other instead

    bool operator==(const LinkTransfers&) const = default;
};

// Per instance of `parent`, for an operand whose next inner home is `child`.
LinkTransfers link_transfers(const Problem& problem, const Accelerator& machine, const Nest& nest,
                             FlowCounter& flow, Operand operand, std::size_t parent,
                             std::size_t child);

} // namespace eyeroof::model::nest
