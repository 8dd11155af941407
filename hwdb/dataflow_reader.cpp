#include "hwdb/dataflow_reader.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace eyeroof::hwdb {

using model::Dataflow;
using model::DataflowKind;
using model::Dim;
using model::DimSet;
using model::Operand;

namespace {

constexpr std::pair<std::string_view, std::optional<Operand>> kStationary[] = {
    {"input", Operand::input},
    {"weight", Operand::weight},
    {"output", Operand::output},
    {"none", std::nullopt}};

constexpr std::pair<std::string_view, Dim> kDimNames[] = {
    {"N", Dim::N}, {"G", Dim::G}, {"K", Dim::K}, {"C", Dim::C},
    {"P", Dim::P}, {"Q", Dim::Q}, {"R", Dim::R}, {"S", Dim::S}};

constexpr std::array kDataflowKinds = {DataflowKind::ws,  DataflowKind::os, DataflowKind::is,
                                       DataflowKind::nlr, DataflowKind::rs, DataflowKind::rs_plus};

DimSet read_dims(const Node& node) {
    DimSet dims;
    for (const Node& element : node.one_or_more()) {
        if (const auto dim = element.choice(kDimNames, "dimension")) {
            if (dims.contains(*dim)) {
                element.error("duplicate-dimension", "this dimension is listed twice",
                              "remove one of them");
            }
            dims.insert(*dim);
        }
    }
    return dims;
}

std::optional<Operand> usual_stationary(DataflowKind kind) {
    switch (kind) {
    case DataflowKind::ws:
        return Operand::weight;
    case DataflowKind::os:
        return Operand::output;
    case DataflowKind::is:
        return Operand::input;
    case DataflowKind::nlr:
    case DataflowKind::rs:
    case DataflowKind::rs_plus:
        break;
    }
    return std::nullopt;
}

} // namespace

Dataflow read_dataflow(const Sourced& entry) {
    const Node& node = entry.node();
    std::vector<std::pair<std::string, DataflowKind>> kinds;
    for (const DataflowKind kind : kDataflowKinds) {
        kinds.emplace_back(model::dataflow_name(kind), kind);
    }
    Dataflow dataflow;
    dataflow.kind = node.need("kind").choice(kinds, "dataflow").value_or(DataflowKind::ws);
    for (const auto& [axis, dims] : node.need("spatial").entries()) {
        dataflow.spatial.push_back({axis, read_dims(dims)});
    }
    dataflow.whole = read_dims(node["whole"]);
    dataflow.stationary = node["stationary"]
                              .choice(kStationary, "operand, nor \"none\"")
                              .value_or(usual_stationary(dataflow.kind));
    dataflow.repeats_on_one_axis = node["repeats_on_one_axis"].boolean().value_or(false);
    dataflow.free_banks = entry["free_banks"].integer({0, 1 << 20}).value_or(0);
    if (const Sourced image = entry["image"]) {
        dataflow.image_channels = image.need("channels").integer({1, 1 << 20}).value_or(1);
        for (const auto& [axis, dims] : image.node().need("spatial").entries()) {
            dataflow.image_spatial.push_back({axis, read_dims(dims)});
        }
    }
    return dataflow;
}

} // namespace eyeroof::hwdb
