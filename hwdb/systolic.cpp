#include "hwdb/systolic.hpp"

#include "base/suggest.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::hwdb {

using model::Accelerator;
using model::Cast;
using model::Channel;
using model::Dataflow;
using model::DataflowKind;
using model::Dim;
using model::DimSet;
using model::Level;
using model::Machine;
using model::Operand;
using model::Store;

namespace {

constexpr std::string_view kPrefix = "systolic:";
constexpr Count kMaxSide = 65536;

struct Shape {
    Count rows = 0;
    Count columns = 0;
    std::optional<DataflowKind> only;
};

std::optional<Count> side(std::string_view text) {
    Count value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = status == std::errc{} && end == text.data() + text.size();
    return whole && value >= 1 && value <= kMaxSide ? std::optional(value) : std::nullopt;
}

// "32x32:os" without the prefix.
std::optional<Shape> read_shape(std::string_view text) {
    Shape shape;
    if (const auto colon = text.find(':'); colon != std::string_view::npos) {
        shape.only = model::dataflow_from_name(text.substr(colon + 1));
        const bool known = shape.only == DataflowKind::ws || shape.only == DataflowKind::os ||
                           shape.only == DataflowKind::is;
        if (!known) {
            return std::nullopt;
        }
        text = text.substr(0, colon);
    }
    const auto by = text.find('x');
    const auto rows = side(text.substr(0, by));
    const auto columns = by == std::string_view::npos ? rows : side(text.substr(by + 1));
    if (!rows || !columns) {
        return std::nullopt;
    }
    shape.rows = *rows;
    shape.columns = *columns;
    return shape;
}

Dataflow dataflow(DataflowKind kind, DimSet column, DimSet row, Operand stationary) {
    Dataflow rules;
    rules.kind = kind;
    rules.spatial = {{"column", column}, {"row", row}};
    rules.stationary = stationary;
    return rules;
}

Dataflow dataflow(DataflowKind kind) {
    const DimSet window = {Dim::C, Dim::R, Dim::S};
    const DimSet pixels = {Dim::N, Dim::P, Dim::Q};
    switch (kind) {
    case DataflowKind::os:
        return dataflow(kind, {Dim::K}, pixels, Operand::output);
    case DataflowKind::is:
        return dataflow(kind, pixels, window, Operand::input);
    default:
        return dataflow(DataflowKind::ws, {Dim::K}, window, Operand::weight);
    }
}

Level buffer(const Shape& shape, const Accelerator& machine) {
    const auto bytes_per_cycle = [&](Count words, Operand o) {
        return static_cast<double>(words) * machine.word_bits[index(o)] / 8.0;
    };
    Level level;
    level.name = "buffer";
    Store store;
    store.operands = {Operand::input, Operand::weight, Operand::output};
    store.read_pj = store.write_pj = 6.0;
    level.stores = {store};
    level.fanout = {{"column", shape.columns}, {"row", shape.rows}};
    const auto channel = [&](const char* name, Operand o, Count words) {
        Channel result;
        result.name = name;
        result.operands = {o};
        result.down_bytes_per_cycle = result.up_bytes_per_cycle = bytes_per_cycle(words, o);
        result.cast = Cast::multicast; // from PE to PE along the row or the column
        result.reduces = o == Operand::output;
        result.hop_pj = 2.0;
        return result;
    };
    level.channels = {channel("row inputs", Operand::input, shape.rows),
                      channel("column weights", Operand::weight, shape.columns),
                      channel("column sums", Operand::output, shape.columns)};
    return level;
}

Level processing_element(const Accelerator& machine) {
    Level level;
    level.name = "PE";
    for (const Operand o : model::kAllOperands) {
        Store store;
        store.operands = {o};
        store.capacity_bytes = machine.word_bits[index(o)] / 8;
        store.read_pj = store.write_pj = 1.0;
        store.may_bypass = false;
        level.stores.push_back(store);
    }
    return level;
}

Accelerator accelerator(const Shape& shape) {
    Accelerator machine;
    machine.clock_hz = 1e9;
    machine.word_bits = {8, 8, 32};
    machine.mac_pj = 1.0;
    Level memory;
    memory.name = "memory";
    Store store;
    store.operands = {Operand::input, Operand::weight, Operand::output};
    store.read_pj = store.write_pj = 200.0;
    memory.stores = {store};
    memory.word_bits[index(Operand::output)] = 8; // results leave as narrow as they came
    machine.levels = {memory, buffer(shape, machine), processing_element(machine)};
    for (const DataflowKind kind : {DataflowKind::ws, DataflowKind::os, DataflowKind::is}) {
        if (!shape.only || *shape.only == kind) {
            machine.dataflows.push_back(dataflow(kind));
        }
    }
    return machine;
}

} // namespace

bool is_systolic_name(std::string_view name) {
    return name.starts_with(kPrefix);
}

Result<Machine> systolic_array(std::string_view name) {
    const auto shape =
        is_systolic_name(name) ? read_shape(name.substr(kPrefix.size())) : std::nullopt;
    if (!shape) {
        return Result<Machine>::failure(
            "unknown-machine", fmt::format("\"{}\" does not describe a systolic array", name),
            fmt::format("write systolic:ROWSxCOLUMNS, 1 to {} each, optionally with ws, os, or is: "
                        "\"systolic:32x32:os\"",
                        kMaxSide));
    }
    Machine machine;
    machine.id = std::string(name);
    machine.name = fmt::format("Systolic array {} x {}", shape->rows, shape->columns);
    machine.summary = "Parametric array behind an ideal memory; only the array limits";
    machine.kind = accelerator(*shape);
    const std::string source =
        "the name \"" + std::string(name) + "\" and the ideal memory around it";
    machine.provenance[""] = {source, Confidence::user};
    const Provenance energies = {
        "Chen, Emer, Sze: Eyeriss, ISCA 2016, Table IV, relative to one MAC of 1 pJ",
        Confidence::derived};
    machine.provenance["mac_energy"] = energies;
    for (const char* field :
         {"levels[0].stores[0].energy", "levels[1].stores[0].energy",
          "levels[1].channels[0].hop_energy", "levels[1].channels[1].hop_energy",
          "levels[1].channels[2].hop_energy", "levels[2].stores[0].energy",
          "levels[2].stores[1].energy", "levels[2].stores[2].energy"}) {
        machine.provenance[field] = energies;
    }
    return machine;
}

} // namespace eyeroof::hwdb
