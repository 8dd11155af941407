#include "profiles/ceilings.hpp"

#include <fmt/format.h>

namespace eyeroof::profiles {

namespace {

std::string quoted(std::string text) {
    std::erase_if(text, [](char c) {
        return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20U;
    });
    return '"' + text + '"';
}

struct CeilingUnit {
    const char* name;
    double per_base;
};

CeilingUnit unit_of(const Ceiling& ceiling) {
    return !ceiling.level.empty()       ? CeilingUnit{"GB/s", 1e-9}
           : !ceiling.precision.empty() ? CeilingUnit{"GFLOP/s", 1e-9}
                                        : CeilingUnit{"ns", 1e9};
}

std::string header(const RunInfo& run) {
    std::string text = "eyeroof_ceilings: 1\n";
    const std::pair<const char*, const std::string*> texts[] = {{"machine", &run.gpu},
                                                                {"date", &run.date},
                                                                {"driver", &run.driver},
                                                                {"cuda", &run.cuda},
                                                                {"host", &run.host}};
    for (const auto& [key, value] : texts) {
        text += value->empty() ? "" : fmt::format("{}: {}\n", key, quoted(*value));
    }
    const auto number = [&](const char* key, double value, const char* unit) {
        text += value > 0.0 ? fmt::format("{}: {:.6g} {}\n", key, value, unit) : "";
    };
    number("sm_clock", run.sm_clock_hz * 1e-6, "MHz");
    number("memory_clock", run.memory_clock_hz * 1e-6, "MHz");
    number("power_limit", run.power_limit_w, "W");
    number("power", run.power_w, "W");
    text +=
        run.temperature_c > 0.0 ? fmt::format("temperature_c: {:.0f}\n", run.temperature_c) : "";
    const std::string source = run.tool + (run.command.empty() ? "" : ": " + run.command);
    return text + (source.empty() ? "" : fmt::format("source: {}\n", quoted(source)));
}

} // namespace

std::string ceilings_yaml(const Profile& profile) {
    std::string text = header(profile.run) + "ceilings:\n";
    for (const Ceiling& ceiling : profile.ceilings) {
        text += fmt::format("  - name: {}\n", quoted(ceiling.name));
        for (const auto& [key, value] :
             {std::pair{"level", ceiling.level}, std::pair{"precision", ceiling.precision},
              std::pair{"pipe", ceiling.pipe}}) {
            text += value.empty() ? "" : fmt::format("    {}: {}\n", key, value);
        }
        const CeilingUnit unit = unit_of(ceiling);
        text += fmt::format("    value: {:.6g} {}\n    median: {:.6g} {}\n",
                            ceiling.value * unit.per_base, unit.name,
                            ceiling.median * unit.per_base, unit.name);
        text += fmt::format(
            "    spread: {:.3g}\n    trials: {}\n    confidence: measured\n    how: {}\n",
            ceiling.spread, ceiling.trials, quoted(ceiling.how));
    }
    return text;
}

} // namespace eyeroof::profiles
