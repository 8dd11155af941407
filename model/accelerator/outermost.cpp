#include "model/accelerator/outermost.hpp"

#include <algorithm>

namespace eyeroof::model {

namespace {

double sum_of(const OperandSet& operands, const PerOperand<double>& bytes) {
    double sum = 0.0;
    for (const Operand o : kAllOperands) {
        sum += operands.contains(o) ? bytes[index(o)] : 0.0;
    }
    return sum;
}

} // namespace

double passing_cycles(const Level& level, const PassingBytes& bytes) {
    double cycles = 0.0;
    for (const Store& store : level.stores) {
        cycles = std::max({cycles, sum_of(store.operands, bytes.down) / store.read_bytes_per_cycle,
                           sum_of(store.operands, bytes.up) / store.write_bytes_per_cycle});
    }
    for (const Channel& channel : level.channels) {
        const double down = sum_of(channel.operands, bytes.down);
        const double up = sum_of(channel.operands, bytes.up);
        cycles = channel.half_duplex ? std::max(cycles, (down + up) / channel.down_bytes_per_cycle)
                                     : std::max({cycles, down / channel.down_bytes_per_cycle,
                                                 up / channel.up_bytes_per_cycle});
    }
    return cycles;
}

double bytes_per_cycle_below(const Level& level) {
    double channels = level.channels.empty() ? kUnlimited : 0.0;
    for (const Channel& channel : level.channels) {
        channels += channel.down_bytes_per_cycle;
    }
    double stores = level.stores.empty() ? kUnlimited : 0.0;
    for (const Store& store : level.stores) {
        stores += store.read_bytes_per_cycle;
    }
    return std::min(channels, stores);
}

double most_bytes_per_cycle(const Level& level) {
    double channels = level.channels.empty() ? kUnlimited : 0.0;
    for (const Channel& channel : level.channels) {
        const bool up = channel.operands.contains(Operand::output) && !channel.half_duplex;
        channels += channel.down_bytes_per_cycle + (up ? channel.up_bytes_per_cycle : 0.0);
    }
    double stores = level.stores.empty() ? kUnlimited : 0.0;
    for (const Store& store : level.stores) {
        const bool up = store.operands.contains(Operand::output);
        stores += store.read_bytes_per_cycle + (up ? store.write_bytes_per_cycle : 0.0);
    }
    return std::min(channels, stores);
}

} // namespace eyeroof::model
