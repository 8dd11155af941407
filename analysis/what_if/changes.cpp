// A machine with some parameters changed: read, named, made and written as a file of its own.
#include "analysis/scenario/power_cap.hpp"
#include "analysis/what_if/parameters.hpp"
#include "base/meant_names.hpp"
#include "base/suggest.hpp"
#include "hwdb/accelerator_reader.hpp"
#include "hwdb/gpu_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis {

using model::Gpu;
using model::Machine;

namespace {

// Of several that have the word, all: "bandwidth" is that of the DRAM and of each cache.
std::string hint_of(std::string_view key, const std::vector<std::string>& keys) {
    const MeantNames meant = meant_names(key, keys, Where::anywhere);
    if (!meant.complete || meant.sure) {
        return suggestion(key, keys, 40);
    }
    std::string list;
    for (const std::string& name : meant.names) {
        list += (list.empty() ? "which one: " : ", ") + name;
    }
    return list;
}

bool sets_clock(const Change& change) {
    return change.key.ends_with("clock");
}

std::string_view changed_parameter(const Change& change) {
    return change.key == kPowerCap ? "power-limit" : std::string_view(change.key);
}

Result<const Parameter*> find(const std::vector<Parameter>& parameters, std::string_view key,
                              const Machine& machine) {
    std::vector<std::string> keys;
    const std::string wanted = parameter_key(key);
    for (const Parameter& parameter : parameters) {
        if (parameter_key(parameter.key) == wanted) {
            return Result<const Parameter*>(&parameter);
        }
        keys.push_back(parameter.key);
    }
    return Result<const Parameter*>::failure(
        "unknown-parameter", fmt::format("{} has no parameter '{}'", machine.name, key),
        hint_of(key, keys));
}

// Only the clocks of a GPU are modeled under power, and none runs below a tenth of its limit.
Result<Change> parse_power_cap(const Machine& machine, const std::string& text) {
    constexpr double kLeastShare = 0.1; // unsourced
    const auto* gpu = std::get_if<Gpu>(&machine.kind);
    if (gpu == nullptr || gpu->arch == model::GpuArch::host || gpu->tdp_w <= 0.0) {
        return Result<Change>::failure(
            "no-power-cap", fmt::format("{} takes no power cap", machine.name),
            "cap a GPU whose power limit is known: its clocks follow its power");
    }
    const auto parameters = parameters_of(machine); // limit points into it
    const auto limit = find(parameters, "power-limit", machine);
    const auto value = parse_value(**limit, text);
    if (!value) {
        return Result<Change>(value.diagnostics());
    }
    const double least = kLeastShare * gpu->tdp_w;
    return *value < least ? Result<Change>::failure(
                                "bad-value",
                                fmt::format("{} is less than a tenth of the power limit of {}",
                                            value_text(**limit, *value), machine.name),
                                fmt::format("cap it at {} or more", value_text(**limit, least)))
                          : Result<Change>(Change{std::string(kPowerCap), *value});
}

} // namespace

Result<Change> parse_change(const model::Machine& machine, std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) {
        return Result<Change>::failure("bad-change", fmt::format("'{}' sets nothing", text),
                                       "write parameter=value, for example clock=1 GHz");
    }
    const auto trimmed = [](std::string_view part) {
        const std::size_t from = part.find_first_not_of(' ');
        const std::size_t to = part.find_last_not_of(' ');
        return from == std::string_view::npos ? std::string_view{}
                                              : part.substr(from, to - from + 1);
    };
    if (const auto cap = power_cap_of(text)) {
        return parse_power_cap(machine, *cap);
    }
    const auto parameters = parameters_of(machine);
    const auto parameter = find(parameters, trimmed(text.substr(0, equals)), machine);
    if (!parameter) {
        return Result<Change>(parameter.diagnostics());
    }
    const auto value = parse_value(**parameter, trimmed(text.substr(equals + 1)));
    return value ? Result<Change>(Change{(*parameter)->key, *value})
                 : Result<Change>(value.diagnostics());
}

std::string change_text(const model::Machine& machine, const Change& change) {
    for (const Parameter& parameter : parameters_of(machine)) {
        if (parameter.key == changed_parameter(change)) {
            return change.key + "=" + value_text(parameter, change.value);
        }
    }
    return fmt::format("{}={}", change.key, change.value);
}

Result<Machine> changed(const Machine& machine, const std::vector<Change>& changes) {
    const auto parameters = parameters_of(machine);
    Machine result = machine;
    Diagnostics problems;
    std::vector<Change> in_order = changes; // a cap last: it holds below a limit that is set
    std::ranges::stable_partition(in_order, [](const Change& c) { return c.key != kPowerCap; });
    std::ranges::stable_partition(in_order, sets_clock);
    for (const Change& change : in_order) {
        const auto parameter = find(parameters, changed_parameter(change), machine);
        problems.append(parameter.diagnostics());
        if (parameter) {
            const auto* gpu = std::get_if<Gpu>(&result.kind);
            const bool caps = change.key == kPowerCap && gpu != nullptr;
            (*parameter)->set(result, caps ? std::min(change.value, gpu->tdp_w) : change.value);
            for (const std::string& field :
                 (*parameter)->fields) { // no longer what its source says
                result.provenance[field] = {"changed by the user; not " + machine.name + "'s",
                                            Confidence::user};
            }
        }
    }
    problems.append(std::visit([](const auto& kind) { return validate(kind); }, result.kind));
    if (problems.has_errors()) {
        return Result<Machine>(std::move(problems));
    }
    constexpr std::string_view kChanged = " (changed)";
    if (!changes.empty() && !result.name.ends_with(kChanged)) {
        result.name += kChanged;
    }
    return Result<Machine>(std::move(result));
}

Result<Machine> changed(const Machine& machine, const std::vector<std::string>& texts) {
    std::vector<Change> changes;
    Diagnostics problems;
    Machine clocked = machine; // whose cycles the other changes count in
    for (const bool clocks : {true, false}) {
        for (const std::string& text : texts) {
            const auto change = parse_change(clocked, text);
            if (!clocks) {
                problems.append(change.diagnostics());
            }
            if (change && sets_clock(*change) == clocks) {
                changes.push_back(*change);
            }
        }
        if (auto faster = changed(machine, changes); clocks && faster) {
            clocked.kind = std::move(faster->kind);
        }
    }
    return problems.has_errors() ? Result<Machine>(std::move(problems)) : changed(machine, changes);
}

std::optional<Machine> uncapped(const Machine& machine, const std::vector<std::string>& texts) {
    std::vector<std::string> others = texts;
    std::erase_if(others, is_power_cap);
    if (others.size() == texts.size()) {
        return std::nullopt;
    }
    auto free = changed(machine, others);
    const auto capped = changed(machine, texts);
    const auto limit_w = [](const Machine& one) {
        const auto* gpu = std::get_if<Gpu>(&one.kind);
        return gpu != nullptr ? gpu->tdp_w : 0.0;
    };
    return free && capped && limit_w(*free) > limit_w(*capped) ? std::optional(*std::move(free))
                                                               : std::nullopt;
}

std::string changed_machine_yaml(const Machine& origin, const std::vector<Change>& changes,
                                 const std::string& id) {
    auto result = changed(origin, changes);
    Machine machine = result ? *std::move(result) : origin;
    machine.id = id;
    machine.name = id;
    machine.summary = fmt::format("{} with", origin.name);
    for (const Change& change : changes) {
        machine.summary += " " + change_text(origin, change);
    }
    return std::holds_alternative<Gpu>(machine.kind) ? hwdb::write_gpu(machine, id, origin.id)
                                                     : hwdb::write_accelerator(machine);
}

} // namespace eyeroof::analysis
