#include "analysis/exam/nest_figures.hpp"

#include "model/vector_unit.hpp"

#include <algorithm>

namespace eyeroof::analysis {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

double bytes_in_and_out(const Problem& problem, Operand operand, const DataWidth& word, Count down,
                        Count up) {
    const auto results =
        static_cast<double>(tile_elements(problem, problem.produced, loop_bounds(problem)));
    return static_cast<double>(down) *
               (operand == problem.produced ? word.partial : word.complete) +
           word.of_results(static_cast<double>(up), results);
}

double outer_bytes_of(const Problem& problem, const Accelerator& accelerator,
                      const MappingCost& cost, bool coded) {
    double bytes = 0.0;
    for (const Operand o : kAllOperands) { // without a channel: as the words are stored
        const Channel* channel = channel_of(accelerator.levels.front(), o);
        const DataWidth word = channel == nullptr || (channel->bits_per_nonzero && !coded)
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
    OuterOnly only;
    only.equivalent = static_cast<double>(work.flops) / 2.0;
    for (std::size_t i = 0; i < accelerator.levels.size(); ++i) {
        if (accelerator.levels[i].scheduled && activations_stay(accelerator, i, work)) {
            only.level = i;
        }
    }
    PassingBytes passing;
    for (const TensorUse& tensor : work.tensors) {
        const double bytes = static_cast<double>(tensor.bytes) * words;
        (tensor.written ? passing.up : passing.down)[index(operand_of(tensor))] += bytes;
        only.bytes += only.level == 0 ? bytes : 0.0;
        only.energy_pj += energy_at(accelerator, only.level, tensor, !tensor.written);
        only.equivalent = std::max(only.equivalent, static_cast<double>(tensor.elements) / 2.0);
    }
    only.moving_cycles = passing_cycles(accelerator.levels[only.level], passing);
    only.outer = only.level == 0 ? passing : PassingBytes{};
    return only;
}

double outer_only_cycles(const OuterOnly& only, double units) {
    return std::max({1.0, only.equivalent / units, only.moving_cycles});
}

} // namespace eyeroof::analysis
