// Accelergy's table of areas (ART): an area in square micrometers for each component.
// `eyeroof exam --chip --areas`.
#pragma once

#include "base/result.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace eyeroof::analysis {

struct NamedArea {
    std::string name;       // "spad" of "system.PE[0..167].spad[1..1]"
    double instances = 1.0; // the product of the ranges in the name
    double um2 = 0.0;       // of one

    bool operator==(const NamedArea&) const = default;
};

// `ART: {tables: [{name, area}]}` of Accelergy 0.3 and 0.4, or `ART_summary` with its
// `table_summary`. Errors with their place: no table, an area that is no number, a range that runs
// backwards.
Result<std::vector<NamedArea>> read_area_table(const std::filesystem::path& file);
Result<std::vector<NamedArea>> parse_area_table(std::string text, std::string file);

} // namespace eyeroof::analysis
