#include "model/base/diagnostic.hpp"

#include "model/base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::model {

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

} // namespace

std::string to_string(const Diagnostic& d) {
    std::string text = location_prefix(d.where);
    text += fmt::format("{}: {}", severity_name(d.severity), printable_lines(d.message));
    if (!d.code.empty()) {
        text += fmt::format(" [{}]", d.code);
    }
    if (!d.field.empty()) {
        text += fmt::format(" (at {})", printable(d.field));
    }
    if (!d.hint.empty()) {
        text += "\n  hint: " + printable_lines(d.hint);
    }
    return text;
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

bool Diagnostics::has_errors() const {
    return std::any_of(items_.begin(), items_.end(),
                       [](const Diagnostic& d) { return d.severity == Severity::error; });
}

} // namespace eyeroof::model
