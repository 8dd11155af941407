// Templates around YAML, the part of Jinja2 that Timeloop's front end and AccelForge use in their
// files.
//
// Expanded: {{ expression }} (script.hpp), {% set name = expression %}, {% for name in list %} …
// {% endfor %}, {% if condition %} … {% elif %} … {% else %} … {% endif %}, {% assert condition,
// 'message' %}, {% raw %} … {% endraw %}, and {# comments #}. {{ include_text('file') }} is the
// text of a file, include('file', 'member.member') a part of it as a value (kIncludedTag of
// hwdb/yaml.hpp). What stands in a line that YAML takes for a comment stays as it is. Any other
// construct is an error with its place.
#pragma once

#include "base/result.hpp"
#include "formats/expression.hpp"

#include <map>
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

using TemplateWords = std::map<std::string, std::string, std::less<>>;

// `given` values and `words` stand above those that the template sets by default. Included files
// lie beside `file`, in folders that it adds, in one above it, or in `include` of one, and end in
// .yaml, .yml, .jinja or .jinja2. Errors: "unsupported", "unset-variable" with all names that have
// no value, "assertion", "syntax", "file-not-found", "too-large"; each with file and line.
Result<ExpandedText> expand_template(std::string text, const std::string& file,
                                     const Variables& given = {}, const TemplateWords& words = {});

} // namespace eyeroof::formats
