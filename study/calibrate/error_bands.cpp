#include "study/calibrate/error_bands.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace eyeroof::study {

namespace {

constexpr double kTail = 0.1;
constexpr double kNormal90 = 1.2816; // z(0.9)
constexpr std::size_t kEach = 500;   // rows of a GPU in a pooled quantile
constexpr double kDayToDay = 0.1;    // ln, of one GPU and library measured another day

// t(0.9, degrees of freedom) for 1 to 7; more differ from the last by a few percent.
constexpr std::array<double, 7> kStudent90 = {3.078, 1.886, 1.638, 1.533, 1.476, 1.440, 1.415};

// Order statistic at `rank`, counted from one, between the neighbours where it is not whole.
double at_rank(const std::vector<double>& ascending, double rank) {
    const double position =
        std::clamp(rank - 1.0, 0.0, static_cast<double>(ascending.size()) - 1.0);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, ascending.size() - 1);
    const double part = position - static_cast<double>(below);
    return ascending[below] * (1.0 - part) + ascending[above] * part;
}

double middle(const std::vector<double>& ascending) {
    return at_rank(ascending, 0.5 * (static_cast<double>(ascending.size()) + 1.0));
}

std::vector<double> sorted_logs(const std::vector<double>& ratios) {
    std::vector<double> logs;
    for (const double ratio : ratios) {
        logs.push_back(std::log(ratio));
    }
    std::sort(logs.begin(), logs.end());
    return logs;
}

double variance(const std::vector<double>& values) {
    double mean = 0.0;
    for (const double v : values) {
        mean += v / static_cast<double>(values.size());
    }
    double sum = 0.0;
    for (const double v : values) {
        sum += (v - mean) * (v - mean);
    }
    return sum / static_cast<double>(values.size() - 1);
}

// How much wider than the pooled quantiles: offsets of `n` GPUs against what they tell of another.
double stretch(double offset_variance, double scatter_variance, std::size_t n) {
    const auto count = static_cast<double>(n);
    const double t = kStudent90[std::min(n - 2, kStudent90.size() - 1)] / kNormal90;
    const double pooled = scatter_variance + offset_variance * (count - 1.0) / count;
    const double another = scatter_variance + offset_variance * t * t * (1.0 + 1.0 / count) +
                           kDayToDay * kDayToDay / (kNormal90 * kNormal90);
    return pooled > 0.0 ? std::sqrt(another / pooled) : 1.0;
}

} // namespace

Band band_of(std::vector<double> ratios) {
    std::sort(ratios.begin(), ratios.end());
    const double next = static_cast<double>(ratios.size()) + 1.0;
    return {at_rank(ratios, kTail * next), at_rank(ratios, (1.0 - kTail) * next)};
}

Band band_of_gpus(const std::vector<std::vector<double>>& gpus) {
    std::vector<double> pooled;
    std::vector<double> offsets;
    double scatter = 0.0;
    for (const std::vector<double>& ratios : gpus) {
        const std::vector<double> logs = sorted_logs(ratios);
        const double next = static_cast<double>(logs.size()) + 1.0;
        const double width = at_rank(logs, (1.0 - kTail) * next) - at_rank(logs, kTail * next);
        scatter += std::pow(width / (2.0 * kNormal90), 2) / static_cast<double>(gpus.size());
        offsets.push_back(middle(logs));
        for (std::size_t i = 0; i < kEach; ++i) {
            pooled.push_back(logs[i * logs.size() / kEach]);
        }
    }
    std::sort(pooled.begin(), pooled.end());
    const double count = static_cast<double>(pooled.size());
    const Band band{std::exp(at_rank(pooled, kTail * count)),
                    std::exp(at_rank(pooled, (1.0 - kTail) * count))};
    if (gpus.size() == 1) {
        return doubled(band);
    }
    const double wider = stretch(variance(offsets), scatter, gpus.size());
    const double centre = middle(pooled);
    return {std::exp(centre - wider * (centre - std::log(band.low))),
            std::exp(centre + wider * (std::log(band.high) - centre))};
}

Band doubled(const Band& band) {
    return {std::min(band.low * band.low, band.low), std::max(band.high * band.high, band.high)};
}

} // namespace eyeroof::study
