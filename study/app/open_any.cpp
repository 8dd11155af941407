#include "study/app/open_any.hpp"

#include "profiles/import/importer.hpp"
#include "study/formats/any_machine.hpp"
#include "study/formats/assignments.hpp"
#include "study/formats/catalog.hpp"
#include "study/formats/ceilings.hpp"
#include "study/formats/file_kind.hpp"

namespace eyeroof::study {

namespace {

using Answer = model::Result<Opened>;

template <class T> Answer as_opened(model::Result<T> read) {
    return read ? Answer(Opened(*std::move(read)), read.diagnostics()) : Answer(read.diagnostics());
}

// A profile may hold ceilings and no kernels.
Answer open_profile(const std::string& path) {
    auto profile = profiles::import_file(path);
    if (profile && profile->launches.empty() && !profile->ceilings.empty()) {
        return Answer(Ceilings{*std::move(profile)});
    }
    return as_opened(std::move(profile));
}

Answer open_ceilings(const std::string& path) {
    auto read = load_ceilings(path);
    return read ? Answer(Ceilings{*std::move(read)}, read.diagnostics())
                : Answer(read.diagnostics());
}

Answer open_trials(const std::string& path) {
    auto read = tune::load_trials(path);
    return read ? Answer(Trials{*std::move(read)}, read.diagnostics()) : Answer(read.diagnostics());
}

} // namespace

Answer open_any(const std::string& path, const std::vector<std::filesystem::path>& machine_folders,
                const std::vector<std::filesystem::path>& network_folders) {
    const auto kind = read::kind_of_file(path);
    if (!kind) {
        return Answer(kind.diagnostics());
    }
    switch (*kind) {
    case read::FileKind::session:
        return as_opened(load_session(path));
    case read::FileKind::machine:
        return as_opened(read::load_any_machine(path, machine_folders));
    case read::FileKind::network:
        return as_opened(read::load_network(path, network_folders));
    case read::FileKind::profile:
        return open_profile(path);
    case read::FileKind::ceilings:
        return open_ceilings(path);
    case read::FileKind::assignments:
        return as_opened(load_assignments(path));
    case read::FileKind::trials:
        return open_trials(path);
    }
    return Answer::failure("unknown-file", "this is nothing that can be opened",
                           "a session, network, machine, trace, profile or table of layers can");
}

} // namespace eyeroof::study
