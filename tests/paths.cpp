#include "tests/paths.hpp"

namespace eyeroof::tests {

std::string source_dir() {
    return EYEROOF_SOURCE_DIR;
}

std::string shared_data_dir() {
    return EYEROOF_SHARED_DATA;
}

} // namespace eyeroof::tests
