// --fabric: what joins several devices. Shared by scale and serve.
#pragma once

#include "base/result.hpp"
#include "cli/context.hpp"
#include "model/machine/fabric.hpp"

#include <string>

namespace eyeroof::cli {

// Without a name the one that usually joins such machines, or an error "usage" that says which
// there are; with one the reader's errors.
Result<model::Fabric> load_fabric(Context& context, const std::string& name,
                                  const std::string& machine = {});

// What joins one device with nothing.
model::Fabric one_device_alone();

} // namespace eyeroof::cli
