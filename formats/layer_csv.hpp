// Reads the layer CSV: a header of column names, then a layer a row (docs/formats.md).
#pragma once

#include "model/workload/network.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::formats {

inline constexpr std::size_t kMaxCsvBytes = std::size_t{64} << 20U; // 64 MiB, half a million rows

struct LayerTable {
    std::string header;                   // as it stands in the file, to be repeated
    std::vector<std::string> extra_names; // columns that are not a layer's, such as gpu, measured_s
    std::vector<model::Layer> layers;     // in the order of the rows
    std::vector<std::string> rows;        // of layers[i], as it stands in the file
    std::vector<std::vector<std::string>> extras; // of layers[i], by extra_names
    std::vector<int> lines;                       // of layers[i]

    // Position in extra_names, or -1.
    int extra_index(std::string_view name) const;

    bool operator==(const LayerTable&) const = default;
};

// Column names in any order, letter case ignored; missing columns take their defaults; a column
// that looks like a misspelt one is refused, any other one is kept. Layers without a name are
// called after their line ("line12"). All errors at once, each with line and column; reading stops
// at Diagnostics::kMost.
Result<LayerTable> parse_layer_csv(std::string text, const std::string& file);
Result<LayerTable> load_layer_csv(const std::filesystem::path& path);

// The network of these layers, called after the file.
model::Network network_of(const LayerTable& table, const std::filesystem::path& path);
// The library that the column `library` names; empty: none. Errors: rows that name different ones.
Result<std::string> library_of(const LayerTable& table, const std::string& file);

// The header and rows that parse_layer_csv reads back as these layers.
std::string write_layer_csv(const std::vector<model::Layer>& layers);

} // namespace eyeroof::formats
