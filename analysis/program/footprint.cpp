#include "analysis/program/footprint.hpp"

#include "analysis/program/gradients.hpp"

namespace eyeroof::analysis::step {

namespace {

// Numbers that an optimizer keeps for each parameter.
double states_of(std::string_view optimizer) {
    return optimizer == "adam" ? 2.0 : optimizer == "sgd" ? 0.0 : 1.0;
}

} // namespace

Precision precision_of(Regime regime, model::DataType type, std::string_view optimizer) {
    constexpr double kFp32 = 4.0;
    const double own = model::storage_bits(type) / 8.0;
    const double states = states_of(optimizer);
    switch (regime) {
    case Regime::usual:
        return {own, kFp32 * states + (keeps_fp32_weights(type) ? kFp32 : 0.0)};
    case Regime::mixed:
        return {own, kFp32 + kFp32 * states};
    case Regime::fp32_gradients:
        return {kFp32, kFp32 + kFp32 * states};
    case Regime::pure:
        return {own, own * states};
    case Regime::eight_bit:
        return {own, kFp32 + states};
    }
    return {};
}

} // namespace eyeroof::analysis::step
