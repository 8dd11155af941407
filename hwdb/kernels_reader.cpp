#include "hwdb/kernels_reader.hpp"

#include "base/text_file.hpp"
#include "hwdb/yaml_write.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <mutex>
#include <vector>

namespace eyeroof::hwdb {

namespace {

constexpr std::pair<std::string_view, int> kKernelFormats[] = {{"library-kernels/1", 1}};
constexpr double kMostRatio = 1e3;
constexpr double kMicro = 1e-6; // of the host's time

// Numbers with blanks between them, each within the bounds.
std::vector<double> numbers_of(const Node& node, double low, double high) {
    const std::string text = node.text().value_or("");
    std::vector<double> numbers;
    const char* at = text.data();
    const char* end = at + text.size();
    do {
        double value = 0.0;
        const auto [next, error] = std::from_chars(at, end, value);
        if (error != std::errc{} || !std::isfinite(value) || value < low || value > high) {
            node.error(
                "bad-numbers", fmt::format("\"{}\" are not numbers", text),
                fmt::format("write numbers from {:g} to {:g} with blanks between them", low, high));
            return {};
        }
        numbers.push_back(value);
        at = next;
        while (at != end && *at == ' ') {
            ++at;
        }
    } while (at != end);
    return numbers;
}

void check_count(const Node& node, std::size_t given, std::size_t wanted) {
    if (given != wanted && given > 0) { // none: it is reported already
        node.error("wrong-count", fmt::format("there are {} numbers, not {}", given, wanted),
                   "one for each part of the kernel's time; see docs/gpu-model.md");
    }
}

// The words between the bars of "operator|network|type|library|kernel".
std::vector<std::string> words_of(const std::string& key) {
    std::vector<std::string> words(1);
    for (const char c : key) {
        if (c == '|') {
            words.emplace_back();
        } else {
            words.back() += c;
        }
    }
    return words;
}

// A block is of a network, or of any: its type has three parts, products, weights, and cache.
model::LibraryKind kind_of(const Node& node, const std::string& key) {
    const std::vector<std::string> words = words_of(key);
    std::optional<model::LibraryKind> kind;
    if (words.size() == 5) {
        const bool any_block = words[1].empty() && std::ranges::count(words[2], '/') == 2;
        kind = model::library_kind(words[0], any_block ? "any" : words[1]);
    }
    if (!kind) {
        node.error("unknown-kernel", fmt::format("\"{}\" begins with no known operator", key),
                   "as in gemm||fp8|sglang|: operator, network, type, library, kernel");
    }
    return kind.value_or(model::LibraryKind::product);
}

model::LibraryCell read_cell(const Node& node, const std::string& key) {
    model::LibraryCell cell;
    const model::LibraryKind kind = kind_of(node, key);
    const model::CallParts parts = model::parts_of(model::Gpu{}, {}, kind);
    std::size_t knots = 0;
    for (const model::CallAxis& axis : model::call_axes(kind)) {
        knots += axis.knots.size();
    }
    cell.added = numbers_of(node.need("added"), 0.0, 1e6);
    check_count(node, cell.added.size(), parts.added.size());
    cell.joined = numbers_of(node.need("joined"), 0.0, 1e6);
    check_count(node, cell.joined.size(), parts.joined.size());
    cell.power = node.need("power").number(1.0, 8.0).value_or(cell.power);
    if (const Node shape = node["shape"]) {
        cell.shape = numbers_of(shape, -10.0, 10.0);
        check_count(shape, cell.shape.size(), knots);
    }
    if (const Node machines = node["machines"]) {
        for (const auto& [id, machine] : machines.entries()) {
            const std::vector<double> n = numbers_of(machine, -10.0, kMostRatio);
            if (n.size() == 4) {
                cell.machines[id] = {n[0], n[1], n[2], n[3] * kMicro};
            } else {
                check_count(machine, n.size(), 3);
                if (n.size() == 3) {
                    cell.machines[id] = {n[0], n[1], n[2]};
                }
            }
        }
    }
    if (const Node watts = node["watts"]) {
        cell.watts = numbers_of(watts, 0.0, 100.0);
        check_count(watts, cell.watts.size(), parts.joined.size() + 1);
    }
    cell.low = node.need("low").number(1e-3, 1.0).value_or(cell.low);
    cell.high = node.need("high").number(1.0, kMostRatio).value_or(cell.high);
    cell.rows = static_cast<int>(node.need("rows").integer({0, 1 << 30}).value_or(0));
    cell.mape = node.need("mape").number(0.0, 1e3).value_or(0.0);
    cell.median = node.need("median").number(0.0, 1e3).value_or(0.0);
    cell.versions = node["versions"].text().value_or("");
    return cell;
}

void read_distances(const Node& node, model::LibraryCells& cells) {
    for (std::size_t i = 0; i < model::kLibraryKinds; ++i) {
        const auto kind = static_cast<model::LibraryKind>(i);
        const Node one = node.need(std::string(model::library_kind_name(kind)));
        const std::vector<double> n = numbers_of(one, 0.0, 10.0);
        check_count(one, n.size(), 4);
        if (n.size() == 4) {
            cells.distances[i] = {n[0], n[1], n[2], n[3]};
        }
    }
}

std::string joined_text(const std::vector<double>& numbers, int digits) {
    std::string text;
    for (const double number : numbers) {
        text += fmt::format("{}{:.{}g}", text.empty() ? "" : " ", number, digits);
    }
    return "\"" + text + "\"";
}

// To a hundredth, without the zero before the point: ".12 0 -.03".
std::string shape_text(const std::vector<double>& numbers) {
    std::string text;
    for (const double number : numbers) {
        // What is not zero was fitted to rows, however small.
        const double rounded = std::round(number * 1e2) / 1e2;
        const double kept = rounded == 0.0 && number != 0.0 ? std::copysign(1e-3, number) : rounded;
        std::string one = fmt::format("{:g}", kept == 0.0 ? 0.0 : kept);
        if (const auto zero = one.find("0."); zero == 0 || (zero == 1 && one[0] == '-')) {
            one.erase(zero, 1);
        }
        text += (text.empty() ? "" : " ") + one;
    }
    return "\"" + text + "\"";
}

std::string cell_text(const std::string& key, const model::LibraryCell& c) {
    std::string text =
        fmt::format("  {}: {{power: {:.3g}, low: {:.3g}, high: {:.3g}, rows: {}, "
                    "mape: {:.2g}, median: {:.2g}{},\n    added: {}, joined: {}",
                    yaml_quoted(key), c.power, c.low, c.high, c.rows, c.mape, c.median,
                    c.versions.empty() ? "" : ", versions: " + yaml_quoted(c.versions),
                    joined_text(c.added, 3), joined_text(c.joined, 3));
    text += c.watts.empty() ? "" : ", watts: " + joined_text(c.watts, 2);
    text += c.shape.empty() ? "" : ",\n    shape: " + shape_text(c.shape);
    std::string machines;
    for (const auto& [id, m] : c.machines) {
        std::vector<double> numbers = {m.offset, m.low, m.high};
        if (m.host_s > 0.0) {
            numbers.push_back(m.host_s / kMicro);
        }
        machines += fmt::format("{}{}: {}", machines.empty() ? "" : ", ", yaml_scalar(id),
                                joined_text(numbers, 3));
    }
    return text + (machines.empty() ? "" : ",\n    machines: {" + machines + "}") + "}\n";
}

using Shared = std::shared_ptr<const model::LibraryCells>;

// A file whose text is that of the last time is not parsed again.
Result<Shared> shared_kernels(const std::filesystem::path& path) {
    struct Known {
        std::filesystem::file_time_type time;
        Shared cells;
    };
    static std::mutex mutex;
    static std::map<std::filesystem::path, Known> known;
    const std::scoped_lock lock(mutex);
    std::error_code error;
    const auto time = std::filesystem::last_write_time(path, error);
    const auto at = known.find(path);
    if (at != known.end() && !error && at->second.time == time) {
        return at->second.cells;
    }
    auto document = load_yaml(path);
    auto cells =
        document ? read_kernels(*document) : Result<model::LibraryCells>(document.diagnostics());
    if (!cells) {
        return cells.diagnostics();
    }
    auto shared = std::make_shared<const model::LibraryCells>(std::move(*cells));
    known.insert_or_assign(path, Known{time, shared});
    return Shared(std::move(shared));
}

} // namespace

Result<model::LibraryCells> read_kernels(Document& document) {
    const Node root = document.root();
    root.need("eyeroof").choice(kKernelFormats, "format of this file");
    model::LibraryCells all;
    static_cast<void>(root.need("family").text());
    all.source = root.need("source").text().value_or("");
    read_distances(root.need("distances"), all);
    for (const auto& [key, node] : root.need("kernels").entries()) {
        all.cells[key] = read_cell(node, key);
    }
    return document.conclude(std::move(all));
}

std::string write_kernels(const model::LibraryCells& cells, const std::string& family) {
    std::string text =
        fmt::format("# Made by `eyeroof-dev fit-kernels`; docs/gpu-model.md has the terms.\n"
                    "eyeroof: library-kernels/1\nfamily: {}\nsource: {}\ndistances:\n",
                    yaml_scalar(family), yaml_quoted(cells.source));
    for (std::size_t i = 0; i < model::kLibraryKinds; ++i) {
        const model::CellDistance& d = cells.distances[i];
        text +=
            fmt::format("  {}: {}\n", model::library_kind_name(static_cast<model::LibraryKind>(i)),
                        joined_text({d.machine, d.version, d.library, d.size}, 3));
    }
    text += cells.cells.empty() ? "kernels: {}\n" : "kernels:\n";
    for (const auto& [key, cell] : cells.cells) {
        text += cell_text(key, cell);
    }
    return text;
}

namespace {

Result<model::MachineKernels> kernels_of_family(const std::string& own, const std::string& id,
                                                Folders folders) {
    model::MachineKernels kernels;
    kernels.machine = id;
    for (const std::string& family : {own, std::string(model::kOtherFamily)}) {
        const auto name = std::filesystem::path("kernels") / (family + ".yaml");
        const auto path = family.empty() ? std::nullopt : nearest_file(folders, name);
        if (!path) {
            continue;
        }
        auto cells = shared_kernels(*path);
        if (!cells) {
            return cells.diagnostics();
        }
        kernels.families.push_back(std::move(*cells));
    }
    return kernels;
}

} // namespace

Result<model::MachineKernels> load_kernels(const model::Gpu& gpu, const std::string& id,
                                           Folders folders) {
    return kernels_of_family(model::kernel_family(gpu), id, folders);
}

std::shared_ptr<const model::KernelShelf>
kernel_shelf(const model::Gpu& gpu, const std::string& id,
             const std::vector<std::filesystem::path>& folders) {
    using Key = std::pair<std::pair<std::string, std::string>, std::vector<std::filesystem::path>>;
    static std::mutex mutex;
    static std::map<Key, std::shared_ptr<const model::KernelShelf>> known;
    Key key{{model::kernel_family(gpu), id}, folders};
    const std::scoped_lock lock(mutex);
    auto& shelf = known[key];
    if (shelf == nullptr) {
        shelf = std::make_shared<const model::KernelShelf>(
            [key] { return kernels_of_family(key.first.first, key.first.second, key.second); });
    }
    return shelf;
}

} // namespace eyeroof::hwdb
