// Operators of a network that is written as network YAML: blocks of them, in the order in which
// they run. Equal blocks are one with a count.
#pragma once

#include "base/checked.hpp"

#include <string>
#include <vector>

namespace eyeroof::formats::hf {

// Sizes are texts of expressions, which the YAML's reader evaluates and checks.
struct Operator {
    std::string name;
    std::string fields; // "op: gemm, m: =words, n: =4*8, k: =16"
    std::string types;  // "fp8/fp8/bf16"; empty: the network's own

    bool operator==(const Operator&) const = default;
};
using Block = std::vector<Operator>;

class Blocks {
  public:
    void add(Block block, Count times = 1);
    // The `layers` of a network YAML. Names that stand for different operators get a number. What
    // layers of several kinds begin and end with stands once, with the count of all.
    std::string yaml() const;

  private:
    std::vector<std::pair<Block, Count>> blocks_;
};

// Texts of expressions.
std::string times(const std::string& a, const std::string& b);
std::string text_of(Count value);

// A product of every token; `bias`: one value for each output.
Operator gemm(const char* name, const std::string& n, const std::string& k, bool bias = false);
Operator norm(const char* name, const std::string& rows, const std::string& cols,
              const std::string& parameters);
Operator pointwise(const char* name, const std::string& rows, const std::string& cols,
                   const char* fn, const std::string& parameters = {});
// Values that are learned and take part in no product of a text's tokens.
Operator weights_alone(const char* name, const std::string& parameters);

} // namespace eyeroof::formats::hf
