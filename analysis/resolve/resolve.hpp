// From a scenario to a question: the network, machine, host and files that it names.
#pragma once

#include "analysis/scenario/question.hpp"
#include "base/result.hpp"
#include "formats/timeloop.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace eyeroof::analysis {

// Where names are looked for, nearest first.
struct DataFolders {
    std::vector<std::filesystem::path> machines; // with accelerators/, gpus/ and hosts/ in them
    std::vector<std::filesystem::path> networks;
};

// The network that a name stands for, with values of its open sizes or parameters ("seq=512").
// Errors: "bad-parameter"; the catalog's.
Result<model::NetworkGraph> load_workload(const std::string& name,
                                          const std::vector<std::string>& sizes,
                                          const DataFolders& folders);

// What launches a machine's kernels: by name, or the server of a GPU's years. Errors: those of
// load_host(). Nothing for accelerators and host processors.
struct NamedIssue {
    model::HostIssue issue;
    std::string id;
};
Result<NamedIssue> load_issue(const std::string& name, const model::Machine& machine,
                              const DataFolders& folders);

// Everything that the scenario names. Errors, all at once: those of the network, machine, changes,
// host, mapping file and constraints; "usage" for a mapping file on a GPU and for constraints where
// no mapping is searched.
Result<Question> resolve(const Scenario& scenario, const DataFolders& folders);
// The same with a network that is loaded already.
Result<Question> resolve(const Scenario& scenario, model::NetworkGraph network,
                         const DataFolders& folders);

// What a Timeloop problem calls its dimensions; those of its cnn-layer for all other workloads.
formats::TimeloopNames workload_names(const std::string& name);

// The constraints of a Timeloop architecture file itself, and on top of them those of `file`
// (empty: none). Errors: "no-constraints"; the reader's.
Result<formats::PlacedConstraints> load_constraints(const std::string& file,
                                                    const std::string& machine_name,
                                                    const model::Machine& machine,
                                                    const formats::TimeloopNames& names);

} // namespace eyeroof::analysis
