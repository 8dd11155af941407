// Machines and networks of the checkout, and sweeps over them, for the cases of this folder.
#pragma once

#include "analysis/sweep/rows.hpp"
#include "analysis/sweep/run_sweep.hpp"
#include "formats/catalog.hpp"
#include "hwdb/catalog.hpp"
#include "tests/paths.hpp"

#include <filesystem>

namespace eyeroof::tests {

inline analysis::SweepSources catalog_sources() {
    const std::filesystem::path root = source_dir();
    return {[=](const std::string& name) {
                const std::vector<std::filesystem::path> folders = {root / "hwdb"};
                return hwdb::load_machine(name, folders);
            },
            [=](const std::string& name, const std::vector<std::string>& sizes) {
                const std::vector<std::filesystem::path> folders = {root / "examples/networks"};
                std::string reference = name;
                for (const std::string& size : sizes) {
                    reference += (&size == &sizes.front() ? ":" : ",") + size;
                }
                return formats::load_wired_network(reference, folders);
            }};
}

inline analysis::SweepQuestion question(const std::string& network, const std::string& machine,
                                        std::vector<std::string> vary) {
    analysis::SweepQuestion asked{{}, std::move(vary)};
    asked.scenario.network = network;
    asked.scenario.machine = machine;
    asked.scenario.policy = analysis::MappingPolicy::dataflow;
    return asked;
}

// All rows of a range as a file has them, header left out.
inline std::string rows_of(const analysis::SweepGrid& grid, analysis::PointRange range,
                           int threads = 2, analysis::RowFormat format = analysis::RowFormat::csv) {
    std::string all;
    analysis::run_sweep(
        grid, range, threads,
        [&](std::uint64_t point, const analysis::PointFigures& figures) {
            return analysis::row_of(grid, format, point, figures);
        },
        [&](std::string_view rows, std::uint64_t /*points*/) {
            all += rows;
            return true;
        },
        {}, {});
    return all;
}

} // namespace eyeroof::tests
