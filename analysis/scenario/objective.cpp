// The objective of a search as a user types it.
#include "analysis/scenario/fields.hpp"
#include "base/suggest.hpp"

#include <fmt/format.h>

#include <charconv>

namespace eyeroof::analysis {

namespace {

constexpr double kMaxPower = 16.0;

Result<mapper::Objective> refused(const std::string& text, std::string_view part) {
    const std::string name(part.substr(0, part.find('^')));
    static const std::vector<std::string> names = {"latency", "energy", "edp", "delay"};
    const std::string near = closest(name, names);
    return Result<mapper::Objective>::failure(
        "usage",
        fmt::format("--objective '{}': '{}' is neither energy nor latency to a power", text, part),
        near.empty() || near == name ? "write latency, energy, edp, or for example energy^2*latency"
                                     : fmt::format("did you mean '{}'?", near));
}

// "^2" or nothing.
std::optional<double> power_of(std::string_view text) {
    if (text.empty()) {
        return 1.0;
    }
    double power = 0.0;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + 1, end, power);
    const bool number = text.front() == '^' && read.ec == std::errc{} && read.ptr == end;
    return number && power > 0.0 && power <= kMaxPower ? std::optional(power) : std::nullopt;
}

} // namespace

Result<mapper::Objective> parse_objective(const std::string& text) {
    mapper::Objective objective{0.0, 0.0};
    std::string_view rest = text;
    while (true) {
        const std::size_t star = rest.find('*');
        const std::string_view part = rest.substr(0, star);
        const std::size_t caret = std::min(part.find('^'), part.size());
        const std::string_view name = part.substr(0, caret);
        const auto power = power_of(part.substr(caret));
        const bool both = name == "edp";
        const bool energy = both || name == "energy";
        const bool delay = both || name == "latency" || name == "delay";
        if (!power || (!energy && !delay)) {
            return refused(text, part);
        }
        objective.energy_power += energy ? *power : 0.0;
        objective.delay_power += delay ? *power : 0.0;
        if (star == std::string_view::npos) {
            return Result<mapper::Objective>(objective);
        }
        rest.remove_prefix(star + 1);
    }
}

} // namespace eyeroof::analysis
