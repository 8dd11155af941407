#include "analysis/sparse/densities.hpp"

#include "hwdb/yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace eyeroof::analysis {

namespace {

constexpr std::pair<std::string_view, std::string_view> kConfidences[] = {
    {"datasheet", "datasheet"}, {"paper", "paper"},       {"measured", "measured"},
    {"derived", "derived"},     {"recalled", "recalled"}, {"user", "user"}};

Result<DensityTable> read(hwdb::Document document, std::string id) {
    constexpr std::pair<std::string_view, int> versions[] = {{"densities/1", 1}};
    const hwdb::Node root = document.root();
    root.need("eyeroof").choice(versions, "format of this file");
    DensityTable table;
    table.id = std::move(id);
    table.name = root["name"].text().value_or(table.id);
    table.network = root["network"].text().value_or("");
    table.source = root.need("source").text().value_or("");
    table.confidence = root.need("confidence").choice(kConfidences, "confidence").value_or("user");
    table.input = root["input"].number(0.0, 1.0).value_or(1.0);
    std::set<std::string> seen;
    for (const hwdb::Node& node : root.need("layers").items(1)) {
        LayerDensity layer;
        layer.name = node.need("name").text().value_or("");
        if (!seen.insert(layer.name).second) {
            node["name"].error("duplicate-layer",
                               fmt::format("layer '{}' is listed twice", layer.name),
                               "give each layer once");
        }
        layer.input = node["input"].number(0.0, 1.0);
        layer.weight = node.need("weight").number(0.0, 1.0).value_or(1.0);
        layer.output = node.need("output").number(0.0, 1.0).value_or(1.0);
        table.layers.push_back(std::move(layer));
    }
    return document.conclude(std::move(table));
}

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size() && i < 8; ++i) {
        text += (i > 0 ? ", " : "") + names[i];
    }
    return names.size() > 8 ? text + fmt::format(" and {} more", names.size() - 8) : text;
}

} // namespace

Result<DensityTable> parse_densities(std::string text, const std::string& file) {
    auto document = hwdb::parse_yaml(std::move(text), file);
    return document ? read(*std::move(document), std::filesystem::path(file).stem().string())
                    : Result<DensityTable>(document.diagnostics());
}

Result<DensityTable> load_densities(const std::filesystem::path& file) {
    auto document = hwdb::load_yaml(file);
    return document ? read(*std::move(document), file.stem().string())
                    : Result<DensityTable>(document.diagnostics());
}

Result<std::vector<model::sparse::Densities>> densities_of(const DensityTable& table,
                                                           const model::Network& network) {
    std::map<std::string, model::sparse::Densities> known;
    double before = table.input;
    for (const LayerDensity& layer : table.layers) {
        known[layer.name] = {layer.input.value_or(before), layer.weight, layer.output};
        before = layer.output;
    }
    std::vector<model::sparse::Densities> all;
    std::vector<std::string> missing;
    std::set<std::string> used;
    for (const model::Layer& layer : network.layers) {
        const auto found = known.find(layer.name);
        if (found == known.end() && model::multiplies(layer.op)) {
            missing.push_back(layer.name);
        }
        all.push_back(found == known.end() ? model::sparse::Densities{} : found->second);
        used.insert(layer.name);
    }
    Diagnostics found;
    if (!missing.empty()) {
        found.error("no-density",
                    fmt::format("'{}' has no density for {}", table.id, listed(missing)),
                    "add them to the file, or choose layers with --layers");
    }
    std::vector<std::string> unused;
    for (const LayerDensity& layer : table.layers) {
        if (!used.contains(layer.name)) {
            unused.push_back(layer.name);
        }
    }
    if (!unused.empty()) {
        found.warning("unused-density",
                      fmt::format("densities of '{}' for layers that the network lacks: {}",
                                  table.id, listed(unused)));
    }
    return found.has_errors()
               ? Result<std::vector<model::sparse::Densities>>(std::move(found))
               : Result<std::vector<model::sparse::Densities>>(std::move(all), std::move(found));
}

} // namespace eyeroof::analysis
