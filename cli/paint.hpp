// Colors of a text answer on a terminal: they repeat what the words and the layout say.
#pragma once

#include <string>
#include <string_view>

namespace eyeroof::cli {

// The first paragraph, which is the scenario and the answer, in bold, and the headers of tables
// faint. Lines that have colors of their own stay as they are.
std::string painted_answer(std::string_view text);

} // namespace eyeroof::cli
