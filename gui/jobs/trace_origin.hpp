// Files as they are opened, by any thread. Of a measurement also its origin: the GPU that it was
// taken on, and the network that its step is.
#pragma once

#include "formats/trace_network.hpp"
#include "gui/jobs/folders.hpp"
#include "report/session/open_any.hpp"

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace eyeroof::gui {

struct ReadFile {
    std::string path;
    Result<report::Opened> opened;
    // Of a measurement.
    std::shared_ptr<const formats::TraceNetwork> trace = {}; // where operators of it are known
    std::string gpu = {};                                    // by name; empty where none fits
};

// A measurement is given up at its next report of progress once `stop` is requested: error
// "cancelled". Files of other kinds are small and are read to their end.
ReadFile read_file(const std::string& path, const Folders& folders,
                   const std::stop_token& stop = {}, const ProgressCallback& progress = {});

// Whether reading them takes longer than a frame or two.
bool are_large(const std::vector<std::string>& paths);

// Whether a device's name is that of a machine of the catalog or of its sibling of another form or
// memory: "NVIDIA A100-SXM4-40GB" and a100-pcie-80gb.
bool same_model(const std::string& device, const std::string& machine);

// Id of the network that the command names, or else of the one that has at least half of the
// trace's ranges as layers, most of all; empty where there is none. Reads all networks.
std::string network_of(const profiles::Profile& profile, const Folders& folders,
                       const std::stop_token& stop = {});

} // namespace eyeroof::gui
