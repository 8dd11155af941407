#include "analysis/sparse/machine.hpp"

#include "base/suggest.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/sourced.hpp"
#include "hwdb/yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace eyeroof::analysis {

namespace fs = std::filesystem;
using hwdb::Sourced;

namespace {

constexpr hwdb::IntegerRange kSize{1, 1 << 20};
constexpr hwdb::IntegerRange kBits{1, 64};
constexpr hwdb::IntegerRange kRunBits{1, 30};

Count size_of(const Sourced& node, Count standard) {
    return node.integer(kSize).value_or(standard);
}

int word_bits(const Sourced& node) {
    const auto bytes = node.quantity<Bytes>();
    const double bits = bytes ? bytes->value * 8.0 : 16.0;
    if (bits < 1.0 || bits > 64.0 || bits != static_cast<int>(bits)) {
        node.node().error("out-of-range", "a word has 1 to 64 whole bits", "such as \"16 bit\"");
        return 16;
    }
    return static_cast<int>(bits);
}

Count store_bits(const Sourced& node) {
    const auto bytes = node.quantity<Bytes>();
    return bytes ? static_cast<Count>(std::min(bytes->value, 1e15) * 8.0) : 0;
}

double clock_of(const Sourced& root) {
    const auto clock = root.need("clock").quantity<Hertz>();
    if (clock && (clock->value < 1.0 || clock->value > 1e13)) {
        root["clock"].node().error("out-of-range", "no chip has this clock", "1 Hz to 10 THz");
    }
    return clock ? clock->value : 1e9;
}

model::sparse::Cartesian cartesian(const Sourced& root) {
    model::sparse::Cartesian m;
    m.clock_hz = clock_of(root);
    const Sourced pes = root.need("pes");
    m.rows = size_of(pes.need("rows"), 1);
    m.columns = size_of(pes.need("columns"), 1);
    const Sourced vectors = root.need("vectors");
    m.inputs = size_of(vectors.need("inputs"), 1);
    m.weights = size_of(vectors.need("weights"), 1);
    m.accumulators = size_of(root.need("accumulators"), 1);
    m.channels_at_once = size_of(root.need("output_channels_at_once"), 1);
    if (const Sourced stores = root["stores"]) {
        m.input_bits = store_bits(stores.need("input"));
        m.output_bits = store_bits(stores.need("output"));
    }
    const Sourced code = root.need("code");
    m.word_bits = word_bits(code.need("word"));
    m.run_bits = word_bits(code.need("run"));
    if (const Sourced dram = root["dram"]) {
        m.dram_bytes_per_s = dram.quantity<BytesPerSec>().value_or(BytesPerSec{}).value;
    }
    return m;
}

model::sparse::Columns columns(const Sourced& root) {
    model::sparse::Columns m;
    m.clock_hz = clock_of(root);
    m.pes = size_of(root.need("pes"), 1);
    m.lanes = size_of(root.need("weights_at_once"), 1);
    m.queue = size_of(root.need("queue"), 1);
    m.run_bits = word_bits(root.need("code").need("run"));
    return m;
}

model::sparse::Selection selection(const Sourced& root) {
    model::sparse::Selection m;
    m.clock_hz = clock_of(root);
    const Sourced structure = root.need("structure");
    m.group = size_of(structure.need("group"), 4);
    m.kept = size_of(structure.need("kept"), 2);
    if (m.kept > m.group) {
        structure["kept"].node().error("out-of-range", "more words are kept than the group has",
                                       "N of N:M is at most M");
    }
    m.macs_per_cycle = static_cast<double>(size_of(root.need("macs_per_cycle"), 1));
    m.word_bits = word_bits(root.need("word"));
    if (const Sourced inputs = root["inputs"]) {
        m.input_bytes_per_cycle =
            inputs.need("bandwidth").quantity<BytesPerCycle>().value_or(BytesPerCycle{}).value;
        m.rows_at_once = size_of(inputs.need("rows_at_once"), 1);
    }
    if (const Sourced dram = root["dram"]) {
        m.dram_bytes_per_s = dram.quantity<BytesPerSec>().value_or(BytesPerSec{}).value;
    }
    return m;
}

// The accelerator by name, and what the file says of zeros on it.
SparseLevels levels(const Sourced& root, std::span<const fs::path> folders) {
    SparseLevels m;
    const hwdb::Node name = root.node().need("machine");
    m.reference = name.text().value_or("");
    auto machine = hwdb::load_machine(m.reference, folders);
    if (!machine || !std::holds_alternative<model::Accelerator>(machine->kind)) {
        for (const Diagnostic& d : machine.diagnostics()) {
            name.error(d.code, d.message, d.hint);
        }
        if (machine) {
            name.error("not-an-accelerator", fmt::format("{} is a GPU", machine->name),
                       "sparse tensor cores are machines of the kind selection");
        }
        root.node().ignore_rest();
        m.machine.kind = model::Accelerator{};
        return m;
    }
    m.machine = *std::move(machine);
    m.clock_hz = m.accelerator().clock_hz;
    m.rules = read_sparse_rules(root, m.accelerator());
    return m;
}

double multipliers(const model::sparse::Cartesian& m) {
    return static_cast<double>(m.multipliers());
}
double multipliers(const model::sparse::Columns& m) {
    return static_cast<double>(m.pes * m.lanes);
}
double multipliers(const model::sparse::Selection& m) {
    return m.macs_per_cycle;
}
double multipliers(const SparseLevels& m) {
    return static_cast<double>(model::mac_units(m.accelerator()));
}

enum class Kind { cartesian, columns, selection, levels };

Result<SparseMachine> read(hwdb::Document document, const std::string& id,
                           std::span<const fs::path> folders) {
    hwdb::SourceBook book;
    const Sourced root(document.root(), book);
    constexpr std::pair<std::string_view, int> versions[] = {{"sparse-machine/1", 1}};
    constexpr std::pair<std::string_view, Kind> kinds[] = {{"cartesian", Kind::cartesian},
                                                           {"columns", Kind::columns},
                                                           {"selection", Kind::selection},
                                                           {"levels", Kind::levels}};
    const hwdb::Node node = document.root();
    node.need("eyeroof").choice(versions, "format of this file");
    SparseMachine machine;
    machine.id = id;
    machine.name = node.need("name").text().value_or(id);
    machine.summary = node["summary"].text().value_or("");
    const auto kind = node.need("kind").choice(kinds, "kind of sparse machine");
    if (!kind) {
        node.ignore_rest();
        return document.conclude(std::move(machine));
    }
    switch (*kind) {
    case Kind::cartesian:
        machine.kind = cartesian(root);
        break;
    case Kind::columns:
        machine.kind = columns(root);
        break;
    case Kind::selection:
        machine.kind = selection(root);
        break;
    case Kind::levels:
        machine.kind = levels(root, folders);
        break;
    }
    hwdb::report_unsourced(node, book);
    machine.provenance = std::move(book.provenance);
    machine.numbers = std::move(book.numbers);
    return document.conclude(std::move(machine));
}

} // namespace

Result<SparseMachine> parse_sparse_machine(std::string text, const std::string& file,
                                           std::span<const fs::path> folders) {
    auto document = hwdb::parse_yaml(std::move(text), file);
    return document ? read(*std::move(document), fs::path(file).stem().string(), folders)
                    : Result<SparseMachine>(document.diagnostics());
}

bool is_sparse_file(const fs::path& file) {
    std::error_code failed;
    if (!fs::is_regular_file(file, failed)) {
        return false;
    }
    const auto document = hwdb::load_yaml(file);
    const hwdb::Node root = document ? document->root() : hwdb::Node();
    return root.is_map() && root["eyeroof"].text().value_or("").starts_with("sparse-machine/");
}

hwdb::LintReport lint_sparse_machine(const fs::path& file, std::span<const fs::path> folders) {
    hwdb::LintReport report;
    report.id = file.stem().string();
    const auto machine = load_sparse_machine(file.string(), folders);
    report.findings = machine.diagnostics();
    if (!machine) {
        return report;
    }
    report.loads = true;
    report.name = machine->name;
    report.numbers = static_cast<int>(machine->numbers.size());
    for (const std::string& field : machine->numbers) {
        if (const auto* source = find_provenance(machine->provenance, field)) {
            ++report.confidences[source->confidence];
        }
    }
    report.units = std::visit([](const auto& kind) { return multipliers(kind); }, machine->kind);
    report.peak_macs_per_s = report.units * machine->clock_hz();
    return report;
}

std::vector<fs::path> sparse_files(std::span<const fs::path> folders, std::string_view kind) {
    std::vector<fs::path> files;
    std::set<std::string> known;
    for (const fs::path& folder : folders) {
        std::error_code failed;
        for (fs::directory_iterator at(folder / kind, failed), end; !failed && at != end;
             at.increment(failed)) {
            if (at->path().extension() == ".yaml" && known.insert(at->path().stem()).second) {
                files.push_back(at->path());
            }
        }
    }
    std::sort(files.begin(), files.end(),
              [](const fs::path& a, const fs::path& b) { return a.stem() < b.stem(); });
    return files;
}

Result<fs::path> find_sparse_file(std::string_view name, std::span<const fs::path> folders,
                                  std::string_view kind, std::string_view what) {
    if (name.find('/') != std::string_view::npos || name.ends_with(".yaml") ||
        name.ends_with(".yml")) {
        return fs::path(name);
    }
    std::vector<std::string> names;
    for (const fs::path& file : sparse_files(folders, kind)) {
        if (file.stem() == name) {
            return file;
        }
        names.push_back(file.stem().string());
    }
    return Result<fs::path>::failure(fmt::format("unknown-{}", what),
                                     fmt::format("there is no {} '{}'", what, name),
                                     suggestion(name, names));
}

Result<SparseMachine> load_sparse_machine(std::string_view name,
                                          std::span<const fs::path> folders) {
    const auto file = find_sparse_file(name, folders, "sparse", "sparse machine");
    if (!file) {
        return file.diagnostics();
    }
    auto document = hwdb::load_yaml(*file);
    return document ? read(*std::move(document), file->stem().string(), folders)
                    : Result<SparseMachine>(document.diagnostics());
}

} // namespace eyeroof::analysis
