#include "gui/jobs/offered.hpp"

#include "formats/catalog.hpp"

namespace eyeroof::gui {

namespace {
// Beside the folder of metric files, installed as in the sources.
constexpr const char* kTrace =
    "recorded/h100-sxm-80gb/networks/resnet50-inference-fp16-nhwc.json.gz";
} // namespace

QStringList Offered::machines_of(const char* family) const {
    QStringList ids;
    for (const hwdb::CatalogEntry& entry : machines) {
        if (entry.family == family) {
            ids << QString::fromStdString(entry.id);
        }
    }
    return ids;
}

Offered offered_by(const Folders& folders) {
    Offered offered;
    if (const auto heads = formats::list_networks(folders.networks)) {
        for (const formats::NetworkHead& head : *heads) {
            offered.networks << QString::fromStdString(head.id);
        }
    }
    offered.machines = hwdb::list_machines(folders.machines);
    for (const std::filesystem::path& metrics : folders.metrics) {
        const auto trace = metrics.parent_path() / kTrace;
        std::error_code error;
        if (offered.trace.isEmpty() && std::filesystem::is_regular_file(trace, error)) {
            offered.trace = QString::fromStdString(trace.string());
        }
    }
    return offered;
}

} // namespace eyeroof::gui
