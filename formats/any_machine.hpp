// Machines by name or by path: the one door through which commands and the window get a machine,
// whatever format its file has.
// Called by cli and gui with the folders to search; tells a file's format by its content.
// Must not know where those folders come from.
#pragma once

#include "base/result.hpp"
#include "model/machine/machine.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace eyeroof::formats {

// `reference`: a name in the folders ("eyeriss-v1", "systolic:32x32"), a machine YAML, or a
// Timeloop architecture; `energies`: a file with Accelergy's tables for the latter, empty: none.
// Errors: the reader's or the catalog's own; "usage" for energies with another machine.
Result<model::Machine> load_any_machine(const std::string& reference,
                                        const std::vector<std::filesystem::path>& folders,
                                        const std::string& energies = {});

} // namespace eyeroof::formats
