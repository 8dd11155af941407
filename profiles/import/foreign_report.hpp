// Files of profilers that are not read, by their first bytes, with the way in.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace eyeroof::profiles {

struct ForeignReport {
    std::string what, fix;
};

// Reports and summaries of Nsight, rocprof, and XLA; nullopt for all else. `name` is the file's.
std::optional<ForeignReport> foreign_report(std::string_view head, std::string_view name);

} // namespace eyeroof::profiles
