// Stream's systems: cores in files of their own (`cores`), what joins them (`core_connectivity`),
// and the core in front of the memory outside (`offchip_core_id`).
//
// Cores that compute products are the system's; helpers are left out: those for pooling and vectors
// (`pooling_core_id`, `simd_core_id`, or `operator_types` without products), and cores of memory
// alone. Equal files are one kind of core. Bandwidths are bits a cycle, at 1 GHz.
#pragma once

#include "hwdb/yaml.hpp"
#include "model/machine/machine.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::formats {

struct StreamSystem {
    struct Kind {
        model::Machine machine; // below the memories outside
        std::size_t count = 1;
    };
    std::string name;
    std::vector<Kind> kinds;
    double link_bytes_per_s = 0.0;   // the narrowest link between cores that compute; 0: none
    double memory_bytes_per_s = 0.0; // of what joins the memory outside to several; 0: none
};

// Does a file describe a system of several cores that compute? False where it cannot be read.
bool is_stream_system(std::string_view text, const std::string& file);

// Errors: "unsupported", "file-not-found", those of the cores; each with its place.
Result<StreamSystem> parse_stream_system(std::string text, const std::string& file);

// The machine of a system in which one core computes; "unsupported" for others.
Result<model::Machine> one_core_of(const hwdb::Document& system, const std::string& file);

} // namespace eyeroof::formats
