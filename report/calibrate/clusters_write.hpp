// Published runs of many devices beside predictions, as text, Markdown, JSON, and CSV.
#pragma once

#include "analysis/calibrate/clusters.hpp"

#include <string>

namespace eyeroof::report {

// `worst`: rows shown below the tables, those that are most off.
std::string clusters_text(const analysis::ClusterValidation& result, std::size_t worst);
std::string clusters_markdown(const analysis::ClusterValidation& result);
std::string clusters_json(const analysis::ClusterValidation& result); // eyeroof/clusters/1
std::string clusters_csv(const analysis::ClusterValidation& result);

} // namespace eyeroof::report
