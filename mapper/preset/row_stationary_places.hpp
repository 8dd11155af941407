// Where the row-stationary rules put things on a machine, and what its stores leave for them.
#pragma once

#include "model/accelerator/accelerator.hpp"

#include <cstdint>
#include <limits>
#include <optional>

namespace eyeroof::mapper::rs {

struct Room { // in words; what the storage of the machine leaves for each kind of data
    Count filter_spad = 0, input_spad = 0, psum_spad = 0;
    double buffer_bytes = std::numeric_limits<double>::infinity(); // psums, and inputs if together
    double input_buffer_bytes = std::numeric_limits<double>::infinity();
    bool together = true; // inputs and psums share one store
    double filter_buffer_bytes = std::numeric_limits<double>::infinity();
    double input_word_bytes = 2.0, psum_word_bytes = 2.0, filter_word_bytes = 2.0;
};

struct Places {                         // where the rules put things
    std::size_t array = 0;              // level with the PE array below it
    std::uint8_t rows = 0, columns = 0; // its axes
    Count height = 1, width = 1;
    Room room;
    bool one_axis = false; // sets repeat side by side or above each other, not both
};

// The innermost level at or outside the array that stores the operand, if it is not the home.
std::optional<std::size_t> buffer_of(const model::Accelerator& accelerator, std::size_t array,
                                     model::Operand o);

// The first pair of axes of one level that take filter rows and output rows; nullopt: none do.
std::optional<Places> places_of(const model::Accelerator& accelerator,
                                const model::Dataflow& dataflow);

} // namespace eyeroof::mapper::rs
