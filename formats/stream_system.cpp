#include "formats/stream_system.hpp"

#include "formats/zigzag_hardware.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

namespace eyeroof::formats {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field
using hwdb::Node;

namespace {

constexpr double kStreamClock_hz = 1e9;
constexpr double kMostLinkBits = 1e12; // a cycle, of a link
constexpr std::size_t kMostUp = 8;     // folders above a system in which a core's file may lie
constexpr std::size_t kMostFiles = 4096;

struct Outside {
    std::set<std::string> helpers; // numbers
    std::string offchip = "none";
};

// The files of a system's cores, by their number.
std::map<std::string, Node> core_files(const Node& root) {
    std::map<std::string, Node> files;
    const Node cores = root.need("cores");
    if (cores.is_map()) {
        for (const auto& [key, node] : cores.entries()) {
            files[key] = node;
        }
        return files;
    }
    const auto items = cores.items(1);
    for (std::size_t i = 0; i < std::min(items.size(), kMostFiles); ++i) {
        files[fmt::format("{}", i)] = items[i];
    }
    return files;
}

// Beside the system, in `cores` below it, or under a folder above it, from which repositories name
// their files.
std::filesystem::path core_path(const std::string& file, const std::string& name) {
    std::error_code ignored;
    const auto folder = std::filesystem::absolute(file, ignored).parent_path();
    std::vector<std::filesystem::path> places = {folder / "cores", folder};
    auto above = folder;
    for (std::size_t level = 0; level < kMostUp && above.has_relative_path(); ++level) {
        above = above.parent_path();
        places.push_back(above);
    }
    for (const auto& place : places) {
        if (std::filesystem::is_regular_file(place / name, ignored)) {
            return place / name;
        }
    }
    return std::filesystem::path(file).parent_path() / name;
}

Outside outside_of(const Node& root) {
    Outside found;
    for (const char* place : {"", "bus", "2d_mesh", "core_connectivity"}) {
        const Node node = *place == '\0' ? root : root.has(place) ? root[place] : Node{};
        if (!node.is_map()) {
            continue;
        }
        for (const char* key : {"pooling_core_id", "simd_core_id", "offchip_core_id"}) {
            if (node.has(key)) {
                found.helpers.insert(node[key].text().value_or(""));
            }
        }
        found.offchip = node.has("offchip_core_id")
                            ? node["offchip_core_id"].text().value_or("none")
                            : found.offchip;
        node.ignore_rest();
    }
    return found;
}

// Does a core compute products?
bool computes_products(const Node& core) {
    core.ignore_rest();
    const std::string type = core.has("type") ? core["type"].text().value_or("") : "";
    if (!core.is_map() || type.ends_with("memory") || type.ends_with("offchip") ||
        !core.has("operational_array")) {
        return false;
    }
    if (!core.has("operator_types")) {
        return true;
    }
    constexpr std::array<std::string_view, 4> products = {"Conv", "Gemm", "MatMul", "QLinearConv"};
    const auto types = core["operator_types"].items();
    return std::any_of(types.begin(), types.end(), [&](const Node& type_of) {
        const std::string name = type_of.text().value_or("");
        return std::find(products.begin(), products.end(), name) != products.end();
    });
}

struct Cores {
    std::map<std::string, std::string> working; // number: file
    std::string offchip;                        // file; empty: none
    Diagnostics found;
};

Cores cores_of(const Node& root, const std::string& file) {
    Cores cores;
    const Outside outside = outside_of(root);
    std::map<std::string, bool> known; // file: does it compute?
    for (const auto& [number, node] : core_files(root)) {
        const std::string name = node.text().value_or("");
        const std::string path = core_path(file, name).string();
        if (number == outside.offchip) {
            cores.offchip = path;
        } else if (!outside.helpers.contains(number)) {
            if (!known.contains(path)) {
                const auto document = load_zigzag_hardware(path);
                if (!document) {
                    cores.found.append(document.diagnostics());
                }
                const Node core = document ? document->root() : Node{};
                const std::string type =
                    core.is_map() && core.has("type") ? core["type"].text().value_or("") : "";
                if (type.starts_with("aie")) {
                    node.error("unsupported",
                               fmt::format("{} has the type {}, which names no array", name, type),
                               "known: cores with memories and an operational_array");
                }
                known[path] = document && computes_products(core);
            }
            if (known[path]) {
                cores.working[number] = path;
            }
        }
    }
    return cores;
}

double rate_of(const Node& link) {
    const double bits =
        link.has("bandwidth") ? link["bandwidth"].number(0.0, kMostLinkBits).value_or(0.0) : 0.0;
    return bits / 8.0 * kStreamClock_hz;
}

// Links between cores that compute, and what joins them to the memory outside.
void read_links(const Node& root, const Cores& cores, StreamSystem& system) {
    const Node list = root.has("core_connectivity") ? root["core_connectivity"] : Node{};
    const std::string offchip = outside_of(root).offchip;
    for (const Node& link : list.is_list() ? list.items() : std::vector<Node>{}) {
        link.ignore_rest();
        std::size_t working = 0;
        bool memory = false;
        for (const Node& core : link.need("cores").items()) {
            const std::string number = core.text().value_or("");
            working += cores.working.contains(number) ? 1 : 0;
            memory = memory || number == offchip;
        }
        const double rate = rate_of(link);
        double& slowest = memory ? system.memory_bytes_per_s : system.link_bytes_per_s;
        if (rate > 0.0 && working > 1) {
            slowest = slowest == 0.0 ? rate : std::min(slowest, rate);
        }
    }
}

Result<Machine> machine_of(const std::string& path, const std::string& offchip) {
    const auto core = load_zigzag_hardware(path);
    std::optional<Result<hwdb::Document>> memory;
    if (!offchip.empty()) {
        memory.emplace(load_zigzag_hardware(offchip));
    }
    if (!core || (memory && !*memory)) {
        return Result<Machine>(core ? memory->diagnostics() : core.diagnostics());
    }
    return read_zigzag_core(*core, path, memory ? &memory->value() : nullptr);
}

} // namespace

bool is_stream_system(std::string_view text, const std::string& file) {
    if (!is_zigzag_hardware(text)) {
        return false;
    }
    const auto document = open_zigzag_hardware(std::string(text), file);
    return document && document->root().is_map() && document->root().has("cores") &&
           cores_of(document->root(), file).working.size() > 1;
}

Result<StreamSystem> parse_stream_system(std::string text, const std::string& file) {
    const auto document = open_zigzag_hardware(std::move(text), file);
    if (!document) {
        return Result<StreamSystem>(document.diagnostics());
    }
    const Node root = document->root();
    root.ignore_rest();
    Cores cores = cores_of(root, file);
    StreamSystem system;
    system.name = root.has("name") ? root["name"].text().value_or("") : "";
    std::map<std::string, std::size_t> kinds; // of files
    for (const auto& [number, path] : cores.working) {
        const auto [place, fresh] = kinds.emplace(path, system.kinds.size());
        if (!fresh) {
            ++system.kinds[place->second].count;
            continue;
        }
        auto machine = machine_of(path, cores.offchip);
        cores.found.append(machine.diagnostics());
        if (machine) {
            system.kinds.push_back({*std::move(machine), 1});
        } else {
            system.kinds.emplace_back();
        }
    }
    read_links(root, cores, system);
    if (system.kinds.empty() && !cores.found.has_errors()) {
        root.error("unsupported", "no core of this system computes products",
                   "a core names memories and an operational_array");
    }
    Diagnostics found = document->finish();
    found.append(cores.found);
    return found.has_errors() ? Result<StreamSystem>(std::move(found))
                              : Result<StreamSystem>(std::move(system), std::move(found));
}

Result<Machine> one_core_of(const hwdb::Document& system, const std::string& file) {
    const Node root = system.root();
    root.ignore_rest();
    Cores cores = cores_of(root, file);
    if (cores.working.size() != 1 && !cores.found.has_errors()) {
        root["cores"].error(
            "unsupported",
            fmt::format("this system has {} cores that compute products", cores.working.size()),
            "`exam NETWORK --on` this file places layers on all of them; for one "
            "core read its own file");
    }
    Diagnostics found = system.finish();
    found.append(cores.found);
    if (found.has_errors()) {
        return Result<Machine>(std::move(found));
    }
    auto machine = machine_of(cores.working.begin()->second, cores.offchip);
    if (machine) {
        machine->id = std::filesystem::path(file).stem().string();
        machine->name = machine->id;
    }
    return machine;
}

} // namespace eyeroof::formats
