// Reads a GPU, or a host processor, from its YAML description.
// Called by the catalog, `eyeroof hw show` and `hw check`.
// Knows nothing of folders, and nothing fitted: calibration_reader.hpp has that.
//
// The format is that of the entries in gpus/ and hosts/: clocks, peaks by data type (each with the
// pipe that serves it: vector or tensor), dram, l2, sm, links, tdp, prices. Quantities have units;
// every number has a source and a confidence of its own or from above it.
#pragma once

#include "hwdb/sourced.hpp"
#include "model/machine.hpp"

#include <string>
#include <vector>

namespace eyeroof::hwdb {

struct GpuFile {
    model::Machine machine;
    std::vector<std::string> numbers; // field paths of all numbers in the file
};

// `id` is used when the document has none. Errors: everything that is wrong with the document at
// once, model::validate()'s findings included, each with file, line and column.
model::Result<GpuFile> read_gpu(Document& document, const std::string& id);

// Whether a document says that it is one: `kind: gpu` or `kind: host`.
bool is_gpu_document(const Document& document);

} // namespace eyeroof::hwdb
