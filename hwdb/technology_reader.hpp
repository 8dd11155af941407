// hwdb/technology.yaml: processes, reference circuits and published chips.
#pragma once

#include "hwdb/folders.hpp"
#include "hwdb/yaml.hpp"
#include "model/technology/technology.hpp"

namespace eyeroof::hwdb {

// The nearest folder's technology.yaml. Errors: "no-technology" where no folder has one; the file's
// own, each with its place: a number out of range, nodes that do not fall from large to small.
Result<model::Technology> load_technology(Folders folders);
Result<model::Technology> read_technology(Document& document);

} // namespace eyeroof::hwdb
