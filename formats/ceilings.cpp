#include "formats/ceilings.hpp"

#include "hwdb/yaml.hpp"
#include "profiles/import/importer.hpp"
#include "profiles/profile_file.hpp"

#include <fmt/format.h>

#include <fstream>

namespace eyeroof::formats {

namespace {

using hwdb::Node;
using profiles::Ceiling;
using Overlay = Result<profiles::Profile>;

constexpr std::pair<const char*, const char*> kCeilingPipes[] = {{"fma", "fma"},
                                                                 {"tensor", "tensor"}};

// In the base unit; 0 where there is none.
template <class Quantity> double in_base(const Node& node) {
    return node.quantity<Quantity>().value_or(Quantity{}).value;
}

void read_run(const Node& root, profiles::RunInfo& run) {
    run.gpu = root["machine"].text().value_or("");
    run.date = root["date"].text().value_or("");
    run.driver = root["driver"].text().value_or("");
    run.cuda = root["cuda"].text().value_or("");
    run.host = root["host"].text().value_or("");
    run.tool = root["source"].text().value_or("");
    run.sm_clock_hz = in_base<Hertz>(root["sm_clock"]);
    run.memory_clock_hz = in_base<Hertz>(root["memory_clock"]);
    run.power_limit_w = in_base<Watts>(root["power_limit"]);
    run.power_w = in_base<Watts>(root["power"]);
    constexpr double kHottest = 200.0;
    run.temperature_c = root["temperature_c"].number(0.0, kHottest).value_or(0.0);
}

// A bandwidth, a rate or a time: by which of `level` and `precision` is there.
double value_of(const Node& node, const Ceiling& ceiling) {
    return !ceiling.level.empty()       ? in_base<BytesPerSec>(node)
           : !ceiling.precision.empty() ? in_base<FlopsPerSec>(node)
                                        : in_base<Seconds>(node);
}

Ceiling read_ceiling(const Node& item) {
    constexpr std::int64_t kMostTrials = 1'000'000;
    Ceiling ceiling;
    ceiling.name = item.need("name").text().value_or("");
    ceiling.level = item["level"].text().value_or("");
    ceiling.precision = item["precision"].text().value_or("");
    ceiling.pipe = item["pipe"].choice(kCeilingPipes, "pipe").value_or("");
    if (item.has("level") && item.has("precision")) {
        item.error("bad-ceiling", "a ceiling is a bandwidth of a level or a rate of a precision",
                   "leave out 'level' or 'precision'");
    }
    ceiling.value = value_of(item.need("value"), ceiling);
    ceiling.median = value_of(item["median"], ceiling);
    ceiling.spread = item["spread"].number(0.0, 1.0).value_or(0.0);
    ceiling.trials = item["trials"].integer({1, kMostTrials}).value_or(0);
    ceiling.how = item["how"].text().value_or("");
    item["confidence"].text();
    return ceiling;
}

Overlay read_overlay(Result<hwdb::Document> document) {
    if (!document) {
        return Overlay(document.diagnostics());
    }
    const Node root = document->root();
    root.need("eyeroof_ceilings").integer({1, 1});
    profiles::Profile profile;
    read_run(root, profile.run);
    for (const Node& item : root.need("ceilings").items(1)) {
        profile.ceilings.push_back(read_ceiling(item));
    }
    return document->conclude(std::move(profile));
}

} // namespace

Overlay parse_ceilings(std::string text, std::string file) {
    return read_overlay(hwdb::parse_yaml(std::move(text), std::move(file)));
}

Overlay load_ceilings(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::string head(64, '\0');
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(file.gcount()));
    const bool packed = head.starts_with("\x1f\x8b");
    if (!packed && !profiles::looks_like_profile(head)) {
        return read_overlay(hwdb::load_yaml(path));
    }
    auto profile = profiles::import_file(path.string());
    if (profile && profile->ceilings.empty()) {
        return Overlay::failure("no-ceilings",
                                fmt::format("'{}' holds no measured ceilings", path.string()),
                                "`eyeroof measure cpu` and `eyeroof measure gpu` write them");
    }
    return profile;
}

} // namespace eyeroof::formats
