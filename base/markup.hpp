// Text as it stands inside of HTML and Markdown: names come from files and may hold anything.
#pragma once

#include <string>
#include <string_view>

namespace eyeroof {

// For text and attributes in double quotes; control characters made visible.
std::string html_escaped(std::string_view text);

// Inside a table cell: no pipe, no control character, nothing that Markdown would format.
std::string markdown_cell(std::string_view text);

} // namespace eyeroof
