#include "model/machine/fabric.hpp"

#include "base/plausible.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::model {

namespace {

// Findings at the field path of one level, transport or protocol.
class Findings {
  public:
    Findings(Diagnostics& found, std::string place) : found_(found), place_(std::move(place)) {}

    void between(const char* field, double value, double min, double max, const char* hint) {
        if (!(value >= min && value <= max)) {
            found_.error("out-of-range", std::string(field) + " is not possible", hint, {},
                         place_ + "." + field);
        }
    }
    void error(const char* field, const char* code, const char* message, const char* hint) {
        found_.error(code, message, hint, {}, place_ + "." + field);
    }

  private:
    Diagnostics& found_;
    std::string place_;
};

constexpr double kLongestMessage_s = 1.0;

void check_torus(const FabricLevel& level, Findings& at) {
    if (level.dims.empty() || level.dims.size() > 8) {
        at.error("dims", "bad-torus", "a torus has one to eight dimensions",
                 "as in dims: [8, 8, 8]");
        return;
    }
    Count units = 1;
    for (const Count d : level.dims) {
        units = d >= 1 && d <= kMaxDevices ? checked_mul(units, d).value_or(0) : 0;
    }
    if (units < 1 || units > kMaxDevices || (level.size > 0 && units != level.size)) {
        at.error("dims", "bad-torus", "the dimensions do not multiply to the level's size",
                 "leave size out: it follows from dims");
    }
}

void check_level(const FabricLevel& level, bool last, Findings at) {
    at.between("bandwidth", level.bytes_per_s, 1.0, kMaxBytesPerSecond, "at most 1 EB/s");
    at.between("share", level.share, 1e-6, 1.0, "what long messages reach, 0 to 1");
    at.between("oversubscription", level.oversubscription, 1.0, 1e4,
               "1 where the tier above carries all that leaves");
    at.between("overhead", level.overhead_s, 0.0, kLongestMessage_s, "of one message");
    at.between("reduced_share", level.reduced_share, 0.0, 1.0, "0 to 1");
    at.between("reduced_base", level.reduced_base_s, 0.0, kLongestMessage_s, "of one reduction");
    at.between("occupies", level.occupies, 0.0, 0.99, "0 to 0.99");
    at.between("ports", static_cast<double>(level.ports), 1.0, 65536.0, "of one unit");
    for (const double latency : level.latency_s) {
        at.between("latency", latency, 0.0, kLongestMessage_s, "of one message");
    }
    if (!last && level.size < 1) {
        at.error("size", "no-size", "only the outermost level may be without a size",
                 "units that the level joins, such as 8 GPUs a node");
    }
    if (level.topology == Topology::torus) {
        check_torus(level, at);
    } else if (!level.dims.empty()) {
        at.error("dims", "no-torus", "only a torus has dimensions", "topology: torus");
    }
    if (level.topology == Topology::dragonfly && !(level.global_bytes_per_s > 0.0)) {
        at.error("global", "no-global", "a dragonfly names its links between groups",
                 "a unit's part of them, such as global: 4 GB/s");
    }
}

// A device's part of what leaves its unit, over what it has inside. In the catalog 1/9 (DGX H100)
// to 1/48 (AWS P4d).
constexpr double kNarrowest = 1.0 / 64.0;

void check_ports(const Fabric& fabric, Diagnostics& found) {
    if (fabric.levels.size() < 2) {
        return;
    }
    const FabricLevel& inner = fabric.levels[0];
    const FabricLevel& outer = fabric.levels[1];
    const double inside = inner.bytes_per_s * static_cast<double>(inner.ports);
    const double outside = outer.bytes_per_s * static_cast<double>(outer.ports) /
                           static_cast<double>(std::max<Count>(inner.size, 1));
    if (outside < kNarrowest * inside) {
        found.warning("narrow-ports",
                      "a device has " + format_si(outside, "B/s") + " of a unit's ports of " +
                          outer.name + ", and " + format_si(inside, "B/s") + " of " + inner.name,
                      "count all ports of a unit, as in ports: 8 for 8 devices", {},
                      "levels[1].ports");
    }
}

} // namespace

Count Fabric::capacity() const {
    Count devices = 1;
    for (const FabricLevel& level : levels) {
        if (level.size == 0) {
            return 0;
        }
        devices = checked_mul(devices, level.size).value_or(0);
    }
    return devices;
}

Diagnostics validate(const Fabric& fabric) {
    Diagnostics found;
    if (fabric.levels.empty() || fabric.levels.size() > 8) {
        found.error("no-levels", "a fabric has one to eight levels", "from NVLink to the network",
                    {}, "levels");
    }
    for (std::size_t i = 0; i < fabric.levels.size(); ++i) {
        check_level(fabric.levels[i], i + 1 == fabric.levels.size(),
                    Findings(found, "levels[" + std::to_string(i) + "]"));
    }
    for (std::size_t i = 0; i < fabric.protocols.size(); ++i) {
        Findings at(found, "protocols[" + std::to_string(i) + "]");
        at.between("base", fabric.protocols[i].base_s, 0.0, kLongestMessage_s, "of one collective");
        at.between("share", fabric.protocols[i].share, 1e-3, 1.0, "0 to 1");
    }
    for (std::size_t i = 0; i < fabric.transports.size(); ++i) {
        const Transport& t = fabric.transports[i];
        Findings at(found, "transports[" + std::to_string(i) + "]");
        at.between("overhead", t.overhead_s, 0.0, kLongestMessage_s, "of one message");
        at.between("copies", t.copies, 0.0, 64.0, "of the payload, both sides");
        at.between("wire_share", t.wire_share, 1e-3, 1.0, "0 to 1");
        if (t.copies > 0.0 && !(t.copy_bytes_per_s > 0.0)) {
            at.error("copy_bandwidth", "no-copy-bandwidth", "copies have a bandwidth",
                     "such as copy_bandwidth: 10 GB/s");
        }
    }
    check_ports(fabric, found);
    if (fabric.capacity() > kMaxDevices) {
        found.error("too-many-devices", "the levels join more than ten million devices",
                    "leave out the size of the last level", {}, "levels");
    }
    return found;
}

double neighbour_bytes_per_s(const FabricLevel& level, Count units) {
    const double port = level.bytes_per_s * static_cast<double>(level.ports) * level.share;
    const auto n = static_cast<double>(std::max<Count>(units, 2));
    switch (level.topology) {
    case Topology::mesh: {
        const double others = static_cast<double>(std::max<Count>(level.size, 2)) - 1.0;
        return port * std::min((n - 1.0) / others, 1.0) / level.oversubscription;
    }
    case Topology::bus:
        return port / n / level.oversubscription;
    default:
        return port / level.oversubscription;
    }
}

double uniform_bytes_per_s(const FabricLevel& level, Count units) {
    const double alone = neighbour_bytes_per_s(level, units);
    if (level.topology == Topology::torus) {
        const Count longest = *std::max_element(level.dims.begin(), level.dims.end());
        const double links = static_cast<double>(2 * level.dims.size());
        const double link = level.bytes_per_s * level.share / level.oversubscription;
        const auto d = static_cast<double>(longest);
        return std::min(d > 4.0 ? 8.0 * link / d : 2.0 * link, links * link);
    }
    if (level.topology == Topology::dragonfly) {
        return std::min(alone, level.global_bytes_per_s * level.share / level.oversubscription);
    }
    return alone;
}

} // namespace eyeroof::model
