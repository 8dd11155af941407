// Templates around YAML, the part of Jinja2 that Timeloop's front end and AccelForge use in their
// files.
//
// Expanded: {{ expression }}, {{ name | default(value) }}, {{ include_text('file') }},
// {% set name = expression %}, {% for name in range(n) %} … {% endfor %}, lists in place of the
// range, {% if condition %} … {% elif %} … {% else %} … {% endif %}, and {# comments #}. What
// stands in a line that YAML takes for a comment stays as it is. Any other construct is an error
// with its place.
#pragma once

#include "base/result.hpp"
#include "formats/expression.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::formats {

struct ExpandedText {
    std::string text;
    std::vector<SourceLocation> lines; // where each line of the text comes from
};

// "{{ … }}" or "{% … %}" stands in the text.
bool is_template(std::string_view text);

// `given` values stand above those that the template sets by default. Included files lie relative
// to `file` and end in .yaml, .yml, .jinja or .jinja2. Errors: "unsupported", "unset-variable",
// "syntax", "file-not-found", "too-large"; each with file and line.
Result<ExpandedText> expand_template(std::string text, const std::string& file,
                                     const Variables& given = {});

} // namespace eyeroof::formats
