// The sections of the mapping's picture, each put below the last on a page.
#pragma once

#include "model/machine/machine.hpp"
#include "report/draw/mapping_page.hpp"
#include "report/draw/mapping_scene.hpp"
#include "report/draw/pe_array.hpp"

namespace eyeroof::report {

// The array, each unit by its share of steps with work; counts them into the scene.
void add_array(MappingPage& page, const ArrayWork& work, MappingScene& scene);
// What one instance of each buffer holds.
void add_buffers(MappingPage& page, const model::Accelerator& machine,
                 const analysis::LayerReport& layer);
void add_nest(MappingPage& page, const model::Accelerator& machine, const model::Mapping& mapping);

// A GPU's kernel: the result in tiles, and the tiles in waves over the SMs.
void add_tiles(MappingPage& page, const model::Product& product,
               const model::KernelMapping& mapping);
void add_waves(MappingPage& page, const model::Waves& waves, int sms, MappingScene& scene);

} // namespace eyeroof::report
