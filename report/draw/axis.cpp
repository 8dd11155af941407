#include "report/draw/axis.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace eyeroof::report {

namespace {

constexpr double kWidestWithMinorTicks = 9.0; // decades

std::string tick_label(double value, TickText text) {
    if (text == TickText::plain && value >= 0.9e-4 && value < 1.1e5) {
        return fmt::format("{:.4g}", value);
    }
    std::string label = format_si(value, "", 4);
    while (!label.empty() && label.back() == ' ') {
        label.pop_back();
    }
    return label;
}

// Numbers at every n-th power of ten.
std::vector<Tick> decade_ticks(const LogRange& range, int first, int last, int most,
                               TickText text) {
    const int stride = std::max(1, (last - first + most) / std::max(1, most));
    std::vector<Tick> ticks;
    for (int power = first; power <= last; ++power) {
        const double value = std::pow(10.0, power);
        const bool numbered = power % stride == 0;
        ticks.push_back({value, numbered ? tick_label(value, text) : "", true});
    }
    if (std::log10(range.max / range.min) > kWidestWithMinorTicks) {
        return ticks;
    }
    for (int power = first - 1; power <= last; ++power) {
        for (int digit = 2; digit <= 9; ++digit) {
            const double value = digit * std::pow(10.0, power);
            if (value >= range.min && value <= range.max) {
                ticks.push_back({value, "", false});
            }
        }
    }
    return ticks;
}

// Numbers at 1, 2 and 5 times powers of ten.
std::vector<Tick> one_two_five(const LogRange& range, TickText text) {
    std::vector<Tick> ticks;
    const int first = static_cast<int>(std::floor(std::log10(range.min)));
    for (int power = first; std::pow(10.0, power) <= range.max; ++power) {
        for (int digit = 1; digit <= 9; ++digit) {
            const double value = digit * std::pow(10.0, power);
            if (value >= range.min && value <= range.max) {
                const bool major = digit == 1 || digit == 2 || digit == 5;
                ticks.push_back({value, major ? tick_label(value, text) : "", major});
            }
        }
    }
    return ticks;
}

// Numbers at even steps, for ranges so narrow that the axis is nearly linear.
std::vector<Tick> even_ticks(const LogRange& range, int most, TickText text) {
    const double rough = (range.max - range.min) / std::max(2, most);
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    const double lead = rough / power;
    const double step = power * (lead <= 1.0 ? 1.0 : lead <= 2.0 ? 2.0 : lead <= 5.0 ? 5.0 : 10.0);
    std::vector<Tick> ticks;
    for (double n = std::ceil(range.min / step); n * step <= range.max; n += 1.0) {
        ticks.push_back({n * step, tick_label(n * step, text), true});
    }
    return ticks;
}

// All ticks in sight.
std::vector<Tick> ticks_in(const LogRange& range, int most, TickText text) {
    // A hair of tolerance keeps the tick at a range that ends exactly on a power.
    const int first = static_cast<int>(std::ceil(std::log10(range.min) - 1e-9));
    const int last = static_cast<int>(std::floor(std::log10(range.max) + 1e-9));
    if (last - first >= 1) {
        return decade_ticks(range, first, last, std::max(2, most), text);
    }
    std::vector<Tick> ticks = one_two_five(range, text);
    const auto numbers = std::count_if(ticks.begin(), ticks.end(),
                                       [](const Tick& tick) { return !tick.label.empty(); });
    return numbers >= 2 ? ticks : even_ticks(range, most, text);
}

} // namespace

LogRange around(double least, double most, TickText text) {
    constexpr double margin = 1.06;
    if (least > most) {
        return {};
    }
    const double end = text == TickText::whole ? std::max(most, 2.0 * least) : most;
    return legal({least / margin, end * margin});
}

LogRange legal(LogRange range) {
    const auto clamp = [](double value, double otherwise) {
        return std::isfinite(value) ? std::clamp(value, kAxisLeast, kAxisMost) : otherwise;
    };
    range.min = clamp(range.min, kAxisLeast);
    range.max = clamp(range.max, kAxisMost);
    if (range.min > range.max) {
        std::swap(range.min, range.max);
    }
    if (range.max / range.min < kNarrowestSpan) {
        const double middle = std::sqrt(range.min) * std::sqrt(range.max);
        range.min = middle / std::sqrt(kNarrowestSpan);
        range.max = middle * std::sqrt(kNarrowestSpan);
    }
    return range;
}

double to_unit(const LogRange& range, double value) {
    if (!(value > 0.0)) {
        return -std::numeric_limits<double>::infinity();
    }
    return std::log(value / range.min) / std::log(range.max / range.min);
}

double from_unit(const LogRange& range, double unit) {
    return range.min * std::exp(unit * std::log(range.max / range.min));
}

LogRange zoomed(const LogRange& range, double at, double factor) {
    const double narrowest = std::log(kNarrowestSpan) / std::log(range.max / range.min);
    const double used = std::max(factor, narrowest);
    return legal({at * std::pow(range.min / at, used), at * std::pow(range.max / at, used)});
}

LogRange panned(const LogRange& range, double share) {
    const double span = range.max / range.min;
    const double shift = std::clamp(std::pow(span, share), kAxisLeast / range.min,
                                    kAxisMost / range.max); // keeps the span at the ends
    return legal({range.min * shift, range.max * shift});
}

std::vector<Tick> ticks_of(const LogRange& range, int most, TickText text) {
    std::vector<Tick> ticks = ticks_in(range, most, text);
    if (text == TickText::whole) {
        std::erase_if(ticks, [](const Tick& tick) {
            return std::abs(tick.value - std::round(tick.value)) > 1e-9 * tick.value;
        });
    }
    return ticks;
}

} // namespace eyeroof::report
