// Reads a GPU, or a host processor, from its YAML description, and writes one.
//
// The format is that of the entries in gpus/ and hosts/: clocks, peaks by data type (each with the
// pipe that serves it: vector or tensor), dram, l2, sm, links, tdp, prices. Quantities have units;
// every number has a source and a confidence of its own or from above it.
#pragma once

#include "hwdb/sourced.hpp"
#include "model/machine/machine.hpp"

#include <string>
#include <vector>

namespace eyeroof::hwdb {

struct GpuFile {
    model::Machine machine;
    std::string calibrated_as;        // id of the GPU whose fitted constants it takes; its own id
    std::vector<std::string> numbers; // field paths of all numbers in the file
};

// `id` is used when the document has none. Errors: everything that is wrong with the document at
// once, model::validate()'s findings included, each with file, line and column.
Result<GpuFile> read_gpu(Document& document, const std::string& id);

// The machine as YAML text under another id, with the constants that were fitted for
// `calibrated_as`; read_gpu turns it into the same machine again.
std::string write_gpu(const model::Machine& machine, const std::string& id,
                      const std::string& calibrated_as);

// Whether a document says that it is one: `kind: gpu` or `kind: host`.
bool is_gpu_document(const Document& document);

} // namespace eyeroof::hwdb
