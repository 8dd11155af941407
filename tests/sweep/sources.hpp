// Machines and networks of the checkout, and sweeps over them, for the cases of this folder.
#pragma once

#include "hwdb/catalog.hpp"
#include "study/formats/catalog.hpp"
#include "study/sweep/rows.hpp"
#include "study/sweep/run_sweep.hpp"
#include "tests/paths.hpp"

#include <filesystem>

namespace eyeroof::tests {

inline study::SweepSources catalog_sources() {
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
                return study::read::load_wired_network(reference, folders);
            }};
}

inline study::SweepQuestion question(const std::string& network, const std::string& machine,
                                     std::vector<std::string> vary) {
    study::SweepQuestion asked{{}, std::move(vary)};
    asked.scenario.network = network;
    asked.scenario.machine = machine;
    asked.scenario.policy = study::MappingPolicy::dataflow;
    return asked;
}

// All rows of a range as a file has them, header left out.
inline std::string rows_of(const study::SweepGrid& grid, study::PointRange range, int threads = 2,
                           study::RowFormat format = study::RowFormat::csv) {
    std::string all;
    study::run_sweep(
        grid, range, threads,
        [&](std::uint64_t point, const study::PointFigures& figures) {
            return study::row_of(grid, format, point, figures);
        },
        [&](std::string_view rows, std::uint64_t /*points*/) {
            all += rows;
            return true;
        },
        {}, {});
    return all;
}

} // namespace eyeroof::tests
