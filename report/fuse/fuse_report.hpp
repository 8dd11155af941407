// A fused network, and its curve over buffers, as text, JSON and CSV; the curve also as a picture.
// Computes nothing.
#pragma once

#include "analysis/fuse/fuse.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

std::string fuse_text(const analysis::FuseResult& result);
std::string fuse_json(const analysis::FuseResult& result); // eyeroof/fuse/1
std::string fuse_csv(const analysis::FuseResult& result);

std::string fuse_curve_text(const std::string& network,
                            const std::vector<analysis::FusePoint>& curve);
std::string fuse_curve_json(const std::string& network,
                            const std::vector<analysis::FusePoint>& curve);
std::string fuse_curve_csv(const std::vector<analysis::FusePoint>& curve);
// SVG: both traffics over the buffer, with the machine's own marked. Sizes that some layer does not
// fit are left out.
std::string fuse_curve_svg(const std::string& network, const analysis::Chip& chip,
                           const std::vector<analysis::FusePoint>& curve);

} // namespace eyeroof::report
