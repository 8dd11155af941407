// What an option's value lacks, as a mistake of the command line.
#pragma once

#include "base/diagnostic.hpp"

#include <string>

namespace eyeroof::cli {

inline void refuse(Diagnostics& found, const char* option, const Diagnostics& wrong) {
    for (const Diagnostic& one : wrong) {
        found.error("usage", std::string(option) + ": " + one.message, one.hint);
    }
}

} // namespace eyeroof::cli
