#include "base/diagnostic.hpp"

#include "base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace eyeroof {

namespace {

const char* severity_name(Severity severity) {
    switch (severity) {
    case Severity::note:
        return "note";
    case Severity::warning:
        return "warning";
    case Severity::error:
        break;
    }
    return "error";
}

std::string location_prefix(const SourceLocation& where) {
    if (where.file.empty()) {
        return {};
    }
    if (where.line == 0) {
        return printable(where.file) + ": ";
    }
    return fmt::format("{}:{}:{}: ", printable(where.file), where.line, where.column);
}

// Of what stands in a file a message shows this many bytes at once.
constexpr std::size_t kShownBytes = 40;

// The first bytes of a token, cut between two characters.
std::string cut(std::string_view token) {
    if (token.size() <= kShownBytes) {
        return std::string(token);
    }
    std::size_t end = 0;
    while (end < kShownBytes) {
        end += std::max<std::size_t>(1, utf8_length(token, end));
    }
    return std::string(token.substr(0, end)) + "…";
}

bool is_quote(char c) {
    return c == '"' || c == '\'';
}

// Where the quotation ends that begins at `at`: before a blank, a mark or the end. npos: it does
// not.
std::size_t end_of_quotation(std::string_view text, std::size_t at) {
    for (std::size_t end = text.find(text[at], at + 1); end != std::string_view::npos;
         end = text.find(text[at], end + 1)) {
        if (end + 1 == text.size() ||
            std::string_view(" ,.;:)?!").find(text[end + 1]) != std::string_view::npos) {
            return end;
        }
    }
    return std::string_view::npos;
}

// A message about a place in a file, with every quotation and every word cut.
std::string with_short_tokens(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == ' ') {
            out += text[at++];
            continue;
        }
        const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '(';
        const std::size_t quoted =
            begins && is_quote(text[at]) ? end_of_quotation(text, at) : std::string_view::npos;
        if (quoted != std::string_view::npos) {
            out += text[at] + cut(text.substr(at + 1, quoted - at - 1)) + text[quoted];
            at = quoted + 1;
            continue;
        }
        const std::size_t end = std::min(text.find(' ', at + 1), text.size());
        out += cut(text.substr(at, end - at));
        at = end;
    }
    return out;
}

// "levels[2].bandwidth" with each of its parts cut.
std::string short_path(std::string_view field) {
    std::string out;
    for (std::size_t at = 0; at <= field.size();) {
        const std::size_t end = std::min(field.find('.', at), field.size());
        out += (at == 0 ? "" : ".") + cut(field.substr(at, end - at));
        at = end + 1;
    }
    return out;
}

} // namespace

std::string to_string(const Diagnostic& d) {
    const bool of_a_place = d.where.line > 0; // else tokens are the caller's own
    const auto shown = [&](const std::string& text) {
        return printable_lines(of_a_place ? with_short_tokens(text) : text);
    };
    std::string line = location_prefix(d.where);
    line += fmt::format("{}: {}", severity_name(d.severity), shown(d.message));
    if (!d.code.empty()) {
        line += fmt::format(" [{}]", d.code);
    }
    if (!d.field.empty()) {
        line += fmt::format(" (at {})", printable(of_a_place ? short_path(d.field) : d.field));
    }
    if (!d.hint.empty()) {
        line += "\n  hint: " + shown(d.hint);
    }
    return line;
}

void Diagnostics::place(const SourceLocation& where, const std::string& field_prefix) {
    for (Diagnostic& d : items_) {
        if (d.where.file.empty()) {
            d.where = where;
        }
        if (!field_prefix.empty()) {
            d.field = d.field.empty() ? field_prefix : field_prefix + "." + d.field;
        }
    }
}

void Diagnostics::add(Diagnostic diagnostic) {
    const bool error = diagnostic.severity == Severity::error;
    if ((error ? errors_ : items_.size() - errors_) >= kMost) {
        ++left_out_;
        return;
    }
    errors_ += error ? 1 : 0;
    items_.push_back(std::move(diagnostic));
}

void Diagnostics::append(const Diagnostics& other) {
    for (std::size_t i = 0, end = other.items_.size(); i < end; ++i) { // also of itself
        add(other.items_[i]);
    }
    left_out_ += other.left_out_;
}

} // namespace eyeroof
