#pragma once
// Where the tests find the checkout's own files. Functions rather than macros, so that one source
// file alone depends on where the checkout stands and a compiler cache serves every checkout.
#include <string>

namespace eyeroof::tests {

// The root of the checkout.
std::string source_dir();

// Measurements to test predictions against; the folder may be absent.
std::string shared_data_dir();

} // namespace eyeroof::tests
