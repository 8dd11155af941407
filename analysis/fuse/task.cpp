#include "analysis/fuse/task.hpp"

#include "analysis/program/lower.hpp"
#include "base/pattern.hpp"

namespace eyeroof::analysis {

namespace {

Result<Chip> chip_with(const FuseOptions& options, const model::Machine& machine,
                       model::DataType type) {
    auto chip = analysis::chip_of(machine, type);
    if (!chip) {
        return chip;
    }
    chip->buffer_bytes = options.buffer_bytes.value_or(chip->buffer_bytes);
    chip->dram_bytes_per_s = options.dram_bytes_per_s.value_or(chip->dram_bytes_per_s);
    if (!(chip->buffer_bytes >= 1.0 && chip->buffer_bytes <= 1e15) ||
        options.dram_bytes_per_s == 0.0) {
        return Result<Chip>::failure("out-of-range",
                                     "the buffer has 1 B to 1 PB, and the link more than 0 B/s",
                                     "as in --buffer 512KiB --bandwidth '100 GB/s'");
    }
    return chip;
}

Result<model::Network> chosen_layers(model::Network network,
                                     const std::optional<std::string>& expression) {
    if (!expression) {
        return Result<model::Network>(std::move(network));
    }
    const auto pattern = Pattern::compile(*expression);
    if (!pattern) {
        return pattern.diagnostics();
    }
    std::erase_if(network.layers,
                  [&](const model::Layer& layer) { return !pattern->found_in(layer.name); });
    if (network.layers.empty()) {
        return Result<model::Network>::failure("no-layers",
                                               "no layer's name matches '" + *expression + "'",
                                               "`eyeroof net show` lists the names");
    }
    return Result<model::Network>(std::move(network));
}

} // namespace

Result<FuseTask> fuse_task(const Question& question, const FuseOptions& options) {
    auto layers = forward_layers(question);
    if (!layers) {
        return layers.diagnostics();
    }
    FuseTask task;
    task.aim = options.aim;
    if (layers->edges) {
        task.readers = only_readers(layers->network, *layers->edges);
    }
    auto chosen = chosen_layers(std::move(layers->network), question.scenario.layers);
    if (!chosen) {
        return chosen.diagnostics();
    }
    task.network = *std::move(chosen);
    auto chip = chip_with(options, question.machine, task.network.layers.front().types.input);
    if (!chip) {
        return chip.diagnostics();
    }
    task.chip = *std::move(chip);
    return task;
}

Result<FuseResult> fuse_network(const FuseTask& task, std::stop_token stop,
                                const ProgressCallback& progress) {
    return fuse_network(task.network, task.chip, task.aim, std::move(stop), progress, task.readers);
}

Result<std::vector<FusePoint>> fuse_curve(const FuseTask& task, std::stop_token stop,
                                          const ProgressCallback& progress) {
    return fuse_curve(task.network, task.chip, std::move(stop), progress, task.readers);
}

} // namespace eyeroof::analysis
