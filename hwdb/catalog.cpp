#include "hwdb/catalog.hpp"

#include "base/ascii.hpp"
#include "base/meant_names.hpp"
#include "base/plain_name.hpp"
#include "base/plain_text.hpp"
#include "base/suggest.hpp"
#include "hwdb/accelerator_reader.hpp"
#include "hwdb/calibration_reader.hpp"
#include "hwdb/gpu_reader.hpp"
#include "hwdb/kernels_reader.hpp"
#include "hwdb/price_reader.hpp"
#include "hwdb/systolic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

namespace eyeroof::hwdb {

namespace fs = std::filesystem;
using model::Machine;

namespace {

constexpr std::array kFamilies = {"accelerators", "gpus", "hosts"};

std::vector<std::string> ids_of(const std::vector<CatalogEntry>& entries) {
    std::vector<std::string> ids;
    for (const CatalogEntry& entry : entries) {
        ids.push_back(entry.id);
    }
    return ids;
}

std::string listed(const std::vector<std::string>& names, std::string_view between) {
    std::string list;
    for (const std::string& name : names) {
        list += list.empty() ? name : std::string(between) + name;
    }
    return list;
}

// "T4,A10" where each is a machine: one of --on's own lists.
std::string several_options(std::string_view name, std::span<const std::string> ids) {
    std::string options;
    while (!name.empty()) {
        const std::string_view part = name.substr(0, name.find(','));
        const MeantNames meant = meant_names(part, ids, Where::anywhere);
        if (meant.names.empty()) {
            return {};
        }
        options += (options.empty() ? "--on " : " --on ") + meant.names.front();
        name.remove_prefix(std::min(name.size(), part.size() + 1));
    }
    return options;
}

Result<fs::path> unknown(std::string_view name, const std::vector<std::string>& ids,
                         const MeantNames& meant, bool complete) {
    if (complete) {
        return Result<fs::path>::failure("unknown-machine",
                                         fmt::format("several machines are called \"{}\"", name),
                                         "which one: " + listed(meant.names, ", "));
    }
    std::vector<std::string> names = ids;
    names.emplace_back("systolic:32x32");
    const std::string options =
        name.find(',') == std::string_view::npos ? "" : several_options(name, names);
    const std::string near = closest(name, names);
    const std::string hint =
        !options.empty() ? "give each machine an option of its own: " + options
        : !near.empty() && meant.names.empty() ? fmt::format("did you mean '{}'?", near)
        : meant.names.size() == 1 ? fmt::format("did you mean '{}'?", meant.names.front())
        : !meant.names.empty()    ? "nearest: " + listed(meant.names, ", ")
                                  : fmt::format("`eyeroof hw list` lists {} machines", ids.size());
    return Result<fs::path>::failure("unknown-machine", fmt::format("unknown machine \"{}\"", name),
                                     hint + " (a file needs its path, such as ./mine.yaml)");
}

} // namespace

namespace {

// Where the constants of a machine's file are: in the folders, in their order, so that those of the
// user replace the catalog's; before them in the file's own where it is none of those.
std::vector<fs::path> places_beside(const fs::path& file, Folders folders) {
    const fs::path own = file.parent_path().parent_path();
    const bool known = std::any_of(folders.begin(), folders.end(), [&](const fs::path& folder) {
        std::error_code missing;
        return fs::equivalent(folder, own, missing);
    });
    std::vector<fs::path> places;
    if (!known) {
        places.push_back(own);
    }
    places.insert(places.end(), folders.begin(), folders.end());
    return places;
}

Result<Machine> read_gpu_machine(Document& document, const fs::path& file, Folders folders) {
    auto gpu = read_gpu(document, file.stem().string());
    if (!gpu) {
        return gpu.diagnostics();
    }
    const std::vector<fs::path> places = places_beside(file, folders);
    Machine machine = std::move(gpu->machine);
    auto calibrated =
        with_calibration(std::get<model::Gpu>(std::move(machine.kind)), gpu->calibrated_as, places);
    if (!calibrated) {
        return calibrated.diagnostics();
    }
    calibrated->kernels = kernel_shelf(*calibrated, gpu->calibrated_as, places);
    machine.kind = std::move(*calibrated);
    return {std::move(machine), gpu.diagnostics()};
}

Result<Machine> read_machine_file(const fs::path& file, Folders folders) {
    auto document = load_yaml(file);
    if (!document) {
        return document.diagnostics();
    }
    if (is_gpu_document(*document)) {
        return read_gpu_machine(*document, file, folders);
    }
    // An unknown kind is the accelerator reader's to refuse.
    auto accelerator = read_accelerator(*document, file.stem().string());
    if (!accelerator) {
        return accelerator.diagnostics();
    }
    return {std::move(accelerator->machine), accelerator.diagnostics()};
}

} // namespace

namespace {

// What the first lines of a machine's file say: keys at the left margin.
struct Head {
    bool machine = false; // "eyeroof: machine/1"
    std::string id, kind;
};

Head head_of(const fs::path& file) {
    constexpr std::size_t enough = 4096; // bytes: comments and the first keys
    std::string text(enough, '\0');
    std::ifstream in(file, std::ios::binary);
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
    std::istringstream lines(plain_text(std::move(text)));
    Head head;
    for (std::string line; std::getline(lines, line);) {
        const auto value = [&](std::string_view key) -> std::optional<std::string> {
            if (!line.starts_with(key)) {
                return std::nullopt;
            }
            const std::size_t from = line.find_first_not_of(" \"'", key.size());
            const std::size_t to = line.find_first_of(" \"'\r#", std::min(from, line.size()));
            return from == std::string::npos ? "" : line.substr(from, to - from);
        };
        if (const auto format = value("eyeroof:")) {
            head.machine = format->starts_with("machine/");
        }
        head.id = value("id:").value_or(head.id);
        head.kind = value("kind:").value_or(head.kind);
    }
    return head;
}

using Found = std::map<std::pair<std::string, std::string>, fs::path>;

void add_folder(const fs::path& folder, const char* family, Found& found) {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        if (it->path().extension() != ".yaml" && it->path().extension() != ".yml") {
            continue;
        }
        const Head head = head_of(it->path());
        const std::string kind = family != nullptr     ? family
                                 : !head.machine       ? ""
                                 : head.kind == "gpu"  ? "gpus"
                                 : head.kind == "host" ? "hosts"
                                                       : "accelerators";
        if (!kind.empty()) {
            found.emplace(std::pair(kind, head.id.empty() ? it->path().stem().string() : head.id),
                          it->path());
        }
    }
}

} // namespace

std::vector<CatalogEntry> list_machines(Folders folders) {
    Found found;
    for (const fs::path& folder : folders) {
        for (const char* family : kFamilies) {
            add_folder(folder / family, family, found);
        }
        add_folder(folder, nullptr, found);
    }
    std::vector<CatalogEntry> entries;
    for (const auto& [key, file] : found) {
        entries.push_back({key.second, key.first, file});
    }
    return entries;
}

bool stands_in_catalog(const fs::path& file) {
    const std::string folder = fs::absolute(file).parent_path().filename().string();
    return std::find(kFamilies.begin(), kFamilies.end(), folder) != kFamilies.end();
}

Result<fs::path> find_machine(std::string_view name, Folders folders) {
    std::error_code error;
    const bool path = is_path(name);
    if (path && (fs::exists(name, error) || name.find(' ') == std::string_view::npos)) {
        return fs::path(name);
    }
    for (const fs::path& folder : folders) {
        for (const char* family : kFamilies) {
            const fs::path file = folder / family / (lowered(name) + ".yaml");
            if (fs::exists(file, error)) {
                return file;
            }
        }
        const fs::path own = folder / (lowered(name) + ".yaml");
        if (fs::exists(own, error) && head_of(own).machine) {
            return own;
        }
    }
    const std::vector<CatalogEntry> entries = list_machines(folders);
    const std::vector<std::string> ids = ids_of(entries);
    const MeantNames meant = meant_names(name, ids, Where::anywhere);
    if (meant.sure) {
        const auto entry = std::ranges::find(entries, meant.names.front(), &CatalogEntry::id);
        Diagnostics said;
        if (plain_name(entry->id) != plain_name(name)) {
            said.warning("short-name", fmt::format("\"{}\" is taken as {}", name, entry->id));
        }
        return Result<fs::path>(entry->file, std::move(said));
    }
    return unknown(name, ids, meant, meant.complete);
}

Result<Machine> load_machine_file(const fs::path& file) {
    return read_machine_file(file, {});
}

Result<Machine> load_machine(std::string_view name, Folders folders) {
    if (is_systolic_name(name)) {
        return systolic_array(name);
    }
    const auto file = find_machine(name, folders);
    if (!file) {
        return file.diagnostics();
    }
    auto machine = read_machine_file(*file, folders);
    if (!machine) {
        return machine;
    }
    const auto prices = load_prices(folders);
    Diagnostics all = file.diagnostics();
    all.append(machine.diagnostics());
    all.append(prices.diagnostics());
    if (all.has_errors()) {
        return all;
    }
    return {with_prices(*std::move(machine), *prices), std::move(all)};
}

} // namespace eyeroof::hwdb
