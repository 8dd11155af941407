// What each kind of machine has of its own in hw list and hw show. Computes nothing but what it
// prints.
#pragma once

#include "model/accelerator/accelerator.hpp"
#include "model/gpu/gpu.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace eyeroof::cli {

// The lines of hw show below the machine's name.
std::string accelerator_text(const model::Accelerator& machine);
std::string gpu_text(const model::Gpu& gpu);

// The members of its JSON object; what is not known or unlimited is null.
nlohmann::ordered_json accelerator_json(const model::Accelerator& machine);
nlohmann::ordered_json gpu_json(const model::Gpu& gpu);

// Its columns in hw list, and their headings.
std::string accelerator_heading();
std::string accelerator_columns(const model::Accelerator& machine);
std::string gpu_heading();
std::string gpu_columns(const model::Gpu& gpu);

} // namespace eyeroof::cli
