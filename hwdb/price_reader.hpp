// Rents of machines, a table for each seller and kind of price: `prices.yaml` of a machine folder,
// and files of the user.
//
//   eyeroof: prices/1
//   seller: Lambda
//   kind: list
//   date: 2026-09-20
//   source: "Lambda instances page"
//   usd_per_hour: {a100-sxm-80gb: 2.79, v100-sxm2-16gb: {value: 0.79, note: 8x only}}
//
// or `tables:`, a list of such. A row may have its own `date`, `source`, and `note`.
#pragma once

#include "base/result.hpp"
#include "hwdb/folders.hpp"
#include "hwdb/yaml.hpp"
#include "model/machine/machine.hpp"

#include <map>
#include <string>
#include <vector>

namespace eyeroof::hwdb {

// By the machine's id, in the order of the file.
using Prices = std::map<std::string, std::vector<model::Rent>>;

// Errors: those of the YAML reader; "bad-date"; "two-prices" where two tables of one seller and
// kind have the same machine.
Result<Prices> read_prices(Document& document);

// prices.yaml of the nearest folder that has one; none where no folder does.
Result<Prices> load_prices(Folders folders);

// The user's own tables, with machines named as people type them. Errors: those of the files, all
// at once. Warnings: names that the folders have no machine for.
Result<Prices> own_prices(const std::vector<std::string>& files, Folders folders);

// The machine with the rents of its id before those that it has.
model::Machine with_prices(model::Machine machine, const Prices& prices);

} // namespace eyeroof::hwdb
