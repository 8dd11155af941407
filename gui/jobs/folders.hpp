// Where the window looks for machines, networks and metric files, nearest first; and what is used
// as the list of recent files.
// Made by main, which alone knows the environment.
#pragma once

#include "analysis/resolve/resolve.hpp"

#include <filesystem>
#include <vector>

namespace eyeroof::gui {

struct Folders {
    std::vector<std::filesystem::path> machines;
    std::vector<std::filesystem::path> networks;
    std::vector<std::filesystem::path> metrics;

    analysis::DataFolders data() const { return {machines, networks}; }
};

} // namespace eyeroof::gui
