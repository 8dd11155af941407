// ZigZag's and Stream's hardware: one core's memories and array (`memories`, `operational_array`),
// or a system of cores in files of their own (`cores`, stream_system.hpp) of which one computes.
//
// A memory is shared along its served dimensions and repeated along all others. Memories whose
// served dimensions contain one another form the levels; one that fits no such chain is taken as
// one store of all its instances at the next level outwards, and a warning says so. I1 is taken for
// inputs, I2 for weights. A read or write of `bandwidth_max` bits costs r_cost or w_cost pJ; sizes
// are bits. Latencies and areas are passed over.
#pragma once

#include "hwdb/yaml.hpp"
#include "model/machine/machine.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace eyeroof::formats {

bool is_zigzag_hardware(std::string_view text);

// `file` also says where the cores of a system lie. Errors: "unsupported", "missing-key",
// "not-a-machine"; each with its line.
Result<model::Machine> parse_zigzag_hardware(std::string text, const std::string& file);

// The parts of it that systems share: a file's document, and one core as a machine below the
// memories of the core `outside`, where there is one.
Result<hwdb::Document> open_zigzag_hardware(std::string text, const std::string& file);
Result<hwdb::Document> load_zigzag_hardware(const std::filesystem::path& path);
Result<model::Machine> read_zigzag_core(const hwdb::Document& document, const std::string& file,
                                        const hwdb::Document* outside);

} // namespace eyeroof::formats
