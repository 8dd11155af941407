// Keys of JSON objects that parse_json() does not keep apart.
#pragma once

#include <string>
#include <string_view>

namespace eyeroof {

// The first key that an object of the text has twice, of which parse_json() takes the last; empty
// where there is none.
std::string repeated_key(std::string_view text);

} // namespace eyeroof
