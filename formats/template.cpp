#include "formats/template.hpp"

#include "base/text_file.hpp"
#include "formats/template_pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <variant>

namespace eyeroof::formats {

namespace {

constexpr int kMostLevels = 8; // of folders above a file in which an included one may lie
constexpr std::size_t kMostPaths = 64;
constexpr int kMostIncludes = 8;                      // within one another
constexpr std::size_t kMostTrips = 100'000;           // of all loops together
constexpr std::size_t kMostBytes = kMaxTextFileBytes; // of the expanded text

using TemplateValue = std::variant<double, std::string>;
using TemplateValues = std::map<std::string, TemplateValue, std::less<>>;

bool is_name(std::string_view text) {
    return !text.empty() && !(text[0] >= '0' && text[0] <= '9') &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_';
           });
}

// A batch that no one sets is one sample.
bool is_batch(const std::string& name) {
    return is_name(name) &&
           (name.find("BATCH") != std::string::npos || name.find("batch") != std::string::npos);
}

// "a | default(1)" at bars and commas that stand in no quotes and no brackets.
std::vector<std::string> split_outside(std::string_view text, char separator) {
    std::vector<std::string> parts(1);
    char quote = 0;
    int depth = 0;
    for (const char c : text) {
        if (quote != 0) {
            quote = c == quote ? '\0' : quote;
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == '(' || c == '[') {
            ++depth;
        } else if (c == ')' || c == ']') {
            --depth;
        } else if (c == separator && depth == 0) {
            parts.emplace_back();
            continue;
        }
        parts.back() += c;
    }
    for (std::string& part : parts) {
        part = bare(part);
    }
    return parts;
}

std::string written(const TemplateValue& value) {
    if (const auto* text = std::get_if<std::string>(&value)) {
        return *text;
    }
    const double number = std::get<double>(value);
    const bool whole = std::floor(number) == number && std::abs(number) < 1e15;
    return whole ? fmt::format("{}", static_cast<long long>(number)) : fmt::format("{}", number);
}

class TemplateExpander {
  public:
    explicit TemplateExpander(const Variables& given) {
        for (const auto& [name, value] : given) {
            assign(name, value);
            given_.push_back(name);
        }
    }

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

    ExpandedText out;
    Diagnostics found;

  private:
    void fail(int line, std::string code, std::string message, std::string hint) {
        found.error(std::move(code), std::move(message), std::move(hint), {file_, line, 1});
    }

    void put(std::string_view text, int line) {
        if (out.text.size() + text.size() > kMostBytes) {
            fail(line, "too-large", "the template expands to more than a file may hold",
                 "use fewer trips of its loops");
            return;
        }
        for (const char c : text) {
            if (at_line_start_) {
                out.lines.push_back({file_, line, 0});
            }
            at_line_start_ = c == '\n';
            line += at_line_start_ ? 1 : 0;
            out.text += c;
        }
    }

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
                     "known: set, for, if; or expand the file first");
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
        const bool fixed = std::find(given_.begin(), given_.end(), name) != given_.end();
        if (value && !fixed) {
            assign(name, *value);
        }
    }

    std::size_t loop(const std::vector<Piece>& pieces, std::size_t at, std::size_t end) {
        const Piece& head = pieces[at];
        const std::size_t close = matching(pieces, at + 1, end, {"endfor"});
        const std::size_t in = head.text.find(" in ");
        const std::string name =
            in == std::string::npos || in < 4 ? "" : bare(head.text.substr(4, in - 4));
        if (close == end || !is_name(name)) {
            fail(head.line, "syntax",
                 close == end ? "this loop has no endfor" : "this loop names no variable",
                 "write {% for i in range(4) %} … {% endfor %}");
            return end;
        }
        const std::vector<TemplateValue> trips =
            sequence(bare(head.text.substr(in + 4)), head.line);
        for (const TemplateValue& value : trips) {
            if (++trips_ > kMostTrips) {
                fail(head.line, "too-large",
                     fmt::format("the loops make more than {} trips", kMostTrips),
                     "write the file out with fewer of them");
            }
            if (found.has_errors()) {
                break;
            }
            assign(name, value);
            run(pieces, at + 1, close, false);
        }
        return close + 1;
    }

    std::vector<TemplateValue> sequence(const std::string& text, int line) {
        std::vector<TemplateValue> all;
        const bool range = text.starts_with("range(") && text.ends_with(')');
        if (range) {
            std::vector<double> bounds;
            for (const std::string& part :
                 split_outside(std::string_view(text).substr(6, text.size() - 7), ',')) {
                bounds.push_back(number(part, line).value_or(0.0));
            }
            const double first = bounds.size() > 1 ? bounds[0] : 0.0;
            const double last = bounds.size() > 1 ? bounds[1] : bounds[0];
            if (bounds.size() > 2 || !(last - first <= static_cast<double>(kMostTrips))) {
                fail(line, "unsupported", fmt::format("'{}' is no range of a template", text),
                     fmt::format("write range(n) or range(first, last), up to {}", kMostTrips));
                return all;
            }
            for (double i = first; i < last; i += 1.0) {
                all.emplace_back(i);
            }
        } else if (text.starts_with('[') && text.ends_with(']')) {
            for (const std::string& part :
                 split_outside(std::string_view(text).substr(1, text.size() - 2), ',')) {
                const auto value = part.empty() ? std::nullopt : evaluated(part, line);
                all.push_back(value.value_or(TemplateValue(0.0)));
            }
        } else {
            fail(line, "unsupported", fmt::format("a loop over '{}' is not read", text),
                 "known: range(n), and lists such as [1, 2]");
        }
        return all;
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
            const bool holds =
                !taken &&
                (begins(head, "else") ||
                 condition(word == std::string::npos ? "" : head.text.substr(word + 1), head.line));
            if (holds) {
                run(pieces, at + 1, next, false);
                taken = true;
            }
            at = next;
        }
        return close + 1;
    }

    bool condition(const std::string& given, int line) {
        const std::string text = bare(given);
        if (text.starts_with("not ")) {
            return !condition(text.substr(4), line);
        }
        for (const auto& [words, wanted] :
             {std::pair{" is not defined", false}, std::pair{" is defined", true}}) {
            if (text.ends_with(words)) {
                const std::string name =
                    bare(text.substr(0, text.size() - std::string_view(words).size()));
                return values_.contains(name) == wanted;
            }
        }
        const auto value = evaluated(text, line);
        if (!value) {
            return false;
        }
        const auto* words = std::get_if<std::string>(&*value);
        return words != nullptr ? !words->empty() && *words != "False" && *words != "false"
                                : std::get<double>(*value) != 0.0;
    }

    void output(const Piece& piece) {
        const std::string& text = piece.text;
        if (text.starts_with("add_to_path(") && text.ends_with(')')) {
            add_path(bare(text.substr(12, text.size() - 13)));
            return;
        }
        if (text.starts_with("include_text(") && text.ends_with(')')) {
            include(bare(text.substr(13, text.size() - 14)), piece.line);
            return;
        }
        if (const auto value = evaluated(text, piece.line)) {
            put(written(*value), piece.line);
        }
    }

    // A folder in which included files are looked for, relative to the file that names it.
    void add_path(const std::string& argument) {
        const bool quoted = argument.size() > 2 && (argument[0] == '\'' || argument[0] == '"') &&
                            argument.back() == argument[0];
        if (quoted && paths_.size() < kMostPaths) {
            paths_.push_back(std::filesystem::path(file_).parent_path() /
                             argument.substr(1, argument.size() - 2));
        }
    }

    // Beside the file, in the folders that were added, or in one above the file.
    std::filesystem::path place_of(const std::filesystem::path& name) const {
        const std::filesystem::path folder = std::filesystem::path(file_).parent_path();
        std::vector<std::filesystem::path> places = {folder};
        places.insert(places.end(), paths_.begin(), paths_.end());
        std::filesystem::path above = folder;
        for (int level = 0; level < kMostLevels && !above.empty(); ++level) {
            above = above.has_filename() ? above.parent_path() : std::filesystem::path();
            places.push_back(above);
        }
        for (const std::filesystem::path& place : places) {
            std::error_code ignored;
            if (std::filesystem::is_regular_file(place / name, ignored)) {
                return place / name;
            }
        }
        return folder / name;
    }

    void include(const std::string& argument, int line) {
        const bool quoted = argument.size() > 2 && (argument[0] == '\'' || argument[0] == '"') &&
                            argument.back() == argument[0];
        const std::filesystem::path name = quoted ? argument.substr(1, argument.size() - 2) : "";
        const std::string ending = name.extension().string();
        const bool known =
            ending == ".yaml" || ending == ".yml" || ending == ".jinja" || ending == ".jinja2";
        if (!quoted || name.is_absolute() || !known) {
            fail(line, "unsupported", "this includes no YAML file that lies relative to this one",
                 "write {{ include_text('../problem_base.yaml') }}");
            return;
        }
        if (depth_ >= kMostIncludes) {
            fail(line, "too-deep", "files include one another too deeply",
                 "does a file include itself?");
            return;
        }
        const std::filesystem::path path = place_of(name);
        auto text = read_text_file(path);
        if (!text) {
            fail(line, "file-not-found",
                 fmt::format("the included file {} cannot be read", path.string()),
                 "put it there, relative to the file that includes it");
            return;
        }
        expand(*text, path.string(), depth_ + 1);
    }

    // ---- values ---------------------------------------------------------------------------------

    std::optional<double> number(const std::string& text, int line) {
        const auto value = evaluated(text, line);
        if (value && std::holds_alternative<double>(*value)) {
            return std::get<double>(*value);
        }
        if (value) {
            fail(line, "syntax", fmt::format("'{}' is no number", text.substr(0, 40)),
                 "write a number or a variable that holds one");
        }
        return std::nullopt;
    }

    // "expression | default(x)". Nothing, with an error, where it has no value.
    std::optional<TemplateValue> evaluated(const std::string& given, int line) {
        const std::vector<std::string> parts = split_outside(given, '|');
        std::optional<TemplateValue> value;
        const bool unset = is_name(parts[0]) && !values_.contains(parts[0]) && parts[0] != "True" &&
                           parts[0] != "False";
        if (!unset) {
            value = plain(parts[0], line);
        }
        for (std::size_t i = 1; i < parts.size() && !found.has_errors(); ++i) {
            const std::string& filter = parts[i];
            if (filter.starts_with("default(") && filter.ends_with(')')) {
                value = value ? value : evaluated(filter.substr(8, filter.size() - 9), line);
            } else if (filter != "int" && filter != "float") {
                fail(line, "unsupported",
                     fmt::format("the filter '{}' of a template is not read", filter.substr(0, 40)),
                     "known: default(value)");
            }
        }
        if (!value && !found.has_errors() && is_batch(parts[0])) {
            found.warning(
                "unset-variable", fmt::format("{} is set nowhere and taken as 1", parts[0]),
                fmt::format("set it in the file, or behind its name: FILE:{}=8", parts[0]),
                {file_, line, 1});
            value = TemplateValue(1.0);
            assign(parts[0], *value);
        }
        if (!value && !found.has_errors()) {
            fail(line, "unset-variable",
                 fmt::format("'{}' of this template has no value", parts[0].substr(0, 40)),
                 fmt::format("set it in the file, or behind its name: FILE:{}=1",
                             parts[0].substr(0, 40)));
        }
        return value;
    }

    std::optional<TemplateValue> plain(const std::string& text, int line) {
        const char first = text.empty() ? ' ' : text.front();
        if (text.size() >= 2 && (first == '\'' || first == '"') && text.back() == first &&
            text.find(first, 1) == text.size() - 1) {
            return TemplateValue(text.substr(1, text.size() - 2));
        }
        if (text == "True" || text == "False") {
            return TemplateValue(text == "True" ? 1.0 : 0.0);
        }
        if (is_name(text)) {
            return values_.at(text); // the caller has looked
        }
        const auto result = evaluate(text, numbers_, Exponents::allowed);
        const Diagnostic* why = result ? nullptr : &result.diagnostics().items().front();
        const std::size_t open = text.find('(');
        const bool call = open != std::string::npos && is_name(text.substr(0, open));
        if (why != nullptr && why->code == "unknown-parameter" && !call) {
            fail(line, "unset-variable",
                 fmt::format("'{}' of this template holds a name without a value",
                             text.substr(0, 40)),
                 "set it in the file, or behind the file's name: FILE:NAME=1");
            return std::nullopt;
        }
        if (!result) {
            fail(line, "unsupported",
                 fmt::format("'{}' in a template is not read", text.substr(0, 40)),
                 "known: numbers, names, + - * /, comparisons, default(value), include_text");
            return std::nullopt;
        }
        return TemplateValue(*result);
    }

    void assign(const std::string& name, const TemplateValue& value) {
        values_[name] = value;
        numbers_.erase(name);
        if (const auto* held = std::get_if<double>(&value)) {
            numbers_[name] = *held;
        }
    }

    TemplateValues values_;
    Variables numbers_; // those of the values that are numbers
    std::vector<std::string> given_;
    std::string file_;
    int depth_ = 0;
    std::vector<std::filesystem::path> paths_; // that add_to_path names
    std::size_t trips_ = 0;
    bool at_line_start_ = true;
};

} // namespace

Result<ExpandedText> expand_template(std::string text, const std::string& file,
                                     const Variables& given) {
    TemplateExpander expander(given);
    expander.expand(text, file, 0);
    if (expander.found.has_errors()) {
        return Result<ExpandedText>(std::move(expander.found));
    }
    return {std::move(expander.out), std::move(expander.found)};
}

} // namespace eyeroof::formats
