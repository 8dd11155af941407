#include "formats/timeloop_entries.hpp"

#include "base/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::formats::timeloop {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field
using hwdb::Node;

namespace {

std::string axis_end(const std::string& name) {
    return name.substr(name.rfind('.') + 1); // npos + 1 is 0
}

} // namespace

std::optional<Sort> EntryReader::sort_of(const Node& node, const std::string& type) const {
    if (type == "datatype" || type == "dataspace" || type == "bypass" || type == "bypassing") {
        return Sort::tensors;
    }
    if (type == "temporal" || type == "spatial") {
        return type == "temporal" ? Sort::temporal : Sort::spatial;
    }
    if (type == "utilization" || type == "parallelism") {
        return Sort::utilization;
    }
    static const std::vector<std::string> known = {"datatype", "bypass",      "temporal",
                                                   "spatial",  "utilization", "dataspace"};
    node.error("unsupported", fmt::format("entries of type '{}' are not read", type),
               suggestion(type, known));
    return std::nullopt;
}

// The level or axes that a target names; "inter_PE_spatial" is what opens at node PE.
void EntryReader::find_target(const Node& node, Entry& entry) const {
    std::string name = entry.target;
    if (!level_named(machine_, name) && name.starts_with("inter_") && name.ends_with("_spatial")) {
        name = name.substr(6, name.size() - 14);
    }
    if (entry.sort == Sort::spatial) {
        entry.spread = spread_of(machine_, name);
    } else {
        entry.level = level_named(machine_, name);
    }
    if (entry.sort != Sort::utilization && !entry.level && !entry.spread) {
        node.error("unknown-level", fmt::format("the machine has no level '{}'", entry.target),
                   suggestion(entry.target, target_names(machine_)));
    }
}

void EntryReader::read_loops(const Node& node, Entry& entry) const {
    if (const Node factors = member(node, "factors")) {
        entry.factors = factors_of(factors, names_);
    }
    if (const Node only = member(node, "factors_only")) {
        entry.factors = factors_of(only, names_);
        entry.only_these = true;
    }
    if (const Node permutation = node["permutation"]) {
        entry.permutation = permutation_of(permutation, names_);
    }
    if (const Node split = node["split"]) {
        entry.split = split.integer({0, 1000000});
    }
    if (const Node still = member(node, "no_iteration_over_dataspaces")) {
        for (const Dim d : moved_by(operands_of(still, names_))) {
            entry.factors.push_back({d, 1});
        }
    }
    for (const auto key :
         {"no_reuse", "no_coalesce", "no_link_transfer", "rmw_first_update", "maximize_dims",
          "maximize_dims_capacity", "must_iterate_over_dataspaces", "no_multicast", "no_reduction",
          "remainders"}) {
        refuse(node, key, "rules of this kind");
    }
}

void EntryReader::read_tensors(const Node& node, Entry& entry) const {
    entry.keep = operands_of(node["keep"], names_);
    entry.bypass = operands_of(node["bypass"], names_);
    if (const Node only = member(node, "keep_only")) {
        entry.keep = operands_of(only, names_);
        for (const Operand o : kAllOperands) {
            if (!entry.keep.contains(o)) {
                entry.bypass.insert(o);
            }
        }
    }
    for (const auto key : {"no_coalesce", "no_reuse", "rmw_first_update", "no_temporal_reuse"}) {
        refuse(node, key, "rules of this kind");
    }
}

void EntryReader::read_body(const Node& node, Entry& entry) const {
    if (entry.sort == Sort::tensors) {
        read_tensors(node, entry);
    } else if (entry.sort == Sort::utilization) {
        entry.least = node.need("min").number(0.0, 1.0);
    } else {
        read_loops(node, entry);
    }
}

// {target: GLB, type: temporal, …}; the rest may stand under `attributes`.
// Inside another target's `constraints` its name is known: `outer`.
std::optional<Entry> EntryReader::read(const Node& node, const std::string& outer) const {
    Entry entry;
    entry.node = node;
    const bool named = node.has("target") || node.has("name") || outer.empty();
    const Node target = node.has("target") ? node["target"] : named ? node.need("name") : node;
    entry.target = named ? target.text().value_or("") : outer;
    const Node type = node.need("type");
    const auto sort = type ? sort_of(type, type.text().value_or("")) : std::nullopt;
    if (!sort) {
        node.ignore_rest();
        return std::nullopt;
    }
    entry.sort = *sort;
    find_target(target, entry);
    const Node attributes = node["attributes"];
    read_body(attributes ? attributes : node, entry);
    const bool found = entry.level || entry.spread || entry.sort == Sort::utilization;
    return found ? std::optional(std::move(entry)) : std::nullopt;
}

std::vector<Dim> EntryReader::moved_by(OperandSet operands) const {
    std::vector<Dim> dims;
    for (const Dim d : kAllDims) {
        for (const Operand o : kAllOperands) {
            if (operands.contains(o) && relevant(o, d)) {
                dims.push_back(d);
                break;
            }
        }
    }
    return dims;
}

// Dimensions in the first `split` places of the permutation lie along x, the others along y.
bool along_x(const Entry& entry, Dim dim) {
    const auto at = std::find(entry.permutation.begin(), entry.permutation.end(), dim);
    return !entry.split || at - entry.permutation.begin() < *entry.split;
}

std::optional<std::size_t> axis_of(const Entry& entry, const Level& level, Dim dim) {
    if (entry.spread->own && entry.spread->axes.size() == 1) {
        return entry.spread->axes.front();
    }
    const char* wanted = along_x(entry, dim) ? "x" : "y";
    for (const std::size_t a : entry.spread->axes) {
        if (axis_end(level.fanout[a].name) == wanted) {
            return a;
        }
    }
    return std::nullopt;
}

} // namespace eyeroof::formats::timeloop
