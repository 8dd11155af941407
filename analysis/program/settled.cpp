#include "analysis/program/settled.hpp"

#include <algorithm>

namespace eyeroof::analysis {

namespace {

void settle(model::MatmulTerms& terms, double power) {
    constexpr double kAtOnce = 1e-9;
    terms.sustained_clock = std::min(terms.sustained_clock, power);
    terms.settle_s = kAtOnce;
}

} // namespace

model::Machine settled_machine(model::Machine machine) {
    auto* gpu = std::get_if<model::Gpu>(&machine.kind);
    if (gpu == nullptr || gpu->arch == model::GpuArch::host) {
        return machine;
    }
    const double products = sustained_clock_share(*gpu, model::DataType::fp16);
    const double lanes = sustained_clock_share(*gpu, model::DataType::fp32);
    settle(gpu->calibration.tensor_gemm, products);
    settle(gpu->calibration.tensor_conv.matmul, products);
    settle(gpu->calibration.linear, lanes);
    settle(gpu->calibration.batched, lanes);
    settle(gpu->calibration.conv.matmul, lanes);
    return machine;
}

bool settles(const Scenario& scenario, const model::Machine& machine) {
    const auto* gpu = std::get_if<model::Gpu>(&machine.kind);
    return scenario.settled_clocks.value_or(scenario.training.has_value() ||
                                            (gpu != nullptr && gpu->capped));
}

Question as_it_runs(Question question) {
    if (settles(question.scenario, question.machine)) {
        question.machine = settled_machine(std::move(question.machine));
    }
    return question;
}

} // namespace eyeroof::analysis
