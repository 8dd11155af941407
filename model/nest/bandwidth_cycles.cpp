#include "model/nest/bandwidth_cycles.hpp"

#include "model/accelerator/data_width.hpp"
#include "model/cost/dram_pattern.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace eyeroof::model {

namespace nest {

namespace {

class TransferTimer {
  public:
    TransferTimer(const TransferCounts& counts, MappingCost& cost)
        : counts_(counts), cost_(cost),
          results_(static_cast<double>(tile_elements(counts.problem, counts.problem.produced,
                                                     loop_bounds(counts.problem)))) {}

    void run() {
        slower(static_cast<double>(cost_.compute_steps), "compute");
        for (std::size_t i = 0; i < counts_.machine.levels.size(); ++i) {
            for (std::size_t s = 0; s < counts_.machine.levels[i].stores.size(); ++s) {
                time_store(i, s);
            }
            for (std::size_t c = 0; c < counts_.machine.levels[i].channels.size(); ++c) {
                if (counts_.counting == Counting::eyeroof) {
                    time_channel(i, c);
                }
            }
        }
    }

  private:
    void moving(std::size_t level, double cycles, std::string_view who, std::string_view what) {
        if (cycles > cost_.moving_cycles) {
            cost_.moving_cycles = cycles;
            cost_.moving_level = level;
        }
        slower(cycles, who, what);
    }

    void slower(double cycles, std::string_view who, std::string_view what = {}) {
        if (cycles > cost_.cycles) {
            cost_.cycles = cycles;
            cost_.cycles_limit = std::string(who).append(what);
        }
    }

    // Eyeroof: the cycles that the bytes need. Timeloop: the steps, slowed down by the share of the
    // bandwidth that they ask for, in whole cycles.
    double cycles_for(double bytes, double bytes_per_cycle) const {
        if (counts_.counting == Counting::eyeroof) {
            return bytes / bytes_per_cycle;
        }
        const auto steps = static_cast<double>(cost_.compute_steps);
        const double slowdown = std::min(1.0, bytes_per_cycle / (bytes / steps));
        return bytes > 0 ? std::ceil(steps / slowdown) : 0.0;
    }

    // Bytes of one instance's share of the results that arrive at a level.
    double up_bytes(std::size_t level, Operand o, const DataWidth& bytes, Count words) const {
        const Count all = cost_.edges[level].up[index(o)];
        if (all == 0) {
            return 0.0;
        }
        const double share = static_cast<double>(words) / static_cast<double>(all);
        return share * bytes.of_results(static_cast<double>(all), results_);
    }

    void record(const PortTraffic& transfer) {
        if (counts_.transfers != nullptr) {
            counts_.transfers->push_back(transfer);
        }
    }

    void time_store(std::size_t level, std::size_t number) {
        const Store& store = counts_.machine.levels[level].stores[number];
        double read = 0.0;
        double written = 0.0;
        each_part(counts_.machine, level, store, [&](std::size_t at, const Store& part) {
            for (const Operand o : kAllOperands) {
                if (part.operands.contains(o)) {
                    const DataWidth bytes = stored_width(counts_.problem, counts_.machine, at, o);
                    const Accesses& a = cost_.levels[at].per_instance[index(o)];
                    const bool made =
                        o == counts_.problem.produced; // what is read or comes back is partial
                    const double in = made ? bytes.partial : bytes.complete;
                    read += in * static_cast<double>(a.reads);
                    written +=
                        in * static_cast<double>(a.fills) + up_bytes(at, o, bytes, a.updates);
                }
            }
        });
        record({level, number, true, read, written});
        const std::string& name = counts_.machine.levels[level].name;
        moving(level, cycles_for(read, store.read_bytes_per_cycle), name, " read");
        moving(level, cycles_for(written, store.write_bytes_per_cycle), name, " write");
    }

    void time_channel(std::size_t level, std::size_t number) {
        const Channel& channel = counts_.machine.levels[level].channels[number];
        const auto pattern =
            dram_pattern(counts_.problem, counts_.machine, counts_.mapping, channel);
        double down = 0.0;
        double up = 0.0;
        for (const Operand o : kAllOperands) {
            if (channel.operands.contains(o)) {
                const DataWidth bytes =
                    sent_width(counts_.problem, counts_.machine, level, channel, o);
                const double one = o == counts_.problem.produced ? bytes.partial : bytes.complete;
                down += one * static_cast<double>(counts_.busy[level][index(o)].down) *
                        pattern[index(o)].read_slowdown;
                up += up_bytes(level, o, bytes, counts_.busy[level][index(o)].up) *
                      pattern[index(o)].write_slowdown;
            }
        }
        record({level, number, false, down, up});
        const bool named = !channel.name.empty();
        const std::string_view name = named ? channel.name : counts_.machine.levels[level].name;
        const std::string_view network = named ? "" : " network";
        if (channel.half_duplex) {
            moving(level, (down + up) / channel.down_bytes_per_cycle, name, network);
        } else {
            moving(level, down / channel.down_bytes_per_cycle, name, network);
            moving(level, up / channel.up_bytes_per_cycle, name, network);
        }
    }

    const TransferCounts& counts_;
    MappingCost& cost_;
    double results_; // words of the operand that is produced
};

} // namespace

void set_bandwidth_cycles(const TransferCounts& counts, MappingCost& cost) {
    TransferTimer(counts, cost).run();
}

} // namespace nest

double overlapped_cycles(const std::vector<PortTraffic>& transfers, Count compute_steps,
                         const Accelerator& machine) {
    auto cycles = static_cast<double>(compute_steps);
    for (const PortTraffic& t : transfers) {
        const Level& level = machine.levels[t.level];
        if (t.store) {
            const Store& store = level.stores[t.index];
            cycles = std::max({cycles, t.down_bytes / store.read_bytes_per_cycle,
                               t.up_bytes / store.write_bytes_per_cycle});
            continue;
        }
        const Channel& channel = level.channels[t.index];
        cycles = channel.half_duplex
                     ? std::max(cycles, (t.down_bytes + t.up_bytes) / channel.down_bytes_per_cycle)
                     : std::max({cycles, t.down_bytes / channel.down_bytes_per_cycle,
                                 t.up_bytes / channel.up_bytes_per_cycle});
    }
    return cycles;
}

} // namespace eyeroof::model
