#include "analysis/exam/word_types.hpp"

#include "model/accelerator/type_rate.hpp"

#include <fmt/format.h>

#include <limits>
#include <set>
#include <string>

namespace eyeroof::analysis {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

std::string words_text(const Accelerator& accelerator) {
    const auto& bits = accelerator.word_bits;
    const int input = bits[index(Operand::input)];
    const int weight = bits[index(Operand::weight)];
    return input == weight ? fmt::format("{}-bit data", input)
                           : fmt::format("inputs of {} and weights of {} bit", input, weight);
}

bool fits(DataType type, const Accelerator& accelerator, Operand o) {
    const bool scaled = block_scale(type).elements > 0; // words have no scales beside them
    return storage_bits(type) == accelerator.word_bits[index(o)] &&
           (!scaled || accelerator.type == type);
}

std::string other_types(const Accelerator& accelerator) {
    std::string names;
    for (const TypeRate& rate : accelerator.type_rates) {
        names += (names.empty() ? "" : ", ") + std::string(data_type_name(rate.type));
    }
    return names.empty() ? "" : " and " + names;
}

Diagnostics check_filters(const Network& network, const Machine& machine,
                          const Accelerator& accelerator) {
    const Count most_r = accelerator.max_filter_height.value_or(std::numeric_limits<Count>::max());
    const Count most_s = accelerator.max_filter_width.value_or(std::numeric_limits<Count>::max());
    const ConvShape* first = nullptr;
    std::size_t layers = 0;
    for (const Layer& layer : network.layers) {
        const auto* conv = std::get_if<ConvShape>(&layer.shape);
        if (conv != nullptr && (conv->r > most_r || conv->s > most_s)) {
            first = first == nullptr ? conv : first;
            ++layers;
        }
    }
    Diagnostics found;
    const auto size = [](std::optional<Count> most) {
        return most ? std::to_string(*most) : "any";
    };
    if (layers > 0) {
        found.warning("max-filter",
                      fmt::format("{} layer{} a larger filter ({} x {}) than {} supports ({} x {})",
                                  layers, layers == 1 ? " has" : "s have", first->r, first->s,
                                  machine.name, size(accelerator.max_filter_height),
                                  size(accelerator.max_filter_width)));
    }
    return found;
}

} // namespace

bool computes_with(const Machine& machine, DataType type) {
    const auto* gpu = std::get_if<Gpu>(&machine.kind);
    return gpu != nullptr
               ? gpu->rate(type).flops_per_s > 0.0
               : fits(type, with_type(std::get<Accelerator>(machine.kind), type), Operand::input);
}

Diagnostics check_types(const Network& network, const Machine& machine,
                        const Accelerator& accelerator, std::optional<DataType> asked) {
    Diagnostics found = check_filters(network, machine, accelerator);
    if (asked) {
        if (!fits(*asked, accelerator, Operand::input)) {
            found.error(
                "unsupported-type",
                fmt::format("{} computes with {}{}, {} has {}{}", machine.name,
                            words_text(accelerator), other_types(accelerator),
                            data_type_name(*asked), storage_bits(*asked),
                            block_scale(*asked).elements > 0 ? " and a scale for each block" : ""),
                "leave the type away, or change `words` in a copy of the machine");
        }
        return found;
    }
    std::set<std::string> others;
    std::size_t layers = 0;
    for (const Layer& layer : network.layers) {
        const auto work = work_of(layer);
        if (work && work->macs > 0 && !fits(layer.types.input, accelerator, Operand::input)) {
            others.insert(std::string(data_type_name(layer.types.input)));
            ++layers;
        }
    }
    if (layers > 0) {
        std::string types;
        for (const std::string& type : others) {
            types += (types.empty() ? "" : ", ") + type;
        }
        found.warning("other-words",
                      fmt::format("{} {} layer{} evaluated as {}, the only type of {}", layers,
                                  types, layers == 1 ? " is" : "s are", words_text(accelerator),
                                  machine.name));
    }
    return found;
}

} // namespace eyeroof::analysis
