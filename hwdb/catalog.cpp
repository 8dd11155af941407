#include "hwdb/catalog.hpp"

#include "base/ascii.hpp"
#include "base/plain_name.hpp"
#include "base/suggest.hpp"
#include "hwdb/accelerator_reader.hpp"
#include "hwdb/calibration_reader.hpp"
#include "hwdb/gpu_reader.hpp"
#include "hwdb/price_reader.hpp"
#include "hwdb/systolic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace eyeroof::hwdb {

namespace fs = std::filesystem;
using model::Machine;

namespace {

constexpr std::array kFamilies = {"accelerators", "gpus", "hosts"};

// Machines whose name has this one as whole parts: "a100" is in "a100-pcie-40gb" and
// "a100-sxm-80gb", not in "ba100".
std::vector<CatalogEntry> with_part(std::string_view name, Folders folders) {
    const std::string part = "-" + lowered(name) + "-";
    std::vector<CatalogEntry> found;
    for (const CatalogEntry& entry : list_machines(folders)) {
        if (("-" + lowered(entry.id) + "-").find(part) != std::string::npos) {
            found.push_back(entry);
        }
    }
    return found;
}

// "rtx4090" and "RTX 4090" are rtx-4090.
std::optional<fs::path> written_otherwise(std::string_view name, Folders folders) {
    const std::string plain = plain_name(name);
    for (const CatalogEntry& entry : list_machines(folders)) {
        if (!plain.empty() && plain_name(entry.id) == plain) {
            return entry.file;
        }
    }
    return std::nullopt;
}

Result<fs::path> unknown(std::string_view name, Folders folders) {
    std::vector<std::string> names;
    std::string candidates;
    const auto parts = name.empty() ? std::vector<CatalogEntry>() : with_part(name, folders);
    for (const CatalogEntry& entry : parts) {
        candidates += (candidates.empty() ? "" : ", ") + entry.id;
    }
    if (!candidates.empty()) {
        return Result<fs::path>::failure("unknown-machine",
                                         fmt::format("several machines are called \"{}\"", name),
                                         "which one: " + candidates);
    }
    for (const CatalogEntry& entry : list_machines(folders)) {
        names.push_back(entry.id);
    }
    names.emplace_back("systolic:32x32");
    return Result<fs::path>::failure("unknown-machine", fmt::format("unknown machine \"{}\"", name),
                                     suggestion(name, names) +
                                         " (a file needs its path, such as ./mine.yaml)");
}

} // namespace

namespace {

// A GPU with the constants that were fitted for it: those beside its own folder come first.
Result<Machine> read_gpu_machine(Document& document, const fs::path& file, Folders folders) {
    auto gpu = read_gpu(document, file.stem().string());
    if (!gpu) {
        return gpu.diagnostics();
    }
    std::vector<fs::path> places = {file.parent_path().parent_path()};
    places.insert(places.end(), folders.begin(), folders.end());
    Machine machine = std::move(gpu->machine);
    auto calibrated =
        with_calibration(std::get<model::Gpu>(std::move(machine.kind)), gpu->calibrated_as, places);
    if (!calibrated) {
        return calibrated.diagnostics();
    }
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

std::vector<CatalogEntry> list_machines(Folders folders) {
    std::map<std::pair<std::string, std::string>, fs::path> found;
    for (const fs::path& folder : folders) {
        for (const char* family : kFamilies) {
            std::error_code error;
            for (fs::directory_iterator it(folder / family, error), end; !error && it != end;
                 it.increment(error)) {
                if (it->path().extension() == ".yaml") {
                    found.emplace(std::pair(family, it->path().stem().string()), it->path());
                }
            }
        }
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
    if (is_path(name)) {
        return fs::path(name);
    }
    std::error_code error;
    for (const fs::path& folder : folders) {
        for (const char* family : kFamilies) {
            const fs::path file = folder / family / (lowered(name) + ".yaml");
            if (fs::exists(file, error)) {
                return file;
            }
        }
    }
    if (auto file = written_otherwise(name, folders)) {
        return *std::move(file);
    }
    const auto parts = name.empty() ? std::vector<CatalogEntry>() : with_part(name, folders);
    if (parts.size() == 1) { // the one that is meant, and said
        Diagnostics said;
        said.warning("short-name", fmt::format("\"{}\" is taken as {}", name, parts.front().id));
        return Result<fs::path>(parts.front().file, std::move(said));
    }
    return unknown(name, folders);
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
