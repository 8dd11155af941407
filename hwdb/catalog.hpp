// Machines by name: entries of the catalog folders, files by path, and parametric machines.
#pragma once

#include "base/result.hpp"
#include "hwdb/folders.hpp"
#include "model/machine/machine.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::hwdb {

struct CatalogEntry {
    std::string id;     // "eyeriss-v1"
    std::string family; // "accelerators", "gpus"
    std::filesystem::path file;

    bool operator==(const CatalogEntry&) const = default;
};

// What the folders hold, by family and id; of files with one id that in the nearest folder. Files
// lie in a folder of their family, or, with "eyeroof: machine/1", in the folder itself. Reads the
// first lines of each: the id is the file's own, or else its name.
std::vector<CatalogEntry> list_machines(Folders folders);

// A machine by its name in the catalog ("eyeriss-v1"), by path ("./mine.yaml", anything with a
// directory or ending in .yaml or .yml), or parametric ("systolic:32x32"), with the rents that the
// folders' prices have for its id. Errors: unknown-machine with the nearest name, and those of the
// file and of the prices.
Result<model::Machine> load_machine(std::string_view name, Folders folders);

// Where load_machine would read the name from; a parametric machine has no file and is not found.
Result<std::filesystem::path> find_machine(std::string_view name, Folders folders);

// Whether the file lies in a folder of one of the families: there its name is the machine's.
bool stands_in_catalog(const std::filesystem::path& file);

// A machine of any kind from its file; the document's `kind` says which reader it takes.
Result<model::Machine> load_machine_file(const std::filesystem::path& file);

} // namespace eyeroof::hwdb
