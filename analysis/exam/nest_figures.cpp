#include "analysis/exam/nest_figures.hpp"

#include "model/vector_unit.hpp"

#include <algorithm>

namespace eyeroof::analysis {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

// Of all channels below one instance of the level, B/cycle; unlimited without any.
double channel_bytes(const Level& level) {
    double bytes = 0.0;
    for (const Channel& channel : level.channels) {
        bytes += channel.down_bytes_per_cycle;
    }
    return bytes > 0.0 ? bytes : kUnlimited;
}

} // namespace

double bytes_in_and_out(const Problem& problem, Operand operand, const DataWidth& word, Count down,
                        Count up) {
    const auto results =
        static_cast<double>(tile_elements(problem, problem.produced, loop_bounds(problem)));
    return static_cast<double>(down) *
               (operand == problem.produced ? word.partial : word.complete) +
           word.of_results(static_cast<double>(up), results);
}

double outer_bytes_of(const Problem& problem, const Accelerator& accelerator,
                      const MappingCost& cost) {
    double bytes = 0.0;
    for (const Operand o : kAllOperands) { // without a channel: as the words are stored
        const Channel* channel = channel_of(accelerator.levels.front(), o);
        const DataWidth word = channel == nullptr
                                   ? stored_width(problem, accelerator, 0, o)
                                   : sent_width(problem, accelerator, 0, *channel, o);
        bytes += bytes_in_and_out(problem, o, word, cost.edges[0].down[index(o)],
                                  cost.edges[0].up[index(o)]);
    }
    return bytes;
}

OuterOnly outer_only(const Layer& layer, const Work& work, const Accelerator& accelerator) {
    const double words = static_cast<double>(bits_at(accelerator, 0, Operand::input)) /
                         (8.0 * bytes_per_element(layer.types.input));
    OuterOnly only{static_cast<double>(work.bytes()) * words,
                   static_cast<double>(work.flops) / 2.0};
    for (std::size_t i = 0; i < accelerator.levels.size(); ++i) {
        const Level& level = accelerator.levels[i];
        if (level.scheduled && activations_stay(accelerator, i, work)) {
            only.level = i;
            only.port_cycles = only.bytes / channel_bytes(level);
            only.bytes = 0.0;
        }
    }
    for (const TensorUse& tensor : work.tensors) {
        only.equivalent = std::max(only.equivalent, static_cast<double>(tensor.elements) / 2.0);
    }
    return only;
}

double outer_only_cycles(const OuterOnly& only, double units, double outer_bytes_per_cycle) {
    return std::max(
        {1.0, only.equivalent / units, only.bytes / outer_bytes_per_cycle, only.port_cycles});
}

double outer_bytes_per_cycle(const Accelerator& accelerator) {
    return channel_bytes(accelerator.levels.front());
}

} // namespace eyeroof::analysis
