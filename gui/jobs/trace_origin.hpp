// Where a trace most likely comes from: the GPU of the catalog that it names, and the network whose
// layers it has. Proposes; decides nothing.
#pragma once

#include "gui/jobs/folders.hpp"
#include "profiles/measurement.hpp"

#include <string>

namespace eyeroof::gui {

// Id of the machine with most words of the device's name, its model's number among them; empty
// where none has.
std::string gpu_of(const profiles::RunInfo& run, const Folders& folders);

// Id of the network that the command names, or else of the one that has at least half of the
// trace's ranges as layers, most of all; empty where there is none.
std::string network_of(const profiles::Profile& profile, const Folders& folders);

} // namespace eyeroof::gui
