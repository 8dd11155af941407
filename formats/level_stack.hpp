// Puts stores that another tool lists one by one into the levels of a machine: stores of different
// tensors with no axis between them share a level.
#pragma once

#include "hwdb/yaml.hpp"
#include "model/accelerator/accelerator.hpp"

#include <string>
#include <vector>

namespace eyeroof::formats {

struct StackedStore {
    std::string name;
    model::OperandSet operands;
    double capacity_bytes = 0.0; // 0: unbounded
    double read_bytes = 0.0;     // a cycle, of one instance; 0: unlimited
    double write_bytes = 0.0;
    bool shared_port = false; // one port reads and writes
    bool may_bypass = true;
    double read_pj_per_bit = 0.0;
    double write_pj_per_bit = 0.0;
    double leak_pj = 0.0;        // a cycle
    bool in_seconds = false;     // rates and leakage are given in B/s and watts
    double hop_pj_per_bit = 0.0; // of the network below: of what is delivered
    double link_bytes = 0.0;     // that it takes in a cycle; 0: unlimited
};

class LevelStack {
  public:
    explicit LevelStack(model::PerOperand<int> word_bits) : word_bits_(word_bits) {}

    // The next store outwards, and the axes between it and what is already there: of the innermost
    // one, those between it and the MACs.
    void add(const StackedStore& store, const std::vector<model::Axis>& below);

    // The machine with its levels and words; `above` are axes outside all stores. Where the
    // outermost store does not hold every tensor, or is repeated, an ideal memory is put above it,
    // with a warning at `root`.
    model::Accelerator finish(const std::vector<model::Axis>& above, const hwdb::Node& root);

  private:
    model::Store made(const StackedStore& store) const;

    model::PerOperand<int> word_bits_;
    std::vector<model::Level> levels_; // innermost first
};

} // namespace eyeroof::formats
