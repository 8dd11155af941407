// Parts of the mapper's JSON that several documents share.
#pragma once

#include "mapper/search.hpp"

#include <nlohmann/json.hpp>

namespace eyeroof::report {

using Json = nlohmann::ordered_json;

Json mapping_json(const model::Mapping& mapping, const model::Accelerator& accelerator);
Json certificate_json(const mapper::Certificate& certificate);

} // namespace eyeroof::report
