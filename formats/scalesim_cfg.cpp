#include "base/ascii.hpp"
#include "base/suggest.hpp"
#include "base/text_file.hpp"
#include "formats/scalesim.hpp"
#include "hwdb/systolic.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <span>
#include <vector>

namespace eyeroof::formats {

namespace {

using ConfigResult = Result<ScaleSimConfig>;

constexpr std::size_t kMaxCfgBytes = std::size_t{1} << 20U;
constexpr Count kLargestArray = 65536; // rows or columns; real arrays have a few hundred

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

struct Setting {
    std::string value;
    SourceLocation where;
};

// All keys of SCALE-Sim's three versions, and those of derived versions that resemble one of them;
// those of addresses, layouts, and traces change no answer.
constexpr auto kSettings = std::to_array<std::string_view>({
    "run_name",
    "ArrayHeight",
    "ArrayWidth",
    "Dataflow",
    "Bandwidth",
    "InterfaceBandwidth",
    "IfmapSramSzkB",
    "FilterSramSzkB",
    "OfmapSramSzkB",
    "IfmapSramSz",
    "FilterSramSz",
    "OfmapSramSz",
    "SparsitySupport",
    "OptimizedMapping",
    "SparseRep",
    "BlockSize",
    "RandomNumberGeneratorSeed",
    "IfmapOffset",
    "FilterOffset",
    "OfmapOffset",
    "MemoryBanks",
    "ReadRequestBuffer",
    "WriteRequestBuffer",
    "IfmapCustomLayout",
    "FilterCustomLayout",
    "IfmapSRAMBankBandwidth",
    "IfmapSRAMBankNum",
    "IfmapSRAMBankPort",
    "FilterSRAMBankBandwidth",
    "FilterSRAMBankNum",
    "FilterSRAMBankPort",
    "OfmapCustomLayout",
    "OfmapSRAMBankBandwidth",
    "OfmapSRAMBankNum",
    "OfmapSRAMBankPort",
    "UseRamulatorTrace",
    "TopologyCsvLoc",
    "LayoutCsvLoc",
});

// Keys of the whole file, sections put aside: SCALE-Sim uses none twice. Both "key: value" and
// "key = value" are its syntax; ';' and '#' begin comments.
class Entries {
  public:
    Entries(std::string_view text, std::string file, Diagnostics& found)
        : file_(std::move(file)), found_(found) {
        int line = 0;
        while (!text.empty() && !found_.full() && unknown_ <= kMostUnknown) {
            const std::size_t end = text.find('\n');
            take_line(trimmed(text.substr(0, end)), ++line);
            text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        }
    }

    const Setting* find(std::string_view key) const {
        const auto found = entries_.find(lowered(key));
        return found == entries_.end() ? nullptr : &found->second;
    }

    // The second key is what the first version called it.
    Count number(std::string_view key, Count least, Count most, bool needed, Diagnostics& found,
                 std::string_view former = {}) const {
        const Setting* entry = find(key);
        entry = entry == nullptr && !former.empty() ? find(former) : entry;
        if (entry == nullptr) {
            if (needed) {
                found.error("missing-key", fmt::format("{} is missing", key),
                            "the section [architecture_presets] has ArrayHeight, ArrayWidth and "
                            "Dataflow",
                            {file_, 0, 0}, std::string(key));
            }
            return 0;
        }
        Count value = 0;
        const char* last = entry->value.data() + entry->value.size();
        const auto [end, error] = std::from_chars(entry->value.data(), last, value);
        if (error != std::errc{} || end != last || value < least || value > most) {
            found.error("bad-dimension", fmt::format("{} is '{}'", key, entry->value),
                        fmt::format("write a whole number from {} to {}", least, most),
                        entry->where, std::string(key));
            return least;
        }
        return value;
    }

    // One of the words, in lower case; the first where the key is missing.
    std::string word(std::string_view key, std::span<const std::string_view> known) const {
        const Setting* entry = find(key);
        const std::string value = entry == nullptr ? std::string(known[0]) : lowered(entry->value);
        if (std::ranges::find(known, value) == known.end()) {
            found_.error("unknown-word", fmt::format("{} is '{}'", key, entry->value),
                         fmt::format("write {}", fmt::join(known, " or ")), entry->where,
                         std::string(key));
        }
        return value;
    }

    // The first of a list, which is what SCALE-Sim takes; none where it computes the bandwidth that
    // the array needs.
    std::optional<Count> bandwidth(Diagnostics& found) const {
        constexpr auto modes = std::to_array<std::string_view>({"user", "calc"});
        const std::string mode = word("InterfaceBandwidth", modes);
        const Setting* entry = find("Bandwidth");
        if (entry == nullptr || mode == "calc") {
            return std::nullopt;
        }
        const std::string_view first =
            trimmed(std::string_view(entry->value)
                        .substr(0, std::min(entry->value.find(','), entry->value.size())));
        Count value = 0;
        const auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), value);
        if (error != std::errc{} || end != first.data() + first.size() || value < 1 ||
            value > model::kMaxDimension) {
            found.error("bad-dimension", fmt::format("Bandwidth is '{}'", entry->value),
                        "write a whole number of words in a cycle", entry->where, "Bandwidth");
            return std::nullopt;
        }
        return value;
    }

  private:
    void take_line(std::string_view line, int number) {
        const std::size_t cut = line.find_first_of(":=");
        if (line.empty() || line[0] == '#' || line[0] == ';' || line[0] == '[') {
            return;
        }
        const SourceLocation where{file_, number, 1};
        const std::string name(trimmed(line.substr(0, cut)));
        if (cut == std::string_view::npos) {
            found_.error("no-value", fmt::format("'{}' has no value", name.substr(0, 40)),
                         "write KEY : VALUE", where);
            return;
        }
        std::string_view value = trimmed(line.substr(cut + 1));
        if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
            value = value.substr(1, value.size() - 2);
        }
        check_key(name, where);
        if (!entries_.try_emplace(lowered(name), Setting{std::string(value), where}).second) {
            found_.error("duplicate-key", fmt::format("{} stands twice", name.substr(0, 40)),
                         "keep one of them", where);
        }
    }

    // A key of a derived version is passed over, one that is misspelled is not.
    void check_key(const std::string& name, const SourceLocation& where) {
        constexpr int most_typos = 2;
        const std::string_view head = std::string_view(name).substr(0, 40);
        const auto typos = [&](std::string_view key) { return edit_distance(head, key); };
        const auto near = std::ranges::min_element(kSettings, {}, typos);
        const int distance = typos(*near); // letter case aside
        unknown_ += distance > 0 ? 1 : 0;
        if (unknown_ > kMostUnknown) {
            found_.error("unknown-key", fmt::format("more than {} keys are unknown", kMostUnknown),
                         "is this a cfg of SCALE-Sim?", where);
        } else if (distance > 0 && distance <= most_typos) {
            found_.error("unknown-key", fmt::format("unknown key '{}'", head),
                         fmt::format("did you mean '{}'?", *near), where);
        } else if (distance > 0) {
            found_.warning("unread-key", fmt::format("the key '{}' is not read", head),
                           "what it changes is not in the answer", where);
        }
    }

    std::string file_;
    Diagnostics& found_;
    std::map<std::string, Setting> entries_;
    static constexpr int kMostUnknown = 64; // each is compared with every setting
    int unknown_ = 0;
};

model::DataflowKind read_dataflow(const Entries& entries, const std::string& file,
                                  Diagnostics& found) {
    constexpr std::array<std::string_view, 3> known = {"os", "ws", "is"};
    constexpr std::array<model::DataflowKind, 3> kinds = {
        model::DataflowKind::os, model::DataflowKind::ws, model::DataflowKind::is};
    const Setting* entry = entries.find("Dataflow");
    if (entry == nullptr) {
        found.warning("missing-key", "Dataflow is missing: output stationary is taken",
                      "write Dataflow : ws, os or is", {file, 0, 0}, "Dataflow");
        return kinds[0];
    }
    const auto at = std::find(known.begin(), known.end(), lowered(entry->value));
    if (at == known.end()) {
        found.error("unknown-dataflow", fmt::format("'{}' is not a dataflow", entry->value),
                    suggestion(entry->value, known), entry->where, "Dataflow");
        return kinds[0];
    }
    return kinds[static_cast<std::size_t>(at - known.begin())];
}

} // namespace

ConfigResult parse_scalesim_cfg(std::string text, const std::string& file) {
    const auto checked = checked_text(std::move(text), file);
    if (!checked) {
        return checked.diagnostics();
    }
    Diagnostics found;
    const Entries entries(*checked, file, found);
    ScaleSimConfig config;
    if (const Setting* name = entries.find("run_name")) {
        config.run_name = name->value;
    }
    config.rows = entries.number("ArrayHeight", 1, kLargestArray, true, found);
    config.cols = entries.number("ArrayWidth", 1, kLargestArray, true, found);
    config.dataflow = read_dataflow(entries, file, found);
    config.ifmap_kb =
        entries.number("IfmapSramSzkB", 0, model::kMaxDimension, false, found, "IfmapSramSz");
    config.filter_kb =
        entries.number("FilterSramSzkB", 0, model::kMaxDimension, false, found, "FilterSramSz");
    config.ofmap_kb =
        entries.number("OfmapSramSzkB", 0, model::kMaxDimension, false, found, "OfmapSramSz");
    config.bandwidth_words = entries.bandwidth(found);
    constexpr auto flags = std::to_array<std::string_view>({"false", "true"});
    const Setting* rows = entries.find("OptimizedMapping");
    config.sparse = entries.word("SparsitySupport", flags) == "true";
    const bool drawn = entries.word("OptimizedMapping", flags) == "true";
    if (config.sparse && drawn) {
        found.warning("unread-key", "OptimizedMapping draws the zeros of each row at random",
                      "the ratio of the topology's column Sparsity is taken instead", rows->where,
                      "OptimizedMapping");
    }
    if (found.has_errors()) {
        return found;
    }
    return {std::move(config), std::move(found)};
}

ConfigResult load_scalesim_cfg(const std::filesystem::path& path) {
    auto text = read_text_file(path, kMaxCfgBytes);
    if (!text) {
        return text.diagnostics();
    }
    return parse_scalesim_cfg(std::move(*text), path.string());
}

bool is_scalesim_cfg(std::string_view text) {
    const std::string head = lowered(text.substr(0, 20000));
    return head.find("[architecture_presets]") != std::string::npos ||
           (head.find("arrayheight") != std::string::npos &&
            head.find("arraywidth") != std::string::npos);
}

namespace {

// SCALE-Sim's words have one byte, its buffers two halves, and each tensor an interface of its own.
void put_buffers(const ScaleSimConfig& config, model::Accelerator& array) {
    using model::Operand;
    array.word_bits = {8, 8, 32};
    model::Level& memory = array.levels[0];
    model::Level& buffer = array.levels[1];
    const model::Store ideal = buffer.stores.front();
    buffer.stores.clear();
    const model::PerOperand<Count> sizes = {config.ifmap_kb, config.filter_kb, config.ofmap_kb};
    for (const Operand o : model::kAllOperands) {
        model::Store store = ideal;
        store.operands = {o};
        store.capacity_bytes = sizes[index(o)] * 1024;
        store.buffers = 2;
        buffer.stores.push_back(store);
        if (config.bandwidth_words) {
            model::Channel channel;
            channel.name = fmt::format("{} interface", model::operand_name(o));
            channel.operands = {o};
            channel.down_bytes_per_cycle = channel.up_bytes_per_cycle =
                static_cast<double>(*config.bandwidth_words);
            channel.reduces = false;
            memory.channels.push_back(channel);
        }
    }
    buffer.word_bits[index(Operand::output)] = 8;
}

} // namespace

Result<model::Machine> parse_scalesim_machine(std::string text, const std::string& file) {
    using MachineResult = Result<model::Machine>;
    const auto config = parse_scalesim_cfg(std::move(text), file);
    if (!config) {
        return MachineResult(config.diagnostics());
    }
    if (config->ifmap_kb == 0 || config->filter_kb == 0 || config->ofmap_kb == 0) {
        return MachineResult::failure("missing-key", "the sizes of the buffers are missing or 0",
                                      "write IfmapSramSzkB, FilterSramSzkB and OfmapSramSzkB",
                                      {file, 0, 0});
    }
    auto machine = hwdb::systolic_array(fmt::format("systolic:{}x{}:{}", config->rows, config->cols,
                                                    model::dataflow_name(config->dataflow)));
    if (!machine) {
        return machine;
    }
    put_buffers(*config, std::get<model::Accelerator>(machine->kind));
    machine->id = std::filesystem::path(file).stem().string();
    machine->name = config->run_name.empty() ? machine->id : config->run_name;
    machine->summary = "read from a SCALE-Sim cfg; cycles at 1 GHz";
    machine->provenance[""] = {"SCALE-Sim cfg " + file, Confidence::user};
    return MachineResult(*std::move(machine), config.diagnostics());
}

} // namespace eyeroof::formats
