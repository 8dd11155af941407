#include "hwdb/yaml.hpp"
#include "hwdb/yaml_tree.hpp"

#include <fmt/format.h>
#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

namespace eyeroof::hwdb {

namespace {

constexpr std::uint32_t kMaxValues = 1'000'000;

// Ends the parsing from inside the library's callbacks; caught in parse_yaml.
struct Refusal {
    Diagnostic diagnostic;
};

SourceLocation place(const detail::YamlState& state, const YAML::Mark& mark) {
    return mark.is_null() ? SourceLocation{state.file, 0, 0}
                          : state.place(mark.line + 1, mark.column + 1);
}

// Builds the flat tree from parse events. It keeps a stack of its own, and throws as soon as the
// nesting passes the limit, so that the library's recursion stays shallow too.
class Builder : public YAML::EventHandler {
  public:
    Builder(detail::YamlState& state, const YamlOptions& options)
        : state_(state), options_(options) {}

    bool any() const { return documents_ > 0 && !state_.values.empty(); }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (++documents_ > 1) {
            refuse(mark, "several-documents", "a second YAML document begins here",
                   "keep one document in a file");
        }
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        complete(begin(mark, detail::Kind::null, "", anchor));
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        if (options_.allow_tags && tag == kIncludedTag) {
            const std::uint32_t named = included(mark, value);
            if (anchor != YAML::NullAnchor) {
                anchored_[anchor] = named;
            }
            attach(named);
            return;
        }
        const std::uint32_t index = begin(mark, detail::Kind::scalar, tag, anchor);
        state_.values[index].text = value;
        complete(index);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(begin(mark, detail::Kind::list, tag, anchor), mark, anchor);
    }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(begin(mark, detail::Kind::map, tag, anchor), mark, anchor);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapEnd() override {
        if (options_.allow_merge_keys) {
            merge_keys(open_.back().index);
        }
        check_keys(open_.back().index);
        close();
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        if (!options_.allow_aliases) {
            refuse(mark, "alias", "anchors and aliases are not supported here",
                   "write the value out");
        }
        const auto found = anchored_.find(anchor);
        if (found == anchored_.end()) {
            refuse(mark, "alias", "this alias stands inside the value it names");
        }
        attach(found->second);
    }

  private:
    struct Open {
        std::uint32_t index;
        YAML::anchor_t anchor;
    };

    [[noreturn]] void refuse(const YAML::Mark& mark, std::string code, std::string message,
                             std::string hint = {}) {
        throw Refusal{{Severity::error, std::move(code), std::move(message), std::move(hint),
                       place(state_, mark), ""}};
    }

    std::uint32_t begin(const YAML::Mark& mark, detail::Kind kind, const std::string& tag,
                        YAML::anchor_t anchor) {
        if (state_.values.size() >= kMaxValues) {
            refuse(mark, "too-large", fmt::format("more than {} values", kMaxValues));
        }
        if (anchor != YAML::NullAnchor && !options_.allow_aliases) {
            refuse(mark, "alias", "anchors and aliases are not supported here",
                   "write the value out");
        }
        const bool plain = tag.empty() || tag == "?" || tag == "!";
        if (!plain && !options_.allow_tags) {
            refuse(mark, "tag", "tags (\"!name\") are not supported here", "remove the tag");
        }
        detail::Value value;
        value.kind = kind;
        value.tag = plain ? "" : tag;
        value.line = mark.line + 1;
        value.column = mark.column + 1;
        state_.values.push_back(std::move(value));
        const auto index = static_cast<std::uint32_t>(state_.values.size() - 1);
        if (anchor != YAML::NullAnchor &&
            (kind == detail::Kind::scalar || kind == detail::Kind::null)) {
            anchored_[anchor] = index;
        }
        return index;
    }

    void open(std::uint32_t index, const YAML::Mark& mark, YAML::anchor_t anchor) {
        if (open_.size() >= static_cast<std::size_t>(kMaxYamlDepth)) {
            refuse(mark, "too-deep", fmt::format("values are nested deeper than {}", kMaxYamlDepth),
                   "flatten the document");
        }
        open_.push_back({index, anchor});
    }

    void close() {
        const Open done = open_.back();
        open_.pop_back();
        if (done.anchor != YAML::NullAnchor) {
            anchored_[done.anchor] = done.index;
        }
        complete(done.index);
    }

    void complete(std::uint32_t index) {
        if (open_.empty()) {
            state_.root = index;
            return;
        }
        attach(index);
    }

    // The value of this key; nothing where it is no mapping that has one.
    std::optional<std::uint32_t> member(std::uint32_t map, std::string_view key) const {
        const detail::Value& value = state_.values[map];
        for (std::size_t i = 0; value.kind == detail::Kind::map && i + 1 < value.children.size();
             i += 2) {
            if (state_.values[value.children[i]].text == key) {
                return value.children[i + 1];
            }
        }
        return std::nullopt;
    }

    // "included1.workload.einsums"
    std::uint32_t included(const YAML::Mark& mark, std::string_view path) {
        std::optional<std::uint32_t> at;
        if (!open_.empty()) {
            at = member(open_.front().index, kIncludedKey);
        }
        std::string_view key;
        for (std::size_t from = 0; at && from <= path.size();) {
            const std::size_t end = std::min(path.find('.', from), path.size());
            key = path.substr(from, end - from);
            at = member(*at, key);
            from = end + 1;
        }
        if (!at) {
            refuse(mark, "missing-key", fmt::format("what is included has no member '{}'", key),
                   "name one that the included file has");
        }
        return *at;
    }

    // Sizes are added up as if aliases were written out, so that nested aliases cannot make a small
    // file stand for a huge document.
    void attach(std::uint32_t index) {
        const detail::Value& child = state_.values[index];
        const int depth = static_cast<int>(open_.size()) + child.height;
        detail::Value& parent = state_.values[open_.back().index];
        parent.expanded += child.expanded;
        parent.height = std::max(parent.height, child.height + 1);
        const bool nests = child.kind == detail::Kind::list || child.kind == detail::Kind::map;
        if (parent.expanded > kMaxValues || (nests && depth > kMaxYamlDepth + 1)) {
            throw Refusal{{Severity::error, "too-large",
                           "aliases expand this value beyond all reason", "write the values out",
                           state_.where(open_.back().index), ""}};
        }
        parent.children.push_back(index);
    }

    // Takes the merge keys out of a mapping and puts in what they name.
    void merge_keys(std::uint32_t map) {
        std::vector<std::uint32_t> own;
        std::vector<std::pair<std::uint32_t, bool>> merged; // the value, and whether level by level
        const std::vector<std::uint32_t> children = state_.values[map].children;
        for (std::size_t i = 0; i + 1 < children.size(); i += 2) {
            const std::string& key = state_.values[children[i]].text;
            if (key == "<<" || key == "<<<") {
                merged.emplace_back(children[i + 1], key == "<<<");
            } else {
                own.insert(own.end(), {children[i], children[i + 1]});
            }
        }
        for (const auto& [value, deep] : merged) {
            const bool several = state_.values[value].kind == detail::Kind::list;
            const auto list = several ? state_.values[value].children : std::vector{value};
            for (const std::uint32_t other : list) {
                if (state_.values[other].kind != detail::Kind::map) {
                    state_.diagnostics.error("bad-merge", "only a mapping can be merged",
                                             "write <<: *name, the name of a mapping's anchor",
                                             state_.where(other));
                    continue;
                }
                merge_members(own, state_.values[other].children, deep);
            }
        }
        state_.values[map].children = std::move(own);
    }

    // Sizes stay bounded: attach() has added those of `from` to the mapping that takes them.
    void merge_members(std::vector<std::uint32_t>& into, const std::vector<std::uint32_t>& from,
                       bool deep) {
        std::unordered_map<std::string, std::size_t> known; // key: where its value stands
        for (std::size_t i = 0; i + 1 < into.size(); i += 2) {
            known.emplace(state_.values[into[i]].text, i + 1);
        }
        for (std::size_t i = 0; i + 1 < from.size(); i += 2) {
            const auto found = known.find(state_.values[from[i]].text);
            if (found == known.end()) {
                known.emplace(state_.values[from[i]].text, into.size() + 1);
                into.insert(into.end(), {from[i], from[i + 1]});
            } else if (deep) {
                into[found->second] = both(into[found->second], from[i + 1]);
            }
        }
    }

    // A mapping or list with the members of both; the first one where they are no such pair.
    std::uint32_t both(std::uint32_t first, std::uint32_t second) {
        const detail::Kind kind = state_.values[first].kind;
        if (state_.values[first].tag == "!nomerge") { // Timeloop's front end: it replaces
            return first;
        }
        if (kind != state_.values[second].kind ||
            (kind != detail::Kind::map && kind != detail::Kind::list)) {
            return first;
        }
        detail::Value value = state_.values[first];
        const std::vector<std::uint32_t> more = state_.values[second].children;
        value.height = std::max(value.height, state_.values[second].height);
        value.expanded += state_.values[second].expanded;
        if (kind == detail::Kind::list) {
            value.children.insert(value.children.end(), more.begin(), more.end());
        } else {
            merge_members(value.children, more, true);
        }
        state_.values.push_back(std::move(value));
        return static_cast<std::uint32_t>(state_.values.size() - 1);
    }

    void check_keys(std::uint32_t map) {
        std::unordered_map<std::string_view, std::uint32_t> seen;
        std::vector<std::uint32_t> repeated; // keys whose value does not count
        const auto& children = state_.values[map].children;
        for (std::size_t i = 0; i + 1 < children.size(); i += 2) {
            const detail::Value& key = state_.values[children[i]];
            if (key.kind != detail::Kind::scalar || key.text.empty()) {
                state_.diagnostics.error("bad-key", "a key must be plain text",
                                         "write it as one word before the colon",
                                         state_.where(children[i]));
                continue;
            }
            const auto [first, is_new] = seen.emplace(key.text, children[i]);
            if (!is_new && options_.keep_last_key) {
                state_.diagnostics.warning("duplicate-key",
                                           "this key stands here a second time and counts",
                                           "keep one of them", state_.where(children[i]));
                repeated.push_back(first->second);
                first->second = children[i];
            } else if (!is_new) {
                state_.diagnostics.error(
                    "duplicate-key",
                    "this key stands here a second time", // not quoted: whose file it is shows
                                                          // later
                    fmt::format("the first is in line {}; keep one of them",
                                state_.where(first->second).line),
                    state_.where(children[i]));
            }
        }
        drop(map, repeated);
    }

    void drop(std::uint32_t map, const std::vector<std::uint32_t>& keys) {
        const std::unordered_set<std::uint32_t> gone(keys.begin(), keys.end());
        std::vector<std::uint32_t> left;
        const std::vector<std::uint32_t>& children = state_.values[map].children;
        for (std::size_t i = 0; i + 1 < children.size() && !gone.empty(); i += 2) {
            if (!gone.contains(children[i])) {
                left.insert(left.end(), {children[i], children[i + 1]});
            }
        }
        if (!gone.empty()) {
            state_.values[map].children = std::move(left);
        }
    }

    detail::YamlState& state_;
    const YamlOptions& options_;
    int documents_ = 0;
    std::vector<Open> open_;
    std::unordered_map<YAML::anchor_t, std::uint32_t> anchored_;
};

std::string syntax_hint(const std::string& message) {
    if (message == YAML::ErrorMsg::TAB_IN_INDENTATION) {
        return "indent with spaces, not tabs";
    }
    if (message == YAML::ErrorMsg::END_OF_MAP || message == YAML::ErrorMsg::MAP_VALUE ||
        message == YAML::ErrorMsg::END_OF_SEQ) {
        return "check the indentation, the colons, and that text with ': ' in it stands in quotes";
    }
    if (message == YAML::ErrorMsg::END_OF_MAP_FLOW || message == YAML::ErrorMsg::END_OF_SEQ_FLOW) {
        return "a closing bracket is missing";
    }
    return "this is not valid YAML";
}

// Fills the state; everything that the library throws ends here.
void parse_into(detail::YamlState& state, const std::string& text, const YamlOptions& options) {
    try {
        std::istringstream in(text);
        YAML::Parser parser(in);
        Builder builder(state, options);
        while (parser.HandleNextDocument(builder)) {
        }
        if (!builder.any() || state.values[state.root].kind == detail::Kind::null) {
            state.diagnostics.error("empty-file", "there is nothing in this document",
                                    "is this the file you meant?", {state.file, 1, 1});
        }
    } catch (const Refusal& refusal) {
        state.diagnostics.add(refusal.diagnostic);
    } catch (const YAML::Exception& e) {
        state.diagnostics.error("syntax", e.msg, syntax_hint(e.msg), place(state, e.mark));
    } catch (const std::exception& e) {
        state.diagnostics.error("syntax", fmt::format("the YAML library gave up: {}", e.what()),
                                "this is not valid YAML", {state.file, 0, 0});
    }
}

} // namespace

Result<Document> parse_yaml(std::string text, std::string file, YamlOptions options) {
    if (text.size() > kMaxTextFileBytes) {
        return Result<Document>::failure(
            "file-too-large", "the document is too large",
            "descriptions have a few KiB; is this the file that was meant?", {file, 0, 0});
    }
    auto checked = checked_text(std::move(text), file);
    if (!checked) {
        return checked.diagnostics();
    }
    // The library takes a quotation mark that is never closed for complete when the text ends in a
    // line break, so it gets none.
    checked->erase(checked->find_last_not_of(" \t\r\n") + 1);
    auto state = std::make_unique<detail::YamlState>();
    state->file = std::move(file);
    state->lines = std::move(options.lines);
    parse_into(*state, *checked, options);
    if (state->diagnostics.has_errors()) {
        return state->diagnostics;
    }
    return Document(std::move(state));
}

Result<Document> load_yaml(const std::filesystem::path& path, YamlOptions options) {
    auto text = read_text_file(path);
    if (!text) {
        return text.diagnostics();
    }
    return parse_yaml(std::move(*text), path.string(), options);
}

} // namespace eyeroof::hwdb
