#include "model/vector_unit.hpp"

#include <algorithm>

namespace eyeroof::model {

Operand operand_of(const TensorUse& tensor) {
    return tensor.written                                    ? Operand::output
           : tensor.name.find("weight") == std::string::npos ? Operand::input
                                                             : Operand::weight;
}

namespace {

struct Moved { // by one operator at one level
    double bytes = 0.0;
    double words = 0.0;
};

Moved moved_at(const Accelerator& a, std::size_t level, const TensorUse& tensor) {
    const auto words = static_cast<double>(tensor.elements);
    return {words * bits_at(a, level, operand_of(tensor)) / 8.0, words};
}

// Results of an operator are words at rest, not sums that accumulate.
Moved at_rest(const Accelerator& a, std::size_t level, const TensorUse& tensor) {
    Moved moved = moved_at(a, level, tensor);
    if (tensor.written) {
        const int bits = std::min(bits_at(a, level, Operand::output),
                                  std::max(a.levels[level].word_bits[index(Operand::output)],
                                           bits_at(a, level, Operand::input)));
        moved.bytes = moved.words * bits / 8.0;
    }
    return moved;
}

} // namespace

bool activations_stay(const Accelerator& a, std::size_t level, const Work& work) {
    const auto& scheduled = a.levels[level].scheduled;
    if (scheduled ? !scheduled->contains(Operand::input) || !scheduled->contains(Operand::output)
                  : !a.levels[level].keeps_between_layers) {
        return false;
    }
    for (const Store& store : a.levels[level].stores) {
        double bytes = 0.0;
        for (const TensorUse& tensor : work.tensors) {
            const Operand o = operand_of(tensor);
            const bool here = o != Operand::weight && store.operands.contains(o);
            bytes += here ? at_rest(a, level, tensor).bytes : 0.0;
        }
        if (store.capacity_bytes && bytes > static_cast<double>(*store.capacity_bytes)) {
            return false;
        }
    }
    return true;
}

double energy_at(const Accelerator& a, std::size_t level, const TensorUse& tensor, bool reads) {
    const Operand o = operand_of(tensor);
    const Store* store = store_of(a.levels[level], o);
    if (store == nullptr) {
        return 0.0;
    }
    return static_cast<double>(tensor.elements) *
           (reads ? store->read_pj_of(o) : store->write_pj_of(o));
}

namespace {

double rate_of(const VectorUnit& unit, std::string_view function) {
    const auto found = std::find_if(unit.rates.begin(), unit.rates.end(),
                                    [&](const VectorRate& r) { return r.function == function; });
    return found == unit.rates.end() ? 0.0 : found->elements_per_lane;
}

double most_elements(const Work& work) {
    double most = 0.0;
    for (const TensorUse& tensor : work.tensors) {
        most = std::max(most, static_cast<double>(tensor.elements));
    }
    return most;
}

} // namespace

std::string vector_function(const Layer& layer) {
    const auto* pointwise = std::get_if<ElementwiseShape>(&layer.shape);
    return pointwise != nullptr ? pointwise->fn : std::string(op_name(layer.op));
}

VectorCost vector_cost(const Layer& layer, const Work& work, const Accelerator& a) {
    const VectorUnit& unit = *a.vector_unit;
    VectorCost cost;
    cost.resident = activations_stay(a, unit.level, work);
    double read = 0.0;
    double written = 0.0;
    for (const TensorUse& tensor : work.tensors) {
        const double bytes = at_rest(a, unit.level, tensor).bytes;
        (tensor.written ? written : read) += bytes;
        cost.energy_pj += energy_at(a, unit.level, tensor, !tensor.written);
        if (!cost.resident || operand_of(tensor) == Operand::weight) {
            const double outer = at_rest(a, 0, tensor).bytes;
            (tensor.written ? cost.outer.up : cost.outer.down)[index(operand_of(tensor))] += outer;
            cost.outer_bytes += outer;
            cost.energy_pj += unit.level == 0 ? 0.0 : energy_at(a, 0, tensor, !tensor.written);
            cost.energy_pj +=
                unit.level == 0 ? 0.0 : energy_at(a, unit.level, tensor, tensor.written);
        }
    }
    const double rate = rate_of(unit, vector_function(layer));
    const double operations = std::max(static_cast<double>(work.flops), most_elements(work));
    const auto lanes = static_cast<double>(unit.lanes);
    cost.compute_cycles = rate > 0.0 ? most_elements(work) / (lanes * rate) : operations / lanes;
    cost.port_cycles =
        std::max(read / unit.read_bytes_per_cycle, written / unit.write_bytes_per_cycle);
    cost.outer_cycles = passing_cycles(a.levels.front(), cost.outer);
    cost.level_bytes = read + written;
    cost.energy_pj += operations * unit.operation_pj;
    const double sum = cost.compute_cycles + cost.port_cycles + cost.outer_cycles;
    const double longest = std::max({cost.compute_cycles, cost.port_cycles, cost.outer_cycles});
    cost.cycles = std::max(1.0, unit.overlaps ? longest : sum);
    cost.wall = cost.outer_cycles > std::max(cost.compute_cycles, cost.port_cycles)
                    ? VectorWall::outer_memory
                : cost.port_cycles > cost.compute_cycles ? VectorWall::ports
                                                         : VectorWall::lanes;
    return cost;
}

} // namespace eyeroof::model
