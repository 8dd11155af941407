// Reads fabrics, what joins devices, from fabrics/NAME.yaml.
//
//   eyeroof: fabric/1
//   name: "DGX A100, HDR InfiniBand"
//   source: …
//   confidence: …
//   protocols: [{name: LL, base: 6.6 us, share: 0.5}, …]     optional
//   levels:                                                  nearest first
//     - {name: NVLink, topology: switched, size: 8, bandwidth: 300 GB/s, latency: [0.6 us, …]}
//     - {name: InfiniBand, ports: 8, bandwidth: 25 GB/s, oversubscription: 1, latency: 5 us}
//   transports: [{name: zero-copy, overhead: 2 us}, …]       optional
//   usual_of: [a100-sxm-80gb, …]                             optional
//
// Every number has a source and a confidence of its own or from above it. A level has as many
// latencies as there are protocols, or one.
#pragma once

#include "hwdb/catalog.hpp"
#include "hwdb/yaml.hpp"
#include "model/machine/fabric.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::hwdb {

// `id` is used when the document has none. Errors: all of the document's at once, with file, line
// and column.
Result<model::Fabric> read_fabric(Document& document, const std::string& id);

// By name in the folders' fabrics/, or by path. Errors: "unknown-fabric" with the nearest name;
// the file's own.
Result<model::Fabric> load_fabric(std::string_view name, Folders folders);

// Of files with one id that in the nearest folder, by id. Reads no file.
std::vector<CatalogEntry> list_fabrics(Folders folders);

// What usually joins GPUs of this name; nothing where no fabric says so.
std::optional<model::Fabric> usual_fabric(std::string_view gpu, Folders folders);

} // namespace eyeroof::hwdb
