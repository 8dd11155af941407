// What the name of a serving library says, and which names of libraries are known at all.
// Read by analysis/resolve, software.hpp, and library_cells.hpp.
#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace eyeroof::model {

// A serving library by its name, letter case ignored: "sglang 0.5.14 fa3", "vllm-0.24 triton". Its
// kernels have constants of their own: library_cells.hpp.
struct ServingLibrary {
    std::string name; // "trtllm", "vllm", "sglang", "aiter"; empty: none
    std::string version, kernel;
    bool blocks = false;    // scales of fp8 belong to blocks
    bool quantized = false; // operands of products are quantized already

    auto operator<=>(const ServingLibrary&) const = default;
};

// Empty for names of other libraries, and with "static" (scales that are given with the weights: no
// table has such products).
ServingLibrary serving_library(std::string_view name);

// "vllm 0.24": its name and version.
std::string serving_words(const ServingLibrary& library);

// Whether the name holds that of a library that eyeroof knows, and all of those.
bool is_known_library(std::string_view name);
std::string known_libraries();

} // namespace eyeroof::model
