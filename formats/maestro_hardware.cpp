#include "base/suggest.hpp"
#include "formats/maestro.hpp"
#include "formats/maestro_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace eyeroof::formats {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

constexpr std::pair<std::string_view, std::string_view> kHardwareKeys[] = {
    {"NumPEs", "num_pes"},     {"L1Size", "l1_size_cstr"},      {"L2Size", "l2_size_cstr"},
    {"NoC_BW", "noc_bw_cstr"}, {"NoC_NumHops", "noc_num_hops"}, {"OffChip_BW", "offchip_bw_cstr"}};

// The first of the two spellings; empty for a word that is no key.
std::string_view hardware_key(std::string_view word) {
    for (const auto& [key, other] : kHardwareKeys) {
        if (word == key || word == other) {
            return key;
        }
    }
    return {};
}

// MAESTRO's machine: PEs with an L1 each, below one L2; words of one byte.
Accelerator pe_array(const std::map<std::string_view, Count>& sizes) {
    const auto of = [&](std::string_view key) {
        const auto found = sizes.find(key);
        return found == sizes.end() ? std::nullopt : std::optional(found->second);
    };
    const auto level = [](const char* name, std::optional<Count> bytes, double pj, int buffers) {
        Level made;
        made.name = name;
        Store store;
        store.operands = {Operand::input, Operand::weight, Operand::output};
        store.capacity_bytes = bytes;
        store.buffers = buffers;
        store.read_pj = store.write_pj = pj;
        made.stores.push_back(store);
        return made;
    };
    const auto link = [](const char* name, std::optional<Count> words) {
        Channel channel;
        channel.name = name;
        channel.operands = {Operand::input, Operand::weight, Operand::output};
        if (words) {
            channel.down_bytes_per_cycle = channel.up_bytes_per_cycle = static_cast<double>(*words);
        }
        return channel;
    };
    Accelerator a;
    a.clock_hz = 1e9;
    a.word_bits = {8, 8, 8};
    a.mac_pj = 1.0;
    a.levels = {level("memory", std::nullopt, 200.0, 1), level("L2", of("L2Size"), 6.0, 2),
                level("L1", of("L1Size"), 1.0, 2)};
    a.levels[0].channels = {link("off-chip link", of("OffChip_BW"))};
    a.levels[1].channels = {link("NoC", of("NoC_BW"))};
    a.levels[1].fanout = {{"pe", of("NumPEs").value_or(1)}};
    Dataflow any;
    any.kind = DataflowKind::nlr;
    any.spatial = {{"pe", DimSet{Dim::N, Dim::G, Dim::K, Dim::C, Dim::P, Dim::Q, Dim::R, Dim::S}}};
    a.dataflows = {any};
    return a;
}

} // namespace

bool is_maestro_hardware(std::string_view text) {
    const std::vector<Token> tokens = tokens_of(text.substr(0, 20000));
    return tokens.size() > 3 && !hardware_key(tokens[0].text).empty() && tokens[1].text == ":";
}

Result<Machine> parse_maestro_hardware(std::string_view text, const std::string& file) {
    Diagnostics found;
    std::map<std::string_view, Count> sizes;
    const std::vector<Token> tokens = tokens_of(text);
    for (std::size_t at = 0; at < tokens.size() && !tokens[at].text.empty();) {
        const Token& name = tokens[at++];
        const SourceLocation where{file, name.line, name.column};
        const std::string_view key = hardware_key(name.text);
        at += tokens[at].text == ":" ? 1 : 0;
        const std::string_view word = tokens[at].text;
        Count value = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (key.empty()) {
            std::vector<std::string> known;
            for (const auto& entry : kHardwareKeys) {
                known.emplace_back(entry.first);
            }
            found.error("unknown-key", fmt::format("a MAESTRO accelerator has no '{}'", name.text),
                        suggestion(name.text, known), where);
            break;
        }
        if (word.empty() || error != std::errc{} || end != word.data() + word.size() || value < 1 ||
            value > kMaxDimension) {
            found.error("bad-number", fmt::format("{} is '{}'", key, word),
                        fmt::format("write a whole number from 1 to {}", kMaxDimension), where);
            break;
        }
        if (!sizes.emplace(key, value).second) {
            found.error("duplicate-key", fmt::format("{} stands twice", key), "keep one of them",
                        where);
        }
        ++at;
        at += tokens[at].text == ";" || tokens[at].text == "," ? 1 : 0;
    }
    if (!found.has_errors() && !sizes.contains("NumPEs")) {
        found.error("missing-key", "the number of PEs is missing", "write NumPEs: 256",
                    {file, 1, 1});
    }
    if (found.has_errors()) {
        return Result<Machine>(std::move(found));
    }
    Machine machine;
    machine.id = std::filesystem::path(file).stem().string();
    machine.name = machine.id;
    machine.summary = "read from a MAESTRO accelerator; cycles at 1 GHz";
    machine.kind = pe_array(sizes);
    machine.provenance[""] = {"MAESTRO accelerator " + file, Confidence::user};
    return machine;
}

Result<mapper::Constraints> parse_maestro_dataflow(std::string_view text, const std::string& file,
                                                   const Accelerator& machine) {
    const std::vector<Token> tokens = tokens_of(text);
    DimSet spread;
    std::vector<Dim> order; // outermost first, of the directives above the first cluster
    bool outermost = true;
    Diagnostics found;
    for (std::size_t at = 0; at + 1 < tokens.size(); ++at) {
        const std::string_view word = tokens[at].text;
        outermost = outermost && word != "Cluster";
        if (word != "TemporalMap" && word != "SpatialMap") {
            continue;
        }
        while (at + 1 < tokens.size() && tokens[at].text != ";") { // the last ')' ends the sizes
            const std::string_view next = tokens[at + 1].text;
            if (tokens[at].text == ")" && next != "," && next != ")" && next != ";") {
                break;
            }
            ++at;
        }
        const Token& name = tokens[std::min(at + 1, tokens.size() - 1)];
        const char first = name.text.empty() ? ' ' : name.text.front();
        const char plain = first == 'Y' ? 'P' : first == 'X' ? 'Q' : first == 'M' ? 'K' : first;
        const std::size_t dim = kDimLetters.find(plain);
        if (dim == std::string_view::npos || name.text.size() > 2) {
            found.error("unknown-key", fmt::format("a dataflow has no dimension '{}'", name.text),
                        "known: N, K, C, Y, X, R, S, Y', X'", {file, name.line, name.column});
            return Result<mapper::Constraints>(std::move(found));
        }
        if (word == "SpatialMap") {
            spread.insert(kAllDims[dim]);
        }
        if (outermost && std::find(order.begin(), order.end(), kAllDims[dim]) == order.end()) {
            order.push_back(kAllDims[dim]);
        }
    }
    mapper::Constraints rules;
    rules.levels.resize(machine.levels.size());
    bool array = false;
    for (std::size_t i = 0; i < machine.levels.size(); ++i) {
        mapper::LevelConstraint& level = rules.levels[i];
        level.where = machine.levels[i].name;
        if (machine.levels[i].fanout.empty()) {
            continue;
        }
        level.axis_dims = std::vector<DimSet>(machine.levels[i].fanout.size(), spread);
        if (!array) {
            level.order.assign(order.rbegin(), order.rend());
            array = true;
        }
    }
    if (spread.empty()) {
        found.error("no-constraints", "the dataflow has no SpatialMap", "add one", {file, 1, 1});
        return Result<mapper::Constraints>(std::move(found));
    }
    found.warning("tile-sizes",
                  "of this dataflow the dimensions over the PEs and the order of its outermost "
                  "loops hold; tile sizes are searched",
                  "", {file, 1, 1});
    return {std::move(rules), std::move(found)};
}

} // namespace eyeroof::formats
