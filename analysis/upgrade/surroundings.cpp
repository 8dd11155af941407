#include "analysis/upgrade/surroundings.hpp"

#include "base/date.hpp"
#include "hwdb/transfer_reader.hpp"
#include "hwdb/usual_host.hpp"

namespace eyeroof::analysis {

namespace {

Result<hwdb::NamedHost> host_for(const std::string& name, const model::Machine& machine,
                                 hwdb::Folders folders) {
    if (!name.empty()) {
        return hwdb::load_host(name, folders);
    }
    const auto* gpu = std::get_if<model::Gpu>(&machine.kind);
    return gpu == nullptr ? hwdb::NamedHost{} : hwdb::usual_host(*gpu, folders, machine.id);
}

} // namespace

Result<UpgradeOptions> with_surroundings(UpgradeOptions options, const model::Machine& from,
                                         const model::Machine& to, const AskedHosts& hosts,
                                         hwdb::Folders folders) {
    const auto old_host = host_for(hosts.from, from, folders);
    const auto new_host = host_for(hosts.to, to, folders);
    const auto transfer = hwdb::load_transfer(folders);
    Diagnostics all = old_host.diagnostics();
    all.append(new_host.diagnostics());
    all.append(transfer.diagnostics());
    if (all.has_errors()) {
        return all;
    }
    options.from_issue = old_host->issue;
    options.from_host = old_host->id;
    options.to_issue = new_host->issue;
    options.to_host = new_host->id;
    options.transfer = *transfer;
    auto evidence = load_evidence(folders, transfer->share);
    if (!evidence) {
        return evidence.diagnostics();
    }
    options.evidence = *std::move(evidence);
    options.today = today();
    return options;
}

} // namespace eyeroof::analysis
