#include "hwdb/named_files.hpp"

#include <map>

namespace eyeroof::hwdb {

namespace fs = std::filesystem;

std::vector<CatalogEntry> list_files(Folders folders, const std::string& family) {
    std::map<std::string, fs::path> found;
    for (const fs::path& folder : folders) {
        std::error_code error;
        for (fs::directory_iterator it(folder / family, error), end; !error && it != end;
             it.increment(error)) {
            if (it->path().extension() == ".yaml") {
                found.emplace(it->path().stem().string(), it->path());
            }
        }
    }
    std::vector<CatalogEntry> entries;
    for (const auto& [id, file] : found) {
        entries.push_back({id, family, file});
    }
    return entries;
}

} // namespace eyeroof::hwdb
