// Questions about the catalog, as the command line asks them.
#pragma once

#include "analysis/resolve/resolve.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

namespace eyeroof::tests {

inline analysis::DataFolders catalog_folders() {
    const std::filesystem::path root = source_dir();
    return {{root / "hwdb"}, {root / "examples/networks"}};
}

inline analysis::Scenario scenario_of(const std::string& network, const std::string& machine,
                                      bool training = false,
                                      model::Launch launch = model::Launch::eager) {
    analysis::Scenario scenario;
    scenario.network = network;
    scenario.machine = machine;
    scenario.launch = launch;
    if (training) {
        scenario.training = analysis::TrainingOptions{};
    }
    return scenario;
}

inline analysis::Question resolved(const analysis::Scenario& scenario) {
    auto question = analysis::resolve(scenario, catalog_folders());
    for (const auto& d : question.diagnostics()) {
        MESSAGE(to_string(d));
    }
    REQUIRE(question.ok());
    return *std::move(question);
}

} // namespace eyeroof::tests
