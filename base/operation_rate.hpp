// The unit of an arithmetic rate.
#pragma once

#include <string_view>

namespace eyeroof {

// "OP/s" of an integer type or roof, such as "int8" or "int8 tensor"; else "FLOP/s".
constexpr std::string_view operation_rate_unit(std::string_view name) {
    return name.starts_with("int") ? "OP/s" : "FLOP/s";
}

} // namespace eyeroof
