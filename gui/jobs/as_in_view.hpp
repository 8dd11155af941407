// Variants of a question examined as what is on screen: searched where that was searched, with the
// mappings that were edited in their places.
#pragma once

#include "analysis/search/mapping_edit.hpp"
#include "analysis/what_if/sensitivity.hpp"

#include <vector>

namespace eyeroof::gui {

// An edit that is not legal on a variant is left out there, as the window does when it is turned
// to.
analysis::Examine as_in_view(std::vector<analysis::MappingEdit> edits);

// What 10 % more of each parameter brings, the host's launches among them where it launches: those
// first, as "host-speed".
inline constexpr const char* kHostSpeed = "host-speed";
bool has_host(const model::Machine& machine); // that launches its kernels
Result<std::vector<analysis::Sensitivity>> gains_of(const analysis::Question& question,
                                                    const std::stop_token& stop,
                                                    const ProgressCallback& progress,
                                                    const analysis::Examine& examine);

// Those of one layer of the report, for a network of that layer alone.
std::vector<analysis::MappingEdit> edits_of(const std::vector<analysis::MappingEdit>& edits,
                                            const analysis::Report& report, std::size_t layer);

} // namespace eyeroof::gui
