// What the upgrade view asks as a value, and the answer: one upgrade a GPU in question.
// Filled by the form; answered in the background; also says which command asks the same.
// Knows no widget. study::upgrade and its kin judge.
#pragma once

#include "gui/window/folders.hpp"
#include "model/base/progress.hpp"
#include "study/upgrade/upgrade.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace eyeroof::gui {

struct AskedNetwork {
    std::string name;
    double weight = 1.0; // share of the old GPU's time, up to a common factor

    bool operator==(const AskedNetwork&) const = default;
};

struct AskedGpu {
    std::string name;
    std::optional<model::DataType> data_type; // nullopt: the layers' own
    std::optional<double> usd_per_hour, buy_usd;

    bool operator==(const AskedGpu&) const = default;
};

struct UpgradeQuestion {
    std::vector<AskedNetwork> networks;
    AskedGpu from; // buy_usd: what it brings
    std::vector<AskedGpu> to;
    std::string phase = "inference"; // or the optimizer of a training step
    std::optional<model::Count> batch;
    double utilization = 1.0;
    std::vector<model::Count> sweep_batches;
    std::vector<study::DtypePair> sweep_types;

    bool complete() const { return !networks.empty() && !from.name.empty() && !to.empty(); }
    study::UpgradeOptions options(const AskedGpu& gpu) const;
    bool operator==(const UpgradeQuestion&) const = default;
};

struct UpgradeAnswer {
    std::vector<study::Upgrade> upgrades; // of the GPUs that could be judged
    std::vector<std::size_t> asked;       // which of the question's they are
    model::Diagnostics problems;
};

UpgradeAnswer answer_to(const UpgradeQuestion& question, const Folders& folders,
                        const std::stop_token& stop, const model::ProgressCallback& progress);

// What asks `eyeroof upgrade` the same about one of the GPUs.
std::string command_of(const UpgradeQuestion& question, std::size_t gpu);

// "1, 8, 64" and "fp32, fp16:bf16"; nothing where a word is no batch or no data type.
std::optional<std::vector<model::Count>> read_batches(const std::string& text);
std::optional<std::vector<study::DtypePair>> read_types(const std::string& text);

} // namespace eyeroof::gui
