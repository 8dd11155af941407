// Questions about the catalog, as the command line asks them.
#pragma once

#include "study/app/resolve.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

namespace eyeroof::tests {

inline study::DataFolders catalog_folders() {
    const std::filesystem::path root = source_dir();
    return {{root / "hwdb"}, {root / "examples/networks"}};
}

inline study::Scenario scenario_of(const std::string& network, const std::string& machine,
                                   bool training = false,
                                   model::Launch launch = model::Launch::eager) {
    study::Scenario scenario;
    scenario.network = network;
    scenario.machine = machine;
    scenario.launch = launch;
    if (training) {
        scenario.training = study::TrainingOptions{};
    }
    return scenario;
}

inline study::Question resolved(const study::Scenario& scenario) {
    auto question = study::resolve(scenario, catalog_folders());
    for (const auto& d : question.diagnostics()) {
        MESSAGE(model::to_string(d));
    }
    REQUIRE(question.ok());
    return *std::move(question);
}

} // namespace eyeroof::tests
