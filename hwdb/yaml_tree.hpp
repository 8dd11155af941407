// The parsed document behind Node and Document: a flat array of values and what was asked of them.
// Shared by yaml_parse.cpp, which fills it, and yaml_node.cpp and yaml_document.cpp, which read it;
// for no one else.
#pragma once

#include "base/diagnostic.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace eyeroof::hwdb::detail {

enum class Kind : std::uint8_t { null, scalar, list, map };

struct Value {
    Kind kind = Kind::null;
    std::string text;                    // of a scalar
    std::string tag;                     // as written, "" when there is none
    int line = 0, column = 0;            // from 1
    std::vector<std::uint32_t> children; // of a map: key, value, key, value …
    std::uint32_t expanded = 1;          // values below and with this one, aliases counted in full
    int height = 1;                      // levels of nesting, this one included
};

struct YamlState {
    std::string file;
    std::vector<Value> values; // the root is the last to be completed
    std::uint32_t root = 0;
    std::vector<SourceLocation> lines; // of text from several files, see YamlOptions
    Diagnostics diagnostics;
    std::unordered_map<std::uint32_t, std::set<std::string, std::less<>>> asked; // per map
    std::set<std::uint32_t> ignored; // maps whose other keys are no one's business
    std::unordered_map<std::uint32_t, std::string> fields; // paths of the maps that were asked

    SourceLocation place(int line, int column) const {
        if (line >= 1 && static_cast<std::size_t>(line) <= lines.size()) {
            SourceLocation found = lines[static_cast<std::size_t>(line) - 1];
            found.column = column + found.column;
            return found;
        }
        return {file, line, column};
    }
    SourceLocation where(std::uint32_t index) const {
        return place(values[index].line, values[index].column);
    }
};

// The path of a member: "levels[2]" and "name" are "levels[2].name".
inline std::string joined(const std::string& field, std::string_view key) {
    return field.empty() ? std::string(key) : field + '.' + std::string(key);
}

} // namespace eyeroof::hwdb::detail
