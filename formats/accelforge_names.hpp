// What expressions of an AccelForge architecture may name: its variables, in any order, and facts
// about its nodes ("Macro.get_fanout()", "weight.bits_per_value", "len(All)").
#pragma once

#include "formats/script.hpp"
#include "hwdb/yaml.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace eyeroof::formats {

inline constexpr double kForgeWordBits = 8.0; // bits_per_value of AccelForge's workloads

class ForgeNames {
  public:
    // `variables` at the top of the document and below `arch`; the fan-outs of `arch`'s nodes.
    explicit ForgeNames(const hwdb::Node& root);
    ForgeNames(const ForgeNames&) = delete; // names_ refers to it
    ForgeNames& operator=(const ForgeNames&) = delete;

    // Nothing for what has no limit ("inf", "-1", an empty value). Errors, at the node, for what
    // has no value: "unknown-parameter" with its name, "unsupported".
    std::optional<double> number(const hwdb::Node& node);
    // The same, silently.
    std::optional<double> number_of(const std::string& text);
    std::optional<double> variable(const std::string& name);

  private:
    void add_variables(const hwdb::Node& list);
    void add_fanouts(const hwdb::Node& nodes, int depth);
    std::optional<ScriptValue> value_of(const std::string& name);
    std::optional<ScriptValue> called(const std::string& name);
    ScriptValue fanouts(const std::string& part);
    ScriptValue once(const std::string& name, const std::function<ScriptValue()>& make);

    std::map<std::string, std::string, std::less<>> variables_; // as written
    struct Fanout {
        std::string node, axis, size;
    };
    std::vector<Fanout> fanouts_;
    ScriptNames names_;
    std::map<std::string, ScriptValue, std::less<>> known_; // values of names, and of fan-outs
    int depth_ = 0;                                         // of names in names
};

} // namespace eyeroof::formats
