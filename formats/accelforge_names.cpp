#include "formats/accelforge_names.hpp"

#include <fmt/format.h>

namespace eyeroof::formats {

using hwdb::Node;

namespace {

constexpr int kDeepestNames = 24; // variables that name one another
constexpr int kDeepestFanout = 16;

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

// The product of the fan-outs of the node so called, or of the axes with such a part in their name.
double ForgeNames::fanouts(const std::string& part) {
    double all = 1.0;
    for (const Fanout& some : fanouts_) {
        if (some.node == part || some.axis.find(part) != std::string::npos) {
            all *= number_of(some.size).value_or(1.0);
        }
    }
    return all;
}

std::optional<ScriptValue> ForgeNames::called(const std::string& name) {
    constexpr std::string_view fanout = ".get_fanout";
    if (name.ends_with(fanout)) {
        return ScriptValue{fanouts(name.substr(0, name.size() - fanout.size()))};
    }
    // Of AccelForge's library for computing in memory: columns share inputs, rows share outputs.
    if (name == "get_array_fanout_reuse_output") {
        return ScriptValue{fanouts("_ARRAY_ROWS")};
    }
    if (name == "get_array_fanout_reuse_input") {
        return ScriptValue{fanouts("_ARRAY_COLUMNS")};
    }
    if (name == "get_array_fanout_total") {
        return ScriptValue{fanouts("_ARRAY_ROWS") * fanouts("_ARRAY_COLUMNS")};
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
    if (depth_ >= kDeepestNames) {
        return ScriptValue{Unset{"too-deep", fmt::format("'{}' names itself", name)}};
    }
    ++depth_;
    auto value = run_script(found->second, names_);
    --depth_;
    if (value) {
        return *std::move(value);
    }
    const Diagnostic& why = value.diagnostics().items().front();
    return ScriptValue{Unset{why.code, fmt::format("{} = {}", name, why.message)}};
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
