// What a fusion is asked of, from a scenario's question: the layers that it chooses as they run in
// inference, who reads what where a graph says so, and the chip.
#pragma once

#include "analysis/fuse/fuse.hpp"
#include "analysis/scenario/question.hpp"

namespace eyeroof::analysis {

struct FuseOptions {
    FuseAim aim = FuseAim::traffic;
    // Instead of the machine's; 1 B to 1 PB, and more than 0 B/s.
    std::optional<double> buffer_bytes, dram_bytes_per_s;
};

struct FuseTask {
    model::Network network;
    Chip chip;
    FuseAim aim = FuseAim::traffic;
    std::optional<OnlyReaders> readers;
};

// Errors: those of forward_layers() and chip_of(); "no-layers" where no name matches; "bad-regex";
// "out-of-range".
Result<FuseTask> fuse_task(const Question& question, const FuseOptions& options);

Result<FuseResult> fuse_network(const FuseTask& task, std::stop_token stop = {},
                                const ProgressCallback& progress = {});
Result<std::vector<FusePoint>> fuse_curve(const FuseTask& task, std::stop_token stop = {},
                                          const ProgressCallback& progress = {});

} // namespace eyeroof::analysis
