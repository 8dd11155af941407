#include "cli/fabric.hpp"

#include "hwdb/fabric_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace eyeroof::cli {

Result<model::Fabric> load_fabric(Context& context, const std::string& name,
                                  const std::string& machine) {
    const auto folders = context.machine_dirs();
    if (!name.empty()) {
        return hwdb::load_fabric(name, folders);
    }
    if (auto usual = machine.empty() ? std::nullopt : hwdb::usual_fabric(machine, folders)) {
        return *std::move(usual);
    }
    std::vector<std::string> names;
    for (const auto& entry : hwdb::list_fabrics(folders)) {
        names.push_back(entry.id);
    }
    return Result<model::Fabric>::failure(
        "usage",
        machine.empty()
            ? "several devices need --fabric FABRIC"
            : fmt::format("no fabric of the catalog is known to join {}: name one by --fabric",
                          machine),
        fmt::format("one of {}, or a file", fmt::join(names, ", ")));
}

model::Fabric one_device_alone() {
    model::Fabric alone;
    alone.id = "none";
    alone.name = "one device alone";
    alone.levels.resize(1);
    alone.levels.front().name = "device";
    alone.levels.front().size = 1;
    return alone;
}

} // namespace eyeroof::cli
