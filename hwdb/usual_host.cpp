#include "hwdb/usual_host.hpp"

#include "hwdb/yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace eyeroof::hwdb {

namespace {

// Of a host's file.
std::vector<std::string> usual_of(const std::filesystem::path& file) {
    std::vector<std::string> machines;
    auto document = load_yaml(file);
    const Node usual = document ? document->root()["usual_of"] : Node();
    for (const Node& machine : usual ? usual.items(1) : std::vector<Node>{}) {
        machines.push_back(machine.text().value_or(""));
    }
    return machines;
}

} // namespace

NamedHost usual_host(const model::Gpu& gpu, Folders folders, const std::string& id) {
    NamedHost best;
    int best_year = 0;
    for (const CatalogEntry& entry : list_machines(folders)) {
        const auto machine = entry.family == "hosts" ? load_machine_file(entry.file)
                                                     : Result<model::Machine>::failure("", "");
        const auto* host = machine ? std::get_if<model::Gpu>(&machine->kind) : nullptr;
        if (host == nullptr || !host->issue.known()) {
            continue;
        }
        if (const auto machines = usual_of(entry.file); !machines.empty()) {
            if (std::ranges::find(machines, id) != machines.end()) {
                return {entry.id, host->issue};
            }
            continue;
        }
        const int year = host->launch_year;
        const bool old_enough = year <= gpu.launch_year;
        const bool best_old_enough = best_year <= gpu.launch_year;
        const bool better = old_enough ? !best_old_enough || year > best_year
                                       : !best_old_enough && year < best_year;
        if (best.id.empty() || better) {
            best = {entry.id, host->issue};
            best_year = year;
        }
    }
    return best;
}

Result<NamedHost> load_host(std::string_view name, Folders folders) {
    const auto machine = load_machine(name, folders);
    if (!machine) {
        return machine.diagnostics();
    }
    const auto* host = std::get_if<model::Gpu>(&machine->kind);
    if (host == nullptr || host->arch != model::GpuArch::host) {
        return Result<NamedHost>::failure("not-a-host", fmt::format("{} is no host", machine->id),
                                          "`eyeroof hw list` has the hosts, such as server-2x64");
    }
    if (!host->issue.known()) {
        return Result<NamedHost>::failure(
            "no-issue", fmt::format("{} does not say what issuing a kernel costs", machine->id),
            "its file may have `issue: {call: 40 us, gradient: 16 us, launch: 3 us, graph: 1 us}`");
    }
    return NamedHost{machine->id, host->issue};
}

} // namespace eyeroof::hwdb
