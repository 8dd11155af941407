// A machine of any kind, with the provenance of its numbers.
// Made by hwdb and chosen by name in study; taken apart where the kinds are examined differently.
#pragma once

#include "base/provenance.hpp"
#include "model/accelerator/accelerator.hpp"
#include "model/gpu/gpu.hpp"

#include <string>
#include <variant>

namespace eyeroof::model {

struct Machine {
    std::string id;   // name in the catalog: "eyeriss-v1"
    std::string name; // for people: "Eyeriss v1"
    std::string summary;
    std::variant<Accelerator, Gpu> kind;
    ProvenanceMap provenance;
    double process_nm = 0.0; // as the process is called: 65; 0: unknown

    bool operator==(const Machine&) const = default;
};

} // namespace eyeroof::model
