#include "analysis/cores/package.hpp"

#include "base/text_file.hpp"
#include "formats/stream_system.hpp"
#include "hwdb/sourced.hpp"

#include <fmt/format.h>

namespace eyeroof::analysis {

namespace fs = std::filesystem;
using hwdb::Sourced;

namespace {

constexpr std::pair<std::string_view, int> kFormats[] = {{"package/1", 1}};

class PackageReader {
  public:
    PackageReader(hwdb::Document& document, hwdb::Folders folders)
        : document_(document), folders_(folders) {}

    Result<CorePackage> read(std::string id) {
        hwdb::SourceBook book;
        const Sourced root(document_.root(), book);
        root.node().need("eyeroof").choice(kFormats, "format of this file");
        package_.id = std::move(id);
        package_.name = root.node()["name"].text().value_or(package_.id);
        const Sourced cores = root.need("cores");
        for (const Sourced& kind : cores.items(1)) {
            read_kind(kind);
        }
        if (cores_ > kMostCores) {
            cores.node().error(
                "too-many-cores",
                fmt::format("{} cores; a package has at most {}", cores_, kMostCores),
                "many equal cores are one machine with axes: see simba");
        }
        if (const Sourced link = root["link"]) {
            package_.link_bytes_per_s =
                link["rate"].quantity<BytesPerSec>().value_or(BytesPerSec{}).value;
            package_.link_s =
                link["latency"].quantity<Seconds>(hwdb::Zero::allowed).value_or(Seconds{}).value;
        }
        package_.memory_bytes_per_s =
            root["memory"].quantity<BytesPerSec>().value_or(BytesPerSec{}).value;
        report_unsourced(root.node(), book);
        return document_.conclude(std::move(package_));
    }

  private:
    void read_kind(const Sourced& kind) {
        const hwdb::Node name = kind.node().need("machine");
        const auto count = kind.need("count").integer({1, 1 << 20}).value_or(1);
        cores_ += static_cast<std::size_t>(count);
        const auto text = name.text();
        if (!text) {
            return;
        }
        auto machine = hwdb::load_machine(*text, folders_);
        if (!machine) {
            for (const Diagnostic& d : machine.diagnostics()) {
                name.error(d.code, d.where.file.empty() ? d.message : to_string(d), d.hint);
            }
            return;
        }
        if (!std::holds_alternative<model::Accelerator>(machine->kind)) {
            name.error("not-an-accelerator", machine->name + " is no accelerator",
                       "cores are machines of hwdb/accelerators; many GPUs: eyeroof scale");
            return;
        }
        for (const CoreKind& known : package_.kinds) {
            if (known.machine.id == machine->id) {
                name.error("duplicate-kind", fmt::format("{} is listed twice", *text),
                           "give each kind of core once, with its count");
            }
        }
        package_.kinds.push_back({*std::move(machine), static_cast<std::size_t>(count)});
    }

    hwdb::Document& document_;
    hwdb::Folders folders_;
    CorePackage package_;
    std::size_t cores_ = 0;
};

bool says_package(const std::string& text) {
    for (std::size_t at = text.find("eyeroof:"); at != std::string::npos;
         at = text.find("eyeroof:", at + 1)) {
        if (at == 0 || text[at - 1] == '\n') {
            const std::string line = text.substr(at, text.find('\n', at) - at);
            return line.find("package/") != std::string::npos;
        }
    }
    return false;
}

// Another tool's system of cores.
Result<CorePackage> package_of(formats::StreamSystem system, const fs::path& file,
                               Diagnostics found) {
    CorePackage package;
    package.id = file.stem().string();
    package.name = system.name.empty() ? package.id : system.name;
    std::size_t cores = 0;
    for (formats::StreamSystem::Kind& kind : system.kinds) {
        cores += kind.count;
        package.kinds.push_back({std::move(kind.machine), kind.count});
    }
    package.link_bytes_per_s = system.link_bytes_per_s;
    package.memory_bytes_per_s = system.memory_bytes_per_s;
    if (cores > kMostCores) {
        found.error("too-many-cores",
                    fmt::format("{} cores; a package has at most {}", cores, kMostCores),
                    "many equal cores are one machine with axes: see simba", {file.string(), 1, 1});
        return Result<CorePackage>(std::move(found));
    }
    return {std::move(package), std::move(found)};
}

} // namespace

std::optional<fs::path> find_package(const std::string& name, hwdb::Folders folders) {
    std::error_code ignored;
    if (fs::is_regular_file(name, ignored)) {
        const auto text = read_text_file(name);
        const bool package =
            text && (says_package(*text) || formats::is_stream_system(*text, name));
        return package ? std::optional(fs::path(name)) : std::nullopt;
    }
    return name.find('/') == std::string::npos
               ? hwdb::nearest_file(folders, fs::path("packages") / (name + ".yaml"))
               : std::nullopt;
}

Result<CorePackage> load_package(const fs::path& file, hwdb::Folders folders) {
    if (auto text = read_text_file(file); text && formats::is_stream_system(*text, file.string())) {
        auto system = formats::parse_stream_system(*std::move(text), file.string());
        Diagnostics found = system.diagnostics();
        return system ? package_of(*std::move(system), file, std::move(found))
                      : Result<CorePackage>(std::move(found));
    }
    auto document = hwdb::load_yaml(file);
    return document ? PackageReader(*document, folders).read(file.stem().string())
                    : Result<CorePackage>(document.diagnostics());
}

Result<CorePackage> parse_package(std::string text, const std::string& file,
                                  hwdb::Folders folders) {
    auto document = hwdb::parse_yaml(std::move(text), file);
    return document ? PackageReader(*document, folders).read(fs::path(file).stem().string())
                    : Result<CorePackage>(document.diagnostics());
}

} // namespace eyeroof::analysis
