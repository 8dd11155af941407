// A strict reader of YAML documents: typed access, every error with file:line:column and field
// path, all errors at once. Hides the YAML library; independent of every format.
//
//   auto document = hwdb::load_yaml("net.yaml");
//   if (!document) return document.diagnostics();
//   Node root = document->root();
//   net.name = root.need("name").text().value_or("");
//   for (Node layer : root.need("layers").items()) {
//       layer.need("op").choice(kOps, "operator");
//       layer["stride"].integer({1, 64}).value_or(1);
//   }
//   return document->conclude(net);     // adds "unknown key … did you mean …?"
//
// Refused on loading: duplicate keys at any depth, keys that are no plain text, nesting deeper than
// 64, more than a million values, several documents in one file, tags, anchors, aliases and merge
// keys (the last four can be allowed; an alias is then bounded by the size of what it expands to),
// and text that is not UTF-8. Every key must be asked for: conclude() reports those that were not.
#pragma once

#include "base/result.hpp"
#include "base/text_file.hpp"
#include "base/units.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace eyeroof::hwdb {

inline constexpr int kMaxYamlDepth = 64;

// A tagged scalar "!include_loaded NAME.member.member", where tags are allowed, stands for a member
// of the document's first value, whose key is kIncludedKey: text that was put together from several
// files (formats/template.hpp) holds there what it includes as values.
inline constexpr std::string_view kIncludedTag = "!include_loaded";
inline constexpr std::string_view kIncludedKey = "included_ignore";

struct YamlOptions {
    bool allow_aliases = false; // anchors, aliases
    bool allow_tags = false;    // "!Component"; read with Node::tag()
    // "<<: *base" adds the members of another mapping that are not given here. "<<<: *base", of
    // Timeloop's and AccelForge's front ends, also merges mappings in mappings and appends lists.
    bool allow_merge_keys = false;
    bool keep_last_key = false; // of equal keys in a mapping the last counts, with a warning
    // Where each line of the text comes from, for text that was put together from several files;
    // its column is added to that of a value. Empty: line n of the text is line n of the file.
    std::vector<SourceLocation> lines = {};
};

namespace detail {
struct YamlState;
}

// Inclusive bounds of an integer. The default suits a dimension: 1 … 2^31 - 1.
struct IntegerRange {
    std::int64_t min = 1;
    std::int64_t max = 2147483647;
};

enum class Zero { refused, allowed };

// A place in a document, or a place where something could have been and is not (absent). A cheap
// handle: must not outlive its Document. Reading from an absent node gives nothing and reports
// nothing.
class Node {
  public:
    Node() = default; // absent

    bool present() const { return index_ != kAbsent; }
    explicit operator bool() const { return present(); }
    bool is_map() const;
    bool is_list() const;
    bool is_scalar() const;
    std::string tag() const; // "" when there is none

    SourceLocation where() const;
    const std::string& field() const { return field_; } // "levels[2].bandwidth"

    // Members of a mapping. operator[] is for optional keys; need() reports a missing key.
    // Both report a node that is no mapping, and a key without a value.
    Node operator[](std::string_view key) const;
    Node need(std::string_view key) const;
    bool has(std::string_view key) const; // does not count as asking
    // All members of a mapping with free keys, in the document's order; counts as asking for all.
    std::vector<std::pair<std::string, Node>> entries() const;
    // Where the key of this member stands (where() is the place of its value).
    SourceLocation key_where() const;
    // Gives up on this mapping's other keys: none of them will be reported as unknown.
    void ignore_rest() const;

    // Elements of a list; reports anything else. A list shorter than `at_least` is reported.
    std::vector<Node> items(std::size_t at_least = 0) const;
    // A list, or a single value as a list of one.
    std::vector<Node> one_or_more() const;

    // The value itself. Each reports what is wrong with it and then gives nothing.
    std::optional<std::string> text() const; // any scalar that is not empty
    std::optional<std::int64_t> integer(IntegerRange range = {}) const;
    std::optional<double> number(double min, double max) const; // without a unit
    std::optional<bool> boolean() const;                        // true or false
    template <class Q> std::optional<Q> quantity(Zero zero = Zero::refused) const {
        using Tag = typename QuantityTag<Q>::type;
        const auto value = quantity_in(Tag::unit, Tag::what, zero);
        return value ? std::optional(Q{*value}) : std::nullopt;
    }
    std::optional<double> quantity_in(std::string_view unit, std::string_view what,
                                      Zero zero = Zero::refused) const;
    // Position in `names`; `what` is for the message: "operator".
    std::optional<std::size_t> choice_of(std::span<const std::string> names,
                                         std::string_view what) const;
    // A table of {name, value} pairs: kOps[] = {{"conv2d", Op::conv2d}, …}.
    template <class Table>
    auto choice(const Table& table, std::string_view what) const
        -> std::optional<std::decay_t<decltype(std::begin(table)->second)>> {
        std::vector<std::string> names;
        for (const auto& entry : table) {
            names.emplace_back(entry.first);
        }
        const auto chosen = choice_of(names, what);
        if (!chosen) {
            return std::nullopt;
        }
        return std::next(std::begin(table), static_cast<std::ptrdiff_t>(*chosen))->second;
    }

    // Reports a finding of the caller at this node. On an absent node: does nothing.
    void error(std::string code, std::string message, std::string hint = {}) const;
    void warning(std::string code, std::string message, std::string hint = {}) const;

  private:
    friend class Document;
    static constexpr std::uint32_t kAbsent = 0xFFFFFFFF;
    Node(detail::YamlState* state, std::uint32_t index, std::uint32_t key, std::string field)
        : state_(state), index_(index), key_(key), field_(std::move(field)) {}
    const std::string* scalar(std::string_view expected) const;
    bool expect_map() const;
    std::uint32_t find(std::string_view key) const; // position of the key's value in the children

    detail::YamlState* state_ = nullptr;
    std::uint32_t index_ = kAbsent;
    std::uint32_t key_ = kAbsent;
    std::string field_;
};

class Document {
  public:
    explicit Document(std::unique_ptr<detail::YamlState> state);
    Document(Document&&) noexcept;
    Document& operator=(Document&&) noexcept;
    ~Document();

    Node root() const;
    const std::string& file() const;

    // The node of a field path as reported in diagnostics, to place findings of validation; the
    // nearest enclosing node when the path leads to nothing. Does not count as asking.
    Node locate(std::string_view field) const;
    // Adds findings that carry field paths of this document; gives each its line and column.
    void adopt(const Diagnostics& findings);

    // Which keys were asked of which mapping so far: field path -> keys. For tests that hold a
    // format's schema against its reader.
    std::map<std::string, std::set<std::string>> asked_keys() const;

    // The end of reading: the diagnostics so far and an error for every key that no one asked for,
    // in the order of the file.
    Diagnostics finish() const;
    template <class T> Result<T> conclude(T value) const {
        Diagnostics found = finish();
        if (found.has_errors()) {
            return Result<T>(std::move(found));
        }
        return Result<T>(std::move(value), std::move(found));
    }

  private:
    std::unique_ptr<detail::YamlState> state_;
};

// `file` is the name shown in diagnostics.
Result<Document> parse_yaml(std::string text, std::string file, YamlOptions options = {});
Result<Document> load_yaml(const std::filesystem::path& path, YamlOptions options = {});

} // namespace eyeroof::hwdb
