// One entry of Timeloop's mappings and constraints: what a target's tensors, loops or use are to
// be. Read for timeloop_targets.cpp and timeloop_constraints.cpp.
#pragma once

#include "formats/timeloop_parts.hpp"

namespace eyeroof::formats::timeloop {

enum class Sort { tensors, temporal, spatial, utilization };

struct Entry {
    Sort sort = Sort::temporal;
    std::string target;
    std::optional<std::size_t> level; // of tensors and loops in time
    std::optional<Spread> spread;     // of loops in space
    std::vector<Factor> factors;
    bool only_these = false; // dimensions without a factor do not loop
    std::vector<model::Dim> permutation;
    std::optional<Count> split;
    model::OperandSet keep;
    model::OperandSet bypass;
    std::optional<double> least;
    hwdb::Node node;

    hwdb::Node place() const { return node; }
};

class EntryReader {
  public:
    EntryReader(const model::Accelerator& machine, const TimeloopNames& names)
        : machine_(machine), names_(names) {}

    // {target: GLB, type: temporal, …}; the rest may stand under `attributes`.
    // Inside another target's `constraints` its name is known: `outer`.
    std::optional<Entry> read(const hwdb::Node& node, const std::string& outer = {}) const;

    // The parts of it, for entries that are written otherwise.
    std::optional<Sort> sort_of(const hwdb::Node& node, const std::string& type) const;
    // The level or axes that a target names; "inter_PE_spatial" is what opens at node PE.
    void find_target(const hwdb::Node& node, Entry& entry) const;
    void read_body(const hwdb::Node& node, Entry& entry) const;

  private:
    void read_loops(const hwdb::Node& node, Entry& entry) const;
    void read_tensors(const hwdb::Node& node, Entry& entry) const;
    std::vector<model::Dim> moved_by(model::OperandSet operands) const;

    const model::Accelerator& machine_;
    const TimeloopNames& names_;
};

// Do loops of a dimension in space lie along x? (Those in the first `split` places of the
// permutation do, the others along y.)
bool along_x(const Entry& entry, model::Dim dim);
// The axis of the level's fan-out that they lie on.
std::optional<std::size_t> axis_of(const Entry& entry, const model::Level& level, model::Dim dim);

} // namespace eyeroof::formats::timeloop
