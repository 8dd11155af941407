// Any bytes through the importer that recognises them, and through each importer by force.
#include "tests/fuzz/profile_import.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    eyeroof::tests::import_anything({reinterpret_cast<const char*>(data), size});
    return 0;
}
