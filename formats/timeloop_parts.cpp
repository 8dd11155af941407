#include "formats/timeloop_parts.hpp"

#include "base/suggest.hpp"
#include "formats/template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace eyeroof::formats {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field
using hwdb::Node;

namespace {

constexpr std::array<std::pair<std::string_view, TimeloopKind>, 7> kKeys = {
    {{"arch", TimeloopKind::architecture},
     {"architecture", TimeloopKind::architecture},
     {"problem", TimeloopKind::problem},
     {"mapping", TimeloopKind::mapping},
     {"mapspace", TimeloopKind::constraints},
     {"architecture_constraints", TimeloopKind::constraints},
     {"mapspace_constraints", TimeloopKind::constraints}}};

// Calls `visit` with each top-level key until it returns true.
template <class Visit> void top_level_keys(std::string_view text, Visit visit) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        at = end + 1;
        const std::size_t colon = line.find(':');
        const bool key = !line.empty() && std::isalpha(static_cast<unsigned char>(line.front()));
        if (key && colon != std::string_view::npos && visit(line.substr(0, colon))) {
            return;
        }
    }
}

TimeloopKind kind_of_key(std::string_view key) {
    std::string plain(key);
    std::replace(plain.begin(), plain.end(), '-', '_');
    for (const auto& [name, kind] : kKeys) {
        if (plain == name) {
            return kind;
        }
    }
    return TimeloopKind::none;
}

// Keys that stand beside the known ones in Timeloop's files, for its other tools.
bool beside(std::string_view key) {
    if (key.ends_with("_ignore")) { // holds anchors alone
        return true;
    }
    constexpr std::array<std::string_view, 14> known = {"dumped_by_timeloop_front_end",
                                                        "mapper",
                                                        "model",
                                                        "variables",
                                                        "globals",
                                                        "ERT",
                                                        "ART",
                                                        "components",
                                                        "components_",
                                                        "compound_components",
                                                        "sparse_optimizations",
                                                        "layout",
                                                        "specification",
                                                        "processors"};
    return std::find(known.begin(), known.end(), key) != known.end();
}

} // namespace

TimeloopKind timeloop_kind(std::string_view text) {
    TimeloopKind found = TimeloopKind::none;
    top_level_keys(text, [&](std::string_view key) {
        found = kind_of_key(key);
        return found != TimeloopKind::none || !beside(key);
    });
    return found;
}

bool timeloop_has(std::string_view text, TimeloopKind kind) {
    bool found = false;
    if (timeloop_kind(text) != TimeloopKind::none) {
        top_level_keys(text, [&](std::string_view key) {
            found = kind_of_key(key) == kind;
            return found;
        });
    }
    return found;
}

const TimeloopNames& cnn_layer_names() {
    static const TimeloopNames names = {
        {{"N", Dim::N},
         {"G", Dim::G},
         {"K", Dim::K},
         {"M", Dim::K},
         {"C", Dim::C},
         {"P", Dim::P},
         {"Q", Dim::Q},
         {"R", Dim::R},
         {"S", Dim::S}},
        {{"Inputs", Operand::input}, {"Weights", Operand::weight}, {"Outputs", Operand::output}}};
    return names;
}

namespace timeloop {

namespace {

std::string listed(const TimeloopNames& names) {
    std::string text;
    for (const auto& [name, dim] : names.dims) {
        text += (text.empty() ? "" : " ") + name;
    }
    return text;
}

bool digit(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// Words between spaces; a comma parts them too, but "P4,2" is one word (a factor and the partial
// last trip).
std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words(1);
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool remainder = text[i] == ',' && i + 1 < text.size() && digit(text[i + 1]);
        if (text[i] == ' ' || text[i] == '\t' || (text[i] == ',' && !remainder)) {
            words.emplace_back();
        } else {
            words.back() += text[i];
        }
    }
    std::erase(words, "");
    return words;
}

void bad_factor(const Node& node, const std::string& word, const TimeloopNames& names) {
    node.error("bad-loop", fmt::format("'{}' is no factor", word),
               fmt::format("write a dimension of {} and its trips, as in {}3", listed(names),
                           names.dims.empty() ? "R" : names.dims.begin()->first));
}

// "C<=4" is C, most, 4.
struct Sign {
    std::string_view text;
    Limit limit;
    Count more; // "<" is one less than "<="
};
constexpr std::array<Sign, 6> kSigns = {{{"<=", Limit::most, 0},
                                         {">=", Limit::least, 0},
                                         {"==", Limit::exact, 0},
                                         {"<", Limit::most, -1},
                                         {">", Limit::least, 1},
                                         {"=", Limit::exact, 0}}};

// The blanks around signs taken out, so that "C <= 4" is one word.
std::string tightened(std::string_view text) {
    std::string tight;
    const auto sign = [](char c) { return c == '<' || c == '>' || c == '='; };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::size_t next = text.find_first_not_of(" \t", i);
        const bool blank = text[i] == ' ' || text[i] == '\t';
        const bool before = next != std::string_view::npos && sign(text[next]);
        const bool after = !tight.empty() && sign(tight.back());
        if (!blank || (!before && !after)) {
            tight += text[i];
        }
    }
    return tight;
}

std::optional<Factor> factor_of(const Node& node, const std::string& word,
                                const TimeloopNames& names) {
    const std::size_t number = std::min(word.find_first_of("0123456789"), word.size());
    const std::size_t ends = std::min(word.find_first_of("<>="), number);
    const std::string_view between = std::string_view(word).substr(ends, number - ends);
    const auto sign = std::find_if(kSigns.begin(), kSigns.end(),
                                   [&](const Sign& s) { return s.text == between; });
    const auto dim = names.dims.find(word.substr(0, ends));
    if (dim == names.dims.end() || (sign == kSigns.end() && !between.empty())) {
        bad_factor(node, word, names);
        return std::nullopt;
    }
    Factor factor{dim->second, 0};
    const char* end = word.data() + word.size();
    auto read = std::from_chars(word.data() + number, end, factor.trips);
    if (read.ec == std::errc{} && read.ptr != end && *read.ptr == ',') {
        Count last = 0;
        read = std::from_chars(read.ptr + 1, end, last);
        factor.last = last;
    }
    if (sign != kSigns.end()) {
        factor.limit = sign->limit;
        factor.trips += sign->more;
    }
    const Count least = factor.limit == Limit::exact ? 0 : 1;
    const bool sized = factor.trips >= least && factor.trips <= kMaxDimension;
    const bool ordered = !factor.last || (*factor.last >= 1 && *factor.last <= factor.trips);
    if (read.ec != std::errc{} || read.ptr != end || !sized || !ordered ||
        (factor.last && factor.limit != Limit::exact)) {
        bad_factor(node, word, names);
        return std::nullopt;
    }
    return factor;
}

void add_dim(const Node& node, const std::string& name, const TimeloopNames& names,
             std::vector<Dim>& dims) {
    const auto dim = names.dims.find(name);
    if (dim == names.dims.end() || std::find(dims.begin(), dims.end(), dim->second) != dims.end()) {
        node.error("bad-loop", fmt::format("'{}' is no dimension, or comes twice", name),
                   "the dimensions are " + listed(names));
    } else {
        dims.push_back(dim->second);
    }
}

} // namespace

Result<hwdb::Document> open(std::string text, const std::string& file, const TemplateWords& words) {
    hwdb::YamlOptions options{.allow_aliases = true, .allow_tags = true, .allow_merge_keys = true};
    if (is_template(text)) {
        auto expanded = expand_template(std::move(text), file, {}, words);
        if (!expanded) {
            return Result<hwdb::Document>(expanded.diagnostics());
        }
        options.lines = std::move(expanded->lines);
        text = std::move(expanded->text);
    }
    return hwdb::parse_yaml(std::move(text), file, std::move(options));
}

Variables variables_of(const Node& root) {
    Variables known;
    const Node list = root.is_map() && root.has("variables") ? root["variables"] : Node{};
    if (!list.is_map()) {
        return known;
    }
    for (const auto& [name, node] : list.entries()) {
        const auto value = node.is_scalar() ? evaluate(node.text().value_or(""), known)
                                            : Result<double>::failure("", "", "");
        if (value) {
            known[name] = *value;
        }
    }
    return known;
}

Node member(const Node& node, std::string_view key) {
    if (!node.is_map()) {
        return {};
    }
    std::string hyphens(key);
    std::replace(hyphens.begin(), hyphens.end(), '_', '-');
    return node.has(hyphens) && hyphens != key ? node[hyphens] : node.has(key) ? node[key] : Node{};
}

void refuse(const Node& node, std::string_view key, std::string_view what) {
    const Node found = member(node, key);
    if (found && !(found.is_list() && found.items().empty())) {
        found.error("unsupported", fmt::format("{} ({}) are not read", what, key),
                    "take them away if they do not matter");
        found.ignore_rest();
    }
}

std::vector<Factor> factors_of(const Node& node, const TimeloopNames& names) {
    std::vector<Factor> factors;
    for (const Node& part : node.one_or_more()) {
        for (const std::string& word : words_of(tightened(part.text().value_or("")))) {
            if (const auto factor = factor_of(part, word, names)) {
                factors.push_back(*factor);
            }
        }
    }
    return factors;
}

std::vector<Dim> permutation_of(const Node& node, const TimeloopNames& names) {
    std::vector<Dim> dims;
    for (const Node& part : node.one_or_more()) {
        for (const std::string& word : words_of(part.text().value_or(""))) {
            if (names.dims.contains(word)) {
                add_dim(part, word, names, dims);
                continue;
            }
            for (const char letter : word) {
                add_dim(part, std::string(1, letter), names, dims);
            }
        }
    }
    return dims;
}

OperandSet operands_of(const Node& node, const TimeloopNames& names) {
    OperandSet set;
    if (!node) {
        return set;
    }
    std::vector<std::string> known;
    for (const auto& [name, operand] : names.spaces) {
        known.push_back(name);
    }
    for (const Node& item : node.items()) {
        const auto chosen = item.choice_of(known, "data space");
        if (chosen) {
            set.insert(names.spaces.at(known[*chosen]));
        }
    }
    return set;
}

std::optional<std::size_t> level_named(const Accelerator& machine, std::string_view name) {
    for (std::size_t i = 0; i < machine.levels.size(); ++i) {
        if (machine.levels[i].name == name) {
            return i;
        }
    }
    return std::nullopt;
}

std::optional<Spread> spread_of(const Accelerator& machine, std::string_view name) {
    const std::string prefix = std::string(name) + ".";
    for (std::size_t i = 0; i < machine.levels.size(); ++i) {
        Spread spread{i, {}, true};
        for (std::size_t a = 0; a < machine.levels[i].fanout.size(); ++a) {
            if (machine.levels[i].fanout[a].name.starts_with(prefix)) {
                spread.axes.push_back(a);
            }
        }
        if (!spread.axes.empty()) {
            return spread;
        }
    }
    const auto level = level_named(machine, name);
    if (!level) {
        return std::nullopt;
    }
    Spread spread{*level, {}, false};
    for (std::size_t a = 0; a < machine.levels[*level].fanout.size(); ++a) {
        spread.axes.push_back(a);
    }
    return spread;
}

std::vector<std::string> target_names(const Accelerator& machine) {
    std::vector<std::string> names;
    for (const Level& level : machine.levels) {
        names.push_back(level.name);
        for (const Axis& axis : level.fanout) {
            const std::size_t dot = axis.name.rfind('.');
            if (dot != std::string::npos && names.back() != axis.name.substr(0, dot)) {
                names.push_back(axis.name.substr(0, dot));
            }
        }
    }
    return names;
}

} // namespace timeloop

} // namespace eyeroof::formats
