// hwdb/transfer.yaml: how far predicted speed-ups hold for whole networks.
#pragma once

#include "base/result.hpp"
#include "hwdb/folders.hpp"
#include "hwdb/yaml.hpp"
#include "model/gpu/transfer.hpp"

namespace eyeroof::hwdb {

// The nearest folder's transfer.yaml; the standard values where no folder has one. Errors: the
// file's own.
Result<model::Transfer> load_transfer(Folders folders);
Result<model::Transfer> read_transfer(Document& document);

std::string write_transfer(const model::Transfer& transfer);

} // namespace eyeroof::hwdb
