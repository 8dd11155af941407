// Files of the catalog that are found by name: fabrics and engines.
#pragma once

#include "hwdb/catalog.hpp"

#include <string>
#include <vector>

namespace eyeroof::hwdb {

// Files NAME.yaml of a folder of that name ("fabrics") below each: of equal names that of the
// nearest, by name. Reads no file.
std::vector<CatalogEntry> list_files(Folders folders, const std::string& family);

} // namespace eyeroof::hwdb
