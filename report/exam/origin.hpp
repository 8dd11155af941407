// The provenance of a document: version, command, machines with the sources of their numbers, the
// fitted constants, and the errors of predictions on held-out measurements. It has no date of the
// run, so that equal runs write equal files.
#pragma once

#include "model/machine/machine.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::report {

struct Origin {
    std::string version;
    std::string command; // a line for a shell, which prints the same document
    std::vector<model::Machine> machines;
};

// A last chapter.
std::string origin_markdown(const Origin& origin);
// The page with that chapter as its last; other text as it is.
std::string with_origin_html(std::string page, const Origin& origin);

} // namespace eyeroof::report
