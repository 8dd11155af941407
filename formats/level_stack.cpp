#include "formats/level_stack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace eyeroof::formats {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

bool share(const Level& level, const StackedStore& store) {
    return std::any_of(level.stores.begin(), level.stores.end(), [&](const Store& other) {
        return std::any_of(kAllOperands.begin(), kAllOperands.end(), [&](Operand o) {
            return other.operands.contains(o) && store.operands.contains(o);
        });
    });
}

bool holds_all(const Level& level) {
    return std::all_of(kAllOperands.begin(), kAllOperands.end(),
                       [&](Operand o) { return store_of(level, o) != nullptr; });
}

} // namespace

Store LevelStack::made(const StackedStore& given) const {
    Store store;
    store.operands = given.operands;
    if (given.capacity_bytes > 0.0) {
        store.capacity_bytes =
            std::max<Count>(1, static_cast<Count>(std::min(given.capacity_bytes, 9e15)));
    }
    store.read_bytes_per_cycle = given.read_bytes > 0.0 ? given.read_bytes : kUnlimited;
    store.write_bytes_per_cycle = given.write_bytes > 0.0 ? given.write_bytes : kUnlimited;
    store.may_bypass = given.may_bypass;
    store.leak_pj = given.leak_pj;
    store.read_in_seconds = given.in_seconds && given.read_bytes > 0.0;
    store.write_in_seconds = given.in_seconds && given.write_bytes > 0.0;
    store.leak_in_seconds = given.in_seconds && given.leak_pj > 0.0;
    for (const Operand o : kAllOperands) {
        if (given.operands.contains(o)) {
            store.own_read_pj[index(o)] = given.read_pj_per_bit * word_bits_[index(o)];
            store.own_write_pj[index(o)] = given.write_pj_per_bit * word_bits_[index(o)];
        }
    }
    return store;
}

void LevelStack::add(const StackedStore& store, const std::vector<Axis>& below) {
    const bool fresh = levels_.empty() || !below.empty() || share(levels_.back(), store);
    if (fresh) {
        Level level;
        level.name = store.name;
        level.fanout = below;
        levels_.push_back(level);
    } else {
        levels_.back().name += "+" + store.name;
    }
    levels_.back().stores.push_back(made(store));
    const bool port = store.shared_port && store.read_bytes > 0.0;
    if (port || store.hop_pj_per_bit > 0.0 || store.link_bytes > 0.0) {
        Channel channel;
        channel.name = store.name + (port ? " port" : " network");
        channel.operands = store.operands;
        const double narrowest = std::min(port ? store.read_bytes : kUnlimited,
                                          store.link_bytes > 0.0 ? store.link_bytes : kUnlimited);
        channel.down_bytes_per_cycle = channel.up_bytes_per_cycle = narrowest;
        channel.down_in_seconds = channel.up_in_seconds = store.in_seconds;
        channel.half_duplex = port;
        channel.hop_pj = store.hop_pj_per_bit * word_bits_[0];
        levels_.back().channels.push_back(channel);
    }
}

Accelerator LevelStack::finish(const std::vector<Axis>& above, const hwdb::Node& root) {
    Accelerator a;
    a.word_bits = word_bits_;
    const bool complete = above.empty() && !levels_.empty() && holds_all(levels_.back());
    if (!complete) {
        root.warning("no-memory", "no memory outside holds all tensors; an ideal one is added",
                     "its bandwidth and its energy are not counted");
        Level level;
        level.name = "outside";
        Store store;
        store.operands = {Operand::input, Operand::weight, Operand::output};
        level.stores.push_back(store);
        level.fanout = above;
        levels_.push_back(level);
    }
    a.levels.assign(levels_.rbegin(), levels_.rend());
    if (a.levels.front().word_bits == PerOperand<int>{} && word_bits_[2] > word_bits_[0]) {
        Level& outermost = a.levels.front();
        outermost.word_bits[2] = word_bits_[0]; // results leave as wide as inputs
        const double share = static_cast<double>(word_bits_[0]) / word_bits_[2];
        for (Store& store : outermost.stores) {
            for (auto* energies : {&store.own_read_pj, &store.own_write_pj}) {
                auto& of_outputs = (*energies)[index(Operand::output)];
                of_outputs = of_outputs ? std::optional(*of_outputs * share) : of_outputs;
            }
        }
    }
    return a;
}

} // namespace eyeroof::formats
