// The answer to what the upgrade view asks: one upgrade a GPU in question.
// Made in the background.
// analysis/upgrade judges.
#pragma once

#include "analysis/upgrade/purchase.hpp"
#include "analysis/upgrade/question.hpp"
#include "base/progress.hpp"
#include "gui/jobs/folders.hpp"

#include <stop_token>
#include <vector>

namespace eyeroof::gui {

struct UpgradeAnswer {
    std::vector<analysis::Upgrade> upgrades; // of the GPUs that could be judged
    std::vector<std::size_t> asked;          // which of the question's they are
    analysis::Purchase purchase;             // the answers behind the upgrades, in their order
    std::vector<analysis::Scenario> runs;    // on the old GPU, of the first network, beside each
    Diagnostics problems;
};

UpgradeAnswer answer_to(const analysis::UpgradeQuestion& question, const Folders& folders,
                        const std::stop_token& stop, const ProgressCallback& progress);

} // namespace eyeroof::gui
