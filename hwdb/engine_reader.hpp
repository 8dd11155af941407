// Reads serving engines of one version from engines/NAME.yaml.
//
//   eyeroof: engine/1
//   name: "vLLM 0.12"
//   kind: vllm                         vllm, sglang, or trtllm: whose command line it has
//   usual: true                        the version that --engine vllm means
//   source: …
//   confidence: …
//   steps: {mixes: true, splits: true, chunk: 2048, requests: 1024}
//   memory_share: 0.9
//   memory_of_free: false              true: the share is of what weights leave free
//   host: {step: 0.5 ms, least: 1 ms, queue: 0 ms, request: 5 ms, apart: 0 ms}
//   kernels: {library: "", block_library: "vllm fp8_block", reduce: vllm, fused: true,
//             rotary_in_attention: false, norm_in_reduce: false, shared_beside: true}
//   narrow_cache: false
//   interval: {tpot: [0.82, 1.19], ttft: …, apart_tpot: …, apart_ttft: …}   measured over predicted
//
// model/machine/engine.hpp has their meaning. Every number has a source and a confidence of its own
// or from above it.
#pragma once

#include "hwdb/catalog.hpp"
#include "hwdb/yaml.hpp"
#include "model/machine/engine.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::hwdb {

// `id` is used when the document has none. Errors: all of the document's at once, with file, line
// and column.
Result<model::Engine> read_engine(Document& document, const std::string& id);

// By name in the folders' engines/, by kind (its usual version), or by path. Errors:
// "unknown-engine" with all names; the file's own.
Result<model::Engine> load_engine(std::string_view name, Folders folders);

// Of files with one id that in the nearest folder, by id. Reads no file.
std::vector<CatalogEntry> list_engines(Folders folders);

} // namespace eyeroof::hwdb
