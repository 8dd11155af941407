#include "formats/mapping_yaml.hpp"

#include "base/suggest.hpp"
#include "base/text_file.hpp"

#include <fmt/format.h>

#include <charconv>

namespace eyeroof::formats {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field
using hwdb::Node;

namespace {

constexpr std::array<std::pair<std::string_view, Operand>, kOperands> kOperandNames = {
    {{"input", Operand::input}, {"weight", Operand::weight}, {"output", Operand::output}}};
constexpr std::array<std::pair<std::string_view, model::ConvForm>, 2> kForms = {
    {{"outputs", model::ConvForm::gather}, {"inputs", model::ConvForm::scatter}}};
constexpr std::array<std::pair<std::string_view, int>, 1> kVersions = {{{"mapping/1", 1}}};

// "K16" -> dimension and trips; reports anything else at the node.
std::optional<TemporalLoop> loop_of(const Node& node, std::string_view text) {
    const auto letter_at = text.empty() ? std::string_view::npos : kDimLetters.find(text.front());
    Count trips = 0;
    const char* end = text.data() + text.size();
    const auto read = text.empty() ? std::from_chars_result{end, std::errc::invalid_argument}
                                   : std::from_chars(text.data() + 1, end, trips);
    if (letter_at == std::string_view::npos || read.ec != std::errc{} || read.ptr != end ||
        trips < 1 || trips > kMaxDimension) {
        node.error("bad-loop", fmt::format("'{}' is no loop", text),
                   "write a dimension of N G K C P Q R S and its trips, as in K16");
        return std::nullopt;
    }
    return TemporalLoop{kAllDims[letter_at], trips};
}

void read_spatial(const Node& node, const Level& machine, LevelMapping& level) {
    const std::string text = node.text().value_or("");
    const auto space = text.find(' ');
    if (text.empty()) {
        return;
    }
    const auto loop = loop_of(node, std::string_view(text).substr(0, space));
    const std::string axis = space == std::string::npos ? "" : text.substr(space + 1);
    for (std::size_t a = 0; a < machine.fanout.size(); ++a) {
        if (machine.fanout[a].name == axis || (axis.empty() && machine.fanout.size() == 1)) {
            if (loop) {
                level.spatial.push_back({loop->dim, loop->bound, static_cast<std::uint8_t>(a)});
            }
            return;
        }
    }
    std::string known;
    for (const Axis& a : machine.fanout) {
        known += (known.empty() ? "" : ", ") + a.name;
    }
    node.error("unknown-axis", fmt::format("level {} has no axis '{}'", machine.name, axis),
               known.empty() ? "it has no fan-out" : "its axes are " + known);
}

std::string nearest_level(const std::string& name, const Accelerator& machine) {
    std::vector<std::string> names;
    for (const Level& level : machine.levels) {
        names.push_back(level.name);
    }
    return suggestion(name, names);
}

void read_level(const Node& node, const Accelerator& machine, Mapping& mapping,
                std::vector<bool>& seen) {
    const auto name = node.need("name").text();
    std::size_t at = 0;
    while (name && at < machine.levels.size() && machine.levels[at].name != *name) {
        ++at;
    }
    if (!name || at == machine.levels.size() || seen[at]) {
        if (name) {
            node["name"].error(at < seen.size() ? "duplicate-level" : "unknown-level",
                               at < seen.size()
                                   ? fmt::format("level '{}' comes twice", *name)
                                   : fmt::format("the machine has no level '{}'", *name),
                               at < seen.size() ? "" : nearest_level(*name, machine));
        }
        node.ignore_rest();
        return;
    }
    seen[at] = true;
    LevelMapping& level = mapping.levels[at];
    if (const Node keep = node["keep"]) {
        for (const Node& item : keep.items()) {
            if (const auto o = item.choice(kOperandNames, "operand")) {
                level.keeps.insert(*o);
            }
        }
    }
    if (const Node temporal = node["temporal"]) {
        for (const Node& item : temporal.items()) {
            const std::string text = item.text().value_or("");
            const auto loop = text.empty() ? std::nullopt : loop_of(item, text);
            if (loop) {
                level.temporal.push_back(*loop);
            }
        }
    }
    if (const Node spatial = node["spatial"]) {
        for (const Node& item : spatial.items()) {
            read_spatial(item, machine.levels[at], level);
        }
    }
}

} // namespace

Result<Mapping> parse_mapping_yaml(std::string text, const std::string& file,
                                   const Accelerator& machine) {
    const auto document = hwdb::parse_yaml(std::move(text), file);
    if (!document) {
        return Result<Mapping>(document.diagnostics());
    }
    const Node root = document->root();
    root.need("eyeroof").choice(kVersions, "format");
    Mapping mapping;
    mapping.form = root["walks"].choice(kForms, "what P and Q walk over").value_or(mapping.form);
    mapping.levels.resize(machine.levels.size());
    std::vector<bool> seen(machine.levels.size(), false);
    for (const Node& level : root.need("levels").items(1)) {
        read_level(level, machine, mapping, seen);
    }
    return document->conclude(std::move(mapping));
}

std::string write_mapping_yaml(const Mapping& mapping, const Accelerator& machine) {
    std::string text = "eyeroof: mapping/1\n";
    text += mapping.form == ConvForm::scatter ? "walks: inputs\n" : "";
    text += "levels:\n";
    for (std::size_t i = 0; i < mapping.levels.size(); ++i) {
        const LevelMapping& level = mapping.levels[i];
        std::string keep;
        std::string temporal;
        std::string spatial;
        for (const auto& [name, operand] : kOperandNames) {
            if (level.keeps.contains(operand)) {
                keep += (keep.empty() ? "" : ", ") + std::string(name);
            }
        }
        for (const TemporalLoop& loop : level.temporal) {
            temporal +=
                fmt::format("{}{}{}", temporal.empty() ? "" : ", ", letter(loop.dim), loop.bound);
        }
        for (const SpatialLoop& loop : level.spatial) {
            spatial += fmt::format("{}{}{} {}", spatial.empty() ? "" : ", ", letter(loop.dim),
                                   loop.bound, machine.levels[i].fanout[loop.axis].name);
        }
        text +=
            fmt::format("  - name: \"{}\"\n    keep: [{}]\n    temporal: [{}]\n    spatial: [{}]\n",
                        machine.levels[i].name, keep, temporal, spatial);
    }
    return text;
}

Result<Mapping> load_mapping(const std::filesystem::path& path, const Accelerator& machine,
                             const TimeloopNames& names) {
    auto text = read_text_file(path);
    if (!text) {
        return Result<Mapping>(text.diagnostics());
    }
    return timeloop_has(*text, TimeloopKind::mapping)
               ? parse_timeloop_mapping(*text, path.string(), machine, names)
               : parse_mapping_yaml(*text, path.string(), machine);
}

} // namespace eyeroof::formats
