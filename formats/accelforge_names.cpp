#include "formats/accelforge_names.hpp"

#include <fmt/format.h>

namespace eyeroof::formats {

using hwdb::Node;

namespace {

constexpr int kDeepestNames = 16; // variables and fan-outs that name one another
constexpr int kDeepestFanout = 16;

ScriptValue unset_by(const Diagnostics& found) {
    const Diagnostic& why = found.items().front();
    return {Unset{why.code, why.message}};
}

} // namespace

ForgeNames::ForgeNames(const Node& root) {
    names_.value = [this](const std::string& name) { return value_of(name); };
    names_.call = [this](const std::string& name, const ScriptList&) { return called(name); };
    const Node arch = root["arch"];
    for (const Node& from : {root, arch}) {
        if (from && from.is_map() && from.has("variables")) {
            add_variables(from["variables"]);
        }
    }
    if (arch && arch.is_map() && arch.has("nodes")) {
        add_fanouts(arch["nodes"], 0);
    }
}

void ForgeNames::add_variables(const Node& list) {
    list.ignore_rest();
    if (!list.is_map()) {
        return;
    }
    for (const auto& [name, node] : list.entries()) {
        if (node.is_scalar()) {
            variables_[name] = node.text().value_or("");
        }
    }
}

void ForgeNames::add_fanouts(const Node& nodes, int depth) {
    if (!nodes.is_list() || depth > kDeepestFanout) {
        return;
    }
    for (const Node& node : nodes.items()) {
        if (!node.is_map()) {
            continue;
        }
        node.ignore_rest();
        if (node.has("nodes")) {
            add_fanouts(node["nodes"], depth + 1);
        }
        const std::string name = node.has("name") ? node["name"].text().value_or("") : "";
        const Node spatial = node.has("spatial") ? node["spatial"] : Node{};
        for (const Node& axis : spatial ? spatial.one_or_more() : std::vector<Node>{}) {
            if (axis.is_map() && axis.has("fanout")) {
                axis.ignore_rest();
                fanouts_.push_back({name, axis.has("name") ? axis["name"].text().value_or("") : "",
                                    axis["fanout"].text().value_or("1")});
            }
        }
    }
}

// What `make` gives for a name, asked once. A name that is part of its own value has none.
ScriptValue ForgeNames::once(const std::string& name, const std::function<ScriptValue()>& make) {
    if (const auto found = known_.find(name); found != known_.end()) {
        return found->second;
    }
    if (depth_ >= kDeepestNames) {
        return {Unset{"too-deep", fmt::format("'{}' stands behind too many other names", name)}};
    }
    known_[name] = {Unset{"too-deep", fmt::format("'{}' names itself", name)}};
    ++depth_;
    ScriptValue value = make();
    --depth_;
    known_[name] = value;
    return value;
}

// The product of the fan-outs of the node so called, or of the axes with such a part in their name.
ScriptValue ForgeNames::fanouts(const std::string& part) {
    return once("fan-out of " + part, [&] {
        double all = 1.0;
        for (const Fanout& some : fanouts_) {
            if (some.node == part || some.axis.find(part) != std::string::npos) {
                const auto size = run_script(some.size, names_);
                if (!size || size->number() == nullptr) {
                    return size ? ScriptValue{Unset{"unsupported", "a fan-out is no number"}}
                                : unset_by(size.diagnostics());
                }
                all *= *size->number();
            }
        }
        return ScriptValue{all};
    });
}

std::optional<ScriptValue> ForgeNames::called(const std::string& name) {
    constexpr std::string_view fanout = ".get_fanout";
    if (name.ends_with(fanout)) {
        return fanouts(name.substr(0, name.size() - fanout.size()));
    }
    // Of AccelForge's library for computing in memory: columns share inputs, rows share outputs.
    if (name == "get_array_fanout_reuse_output") {
        return fanouts("_ARRAY_ROWS");
    }
    if (name == "get_array_fanout_reuse_input") {
        return fanouts("_ARRAY_COLUMNS");
    }
    if (name == "get_array_fanout_total") {
        const ScriptValue rows = fanouts("_ARRAY_ROWS");
        const ScriptValue columns = fanouts("_ARRAY_COLUMNS");
        const bool both = rows.number() != nullptr && columns.number() != nullptr;
        return both ? ScriptValue{*rows.number() * *columns.number()}
                    : (rows.unset() ? rows : columns);
    }
    return std::nullopt;
}

std::optional<ScriptValue> ForgeNames::value_of(const std::string& name) {
    if (name.ends_with(".bits_per_value")) {
        return ScriptValue{kForgeWordBits};
    }
    if (name == "input" || name == "weight" || name == "output") {
        return ScriptValue{1.0}; // an architecture is read for einsums with all three
    }
    if (name == "All") {
        return ScriptValue{ScriptList(3, ScriptValue{1.0})};
    }
    const auto found = variables_.find(name);
    if (found == variables_.end()) {
        return std::nullopt;
    }
    return once(name, [&] {
        auto value = run_script(found->second, names_);
        return value ? *std::move(value) : unset_by(value.diagnostics());
    });
}

std::optional<double> ForgeNames::number_of(const std::string& text) {
    const auto value = run_script(text, names_);
    const double* number = value ? value->number() : nullptr;
    return number != nullptr ? std::optional(*number) : std::nullopt;
}

std::optional<double> ForgeNames::variable(const std::string& name) {
    return variables_.contains(name) ? number_of(name) : std::nullopt;
}

std::optional<double> ForgeNames::number(const Node& node) {
    const std::string text = node.text().value_or("inf");
    if (text == "inf" || text == ".inf" || text == "-1") {
        return std::nullopt;
    }
    const auto value = run_script(text, names_);
    if (value && value->number() != nullptr) {
        return *value->number();
    }
    const Diagnostic why = value ? Diagnostic{} : value.diagnostics().items().front();
    if (why.code == "unlimited") {
        return std::nullopt;
    }
    node.error(why.code == "unknown-parameter" ? why.code : "unsupported",
               value ? fmt::format("'{}' is no number", text.substr(0, 40))
                     : fmt::format("this value is not read: {}", why.message),
               why.code == "unknown-parameter"
                   ? "set it under `variables`, or write the number here"
                   : "write a number, or an expression of the architecture's variables");
    return std::nullopt;
}

} // namespace eyeroof::formats
