// Machines by name or by path: the one door through which commands and the window get a machine,
// whatever format its file has. Must not know where those folders come from.
#pragma once

#include "base/result.hpp"
#include "model/machine/machine.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::formats {

// Hardware of another tool: Timeloop's and AccelForge's architectures, ZigZag's and Stream's
// hardware, MAESTRO's accelerators, SCALE-Sim's cfg.
bool is_foreign_machine(std::string_view text);

// `reference`: a name in the folders ("eyeriss-v1", "systolic:32x32"), a machine YAML, or
// another tool's, with values of a template's variables behind it
// ("top.yaml.jinja2:macro=isaac"); `energies`: a file with Accelergy's tables for Timeloop's,
// empty: none. Errors: the reader's or the catalog's own; "usage" for energies with another
// machine.
Result<model::Machine> load_any_machine(const std::string& reference,
                                        const std::vector<std::filesystem::path>& folders,
                                        const std::string& energies = {});

} // namespace eyeroof::formats
