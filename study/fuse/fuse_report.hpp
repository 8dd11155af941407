// A fused network, and its curve over buffers, as text, JSON and CSV; the curve also as a picture.
// Called by `eyeroof fuse`. Computes nothing.
#pragma once

#include "study/fuse/fuse.hpp"

#include <string>
#include <vector>

namespace eyeroof::study {

std::string fuse_text(const FuseResult& result);
std::string fuse_json(const FuseResult& result); // eyeroof/fuse/1
std::string fuse_csv(const FuseResult& result);

std::string fuse_curve_text(const std::string& network, const std::vector<FusePoint>& curve);
std::string fuse_curve_json(const std::string& network, const std::vector<FusePoint>& curve);
std::string fuse_curve_csv(const std::vector<FusePoint>& curve);
// SVG: both traffics over the buffer, with the machine's own marked. Sizes that some layer does not
// fit are left out.
std::string fuse_curve_svg(const std::string& network, const Chip& chip,
                           const std::vector<FusePoint>& curve);

} // namespace eyeroof::study
