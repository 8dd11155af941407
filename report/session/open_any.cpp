#include "report/session/open_any.hpp"

#include "formats/any_machine.hpp"
#include "formats/assignments.hpp"
#include "formats/catalog.hpp"
#include "formats/ceilings.hpp"
#include "formats/file_kind.hpp"
#include "profiles/import/importer.hpp"

namespace eyeroof::report {

namespace {

using OpenResult = Result<Opened>;

template <class T> OpenResult as_opened(Result<T> read) {
    return read ? OpenResult(Opened(*std::move(read)), read.diagnostics())
                : OpenResult(read.diagnostics());
}

// A profile may hold ceilings and no kernels.
OpenResult open_profile(const std::string& path, const ProgressCallback& progress) {
    auto profile = profiles::import_file(path, {}, progress);
    if (profile && profile->launches.empty() && !profile->ceilings.empty()) {
        return OpenResult(Ceilings{*std::move(profile)});
    }
    return as_opened(std::move(profile));
}

OpenResult open_ceilings(const std::string& path) {
    auto read = formats::load_ceilings(path);
    return read ? OpenResult(Ceilings{*std::move(read)}, read.diagnostics())
                : OpenResult(read.diagnostics());
}

OpenResult open_trials(const std::string& path) {
    auto read = analysis::tune::load_trials(path);
    return read ? OpenResult(Trials{*std::move(read)}, read.diagnostics())
                : OpenResult(read.diagnostics());
}

} // namespace

OpenResult open_any(const std::string& path,
                    const std::vector<std::filesystem::path>& machine_folders,
                    const std::vector<std::filesystem::path>& network_folders,
                    const ProgressCallback& progress) {
    const auto kind = formats::kind_of_file(path);
    if (!kind) {
        return OpenResult(kind.diagnostics());
    }
    switch (*kind) {
    case formats::FileKind::session:
        return as_opened(load_session(path));
    case formats::FileKind::machine:
        return as_opened(formats::load_any_machine(path, machine_folders));
    case formats::FileKind::network:
        return as_opened(formats::load_network(path, network_folders));
    case formats::FileKind::profile:
        return open_profile(path, progress);
    case formats::FileKind::ceilings:
        return open_ceilings(path);
    case formats::FileKind::assignments:
        return as_opened(formats::load_assignments(path));
    case formats::FileKind::trials:
        return open_trials(path);
    }
    return OpenResult::failure(
        "unknown-file", "this is nothing that can be opened",
        "a session, network, machine, trace, profile or table of layers can");
}

} // namespace eyeroof::report
