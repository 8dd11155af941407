#include "analysis/calibrate/error_bands.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace eyeroof::analysis {

namespace {

constexpr double kTail = 0.1;
constexpr double kNormal90 = 1.2816; // z(0.9)
constexpr std::size_t kEach = 500;   // rows of a GPU in a pooled quantile
constexpr double kDayToDay = 0.1;    // ln, of one GPU and library measured another day (to 90 %)

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

// t(0.9, n) / z(0.9) sqrt(1 + 1/n), between whole n linearly.
double student(double n) {
    const auto whole = [](std::size_t k) {
        return kStudent90[std::min(std::max<std::size_t>(k, 1) - 1, kStudent90.size() - 1)];
    };
    const auto below = static_cast<std::size_t>(n);
    const double part = n - static_cast<double>(below);
    const double t = whole(below) * (1.0 - part) + whole(below + 1) * part;
    return t / kNormal90 * std::sqrt(1.0 + 1.0 / n);
}

} // namespace

Band band_of(std::vector<double> ratios) {
    std::sort(ratios.begin(), ratios.end());
    const double next = static_cast<double>(ratios.size()) + 1.0;
    return {at_rank(ratios, kTail * next), at_rank(ratios, (1.0 - kTail) * next)};
}

Band another_day(const std::vector<double>& ratios) {
    const Band today = band_of(ratios);
    const std::vector<double> logs = sorted_logs(ratios);
    const double centre = middle(logs);
    return {std::exp(centre - std::hypot(centre - std::log(today.low), kDayToDay)),
            std::exp(centre + std::hypot(std::log(today.high) - centre, kDayToDay))};
}

namespace {

using Logs = std::vector<std::vector<double>>; // of each GPU, ascending

// In ln; `but`: a GPU that is not counted.
Band offset_and_scatter(const Logs& gpus, std::size_t but) {
    std::vector<double> scatter; // of each GPU's rows about its own median
    double squares = kUsualGpus * kUsualOffset * kUsualOffset;
    double sum = 0.0;
    double seen = kUsualGpus;
    for (std::size_t g = 0; g < gpus.size(); ++g) {
        if (g == but) {
            continue;
        }
        const std::vector<double>& logs = gpus[g];
        seen += 1.0;
        const double offset = middle(logs);
        squares += offset * offset;
        sum += offset;
        for (std::size_t i = 0; i < kEach; ++i) {
            scatter.push_back(logs[i * logs.size() / kEach] - offset);
        }
    }
    std::sort(scatter.begin(), scatter.end());
    const double centre = sum / seen;
    const double offset = student(seen) * std::sqrt(squares / seen - centre * centre);
    const double own = std::hypot(kNormal90 * offset, kDayToDay);
    const double count = static_cast<double>(scatter.size());
    return {centre - std::hypot(at_rank(scatter, kTail * count), own),
            centre + std::hypot(at_rank(scatter, (1.0 - kTail) * count), own)};
}

// 80 % of the GPUs' rows lie within so many half widths of the band that the other GPUs give.
double conformal_width(const Logs& gpus) {
    constexpr std::size_t kScored = 100; // rows of each
    std::vector<double> scores;
    for (std::size_t g = 0; g < gpus.size(); ++g) {
        const Band others = offset_and_scatter(gpus, g);
        const double middle = 0.5 * (others.low + others.high);
        for (std::size_t i = 0; i < kScored; ++i) {
            const double at = gpus[g][i * gpus[g].size() / kScored];
            scores.push_back(std::fabs(at - middle) / (others.high - middle));
        }
    }
    std::sort(scores.begin(), scores.end());
    const auto n = static_cast<double>(gpus.size());
    const double count = static_cast<double>(scores.size());
    return std::pow(at_rank(scores, (1.0 - 2.0 * kTail) * count), n / (n + kUsualGpus));
}

} // namespace

Band band_of_gpus(const std::vector<std::vector<double>>& gpus) {
    Logs logs;
    for (const std::vector<double>& ratios : gpus) {
        logs.push_back(sorted_logs(ratios));
    }
    const Band band = offset_and_scatter(logs, logs.size());
    const double middle = 0.5 * (band.low + band.high);
    const double width = logs.size() > 1 ? conformal_width(logs) : 1.0;
    return {std::exp(middle - width * (middle - band.low)),
            std::exp(middle + width * (band.high - middle))};
}

Band doubled(const Band& band) {
    return {std::min(band.low * band.low, band.low), std::max(band.high * band.high, band.high)};
}

} // namespace eyeroof::analysis
