#include "study/formats/catalog.hpp"

#include "hwdb/text_file.hpp"
#include "model/base/suggest.hpp"
#include "study/formats/layer_csv.hpp"
#include "study/formats/layer_text.hpp"
#include "study/formats/maestro.hpp"
#include "study/formats/scalesim.hpp"
#include "study/formats/timeloop.hpp"
#include "study/formats/zigzag.hpp"
#include "study/text/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

namespace eyeroof::study::read {

namespace {

namespace fs = std::filesystem;
using model::Network;
using NetworkResult = model::Result<Network>;
using Folders = std::vector<fs::path>;

constexpr std::size_t kMaxNames = 10'000; // a folder with more files is not a catalog

bool is_file(const fs::path& path) {
    std::error_code status;
    return fs::is_regular_file(path, status);
}

bool is_yaml(const fs::path& path) {
    return path.extension() == ".yaml" || path.extension() == ".yml";
}

// A slash or an ending of letters ("mine.csv"), which "mobilenet-v1-0.5-128" does not have.
bool looks_like_path(const std::string& reference) {
    const std::string extension = fs::path(reference).extension().string();
    const bool ending = extension.size() > 1 && (extension[1] < '0' || extension[1] > '9');
    return reference.find('/') != std::string::npos || ending;
}

std::optional<fs::path> find_in_folders(const std::string& name, const Folders& folders) {
    if (name.empty() || name.find('/') != std::string::npos) {
        return std::nullopt;
    }
    for (const fs::path& folder : folders) {
        for (const char* ending : {".yaml", ".yml"}) {
            if (fs::path path = folder / (name + ending); is_file(path)) {
                return path;
            }
        }
    }
    return std::nullopt;
}

std::vector<fs::path> files_of(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        if (is_yaml(at->path()) && is_file(at->path()) && files.size() < kMaxNames) {
            files.push_back(at->path());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<std::string> names_in(const Folders& folders) {
    std::vector<std::string> names;
    for (const fs::path& folder : folders) {
        for (const fs::path& file : files_of(folder)) {
            names.push_back(file.stem().string());
        }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

// What stands behind a network's name.
struct Given {
    std::vector<std::pair<std::string, double>> values; // an empty name: by position
};

std::optional<double> plain_number(std::string_view text) {
    double value = 0.0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    return whole && std::isfinite(value) && value >= 0.0 ? std::optional(value) : std::nullopt;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t cut = text.find(separator);
        parts.push_back(text.substr(0, cut));
        if (cut == std::string_view::npos) {
            return parts;
        }
        text.remove_prefix(cut + 1);
    }
}

// "width=0.5,resolution=128" or "0.5,128".
model::Result<Given> parse_given(std::string_view text) {
    Given given;
    for (const std::string_view part : split(text, ',')) {
        const std::size_t equals = part.find('=');
        const std::string_view number =
            equals == std::string_view::npos ? part : part.substr(equals + 1);
        const auto value = plain_number(number);
        if (!value || equals == 0) {
            return model::Result<Given>::failure(
                "bad-parameter", fmt::format("'{}' does not set a parameter", part),
                "write name=number, several of them separated by commas");
        }
        const std::string_view name =
            equals == std::string_view::npos ? std::string_view() : part.substr(0, equals);
        given.values.emplace_back(std::string(name), *value);
    }
    return given;
}

// Names for values that were given by position.
model::Result<Variables> named(const Given& given, const std::vector<Parameter>& parameters) {
    Variables values;
    for (std::size_t i = 0; i < given.values.size(); ++i) {
        std::string name = given.values[i].first;
        if (name.empty()) {
            if (i >= parameters.size()) {
                return model::Result<Variables>::failure(
                    "bad-parameter",
                    fmt::format("{} values are given and the network has {} parameters",
                                given.values.size(), parameters.size()));
            }
            name = parameters[i].name;
        }
        if (!values.emplace(name, given.values[i].second).second) {
            return model::Result<Variables>::failure(
                "bad-parameter", fmt::format("parameter '{}' is given twice", name));
        }
    }
    return values;
}

std::string described(const Variables& values) {
    std::string text;
    for (const auto& [name, value] : values) {
        text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
    }
    return text;
}

NetworkResult parse_yaml_with(std::string text, const std::string& file, const Given& given,
                              const std::string& id) {
    Variables values;
    if (!given.values.empty()) {
        const auto head = parse_network_head(text, file);
        const auto assigned =
            head ? named(given, head->parameters) : model::Result<Variables>(head.diagnostics());
        if (!assigned) {
            return assigned.diagnostics();
        }
        values = *assigned;
    }
    auto read = parse_network_yaml(std::move(text), file, values);
    if (!read) {
        return read.diagnostics();
    }
    if (!values.empty()) {
        read->network.id = id;
        read->network.name += fmt::format(" ({})", described(values));
    }
    return {std::move(read->network), read.diagnostics()};
}

// Other tools' files.
NetworkResult parse_foreign(NetworkFormat format, std::string text, const std::string& file) {
    if (format == NetworkFormat::maestro) {
        return parse_maestro(text, file);
    }
    if (format == NetworkFormat::zigzag) {
        return parse_zigzag(std::move(text), file);
    }
    if (format == NetworkFormat::timeloop_problem) {
        auto problem = parse_timeloop_problem(std::move(text), file);
        return problem ? NetworkResult(std::move(problem->network), problem.diagnostics())
                       : NetworkResult(problem.diagnostics());
    }
    return parse_scalesim_topology(std::move(text), file);
}

NetworkResult load_path(const fs::path& path, const Given& given, const std::string& id) {
    auto text = hwdb::read_text_file(path, kMaxCsvBytes);
    if (!text) {
        return text.diagnostics();
    }
    const NetworkFormat format = network_format(*text);
    if (format == NetworkFormat::network_yaml) {
        return parse_yaml_with(std::move(*text), path.string(), given, id);
    }
    if (!given.values.empty()) {
        return NetworkResult::failure("bad-parameter", "this kind of file has no parameters",
                                      "leave out what stands behind ':'", {path.string(), 0, 0});
    }
    if (format != NetworkFormat::layer_csv) {
        return parse_foreign(format, *std::move(text), path.string());
    }
    auto table = parse_layer_csv(std::move(*text), path.string());
    if (!table) {
        return table.diagnostics();
    }
    const std::string stem = path.stem().string();
    return {Network{stem, stem, "layer table " + path.string(), std::move(table->layers)},
            table.diagnostics()};
}

// "mobilenet-v1-0.5-128": the longest name in the folders that numbers alone follow.
std::optional<std::pair<fs::path, Given>> find_with_suffix(const std::string& reference,
                                                           const Folders& folders) {
    for (std::size_t cut = reference.rfind('-'); cut != std::string::npos && cut > 0;
         cut = reference.rfind('-', cut - 1)) {
        Given given;
        for (const std::string_view part :
             split(std::string_view(reference).substr(cut + 1), '-')) {
            const auto value = plain_number(part);
            if (!value) {
                return std::nullopt;
            }
            given.values.emplace_back("", *value);
        }
        if (auto path = find_in_folders(reference.substr(0, cut), folders)) {
            return std::pair(std::move(*path), std::move(given));
        }
    }
    return std::nullopt;
}

NetworkResult unknown(const std::string& name, const Folders& folders) {
    if (looks_like_path(name)) {
        return NetworkResult::failure("file-not-found", "there is no such file", "check the path",
                                      {name, 0, 0});
    }
    const std::vector<std::string> names = names_in(folders);
    return NetworkResult::failure("unknown-network",
                                  fmt::format("there is no network '{}'", name.substr(0, 80)),
                                  names.empty() ? "no folder with networks was found; name a file"
                                                : model::suggestion(name, names));
}

} // namespace

NetworkFormat network_format(std::string_view text) {
    if (is_scalesim_topology(text)) {
        return NetworkFormat::scalesim_topology;
    }
    if (timeloop_has(text, TimeloopKind::problem)) {
        return NetworkFormat::timeloop_problem;
    }
    if (is_maestro(text) || is_zigzag(text)) {
        return is_maestro(text) ? NetworkFormat::maestro : NetworkFormat::zigzag;
    }
    CsvReader reader(text.substr(0, 4000), "");
    CsvRecord header;
    model::Diagnostics ignored;
    if (!reader.next(header, ignored) || header.cells.size() < 2) {
        return NetworkFormat::network_yaml;
    }
    const bool mapping = header.cells[0].text.find(':') != std::string_view::npos ||
                         header.cells[0].text.starts_with("{");
    return mapping ? NetworkFormat::network_yaml : NetworkFormat::layer_csv;
}

model::Result<std::vector<NetworkHead>> list_networks(const Folders& folders) {
    std::map<std::string, NetworkHead> heads;
    model::Diagnostics warnings;
    for (const fs::path& folder : folders) {
        for (const fs::path& file : files_of(folder)) {
            if (heads.contains(file.stem().string())) {
                continue;
            }
            auto head = load_network_head(file);
            if (head) {
                heads.emplace(head->id, std::move(*head));
                continue;
            }
            for (model::Diagnostic d : head.diagnostics()) {
                d.severity = model::Severity::warning;
                warnings.add(std::move(d));
            }
        }
    }
    std::vector<NetworkHead> list;
    list.reserve(heads.size());
    for (auto& entry : heads) {
        list.push_back(std::move(entry.second));
    }
    return {std::move(list), std::move(warnings)};
}

NetworkResult load_network(const std::string& reference, const Folders& folders) {
    std::error_code status;
    if (const auto path = find_in_folders(reference, folders)) {
        return load_path(*path, {}, reference);
    }
    if (fs::exists(reference, status)) {
        return load_path(reference, {}, fs::path(reference).stem().string());
    }
    const std::size_t colon = reference.rfind(':');
    if (colon != std::string::npos) {
        const std::string name = reference.substr(0, colon);
        const auto in_folder = find_in_folders(name, folders);
        if (!in_folder && !fs::exists(name, status)) {
            return unknown(name, folders);
        }
        const auto given = parse_given(std::string_view(reference).substr(colon + 1));
        if (!given) {
            return given.diagnostics();
        }
        return load_path(in_folder.value_or(name), *given,
                         in_folder ? reference : fs::path(name).stem().string());
    }
    if (const auto found = find_with_suffix(reference, folders)) {
        return load_path(found->first, found->second, reference);
    }
    return unknown(reference, folders);
}

} // namespace eyeroof::study::read
