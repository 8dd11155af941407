// Networks and machines of the catalog for the tests of the step.
#pragma once

#include "analysis/program/timeline.hpp"
#include "formats/catalog.hpp"
#include "hwdb/catalog.hpp"
#include "tests/paths.hpp"
#include "tests/question.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

namespace eyeroof::tests {

inline model::NetworkGraph catalog_network(const std::string& name) {
    auto wired = formats::load_wired_network(
        name, {std::filesystem::path(source_dir()) / "examples/networks"});
    for (const auto& d : wired.diagnostics()) {
        MESSAGE(to_string(d));
    }
    REQUIRE(wired.ok());
    return *std::move(wired);
}

inline model::Gpu catalog_gpu(const std::string& name) {
    const std::vector<std::filesystem::path> folders{std::filesystem::path(source_dir()) / "hwdb"};
    const auto machine = hwdb::load_machine(name, folders);
    REQUIRE(machine.ok());
    return std::get<model::Gpu>(machine->kind);
}

inline analysis::step::Graph graph_of(const std::string& name, bool training = false,
                                      const std::string& optimizer = "adam") {
    const auto wired = catalog_network(name);
    analysis::step::GraphOptions options;
    if (training) {
        options.training = analysis::TrainingOptions{optimizer};
    }
    auto graph = analysis::step::make_graph(wired.network, wired.edges, options);
    for (const auto& d : graph.diagnostics()) {
        MESSAGE(to_string(d));
    }
    REQUIRE(graph.ok());
    return *std::move(graph);
}

// Channels-last kernels of the usual library.
inline analysis::step::SoftwareOf usual_software() {
    return [](const model::Layer&) { return model::Software{}; };
}

inline analysis::step::Costs costs_on(const analysis::step::Graph& graph, const model::Gpu& gpu) {
    auto costs = analysis::step::costs_of(graph, gpu, usual_software());
    REQUIRE(costs.ok());
    return *std::move(costs);
}

// A network of the catalog on a GPU of the catalog.
inline analysis::Question catalog_question(const std::string& network, const std::string& gpu,
                                           analysis::Scenario scenario = {}) {
    return question_of(catalog_network(network), machine_with(catalog_gpu(gpu), gpu),
                       std::move(scenario));
}

// A small network from text; the diagnostics where it is none.
inline Result<analysis::step::Graph> graph_from(const std::string& yaml,
                                                analysis::step::GraphOptions options = {}) {
    const auto file = formats::parse_network_yaml(yaml, "net.yaml");
    if (!file) {
        return file.diagnostics();
    }
    return analysis::step::make_graph(file->network, file->edges, options);
}

} // namespace eyeroof::tests
