#include "base/suggest.hpp"
#include "hwdb/yaml.hpp"
#include "hwdb/yaml_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>

namespace eyeroof::hwdb {

using detail::joined;
using detail::Value;
using detail::YamlState;

Document::Document(std::unique_ptr<YamlState> state) : state_(std::move(state)) {}
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;
Document::~Document() = default;

Node Document::root() const {
    return {state_.get(), state_->root, Node::kAbsent, ""};
}
const std::string& Document::file() const {
    return state_->file;
}

Node Document::locate(std::string_view field) const {
    Node at = root();
    std::size_t begin = 0;
    while (begin < field.size()) {
        const bool element = field[begin] == '[';
        const std::size_t end = std::min(field.find_first_of(".[", begin + 1), field.size());
        std::string_view step = field.substr(begin, end - begin);
        const auto& children = state_->values[at.index_].children;
        std::uint32_t next = Node::kAbsent;
        if (element && at.is_list()) {
            std::size_t i = children.size();
            std::from_chars(step.data() + 1, step.data() + step.size(), i);
            next = i < children.size() ? children[i] : Node::kAbsent;
        } else if (!element && at.is_map()) {
            step.remove_prefix(step.starts_with('.') ? 1 : 0);
            const std::uint32_t found = at.find(step);
            next = found == Node::kAbsent ? Node::kAbsent : children[found];
        }
        if (next == Node::kAbsent) {
            break;
        }
        at = Node(state_.get(), next, Node::kAbsent, std::string(field.substr(0, end)));
        begin = end;
    }
    return at;
}

void Document::adopt(const Diagnostics& findings) {
    for (Diagnostic d : findings) {
        if (d.where.file.empty()) {
            d.where = locate(d.field).where();
        }
        state_->diagnostics.add(std::move(d));
    }
}

namespace {

// An error for every key of a mapping that no one asked for.
void report_unasked(const YamlState& state, std::uint32_t map, Diagnostics& found) {
    const auto& asked = state.asked.at(map);
    const auto& children = state.values[map].children;
    std::vector<std::string> candidates(asked.begin(), asked.end());
    std::vector<const Value*> unknown;
    for (std::size_t i = 0; i + 1 < children.size(); i += 2) {
        const Value& key = state.values[children[i]];
        if (asked.contains(key.text)) {
            std::erase(candidates, key.text); // it is there already: no slip for it
        } else {
            unknown.push_back(&key);
        }
    }
    for (const Value* key : unknown) {
        if (found.full()) {
            return;
        }
        found.error("unknown-key", fmt::format("unknown key \"{}\"", key->text),
                    suggestion(key->text, candidates), {state.file, key->line, key->column},
                    joined(state.fields.at(map), key->text));
    }
}

// Whether the reader can have meant this file: it names its format, or at least a third of its
// outermost keys were asked for. Of any other file nothing is quoted.
bool is_recognized(const YamlState& state) {
    const auto asked = state.asked.find(state.root);
    if (asked == state.asked.end()) {
        return true; // no mapping of named keys
    }
    const auto& children = state.values[state.root].children;
    std::size_t known = 0;
    for (std::size_t i = 0; i + 1 < children.size(); i += 2) {
        const std::string& key = state.values[children[i]].text;
        if (key == "eyeroof") {
            return true;
        }
        known += asked->second.contains(key) ? 1 : 0;
    }
    return children.empty() || 3 * known >= children.size() / 2;
}

Diagnostics foreign_file(const YamlState& state) {
    std::string expected;
    for (const std::string& key : state.asked.at(state.root)) {
        expected += (expected.empty() ? "" : ", ") + key;
    }
    Diagnostics found;
    found.error("foreign-file", "this file is not of the expected kind: its keys are unknown",
                fmt::format("expected keys: {}", expected), {state.file, 0, 0});
    return found;
}

} // namespace

std::map<std::string, std::set<std::string>> Document::asked_keys() const {
    std::map<std::string, std::set<std::string>> keys;
    for (const auto& [map, asked] : state_->asked) {
        keys[state_->fields.at(map)].insert(asked.begin(), asked.end());
    }
    return keys;
}

Diagnostics Document::finish() const {
    Diagnostics found = state_->diagnostics;
    for (const auto& [map, keys] : state_->asked) {
        if (!state_->ignored.contains(map)) {
            report_unasked(*state_, map, found);
        }
    }
    if (found.has_errors() && !is_recognized(*state_)) {
        return foreign_file(*state_);
    }
    std::vector<Diagnostic> sorted = found.items();
    std::stable_sort(sorted.begin(), sorted.end(), [](const Diagnostic& a, const Diagnostic& b) {
        return std::tie(a.where.line, a.where.column) < std::tie(b.where.line, b.where.column);
    });
    Diagnostics result;
    for (Diagnostic& d : sorted) {
        result.add(std::move(d));
    }
    return result;
}

} // namespace eyeroof::hwdb
