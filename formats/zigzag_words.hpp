// The words of ZigZag's workloads: equations, relations of dimensions, and the Python form as YAML.
#pragma once

#include "base/checked.hpp"
#include "hwdb/yaml.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::formats::zigzag {

// The Python form as YAML: what stands before the first brace goes, tuples become lists. Lines and
// columns stay where they are.
std::string as_yaml(std::string text);
std::string upper(std::string_view text);

// "O[b][k]+=W[k]*I[b]": the dimensions of each tensor, capitals.
struct Equation {
    std::map<char, std::vector<std::string>> tensors;
    bool product = false; // += W * I
};
// Reports at the node what is no equation of an output O and an input I.
std::optional<Equation> equation_of(const hwdb::Node& node);

// "ix=2*ox+1*fx": coordinate, position, tap and their factors.
struct Relation {
    std::string coordinate;
    std::string position;
    std::string tap;
    Count stride = 1;
    Count dilation = 1;
};
// Reports at the node what is no sum of a position and a tap.
// Whether an operator_type names work that a workload can have.
bool is_operator(std::string_view word);

std::optional<Relation> relation_of(const hwdb::Node& node);

} // namespace eyeroof::formats::zigzag
