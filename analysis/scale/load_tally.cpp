#include "analysis/scale/load_tally.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

namespace {

constexpr int kLeast = -40; // smaller values count as 2^-40 s
constexpr int kPowers = 72;
constexpr int kBins = 1024; // of a power of two

std::size_t bin_of(double value) {
    int power = 0;
    const double part = std::frexp(std::max(value, std::ldexp(1.0, kLeast)), &power); // 0.5 to 1
    const int place = std::clamp(power - 1 - kLeast, 0, kPowers - 1);
    const int within = std::clamp(static_cast<int>((part - 0.5) * 2.0 * kBins), 0, kBins - 1);
    return static_cast<std::size_t>(place) * kBins + static_cast<std::size_t>(within);
}

double middle_of(std::size_t bin) {
    const auto within = static_cast<double>(bin % kBins);
    return std::ldexp(1.0 + (within + 0.5) / kBins, kLeast + static_cast<int>(bin / kBins));
}

} // namespace

void LoadTally::count(double value) {
    ++bins_[bin_of(value)];
}

void LoadTally::add(double value) {
    sum_ += value;
    ++values_;
    if (!bins_.empty()) {
        count(value);
        return;
    }
    kept_.push_back(value);
    if (kept_.size() > kKept) {
        bins_.assign(static_cast<std::size_t>(kPowers) * kBins, 0);
        std::ranges::for_each(kept_, [this](double v) { count(v); });
        kept_ = {};
    }
}

double LoadTally::at(double share) const {
    const double rank = std::max(std::ceil(share * static_cast<double>(values_)), 1.0);
    if (bins_.empty()) {
        return kept_[static_cast<std::size_t>(rank) - 1];
    }
    std::uint64_t below = 0;
    std::size_t bin = 0;
    while (bin + 1 < bins_.size() && static_cast<double>(below + bins_[bin]) < rank) {
        below += bins_[bin++];
    }
    return middle_of(bin);
}

Percentiles LoadTally::percentiles() {
    if (values_ == 0) {
        return {};
    }
    std::ranges::sort(kept_);
    return {sum_ / static_cast<double>(values_), at(0.50), at(0.95), at(0.99), values_};
}

} // namespace eyeroof::analysis
