// A package of unequal cores: several kinds of machines with counts, the link between them, and
// the memory that they share.
#pragma once

#include "base/result.hpp"
#include "hwdb/catalog.hpp"
#include "model/machine/machine.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

struct CoreKind {
    model::Machine machine; // an accelerator
    std::size_t count = 1;

    bool operator==(const CoreKind&) const = default;
};

struct CorePackage {
    std::string id, name;
    std::vector<CoreKind> kinds;
    double link_bytes_per_s = 0.0;   // between cores, one crossing at a time; 0: no limit
    double link_s = 0.0;             // before the first byte of a crossing is there
    double memory_bytes_per_s = 0.0; // that all share; 0: no limit but each core's own

    bool operator==(const CorePackage&) const = default;
};

// Is `name` a package: a file whose format is package/1, a system of Stream with several cores that
// compute, or a name in the folder `packages`?
std::optional<std::filesystem::path> find_package(const std::string& name, hwdb::Folders folders);

// eyeroof: package/1. Errors with their place: those of the machines that it names, a GPU or a host
// among them, a kind that stands twice, more than kMostCores.
inline constexpr std::size_t kMostCores = 64;
Result<CorePackage> load_package(const std::filesystem::path& file, hwdb::Folders folders);
Result<CorePackage> parse_package(std::string text, const std::string& file, hwdb::Folders folders);

} // namespace eyeroof::analysis
