#include "formats/metric_family.hpp"

#include "hwdb/yaml.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace eyeroof::formats {

namespace {

using hwdb::Node;

constexpr std::pair<const char*, const char*> kPipes[] = {{"fma", "fma"}, {"tensor", "tensor"}};
constexpr std::pair<const char*, const char*> kLevels[] = {
    {"dram", "dram"}, {"l2", "l2"}, {"l1", "l1"}, {"shared", "shared"}};
constexpr std::pair<const char*, const char*> kPrecisions[] = {
    {"fp64", "fp64"}, {"fp32", "fp32"}, {"tf32", "tf32"}, {"fp16", "fp16"}, {"bf16", "bf16"},
    {"fp8", "fp8"},   {"fp4", "fp4"},   {"int8", "int8"}, {"int4", "int4"}};

std::vector<std::string> texts(const Node& list) {
    std::vector<std::string> result;
    for (const Node& item : list.items(1)) {
        result.push_back(item.text().value_or(""));
    }
    return result;
}

std::vector<profiles::MetricTerm> terms(const Node& list) {
    constexpr double kLargestWeight = 4096.0;
    std::vector<profiles::MetricTerm> result;
    for (const Node& item : list.items(1)) {
        result.push_back({item.need("counter").text().value_or(""),
                          item.need("weight").number(1e-6, kLargestWeight).value_or(1.0)});
    }
    return result;
}

void read_sets(const Node& list, profiles::MetricFamily& family) {
    for (const Node& item : list.items(1)) {
        profiles::MetricSet set;
        set.name = item.need("name").text().value_or("");
        set.max_passes = static_cast<int>(item.need("max_passes").integer({1, 1000}).value_or(1));
        set.counters = texts(item.need("counters"));
        if (family.find_set(set.name) != nullptr) {
            item.error("duplicate", "the set '" + set.name + "' stands here for the second time",
                       "give each set a name of its own");
        }
        family.sets.push_back(std::move(set));
    }
}

// A formula whose counters no set collects would never give a figure.
void check_collected(const Node& root, const profiles::MetricFamily& family) {
    for (const std::string& counter : profiles::counters_of(family)) {
        const bool collected =
            std::ranges::any_of(family.sets, [&](const profiles::MetricSet& set) {
                return std::ranges::find(set.counters, counter) != set.counters.end();
            });
        if (!collected) {
            root.error("never-collected", "no set collects the counter '" + counter + "'",
                       "name it in one of `sets`");
        }
    }
}

} // namespace

Result<profiles::MetricFamily> parse_metric_family(std::string text, std::string file) {
    auto document = hwdb::parse_yaml(std::move(text), std::move(file));
    if (!document) {
        return Result<profiles::MetricFamily>(document.diagnostics());
    }
    const Node root = document->root();
    profiles::MetricFamily family;
    root.need("eyeroof_metrics").integer({1, 1});
    family.name = root.need("family").text().value_or("");
    family.summary = root.need("summary").text().value_or("");
    family.source = root.need("source").text().value_or("");
    family.chips = texts(root.need("chips"));
    family.compute_capabilities = texts(root.need("compute_capabilities"));
    family.time_counter = root["time"].text().value_or("");
    family.clock_counter = root["clock"].text().value_or("");
    family.tensor_active_counter = root["tensor_active"].text().value_or("");
    family.occupancy_counter = root["occupancy"].text().value_or("");
    for (const Node& item : root.need("work").items(1)) {
        family.work.push_back({item.need("precision").choice(kPrecisions, "precision").value_or(""),
                               item.need("pipe").choice(kPipes, "pipe").value_or(""),
                               terms(item.need("terms"))});
    }
    for (const Node& item : root.need("traffic").items(1)) {
        family.traffic.push_back({item.need("level").choice(kLevels, "level").value_or(""),
                                  item.need("meaning").text().value_or(""),
                                  terms(item.need("terms"))});
    }
    read_sets(root.need("sets"), family);
    check_collected(root, family);
    return document->conclude(std::move(family));
}

Result<std::vector<profiles::MetricFamily>>
read_metric_families(const std::filesystem::path& folder) {
    using Families = Result<std::vector<profiles::MetricFamily>>;
    std::error_code error;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        if (entry.path().extension() == ".yaml") {
            files.push_back(entry.path());
        }
    }
    if (error) {
        return Families::failure("cannot-open", "'" + folder.string() + "' cannot be read",
                                 "name a folder that you may read");
    }
    std::ranges::sort(files);
    std::vector<profiles::MetricFamily> families;
    Diagnostics found;
    for (const auto& file : files) {
        std::stringstream text;
        text << std::ifstream(file, std::ios::binary).rdbuf();
        auto family = parse_metric_family(std::move(text).str(), file.string());
        found.append(family.diagnostics());
        if (family) {
            families.push_back(std::move(*family));
        }
    }
    return found.has_errors() ? Families(std::move(found))
                              : Families(std::move(families), std::move(found));
}

} // namespace eyeroof::formats
