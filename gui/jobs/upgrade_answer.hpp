// The answer to what the upgrade view asks: one upgrade a GPU in question.
// Made in the background.
// Knows no widget. study::upgrade and its kin judge.
#pragma once

#include "gui/jobs/folders.hpp"
#include "model/base/progress.hpp"
#include "study/upgrade/question.hpp"

#include <stop_token>
#include <vector>

namespace eyeroof::gui {

struct UpgradeAnswer {
    std::vector<study::Upgrade> upgrades; // of the GPUs that could be judged
    std::vector<std::size_t> asked;       // which of the question's they are
    model::Diagnostics problems;
};

UpgradeAnswer answer_to(const study::UpgradeQuestion& question, const Folders& folders,
                        const std::stop_token& stop, const model::ProgressCallback& progress);

} // namespace eyeroof::gui
