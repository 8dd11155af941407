// A diagnostic: what is wrong with an input, where, and what would mend it.
// Made by readers and by the model's validation; printed by cli and gui.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace eyeroof {

enum class Severity { note, warning, error };

// Lines and columns count from 1; 0 means "not known".
struct SourceLocation {
    std::string file;
    int line = 0;
    int column = 0;

    bool operator==(const SourceLocation&) const = default;
};

struct Diagnostic {
    Severity severity = Severity::error;
    std::string code;    // stable, kebab-case: "unknown-key", "overflow"
    std::string message; // one sentence, without a trailing full stop
    std::string hint;    // what to do about it; may be empty
    SourceLocation where;
    std::string field; // path in the document, e.g. "levels[2].bandwidth"; may be empty

    bool operator==(const Diagnostic&) const = default;
};

// "file:line:column: error: message [code] (field)\n  hint: …" without colour. Where a line is
// known, quotations and words are cut to 40 bytes: they come out of the file.
std::string to_string(const Diagnostic& diagnostic);

// All diagnostics of one operation, in the order in which they were found. At most kMost errors and
// as many warnings and notes are kept; of more only the number is.
class Diagnostics {
  public:
    static constexpr std::size_t kMost = 1000;

    void add(Diagnostic diagnostic);
    void error(std::string code, std::string message, std::string hint = {},
               SourceLocation where = {}, std::string field = {}) {
        add({Severity::error, std::move(code), std::move(message), std::move(hint),
             std::move(where), std::move(field)});
    }
    void warning(std::string code, std::string message, std::string hint = {},
                 SourceLocation where = {}, std::string field = {}) {
        add({Severity::warning, std::move(code), std::move(message), std::move(hint),
             std::move(where), std::move(field)});
    }
    void append(const Diagnostics& other);
    // Gives every diagnostic without a location the one of the thing it speaks of.
    void place(const SourceLocation& where, const std::string& field_prefix = {});

    bool has_errors() const { return errors_ > 0; }
    // Whether so many errors were found that a reader need not look for more.
    bool full() const { return errors_ >= kMost; }
    std::size_t left_out() const { return left_out_; } // found, and not kept
    bool empty() const { return items_.empty(); }
    std::size_t size() const { return items_.size(); }
    auto begin() const { return items_.begin(); }
    auto end() const { return items_.end(); }
    const std::vector<Diagnostic>& items() const { return items_; }

    bool operator==(const Diagnostics&) const = default;

  private:
    std::vector<Diagnostic> items_;
    std::size_t errors_ = 0; // of items_
    std::size_t left_out_ = 0;
};

} // namespace eyeroof
