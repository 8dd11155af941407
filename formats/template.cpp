#include "formats/template.hpp"

#include "base/text_file.hpp"
#include "formats/script.hpp"
#include "formats/template_pieces.hpp"
#include "hwdb/yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>

namespace eyeroof::formats {

namespace {

constexpr int kMostLevels = 8; // of folders above a file in which an included one may lie
constexpr std::size_t kMostPaths = 64;
constexpr int kMostIncludes = 8;                      // within one another
constexpr std::size_t kMostTrips = 100'000;           // of all loops together
constexpr std::size_t kMostCopied = 20'000'000;       // values that names stand for
constexpr std::size_t kMostBytes = kMaxTextFileBytes; // of the expanded text

using TemplateValues = std::map<std::string, ScriptValue, std::less<>>;

bool is_name(std::string_view text) {
    return !text.empty() && !(text[0] >= '0' && text[0] <= '9') &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_';
           });
}

// A batch that no one sets is one sample.
bool is_batch(const std::string& name) {
    return name.find("BATCH") != std::string::npos || name.find("batch") != std::string::npos;
}

std::vector<std::string> names_in(std::string_view text) {
    std::vector<std::string> names;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        names.push_back(bare(text.substr(at, end - at)));
        at = end + 1;
    }
    return names;
}

std::string written(const ScriptValue& value) {
    if (const std::string* text = value.text()) {
        return *text;
    }
    if (const double* number = value.number()) {
        const bool whole = std::floor(*number) == *number && std::abs(*number) < 1e15;
        return whole ? fmt::format("{}", static_cast<long long>(*number))
                     : fmt::format("{}", *number);
    }
    std::string all;
    for (const ScriptValue& item : value.list() != nullptr ? *value.list() : ScriptList{}) {
        all += (all.empty() ? "" : ", ") + written(item);
    }
    return '[' + all + ']';
}

// Where an included file lies: beside the file that names it, in the folders that were added, or in
// one above the file. The last place that is tried for a file that is nowhere is the one beside.
std::filesystem::path place_of(const std::filesystem::path& name, const std::string& file,
                               const std::vector<std::filesystem::path>& added) {
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    std::vector<std::filesystem::path> places = {folder};
    places.insert(places.end(), added.begin(), added.end());
    std::filesystem::path above = folder.empty() ? "." : folder;
    std::error_code ignored;
    above = std::filesystem::absolute(above, ignored).lexically_normal();
    for (int level = 0; level < kMostLevels && above.has_relative_path(); ++level) {
        above = above.parent_path();
        places.push_back(above);
        places.push_back(above / "include");
    }
    for (const std::filesystem::path& place : places) {
        if (std::filesystem::is_regular_file(place / name, ignored)) {
            return place / name;
        }
    }
    return folder / name;
}

// Text that is put together, and where each of its lines comes from.
struct PutText {
    ExpandedText out;
    bool at_line_start = true;
};

class TemplateExpander {
  public:
    TemplateExpander(const Variables& given, const TemplateWords& words) {
        for (const auto& [name, value] : given) {
            values_[name] = {value};
            given_.push_back(name);
        }
        for (const auto& [name, text] : words) {
            const auto number = evaluate(text, {}, Exponents::allowed);
            values_[name] = number ? ScriptValue{*number} : ScriptValue{text};
            given_.push_back(name);
        }
        names_.value = [this](const std::string& name) { return value_of(name); };
        names_.call = [this](const std::string& name, const ScriptList& arguments) {
            return called(name, arguments);
        };
    }

    ExpandedText run(std::string_view text, const std::string& file) {
        expand(text, file, 0);
        report_missing();
        return assembled();
    }

    Diagnostics found;

  private:
    // ---- text -----------------------------------------------------------------------------------

    void expand(std::string_view text, const std::string& file, int depth) {
        const std::string outer = std::exchange(file_, file);
        const int outer_depth = std::exchange(depth_, depth);
        const std::vector<Piece> pieces = pieces_of(text, file, found);
        std::size_t at = 0;
        while (at < pieces.size() && !found.has_errors()) {
            at = run(pieces, at, pieces.size(), true);
            if (at < pieces.size() && !found.has_errors()) {
                fail(pieces[at].line, "syntax", fmt::format("'{}' closes nothing", pieces[at].text),
                     "remove it");
            }
        }
        file_ = outer;
        depth_ = outer_depth;
    }

    void fail(int line, std::string code, std::string message, std::string hint) {
        found.error(std::move(code), std::move(message), std::move(hint), {file_, line, 1});
    }

    void put(std::string_view text, int line) {
        bytes_ += text.size();
        if (bytes_ > kMostBytes) {
            fail(line, "too-large", "the template expands to more than a file may hold",
                 "use fewer trips of its loops");
            return;
        }
        for (const char c : text) {
            if (writing_.at_line_start) {
                writing_.out.lines.push_back({file_, line, 0});
            }
            writing_.at_line_start = c == '\n';
            line += writing_.at_line_start ? 1 : 0;
            writing_.out.text += c;
        }
    }

    // What is included as a value stands before the rest, as members of one mapping.
    ExpandedText assembled() {
        if (included_.text.empty()) {
            return std::move(writing_.out);
        }
        ExpandedText all;
        all.text = fmt::format("{}:\n", hwdb::kIncludedKey) + included_.text + writing_.out.text;
        all.lines.push_back({file_, 1, 0});
        all.lines.insert(all.lines.end(), included_.lines.begin(), included_.lines.end());
        all.lines.insert(all.lines.end(), writing_.out.lines.begin(), writing_.out.lines.end());
        return all;
    }

    void keep_included(const std::string& name, const ExpandedText& text) {
        constexpr int indent = 4;
        included_.text += fmt::format("  {}:\n", name);
        included_.lines.push_back({file_, 1, 0});
        std::size_t line = 0;
        for (std::size_t at = 0; at < text.text.size(); ++line) {
            const std::size_t end = std::min(text.text.find('\n', at), text.text.size());
            included_.text += std::string(indent, ' ') + text.text.substr(at, end - at) + '\n';
            included_.lines.push_back(line < text.lines.size() ? text.lines[line]
                                                               : SourceLocation{file_, 1, 0});
            included_.lines.back().column -= indent;
            at = end + 1;
        }
    }

    // ---- statements -----------------------------------------------------------------------------

    static bool begins(const Piece& piece, std::string_view word) {
        return piece.kind == Piece::Kind::statement &&
               (piece.text == word || piece.text.starts_with(std::string(word) + " "));
    }

    // The first statement at this depth that begins with one of the words; `end` where none does.
    static std::size_t matching(const std::vector<Piece>& pieces, std::size_t from, std::size_t end,
                                const std::vector<std::string_view>& words) {
        int depth = 0;
        for (std::size_t at = from; at < end; ++at) {
            if (depth == 0 && std::any_of(words.begin(), words.end(), [&](std::string_view w) {
                    return begins(pieces[at], w);
                })) {
                return at;
            }
            depth += begins(pieces[at], "for") || begins(pieces[at], "if") ? 1 : 0;
            depth -= begins(pieces[at], "endfor") || begins(pieces[at], "endif") ? 1 : 0;
        }
        return end;
    }

    // Runs pieces up to `end` or a statement that this level does not know; where it stopped.
    std::size_t run(const std::vector<Piece>& pieces, std::size_t at, std::size_t end, bool top) {
        while (at < end && !found.has_errors()) {
            const Piece& piece = pieces[at];
            if (piece.kind == Piece::Kind::text) {
                put(piece.text, piece.line);
                ++at;
            } else if (piece.kind == Piece::Kind::output) {
                output(piece);
                ++at;
            } else if (begins(piece, "set")) {
                set(piece);
                ++at;
            } else if (begins(piece, "assert")) {
                check(piece);
                ++at;
            } else if (begins(piece, "for")) {
                at = loop(pieces, at, end);
            } else if (begins(piece, "if")) {
                at = branch(pieces, at, end);
            } else if (begins(piece, "endfor") || begins(piece, "endif") || begins(piece, "else") ||
                       begins(piece, "elif")) {
                return at;
            } else {
                fail(piece.line, "unsupported",
                     fmt::format("the statement '{}' of a template is not read",
                                 piece.text.substr(0, 40)),
                     "known: set, for, if, assert, raw; or expand the file first");
            }
        }
        return top ? pieces.size() : at;
    }

    void set(const Piece& piece) {
        const std::size_t equals = piece.text.find('=');
        const std::string name =
            equals == std::string::npos ? "" : bare(piece.text.substr(4, equals - 4));
        if (!is_name(name)) {
            fail(piece.line, "syntax", "this sets no variable", "write {% set name = value %}");
            return;
        }
        const auto value = evaluated(piece.text.substr(equals + 1), piece.line);
        if (value && std::find(given_.begin(), given_.end(), name) == given_.end()) {
            values_[name] = *value;
        }
    }

    // "assert condition, 'message'"
    void check(const Piece& piece) {
        const auto value = evaluated('[' + piece.text.substr(6) + ']', piece.line);
        const ScriptList* both = value ? value->list() : nullptr;
        if (both != nullptr && !both->empty() && !both->front().holds() && missing_.empty()) {
            const std::string* why = both->size() > 1 ? (*both)[1].text() : nullptr;
            fail(piece.line, "assertion", why != nullptr ? *why : "a condition of the file fails",
                 "set other values behind the file's name: FILE:NAME=1");
        }
    }

    std::size_t loop(const std::vector<Piece>& pieces, std::size_t at, std::size_t end) {
        const Piece& head = pieces[at];
        const std::size_t close = matching(pieces, at + 1, end, {"endfor"});
        const std::size_t in = head.text.find(" in ");
        const auto names = names_in(
            in == std::string::npos || in < 4 ? "" : std::string_view(head.text).substr(4, in - 4));
        if (close == end || !std::all_of(names.begin(), names.end(), is_name)) {
            fail(head.line, "syntax",
                 close == end ? "this loop has no endfor" : "this loop names no variable",
                 "write {% for i in range(4) %} … {% endfor %}");
            return end;
        }
        const auto all = evaluated(head.text.substr(in + 4), head.line);
        if (all && all->list() == nullptr && missing_.empty()) {
            fail(head.line, "unsupported",
                 fmt::format("a loop over '{}' is not read", bare(head.text.substr(in + 4))),
                 "known: range(n), range(first, last), lists such as [1, 2], and mapping.items()");
        }
        for (const ScriptValue& value :
             all && all->list() != nullptr ? *all->list() : ScriptList{}) {
            if (++trips_ > kMostTrips) {
                fail(head.line, "too-large",
                     fmt::format("the loops make more than {} trips", kMostTrips),
                     "write the file out with fewer of them");
            }
            if (found.has_errors()) {
                break;
            }
            for (std::size_t n = 0; n < names.size(); ++n) {
                const ScriptList* parts = value.list();
                const bool split = names.size() > 1 && parts != nullptr && n < parts->size();
                values_[names[n]] = split ? (*parts)[n] : value;
            }
            run(pieces, at + 1, close, false);
        }
        return close + 1;
    }

    std::size_t branch(const std::vector<Piece>& pieces, std::size_t at, std::size_t end) {
        const std::size_t close = matching(pieces, at + 1, end, {"endif"});
        if (close == end) {
            fail(pieces[at].line, "syntax", "this if has no endif", "close it with {% endif %}");
            return end;
        }
        bool taken = false;
        while (at < close && !found.has_errors()) {
            const Piece& head = pieces[at];
            const std::size_t next = matching(pieces, at + 1, close, {"elif", "else"});
            const std::size_t word = head.text.find(' ');
            if (!taken &&
                (begins(head, "else") ||
                 condition(word == std::string::npos ? "" : head.text.substr(word), head.line))) {
                run(pieces, at + 1, next, false);
                taken = true;
            }
            at = next;
        }
        return close + 1;
    }

    bool condition(const std::string& text, int line) {
        const auto value = evaluated(text, line);
        const std::string* words = value ? value->text() : nullptr;
        return value && value->holds() &&
               (words == nullptr || (*words != "False" && *words != "false"));
    }

    void output(const Piece& piece) {
        const std::string& text = piece.text;
        if (text.starts_with("include_text(") && text.ends_with(')')) {
            include_text(text.substr(13, text.size() - 14), piece.line);
        } else if (const auto value = evaluated(text, piece.line)) {
            put(written(*value), piece.line);
        }
    }

    // ---- other files ----------------------------------------------------------------------------

    // A folder in which included files are looked for, relative to the file that names it.
    void add_path(const std::string& folder) {
        if (paths_.size() < kMostPaths) {
            paths_.push_back(std::filesystem::path(file_).parent_path() / folder);
        }
    }

    // Expands a file into what is written now.
    bool include_file(const std::filesystem::path& name, int line) {
        const std::string ending = name.extension().string();
        const bool known =
            ending == ".yaml" || ending == ".yml" || ending == ".jinja" || ending == ".jinja2";
        if (name.is_absolute() || !known) {
            fail(line, "unsupported", "this includes no YAML file that lies relative to this one",
                 "write {{ include_text('../problem_base.yaml') }}");
            return false;
        }
        if (depth_ >= kMostIncludes) {
            fail(line, "too-deep", "files include one another too deeply",
                 "does a file include itself?");
            return false;
        }
        const std::filesystem::path path = place_of(name, file_, paths_);
        auto text = read_text_file(path);
        if (!text) {
            fail(line, "file-not-found",
                 fmt::format("the included file {} cannot be read", path.string()),
                 "put it there, or in a folder above the file that includes it, or in `include` of "
                 "one");
            return false;
        }
        const TemplateValues outer = values_; // what a file sets is its own
        const std::size_t outer_paths = paths_.size();
        expand(*text, path.string(), depth_ + 1);
        values_ = outer;
        paths_.resize(outer_paths);
        return !found.has_errors();
    }

    void include_text(const std::string& argument, int line) {
        const auto name = evaluated(argument, line);
        if (name && missing_.empty()) {
            include_file(name->text() != nullptr ? *name->text() : "", line);
        }
    }

    // A file as a value: `members` leads to a part of it.
    std::optional<ScriptValue> include_value(const ScriptList& arguments) {
        const std::string* name = arguments.empty() ? nullptr : arguments[0].text();
        const std::string* members = arguments.size() > 1 ? arguments[1].text() : nullptr;
        if (name == nullptr) {
            return std::nullopt;
        }
        const PutText outer = std::exchange(writing_, {});
        const bool read = include_file(*name, line_);
        const ExpandedText text = std::exchange(writing_, outer).out;
        const std::string key = fmt::format("included{}", ++includes_);
        if (read) {
            keep_included(key, text);
        }
        return ScriptValue{fmt::format("{} {}{}{}", hwdb::kIncludedTag, key,
                                       members == nullptr || members->empty() ? "" : ".",
                                       members == nullptr ? "" : *members)};
    }

    std::optional<ScriptValue> called(const std::string& name, const ScriptList& arguments) {
        const std::string* text = arguments.empty() ? nullptr : arguments[0].text();
        if (name == "include") {
            return include_value(arguments);
        }
        if (name == "include_all") { // component models: nothing here runs them
            return ScriptValue{std::string("[]")};
        }
        if (name == "cwd" && arguments.empty()) {
            return ScriptValue{std::filesystem::path(file_).parent_path().string()};
        }
        if (name == "add_to_path" && text != nullptr) {
            add_path(*text);
            return ScriptValue{std::string()};
        }
        if (name == "find_path" && text != nullptr) {
            return ScriptValue{place_of(*text, file_, paths_).string()};
        }
        if (name == "path_exists" && text != nullptr) {
            std::error_code ignored;
            return ScriptValue{
                std::filesystem::exists(place_of(*text, file_, paths_), ignored) ? 1.0 : 0.0};
        }
        constexpr std::string_view items = ".items";
        const auto map = name.ends_with(items)
                             ? values_.find(name.substr(0, name.size() - items.size()))
                             : values_.end();
        return map == values_.end() ? std::nullopt : items_of(map->second);
    }

    static std::optional<ScriptValue> items_of(const ScriptValue& value) {
        const auto* map = std::get_if<ScriptMap>(&value.held);
        if (map == nullptr) {
            return std::nullopt;
        }
        ScriptList pairs;
        for (std::size_t n = 0; n < map->keys.size(); ++n) {
            pairs.push_back({ScriptList{{map->keys[n]}, map->values[n]}});
        }
        return ScriptValue{std::move(pairs)};
    }

    // ---- values ---------------------------------------------------------------------------------

    std::optional<ScriptValue> value_of(const std::string& name) {
        const auto known = values_.find(name);
        if (known != values_.end()) {
            copied_ += known->second.weight();
            if (copied_ > kMostCopied) {
                return ScriptValue{Unset{"too-large", "the lists of the file are too long"}};
            }
            return known->second;
        }
        unset_.push_back(name);
        return std::nullopt;
    }

    // Nothing, with an error, where it has no value. A name that is set nowhere is noted and taken
    // as 1 from here on, so that one message lists all of them.
    std::optional<ScriptValue> evaluated(const std::string& given, int line) {
        line_ = line;
        const std::string text = bare(given);
        for (int tries = 0; tries < kDeepestScript; ++tries) {
            unset_.clear();
            auto value = run_script(text, names_);
            if (value) {
                copied_ += value->weight();
                return *std::move(value);
            }
            const Diagnostic& why = value.diagnostics().items().front();
            if (why.code != "unknown-parameter" || unset_.empty() || found.has_errors()) {
                if (!found.has_errors()) {
                    fail(line, why.code == "expression" ? "unsupported" : why.code,
                         fmt::format("this template is not read: {}", why.message),
                         "known: expressions of Jinja, default(value), include_text, include");
                }
                return std::nullopt;
            }
            for (const std::string& name : unset_) {
                if (why.message.ends_with(fmt::format("'{}' has no value", name))) {
                    note_missing(name, line);
                }
            }
        }
        return std::nullopt;
    }

    void note_missing(const std::string& name, int line) {
        if (is_batch(name)) {
            found.warning("unset-variable", fmt::format("{} is set nowhere and taken as 1", name),
                          fmt::format("set it in the file, or behind its name: FILE:{}=8", name),
                          {file_, line, 1});
        } else if (std::find(missing_.begin(), missing_.end(), name) == missing_.end()) {
            missing_.push_back(name);
            missing_at_ = missing_at_.value_or(SourceLocation{file_, line, 1});
        }
        values_[name] = {1.0};
    }

    void report_missing() {
        if (missing_.empty()) {
            return;
        }
        std::string fix;
        for (const std::string& name : missing_) {
            fix += fmt::format("{}{}=1", fix.empty() ? "" : ",", name);
        }
        found.error("unset-variable",
                    fmt::format("this template has no value for {}", fmt::join(missing_, ", ")),
                    fmt::format("set {} in the file, or behind its name: FILE:{}",
                                missing_.size() == 1 ? "it" : "them", fix),
                    *missing_at_);
    }

    TemplateValues values_;
    std::vector<std::string> given_;
    ScriptNames names_;
    std::string file_;
    int depth_ = 0;
    int line_ = 0; // of the expression that is evaluated
    int includes_ = 0;
    std::vector<std::filesystem::path> paths_; // that add_to_path names
    std::size_t trips_ = 0;
    std::size_t bytes_ = 0;
    std::size_t copied_ = 0;
    PutText writing_;
    ExpandedText included_;
    std::vector<std::string> unset_; // by the expression that is evaluated
    std::vector<std::string> missing_;
    std::optional<SourceLocation> missing_at_;
};

} // namespace

Result<ExpandedText> expand_template(std::string text, const std::string& file,
                                     const Variables& given, const TemplateWords& words) {
    TemplateExpander expander(given, words);
    ExpandedText out = expander.run(text, file);
    if (expander.found.has_errors()) {
        return Result<ExpandedText>(std::move(expander.found));
    }
    return {std::move(out), std::move(expander.found)};
}

} // namespace eyeroof::formats
