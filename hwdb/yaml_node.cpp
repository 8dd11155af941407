#include "base/suggest.hpp"
#include "hwdb/yaml.hpp"
#include "hwdb/yaml_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace eyeroof::hwdb {

using detail::joined;
using detail::Kind;
using detail::Value;

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

// Python's reader follows YAML 1.1, which takes underscores between digits: 16_777_216.
std::string without_underscores(const std::string& written) {
    const auto digit = [&](std::size_t at) {
        return at < written.size() && written[at] >= '0' && written[at] <= '9';
    };
    std::string plain;
    for (std::size_t i = 0; i < written.size(); ++i) {
        if (written[i] != '_' || i == 0 || !digit(i - 1) || !digit(i + 1)) {
            plain += written[i];
        }
    }
    return plain;
}

} // namespace

// ---- what it is and where it stands

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

// ---- members and elements

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
    if (present() && is_map()) { // of anything else the wrong type is still to be reported
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

// ---- values

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
    const std::string plain = without_underscores(*written);
    const char* last = plain.data() + plain.size();
    const auto [end, status] = std::from_chars(plain.data(), last, value);
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
    const std::string plain = without_underscores(*written);
    const char* last = plain.data() + plain.size();
    const auto [end, status] = std::from_chars(plain.data(), last, value);
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
    const auto value = parse_quantity(*written, unit, what);
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
              suggestion(*written, names));
        return std::nullopt;
    }
    return static_cast<std::size_t>(found - names.begin());
}

} // namespace eyeroof::hwdb
