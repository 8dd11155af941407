// The registry of readers for other tools' network files, which are recognized by their content.
// A new format is a source file with a NetworkReader and a row in network_readers.cpp.
#pragma once

#include "base/result.hpp"
#include "formats/expression.hpp"
#include "model/workload/graph_edges.hpp"

#include <span>
#include <string>
#include <string_view>

namespace eyeroof::formats {

struct NetworkReader {
    std::string_view name; // "maestro"
    std::string_view what; // "MAESTRO layers"
    bool (*recognizes)(std::string_view text);
    // All errors in one pass, with file, line and column. `values`: of the network's parameters;
    // empty unless `has_parameters`.
    Result<model::NetworkGraph> (*read)(std::string text, const std::string& file,
                                        const Variables& values);
    bool has_parameters = false;
};

// In the order in which they are asked.
std::span<const NetworkReader> network_readers();

// The reader that recognizes the text; nullptr where none does.
const NetworkReader* network_reader_of(std::string_view text);

} // namespace eyeroof::formats
