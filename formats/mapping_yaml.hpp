// Mappings as YAML in the one form that `eyeroof map` writes and `--mapping` takes:
//
//   eyeroof: mapping/1
//   walks: inputs                 # P and Q walk over inputs; without this line over outputs
//   levels:                       # as the machine's, outermost first
//     - name: GLB
//       keep: [input, output]
//       temporal: [K2, P56]       # outer to inner
//       spatial: [Q14 x, C4 y]    # dimension and trips, then the axis
#pragma once

#include "formats/timeloop.hpp"
#include "hwdb/yaml.hpp"
#include "model/accelerator/mapping.hpp"

#include <filesystem>
#include <string>

namespace eyeroof::formats {

// Errors: those of the strict YAML reader; "unknown-level", "unknown-axis", "bad-loop". Whether the
// mapping fits a problem is for model::validate() to say.
Result<model::Mapping> parse_mapping_yaml(std::string text, const std::string& file,
                                          const model::Accelerator& machine);
std::string write_mapping_yaml(const model::Mapping& mapping, const model::Accelerator& machine);

// Reads this form or Timeloop's, by content; `names` are Timeloop's for the layer.
Result<model::Mapping> load_mapping(const std::filesystem::path& path,
                                    const model::Accelerator& machine,
                                    const TimeloopNames& names = cnn_layer_names());

} // namespace eyeroof::formats
