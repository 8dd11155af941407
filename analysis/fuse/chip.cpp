#include "analysis/fuse/chip.hpp"

#include "model/accelerator/outermost.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis {

namespace {

double bytes_of(const model::Accelerator& a, std::size_t level) {
    double bytes = 0.0;
    for (const model::Store& store : a.levels[level].stores) {
        bytes += static_cast<double>(store.capacity_bytes.value_or(0));
    }
    return bytes * static_cast<double>(model::instances_of(a, level));
}

// Of the operand that costs most.
double outer_pj_per_byte(const model::Accelerator& a) {
    double most = 0.0;
    for (const model::Operand o : model::kAllOperands) {
        const model::Store* store = model::store_of(a.levels.front(), o);
        const double bytes = model::bits_at(a, 0, o) / 8.0;
        most = store == nullptr ? most : std::max(most, store->read_pj_of(o) / bytes);
    }
    return most;
}

Result<Chip> chip_of(const std::string& id, const model::Accelerator& a) {
    Chip chip;
    chip.id = id;
    for (std::size_t level = 1; level < a.levels.size(); ++level) {
        const double bytes = bytes_of(a, level);
        if (bytes > chip.buffer_bytes) {
            chip.buffer_bytes = bytes;
            chip.buffer = a.levels[level].name;
        }
    }
    const double per_cycle = model::most_bytes_per_cycle(a.levels.front());
    chip.dram_bytes_per_s = per_cycle * a.clock_hz;
    chip.macs_per_s = static_cast<double>(model::mac_units(a)) * a.clock_hz;
    chip.word_bits = a.word_bits[0];
    chip.mac_pj = a.mac_pj;
    chip.outer_pj_per_byte = outer_pj_per_byte(a);
    chip.alone = a;
    for (model::Level& level : chip.alone->levels) {
        level.keeps_between_layers = level.keeps_weights = false;
    }
    if (chip.buffer_bytes <= 0.0) {
        return Result<Chip>::failure("no-buffer", fmt::format("no store of {} has a size", id),
                                     "give one with --buffer");
    }
    if (per_cycle >= model::kUnlimited) {
        chip.dram_bytes_per_s = 0.0;
    }
    return chip;
}

Result<Chip> chip_of(const std::string& id, const model::Gpu& gpu, model::DataType type) {
    Chip chip{id, "L2", gpu.l2_bytes, gpu.dram_bytes_per_s, 0.0, std::nullopt, 0.0, 0.0};
    const double peak = gpu.rate(type).flops_per_s;
    if (peak <= 0.0) {
        return Result<Chip>::failure("unsupported-type",
                                     fmt::format("{} has no {}", id, model::data_type_name(type)),
                                     "choose another with --dtype");
    }
    chip.macs_per_s = peak / 2.0;
    if (chip.buffer_bytes <= 0.0) {
        return Result<Chip>::failure("no-buffer", fmt::format("the L2 of {} has no size", id),
                                     "give one with --buffer");
    }
    return chip;
}

} // namespace

Result<Chip> chip_of(const model::Machine& machine, model::DataType type) {
    if (const auto* accelerator = std::get_if<model::Accelerator>(&machine.kind)) {
        return chip_of(machine.id, *accelerator);
    }
    return chip_of(machine.id, std::get<model::Gpu>(machine.kind), type);
}

} // namespace eyeroof::analysis
