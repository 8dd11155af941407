#include "hwdb/yaml.hpp"

#include "hwdb/yaml_tree.hpp"
#include "model/base/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>

namespace eyeroof::hwdb {

using detail::Kind;
using detail::Value;
using detail::YamlState;
using model::Diagnostic;
using model::Diagnostics;
using model::Severity;
using model::SourceLocation;

namespace {

const char* kind_name(Kind kind) {
    switch (kind) {
    case Kind::null:
        return "nothing";
    case Kind::scalar:
        return "a single value";
    case Kind::list:
        return "a list";
    case Kind::map:
        break;
    }
    return "a mapping";
}

std::string joined(const std::string& field, std::string_view key) {
    return field.empty() ? std::string(key) : fmt::format("{}.{}", field, key);
}

} // namespace

// ---- Node: what it is and where it stands

bool Node::is_map() const {
    return present() && state_->values[index_].kind == Kind::map;
}
bool Node::is_list() const {
    return present() && state_->values[index_].kind == Kind::list;
}
bool Node::is_scalar() const {
    return present() && state_->values[index_].kind == Kind::scalar;
}
std::string Node::tag() const {
    return present() ? state_->values[index_].tag : std::string();
}

SourceLocation Node::where() const {
    return present() ? state_->where(index_) : SourceLocation{};
}

SourceLocation Node::key_where() const {
    return key_ != kAbsent ? state_->where(key_) : where();
}

void Node::error(std::string code, std::string message, std::string hint) const {
    if (present()) {
        state_->diagnostics.error(std::move(code), std::move(message), std::move(hint), where(),
                                  field_);
    }
}

void Node::warning(std::string code, std::string message, std::string hint) const {
    if (present()) {
        state_->diagnostics.warning(std::move(code), std::move(message), std::move(hint), where(),
                                    field_);
    }
}

// ---- Node: members and elements

// Reported once a node: the second member that is asked of a list would only repeat it.
bool Node::expect_map() const {
    if (!present() || is_map()) {
        return present();
    }
    if (state_->ignored.insert(index_).second) {
        error("wrong-type",
              fmt::format("expected a mapping, found {}", kind_name(state_->values[index_].kind)),
              "write \"key: value\" lines here");
    }
    return false;
}

std::uint32_t Node::find(std::string_view key) const {
    const auto& children = state_->values[index_].children;
    for (std::uint32_t i = 0; i + 1 < children.size(); i += 2) {
        if (state_->values[children[i]].text == key) {
            return i + 1;
        }
    }
    return kAbsent;
}

bool Node::has(std::string_view key) const {
    return is_map() && find(key) != kAbsent;
}

Node Node::operator[](std::string_view key) const {
    if (!expect_map()) {
        return {};
    }
    state_->asked[index_].emplace(key);
    state_->fields[index_] = field_;
    const std::uint32_t at = find(key);
    if (at == kAbsent) {
        return {};
    }
    const auto& children = state_->values[index_].children;
    Node member(state_, children[at], children[at - 1], joined(field_, key));
    if (state_->values[member.index_].kind == Kind::null) {
        // The place of nothing is not to be relied on; the key's is.
        state_->diagnostics.error("missing-value", fmt::format("\"{}\" has no value", key),
                                  "give it a value or remove the key", member.key_where(),
                                  member.field_);
        return {};
    }
    return member;
}

Node Node::need(std::string_view key) const {
    if (expect_map() && find(key) == kAbsent) {
        state_->asked[index_].emplace(key);
        state_->fields[index_] = field_;
        state_->diagnostics.error("missing-key", fmt::format("the key \"{}\" is missing here", key),
                                  fmt::format("add \"{}: …\"", key), where(), joined(field_, key));
        return {};
    }
    return (*this)[key];
}

std::vector<std::pair<std::string, Node>> Node::entries() const {
    std::vector<std::pair<std::string, Node>> members;
    if (!expect_map()) {
        return members;
    }
    const std::vector<std::uint32_t> children = state_->values[index_].children;
    for (std::size_t i = 0; i + 1 < children.size(); i += 2) {
        const std::string& key = state_->values[children[i]].text;
        if (Node member = (*this)[key]; member.present()) {
            members.emplace_back(key, std::move(member));
        }
    }
    return members;
}

void Node::ignore_rest() const {
    if (present()) {
        state_->ignored.insert(index_);
    }
}

std::vector<Node> Node::items(std::size_t at_least) const {
    std::vector<Node> elements;
    if (!present()) {
        return elements;
    }
    const Value& value = state_->values[index_];
    if (value.kind != Kind::list) {
        error("wrong-type", fmt::format("expected a list, found {}", kind_name(value.kind)),
              "write \"- \" before each element");
        return elements;
    }
    for (std::size_t i = 0; i < value.children.size(); ++i) {
        Node element(state_, value.children[i], kAbsent, fmt::format("{}[{}]", field_, i));
        if (state_->values[element.index_].kind == Kind::null) {
            element.error("missing-value", "this element of the list is empty",
                          "give it a value, or take the element out");
            continue;
        }
        elements.push_back(std::move(element));
    }
    if (value.children.size() < at_least) {
        error("too-few",
              fmt::format("the list has {} elements, at least {} are needed", value.children.size(),
                          at_least),
              "add what is missing");
    }
    return elements;
}

std::vector<Node> Node::one_or_more() const {
    if (!present() || is_list()) {
        return items(1);
    }
    return {*this};
}

// ---- Node: values

const std::string* Node::scalar(std::string_view expected) const {
    if (!present()) {
        return nullptr;
    }
    const Value& value = state_->values[index_];
    if (value.kind != Kind::scalar) {
        error("wrong-type", fmt::format("expected {}, found {}", expected, kind_name(value.kind)),
              "docs/formats.md shows each kind of file with an example");
        return nullptr;
    }
    return &value.text;
}

std::optional<std::string> Node::text() const {
    const std::string* written = scalar("a text");
    if (written == nullptr) {
        return std::nullopt;
    }
    if (written->find_first_not_of(" \t\r\n") == std::string::npos) {
        error("missing-value", "this text is empty", "give it a value, or leave the key out");
        return std::nullopt;
    }
    return *written;
}

std::optional<std::int64_t> Node::integer(IntegerRange range) const {
    const std::string* written = scalar("a whole number");
    if (written == nullptr) {
        return std::nullopt;
    }
    std::int64_t value = 0;
    const char* last = written->data() + written->size();
    const auto [end, status] = std::from_chars(written->data(), last, value);
    if (end != last || status == std::errc::invalid_argument) {
        error("not-an-integer", fmt::format("\"{}\" is not a whole number", *written),
              fmt::format("write digits only, {} … {}", range.min, range.max));
        return std::nullopt;
    }
    const bool below = status == std::errc{} ? value < range.min : written->starts_with('-');
    if (below || status != std::errc{} || value > range.max) {
        error("out-of-range", fmt::format("{} is too {}", *written, below ? "small" : "large"),
              below ? fmt::format("the smallest allowed is {}", range.min)
                    : fmt::format("the largest allowed is {}", range.max));
        return std::nullopt;
    }
    return value;
}

std::optional<double> Node::number(double min, double max) const {
    const std::string* written = scalar("a number");
    if (written == nullptr) {
        return std::nullopt;
    }
    double value = 0.0;
    const char* last = written->data() + written->size();
    const auto [end, status] = std::from_chars(written->data(), last, value);
    if (end != last || status != std::errc{} || !std::isfinite(value)) {
        error("not-a-number", fmt::format("\"{}\" is not a finite number", *written),
              fmt::format("write a number from {} to {}", min, max));
        return std::nullopt;
    }
    if (value < min || value > max) {
        error("out-of-range",
              fmt::format("{} is too {}", *written, value < min ? "small" : "large"),
              fmt::format("write a number from {} to {}", min, max));
        return std::nullopt;
    }
    return value;
}

std::optional<bool> Node::boolean() const {
    const std::string* written = scalar("true or false");
    if (written == nullptr) {
        return std::nullopt;
    }
    if (*written != "true" && *written != "false") {
        error("not-a-boolean", fmt::format("\"{}\" is neither true nor false", *written),
              "write true or false");
        return std::nullopt;
    }
    return *written == "true";
}

std::optional<double> Node::quantity_in(std::string_view unit, std::string_view what,
                                        Zero zero) const {
    const std::string* written = scalar(what);
    if (written == nullptr) {
        return std::nullopt;
    }
    const auto value = model::parse_quantity(*written, unit, what);
    if (!value) {
        for (const Diagnostic& d : value.diagnostics()) {
            error(d.code, d.message, d.hint);
        }
        return std::nullopt;
    }
    if (*value == 0.0 && zero == Zero::refused) {
        error("zero", fmt::format("{} of zero is of no use here", what), "write more than zero");
        return std::nullopt;
    }
    return *value;
}

std::optional<std::size_t> Node::choice_of(std::span<const std::string> names,
                                           std::string_view what) const {
    const std::string* written = scalar(what);
    if (written == nullptr) {
        return std::nullopt;
    }
    const auto found = std::find(names.begin(), names.end(), *written);
    if (found == names.end()) {
        error("unknown-name", fmt::format("\"{}\" is no known {}", *written, what),
              model::suggestion(*written, names));
        return std::nullopt;
    }
    return static_cast<std::size_t>(found - names.begin());
}

// ---- Document

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

// An error for every key of a mapping that nobody asked for.
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
        found.error("unknown-key", fmt::format("unknown key \"{}\"", key->text),
                    model::suggestion(key->text, candidates), {state.file, key->line, key->column},
                    joined(state.fields.at(map), key->text));
    }
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
