// hwdb/transfer.yaml: how far predicted speed-ups hold for whole networks.
// Called by cli and gui; written by `validate --pairs --fit`.
// Knows no network.
#pragma once

#include "hwdb/folders.hpp"
#include "hwdb/yaml.hpp"
#include "model/base/result.hpp"
#include "model/gpu/transfer.hpp"

namespace eyeroof::hwdb {

// The nearest folder's transfer.yaml; the standard values where no folder has one. Errors: the
// file's own.
model::Result<model::Transfer> load_transfer(Folders folders);
model::Result<model::Transfer> read_transfer(Document& document);

std::string write_transfer(const model::Transfer& transfer);

} // namespace eyeroof::hwdb
