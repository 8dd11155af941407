// Text as a YAML scalar that the strict reader turns into the same text again.
#pragma once

#include <string>
#include <string_view>

namespace eyeroof::hwdb {

// In double quotes, whatever it holds: line ends, control characters and marks that turn the
// direction of writing as escapes. A byte that is no UTF-8 comes back as the character of its code.
std::string yaml_quoted(std::string_view text);

// Plain where that is surely read back as the same text, in double quotes otherwise.
std::string yaml_scalar(std::string_view text);

} // namespace eyeroof::hwdb
