// Where a writer puts its text piece by piece, so that a long one need not stand in memory.
// Filled by writers of reports; behind it are a file, a terminal or a string.
#pragma once

#include <functional>
#include <string_view>

namespace eyeroof {

// Takes the next piece; false once it can take no more: then the writer may stop.
using TextSink = std::function<bool(std::string_view)>;

} // namespace eyeroof
