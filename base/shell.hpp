// Words of a command line.
#pragma once

#include <string>

namespace eyeroof {

// A word as a shell reads it back.
std::string shell_quoted(const std::string& word);

} // namespace eyeroof
