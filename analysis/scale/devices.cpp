// Numbers of devices as a command line names them, and what they draw and cost.
#include "analysis/scale/scale.hpp"
#include "model/machine/board.hpp"

#include <charconv>

namespace eyeroof::analysis {

namespace {

std::optional<Count> number(std::string_view text) {
    Count value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && stop == text.data() + text.size();
    return whole && value >= 1 && value <= model::kMaxDevices ? std::optional(value) : std::nullopt;
}

Result<std::vector<Count>> bad(const std::string& text) {
    return Result<std::vector<Count>>::failure(
        "bad-devices", "'" + text + "' is no number of devices",
        "as in --devices 64, --devices 8,24,96 or --devices 8..4096 (doubling); 1 to " +
            std::to_string(model::kMaxDevices));
}

} // namespace

void add_board(const model::Machine& machine, ScalePoint& point) {
    const auto devices = static_cast<double>(point.devices);
    if (const double watts = model::tdp_of(machine); watts > 0.0) {
        point.watts = watts * devices;
    }
    if (const auto rent = model::lowest_rent(model::price_of(machine))) {
        point.usd_per_hour = *rent * devices;
    }
}

Result<std::vector<Count>> parse_devices(const std::string& text) {
    const auto dots = text.find("..");
    std::vector<Count> devices;
    if (dots != std::string::npos) {
        const auto from = number(std::string_view(text).substr(0, dots));
        const auto to = number(std::string_view(text).substr(dots + 2));
        if (!from || !to || *from > *to) {
            return bad(text);
        }
        for (Count d = *from; d <= *to; d *= 2) {
            devices.push_back(d);
        }
        if (devices.back() != *to) {
            devices.push_back(*to);
        }
        return devices;
    }
    std::size_t at = 0;
    while (at <= text.size()) {
        const auto comma = std::min(text.find(',', at), text.size());
        const auto one = number(std::string_view(text).substr(at, comma - at));
        if (!one) {
            return bad(text);
        }
        devices.push_back(*one);
        at = comma + 1;
    }
    return devices;
}

} // namespace eyeroof::analysis
