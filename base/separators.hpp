// Tables whose columns are separated by semicolons or tabs, as spreadsheets of many countries write
// them.
#pragma once

#include <string>

namespace eyeroof {

// The text with commas: where the first line that is neither blank nor a comment has no comma
// outside of quotes, but semicolons or else tabs, those become commas, and a comma between two
// digits becomes the point that it means there. Every character keeps its place, so that messages
// point at the file.
std::string comma_separated(std::string text);

} // namespace eyeroof
