#include "hwdb/folders.hpp"

namespace eyeroof::hwdb {

std::optional<std::filesystem::path> nearest_file(Folders folders,
                                                  const std::filesystem::path& name) {
    for (const std::filesystem::path& folder : folders) {
        std::error_code unreadable;
        if (std::filesystem::exists(folder / name, unreadable)) {
            return folder / name;
        }
    }
    return std::nullopt;
}

} // namespace eyeroof::hwdb
