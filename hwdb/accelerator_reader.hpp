// Reads a spatial accelerator from its YAML description, and writes one.
//
// The format is described by schema/machine.schema.json and by the entries in accelerators/. Every
// quantity has its unit. A bandwidth is per second ("480 MB/s") or per cycle ("64 bit/cycle",
// "4 words/cycle") of the core clock or of the domain that `clock:` names; a capacity is in bytes
// ("100 KiB") or words ("224 words"); "unlimited" is a value of both.
#pragma once

#include "hwdb/sourced.hpp"
#include "model/machine/machine.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::hwdb {

struct AcceleratorFile {
    model::Machine machine;
    std::optional<double> printed_peak_macs_per_s; // what the source claims; for `hw check` only
    std::vector<std::string> numbers;              // field paths of all numbers in the file
};

// `id` is used when the document has none. Errors: everything that is wrong with the document at
// once, model::validate()'s findings included, each with file, line and column.
Result<AcceleratorFile> read_accelerator(Document& document, const std::string& id);

// The machine as YAML text that read_accelerator turns into the same machine again.
std::string write_accelerator(const model::Machine& machine);

// What a channel can do, as written in YAML: "multicast".
std::string_view cast_name(model::Cast cast);

} // namespace eyeroof::hwdb
