// A machine with some parameters changed: read, named, made and written as a file of its own.
#include "analysis/what_if/parameters.hpp"
#include "base/meant_names.hpp"
#include "base/suggest.hpp"
#include "hwdb/accelerator_reader.hpp"
#include "hwdb/gpu_reader.hpp"

#include <fmt/format.h>

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
        if (parameter.key == change.key) {
            return change.key + "=" + value_text(parameter, change.value);
        }
    }
    return fmt::format("{}={}", change.key, change.value);
}

Result<Machine> changed(const Machine& machine, const std::vector<Change>& changes) {
    const auto parameters = parameters_of(machine);
    Machine result = machine;
    Diagnostics problems;
    for (const Change& change : changes) {
        const auto parameter = find(parameters, change.key, machine);
        problems.append(parameter.diagnostics());
        if (parameter) {
            (*parameter)->set(result, change.value);
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
    if (!changes.empty()) {
        result.name += " (changed)";
    }
    return Result<Machine>(std::move(result));
}

Result<Machine> changed(const Machine& machine, const std::vector<std::string>& texts) {
    std::vector<Change> changes;
    Diagnostics problems;
    for (const std::string& text : texts) {
        const auto change = parse_change(machine, text);
        problems.append(change.diagnostics());
        if (change) {
            changes.push_back(*change);
        }
    }
    return problems.has_errors() ? Result<Machine>(std::move(problems)) : changed(machine, changes);
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
