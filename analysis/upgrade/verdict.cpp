#include "analysis/upgrade/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace eyeroof::analysis {

namespace {

constexpr double kNormal90 = 1.2816;
constexpr int kPriorFamilies = 4; // that the spread of all kinds counts in one

double degrees(int families) {
    return static_cast<double>(std::max(families, 1) + kPriorFamilies - 1);
}

bool is_mixed(model::DataType type) {
    return model::storage_bits(type) < model::storage_bits(model::DataType::fp32);
}

} // namespace

model::DataType main_type(const model::Network& network) {
    std::map<model::DataType, double> macs;
    for (const model::Layer& layer : network.layers) {
        const auto work = model::work_of(layer);
        macs[layer.types.input] +=
            work ? static_cast<double>(work->macs) * static_cast<double>(layer.count) : 0.0;
    }
    const auto most = std::max_element(
        macs.begin(), macs.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == macs.end() ? model::DataType::fp16 : most->first;
}

std::string transfer_kind(const model::Network& network, bool training,
                          const std::optional<model::DataType>& from,
                          const std::optional<model::DataType>& to) {
    const model::DataType own = main_type(network);
    const bool mixed = is_mixed(from.value_or(own)) && is_mixed(to.value_or(own));
    return std::string(training ? "training" : "inference") + (mixed ? " mixed" : " full");
}

double transferred_sigma(const model::Transfer& transfer, const model::TransferKind& kind,
                         double operator_sigma) {
    const double own = transfer.share * operator_sigma;
    const double more = own * own - transfer.operators * transfer.operators;
    return std::sqrt(kind.spread * kind.spread + std::max(0.0, more));
}

double student_below(double x, int families) {
    const double v = degrees(families);
    const double z = x * (1.0 - 1.0 / (4.0 * v)) / std::sqrt(1.0 + x * x / (2.0 * v));
    return 0.5 * std::erfc(-z / std::sqrt(2.0));
}

double student_90(int families) {
    const double v = degrees(families);
    const double shrunk = 1.0 - 1.0 / (4.0 * v);
    return kNormal90 / std::sqrt(shrunk * shrunk - kNormal90 * kNormal90 / (2.0 * v));
}

double chance_of_wrong(double distance, double sigma, int families) {
    if (sigma > 0.0 && std::isfinite(distance)) {
        return student_below(-std::fabs(distance) / sigma, families);
    }
    return distance == 0.0 ? 0.5 : 0.0;
}

UpgradeVerdict verdict_of(double distance, double sigma, int families, double confidence) {
    if (sigma == 0.0 && distance == 0.0) {
        return UpgradeVerdict::equal;
    }
    if (chance_of_wrong(distance, sigma, families) > 1.0 - confidence) {
        return UpgradeVerdict::undecided;
    }
    return distance > 0.0 ? UpgradeVerdict::pays_off : UpgradeVerdict::does_not;
}

} // namespace eyeroof::analysis
