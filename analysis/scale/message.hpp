// One message through the software on both sides and the wire between them.
#pragma once

#include "base/result.hpp"
#include "model/machine/fabric.hpp"

#include <string>

namespace eyeroof::analysis {

// t(S) = latency + overheads + pipeline of three stages: half of the copies at the sender, the
// wire, half at the receiver. Whole pieces pass one stage after another, different pieces at the
// same time: sum over stages of min(S, piece)/rate + (S - min(S, piece))/slowest rate. piece 0: the
// message is one piece.
double message_time(const model::FabricLevel& wire, const model::Transport& transport,
                    double bytes);

// Bytes/s that a host sustains while it sends and receives at once, as in collectives and
// exchanges with servers: it makes half of the copies of each byte sent and of each received, so
// one copy engine does all of them; pieces overlap with the wire, whole messages do not.
double exchange_bytes_per_s(const model::FabricLevel& wire, const model::Transport& transport,
                            double bytes);

// The fabric whose outermost level sends by this transport, messages of about `bytes`. Errors:
// "unknown-transport" with the nearest name. An empty name: the first one, if there is one.
Result<model::Fabric> with_transport(const model::Fabric& fabric, const std::string& name,
                                     double bytes);

} // namespace eyeroof::analysis
