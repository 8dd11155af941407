#include "analysis/chip/area_table.hpp"

#include "hwdb/yaml.hpp"

#include <charconv>
#include <optional>

namespace eyeroof::analysis {

namespace {

using hwdb::Node;

std::optional<long long> whole_number(std::string_view text) {
    long long value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool good = code == std::errc{} && end == text.data() + text.size() && value >= 0;
    return good && value < (1LL << 40) ? std::optional(value) : std::nullopt;
}

// Of "0..167": 168. nullopt where it is no range.
std::optional<double> range_size(std::string_view range) {
    const std::size_t dots = range.find("..");
    if (dots == std::string_view::npos) {
        return whole_number(range) ? std::optional(1.0) : std::nullopt;
    }
    const auto first = whole_number(range.substr(0, dots));
    const auto last = whole_number(range.substr(dots + 2));
    if (!first || !last || *last < *first) {
        return std::nullopt;
    }
    return static_cast<double>(*last - *first + 1);
}

// The last component of a dotted name without its ranges, which are multiplied.
std::optional<NamedArea> named(std::string_view path) {
    NamedArea found;
    std::size_t at = 0;
    while (at < path.size()) {
        const char c = path[at];
        if (c == '[' || c == '(') {
            const std::size_t close = path.find(c == '[' ? ']' : ')', at);
            const auto size = close == std::string_view::npos
                                  ? std::nullopt
                                  : range_size(path.substr(at + 1, close - at - 1));
            if (!size) {
                return std::nullopt;
            }
            found.instances *= *size;
            at = close + 1;
            continue;
        }
        c == '.' ? found.name.clear() : found.name.push_back(c);
        ++at;
    }
    return found.name.empty() ? std::nullopt : std::optional(found);
}

void add_area(const Node& entry, std::vector<NamedArea>& all) {
    entry.ignore_rest();
    const Node name = entry.need("name");
    const auto text = name.text();
    const auto um2 = entry.need("area").number(0.0, 1e15);
    if (!text || !um2) {
        return;
    }
    auto area = named(*text);
    if (!area) {
        name.error("bad-component", "a name with a range that is none",
                   "such as system.PE[0..167].spad");
        return;
    }
    area->um2 = *um2;
    all.push_back(*area);
}

Result<std::vector<NamedArea>> read_areas(const hwdb::Document& document) {
    const Node root = document.root();
    std::vector<NamedArea> all;
    if (!root.is_map()) {
        root.error("no-table", "this is no table of areas", "a file with ART: {tables: …}");
        return document.conclude(std::move(all));
    }
    root.ignore_rest();
    const bool summary = !root.has("ART") && root.has("ART_summary");
    const Node table = root.need(summary ? "ART_summary" : "ART");
    table.ignore_rest();
    for (const Node& entry : table.need(summary ? "table_summary" : "tables").items(1)) {
        add_area(entry, all);
    }
    return document.conclude(std::move(all));
}

} // namespace

Result<std::vector<NamedArea>> read_area_table(const std::filesystem::path& file) {
    const auto document = hwdb::load_yaml(file);
    return document ? read_areas(*document) : document.diagnostics();
}

Result<std::vector<NamedArea>> parse_area_table(std::string text, std::string file) {
    const auto document = hwdb::parse_yaml(std::move(text), std::move(file));
    return document ? read_areas(*document) : document.diagnostics();
}

} // namespace eyeroof::analysis
