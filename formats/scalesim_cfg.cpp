#include "base/ascii.hpp"
#include "base/suggest.hpp"
#include "base/text_file.hpp"
#include "formats/scalesim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
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

// Keys of the whole file, sections put aside: SCALE-Sim uses none twice. Both "key: value" and
// "key = value" are its syntax; ';' and '#' begin comments.
class Entries {
  public:
    Entries(std::string_view text, std::string file) : file_(std::move(file)) {
        int line = 0;
        while (!text.empty()) {
            const std::size_t end = text.find('\n');
            take_line(trimmed(text.substr(0, end)), ++line);
            text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        }
    }

    const Setting* find(std::string_view key) const {
        const auto found = entries_.find(lowered(key));
        return found == entries_.end() ? nullptr : &found->second;
    }

    Count number(std::string_view key, Count least, Count most, bool needed,
                 Diagnostics& found) const {
        const Setting* entry = find(key);
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

  private:
    void take_line(std::string_view line, int number) {
        const std::size_t cut = line.find_first_of(":=");
        if (line.empty() || line[0] == '#' || line[0] == ';' || line[0] == '[' ||
            cut == std::string_view::npos) {
            return;
        }
        const std::string_view value = trimmed(line.substr(cut + 1));
        entries_[lowered(trimmed(line.substr(0, cut)))] = {std::string(value), {file_, number, 1}};
    }

    std::string file_;
    std::map<std::string, Setting> entries_;
};

model::DataflowKind read_dataflow(const Entries& entries, const std::string& file,
                                  Diagnostics& found) {
    constexpr std::array<std::string_view, 3> known = {"os", "ws", "is"};
    constexpr std::array<model::DataflowKind, 3> kinds = {
        model::DataflowKind::os, model::DataflowKind::ws, model::DataflowKind::is};
    const Setting* entry = entries.find("Dataflow");
    if (entry == nullptr) {
        found.error("missing-key", "Dataflow is missing", "write Dataflow : ws, os or is",
                    {file, 0, 0}, "Dataflow");
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
    const Entries entries(*checked, file);
    Diagnostics found;
    ScaleSimConfig config;
    if (const Setting* name = entries.find("run_name")) {
        config.run_name = name->value;
    }
    config.rows = entries.number("ArrayHeight", 1, kLargestArray, true, found);
    config.cols = entries.number("ArrayWidth", 1, kLargestArray, true, found);
    config.dataflow = read_dataflow(entries, file, found);
    config.ifmap_kb = entries.number("IfmapSramSzkB", 0, model::kMaxDimension, false, found);
    config.filter_kb = entries.number("FilterSramSzkB", 0, model::kMaxDimension, false, found);
    config.ofmap_kb = entries.number("OfmapSramSzkB", 0, model::kMaxDimension, false, found);
    if (entries.find("Bandwidth") != nullptr) {
        config.bandwidth_words = entries.number("Bandwidth", 0, model::kMaxDimension, false, found);
    }
    if (found.has_errors()) {
        return found;
    }
    return config;
}

ConfigResult load_scalesim_cfg(const std::filesystem::path& path) {
    auto text = read_text_file(path, kMaxCfgBytes);
    if (!text) {
        return text.diagnostics();
    }
    return parse_scalesim_cfg(std::move(*text), path.string());
}

} // namespace eyeroof::formats
