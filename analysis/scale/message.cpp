#include "analysis/scale/message.hpp"

#include "base/suggest.hpp"

#include <algorithm>
#include <array>

namespace eyeroof::analysis {

using model::FabricLevel;
using model::Transport;

namespace {

double wire_rate(const FabricLevel& wire, const Transport& t) {
    const double rate = wire.bytes_per_s * wire.share * t.wire_share / wire.oversubscription;
    return t.connection_bytes_per_s > 0.0 ? std::min(rate, t.connection_bytes_per_s) : rate;
}

} // namespace

double message_time(const FabricLevel& wire, const Transport& t, double bytes) {
    const double copy = t.copies > 0.0 ? t.copies / 2.0 / t.copy_bytes_per_s : 0.0;
    const std::array stages = {copy, 1.0 / wire_rate(wire, t), copy}; // seconds a byte
    const double piece = t.piece_bytes > 0.0 ? std::min(t.piece_bytes, bytes) : bytes;
    const double slowest = *std::max_element(stages.begin(), stages.end());
    double time = wire.latency(0) + wire.overhead_s + t.overhead_s;
    for (const double stage : stages) {
        time += piece * stage;
    }
    return time + (bytes - piece) * slowest;
}

double exchange_bytes_per_s(const FabricLevel& wire, const Transport& t, double bytes) {
    const double on_wire = 1.0 / wire_rate(wire, t);
    const double copies = t.copies > 0.0 ? t.copies / t.copy_bytes_per_s : 0.0;
    const bool pieces = t.piece_bytes > 0.0 && t.piece_bytes < bytes;
    return 1.0 / (pieces ? std::max(on_wire, copies) : on_wire + copies);
}

Result<model::Fabric> with_transport(const model::Fabric& fabric, const std::string& name,
                                     double bytes) {
    model::Fabric changed = fabric;
    if (name.empty() && fabric.transports.empty()) {
        return changed;
    }
    std::vector<std::string> names;
    const Transport* chosen = name.empty() ? &fabric.transports.front() : nullptr;
    for (const Transport& t : fabric.transports) {
        names.push_back(t.name);
        chosen = t.name == name ? &t : chosen;
    }
    if (chosen == nullptr) {
        return Result<model::Fabric>::failure(
            "unknown-transport", "fabric " + fabric.id + " has no transport \"" + name + "\"",
            names.empty() ? "its messages have no transports to choose from"
                          : suggestion(name, names));
    }
    FabricLevel& wire = changed.levels.back();
    wire.overhead_s += chosen->overhead_s;
    const double before = wire.bytes_per_s * wire.share / wire.oversubscription;
    wire.share *= std::min(1.0, exchange_bytes_per_s(wire, *chosen, bytes) / before);
    changed.transports.clear();
    return changed;
}

} // namespace eyeroof::analysis
