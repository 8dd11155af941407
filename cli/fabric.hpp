// --fabric: what joins several devices. Shared by scale and serve.
#pragma once

#include "base/result.hpp"
#include "cli/context.hpp"
#include "model/machine/fabric.hpp"

#include <string>

namespace eyeroof::cli {

// Without a name an error "usage" that says which there are; else the reader's.
Result<model::Fabric> load_fabric(Context& context, const std::string& name);

// What joins one device with nothing.
model::Fabric one_device_alone();

} // namespace eyeroof::cli
