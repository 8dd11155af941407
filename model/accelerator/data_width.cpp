#include "model/accelerator/data_width.hpp"

#include "base/checked.hpp"

#include <algorithm>
#include <limits>

namespace eyeroof::model {

namespace {

int partial_bits(const Problem& problem, const Accelerator& accelerator, std::size_t level,
                 Operand o) {
    const int rest = bits_at(accelerator, level, o);
    return o == problem.produced ? std::max(rest, accelerator.word_bits[index(o)]) : rest;
}

} // namespace

DataWidth stored_width(const Problem& problem, const Accelerator& accelerator, std::size_t level,
                       Operand operand) {
    return {bits_at(accelerator, level, operand) / 8.0,
            partial_bits(problem, accelerator, level, operand) / 8.0};
}

DataWidth sent_width(const Problem& problem, const Accelerator& accelerator, std::size_t level,
                     const Channel& channel, Operand operand) {
    const double zeros = problem.zeros[index(operand)];
    return {bytes_per_word(channel, bits_at(accelerator, level, operand), zeros),
            bytes_per_word(channel, partial_bits(problem, accelerator, level, operand), zeros)};
}

Count held_words(const Problem& problem, Operand operand, const Extents& tile, Counting counting) {
    if (counting == Counting::eyeroof || operand != Operand::input ||
        problem.form == ConvForm::scatter) {
        return tile_elements(problem, operand, tile);
    }
    const auto at = [&](Dim d) { return tile[index(d)]; };
    const auto span = [&](Dim along, Dim tap, Count stride, Count dilation) {
        return (at(along) - 1) * stride + (at(tap) - 1) * dilation + 1;
    };
    return checked_product({at(Dim::N), at(Dim::G), at(Dim::C),
                            span(Dim::P, Dim::R, problem.stride.h, problem.dilation.h),
                            span(Dim::Q, Dim::S, problem.stride.w, problem.dilation.w)})
        .value_or(std::numeric_limits<Count>::max());
}

std::optional<Count> bytes_in(const Store& store, Count words, int bits) {
    const auto all = checked_mul(words, static_cast<Count>(bits));
    if (!all) {
        return std::nullopt;
    }
    const Count banks = ceil_div(ceil_div(*all, 8), store.bank_bytes);
    return checked_product({banks, store.bank_bytes, store.buffers});
}

std::optional<Count> held_bytes(const Problem& problem, const Accelerator& accelerator,
                                std::size_t level, const Store& store, OperandSet keeps,
                                const Extents& tile, Counting counting) {
    std::optional<Count> total = 0;
    for (const Operand o : kAllOperands) {
        const bool there = o != Operand::weight || problem.has_weight;
        if (!there || !store.operands.contains(o) || !keeps.contains(o)) {
            continue;
        }
        const auto bytes =
            bytes_in(store, held_words(problem, o, tile, counting), bits_at(accelerator, level, o));
        total = total && bytes ? checked_add(*total, *bytes) : std::nullopt;
    }
    return total;
}

} // namespace eyeroof::model
