// Tools of the graph's builders: adding operators and tensors.
#pragma once

#include "analysis/program/graph.hpp"

#include <map>
#include <string>

namespace eyeroof::analysis::step {

inline constexpr std::size_t kMostOperators = 4'000'000;
// Of all tensors: then their bits, and the gradients of 4-bit weights in fp32, fit 63 bits.
inline constexpr Count kMostBytes = Count{1} << 56;

class Builder {
  public:
    explicit Builder(Graph& graph) : graph_(graph) {}

    // The index of this layer; layers of one name are one where they are the same.
    std::uint32_t layer(const model::Layer& layer);
    TensorId tensor(Role role, Count bytes, std::uint32_t layer, std::uint32_t number);
    // Reads and writes are copied; the operator is the producer of what it writes.
    OperatorId add(std::uint32_t layer, std::uint32_t number, model::Issued kind,
                   OperatorId forward, const std::vector<TensorId>& reads,
                   const std::vector<TensorId>& writes);
    std::uint32_t next_number(std::uint32_t layer);

    Graph& graph() { return graph_; }
    void refuse() { fits_ = false; }
    bool fits() const { return fits_; }

  private:
    Graph& graph_;
    std::map<std::string, std::vector<std::uint32_t>> by_name_;
    std::vector<std::uint32_t> numbers_;
    Count all_bytes_ = 0;
    bool fits_ = true;
};

Count bytes_of(Count elements, model::DataType type); // scales included; -1: more than 63 bits
Count elements_in(Count bytes, model::DataType type); // that bytes_of() is of

// What a forward run keeps for its gradients, beside what it reads and writes: statistics of norms
// and attention, positions of maxima, masks of dropout (a byte an element). Bytes; -1: more than 63
// bits.
Count kept_beside(const model::Layer& layer);

// The gradients and updates behind the forward operators.
struct ForwardRun {
    OperatorId op = kNone;
    std::uint32_t inputs = 0; // of what it reads, before weights
    TensorId weight = kNone;
    TensorId bias = kNone;   // where the weight is another layer's
    TensorId beside = kNone; // kept_beside
};
void add_training(Builder& builder, const std::vector<ForwardRun>& runs,
                  const TrainingOptions& options, Regime states);

} // namespace eyeroof::analysis::step
