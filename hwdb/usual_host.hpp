// The host that a GPU usually stands in: the catalog's server of its generation.
#pragma once

#include "hwdb/catalog.hpp"
#include "model/gpu/step.hpp"

#include <string>

namespace eyeroof::hwdb {

struct NamedHost {
    std::string id;
    model::HostIssue issue;

    bool operator==(const NamedHost&) const = default;
};

// Of the hosts of the folders that say what an issue costs, the one whose `usual_of` names the GPU;
// else of those without such a list the newest that is not newer than the GPU (by launch year; the
// oldest where all are newer, or the GPU's year is not known). `id`: of the GPU. An empty id
// where there is none: hosts that cannot be read are passed over, `hw check` tells why.
NamedHost usual_host(const model::Gpu& gpu, Folders folders, const std::string& id = {});

// A host by name. Errors: those of load_machine; "not-a-host", "no-issue" where its file does not
// say what an issue costs.
Result<NamedHost> load_host(std::string_view name, Folders folders);

} // namespace eyeroof::hwdb
