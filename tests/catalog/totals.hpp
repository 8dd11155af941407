// The sums of a network of the catalog.
#pragma once

#include "formats/catalog.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace eyeroof::tests {

// Of "gnmt" or "gnmt:batch=1"; fails the test where the catalog has no such network.
inline model::NetworkTotals totals(const std::string& reference) {
    const std::vector<std::filesystem::path> folders = {std::filesystem::path(source_dir()) /
                                                        "examples/networks"};
    const auto network = formats::load_network(reference, folders);
    REQUIRE_MESSAGE(network, reference);
    return totals_of(*network).value();
}

} // namespace eyeroof::tests
