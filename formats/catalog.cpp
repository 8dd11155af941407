#include "formats/catalog.hpp"

#include "base/csv.hpp"
#include "base/separators.hpp"
#include "base/suggest.hpp"
#include "base/text_file.hpp"
#include "formats/hf/network.hpp"
#include "formats/layer_csv.hpp"
#include "formats/layer_text.hpp"
#include "formats/network_names.hpp"
#include "formats/network_readers.hpp"
#include "formats/onnx/convert.hpp"
#include "formats/trace_network.hpp"
#include "profiles/import/foreign_report.hpp"
#include "profiles/import/importer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

namespace eyeroof::formats {

namespace {

namespace fs = std::filesystem;
using model::Network;
using NetworkResult = Result<Network>;
using Folders = std::vector<fs::path>;

// A slash or an ending of letters ("mine.csv"), which "mobilenet-v1-0.5-128" does not have.
bool looks_like_path(const std::string& reference) {
    const std::string extension = fs::path(reference).extension().string();
    const bool ending = extension.size() > 1 && (extension[1] < '0' || extension[1] > '9');
    return reference.find('/') != std::string::npos || ending;
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
Result<Given> parse_given(std::string_view text) {
    Given given;
    for (const std::string_view part : split(text, ',')) {
        const std::size_t equals = part.find('=');
        const std::string_view number =
            equals == std::string_view::npos ? part : part.substr(equals + 1);
        const auto value = plain_number(number);
        if (!value || equals == 0) {
            return Result<Given>::failure("bad-parameter",
                                          fmt::format("'{}' does not set a parameter", part),
                                          "write name=number, several of them separated by commas");
        }
        const std::string_view name =
            equals == std::string_view::npos ? std::string_view() : part.substr(0, equals);
        given.values.emplace_back(std::string(name), *value);
    }
    return given;
}

// Names for values that were given by position.
Result<Variables> named(const Given& given, const std::vector<Parameter>& parameters) {
    Variables values;
    for (std::size_t i = 0; i < given.values.size(); ++i) {
        std::string name = given.values[i].first;
        if (name.empty()) {
            if (i >= parameters.size()) {
                return Result<Variables>::failure(
                    "bad-parameter",
                    fmt::format("{} values are given and the network has {} parameters",
                                given.values.size(), parameters.size()),
                    "`eyeroof net show NETWORK` lists its parameters");
            }
            name = parameters[i].name;
        }
        if (!values.emplace(name, given.values[i].second).second) {
            return Result<Variables>::failure("bad-parameter",
                                              fmt::format("parameter '{}' is given twice", name),
                                              "give it once");
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
                              const NamedNetwork& named_network, std::optional<GraphEdges>& edges) {
    Variables values;
    if (!given.values.empty()) {
        const auto head = parse_network_head(text, file);
        const auto assigned =
            head ? named(given, head->parameters) : Result<Variables>(head.diagnostics());
        if (!assigned) {
            return assigned.diagnostics();
        }
        values = *assigned;
    }
    Variables all = named_network.variant;
    for (const auto& [name, value] : values) {
        all[name] = value;
    }
    auto read = parse_network_yaml(std::move(text), file, all);
    if (!read) {
        return read.diagnostics();
    }
    edges = std::move(read->edges);
    read->network.id = named_network.id;
    if (!named_network.called.empty()) {
        read->network.name += ": " + named_network.called;
    }
    if (!values.empty()) {
        read->network.name += fmt::format(" ({})", described(values));
    }
    return {std::move(read->network), read.diagnostics()};
}

// Other tools' files.
NetworkResult parse_foreign(const NetworkReader& reader, std::string text, const std::string& file,
                            const Given& given, std::optional<GraphEdges>& edges) {
    Variables values;
    if (!given.values.empty() && !reader.has_parameters) {
        return NetworkResult::failure("bad-parameter",
                                      fmt::format("{} has no parameters", reader.what),
                                      "leave out what stands behind ':'", {file, 0, 0});
    }
    for (const auto& [name, value] : given.values) {
        values[name] = value;
    }
    auto read = reader.read(std::move(text), file, values);
    if (!read) {
        return read.diagnostics();
    }
    edges = std::move(read->edges);
    return {std::move(read->network), read.diagnostics()};
}

// Values behind the name of a model are sizes of its inputs.
NetworkResult load_model(const fs::path& path, const Given& given,
                         std::optional<GraphEdges>& edges) {
    onnx::Sizes sizes;
    for (const auto& [name, value] : given.values) {
        if (name.empty() || !sizes.emplace(name, value).second) {
            return NetworkResult::failure(
                "bad-parameter",
                name.empty() ? fmt::format("{} does not say which size it is", value)
                             : fmt::format("the size '{}' is given twice", name),
                "write name=number", {path.string(), 0, 0});
        }
    }
    auto converted = onnx::load_onnx(path, sizes);
    if (converted) {
        edges = std::move(converted->edges);
    }
    return converted ? NetworkResult(std::move(converted->network), converted.diagnostics())
                     : NetworkResult(converted.diagnostics());
}

// Its layers have the sizes that ran.
NetworkResult load_trace(const fs::path& path, const Given& given) {
    if (!given.values.empty()) {
        return NetworkResult::failure("bad-parameter", "a trace has no parameters",
                                      "leave out what stands behind ':'", {path.string(), 0, 0});
    }
    auto made = load_trace_network(path);
    if (!made) {
        return made.diagnostics();
    }
    Diagnostics found = made.diagnostics();
    found.append(model::uncosted_warning(made->network, path.string()));
    return {std::move(made->network), std::move(found)};
}

// A profile without shapes of layers, or a report that another tool turns into one.
std::optional<NetworkResult> is_no_network(const fs::path& path) {
    std::error_code ignored;
    const auto input = fs::is_regular_file(path, ignored)
                           ? profiles::input_of_file(path.string())
                           : Result<profiles::ImportInput>::failure("none", "no file");
    if (!input) {
        return std::nullopt;
    }
    const SourceLocation where{path.string(), 0, 0};
    if (const auto foreign = profiles::foreign_report(input->head, path.string())) {
        return NetworkResult::failure("foreign-report", "this is " + foreign->what, foreign->fix,
                                      where);
    }
    const std::string_view format = profiles::format_of_file(path.string());
    if (format.empty() || format == "plain-csv") {
        return std::nullopt;
    }
    return NetworkResult::failure(
        "measurement",
        fmt::format("this is a measurement ({}) without the shapes of layers, no network", format),
        fmt::format("`exam NETWORK --profile {0}` lays it over a network; `import {0}` shows it",
                    path.filename().string()),
        where);
}

// A config.json as a network of its own.
NetworkResult load_hf(const std::string& text, const NamedNetwork& network, const Given& given,
                      std::optional<GraphEdges>& edges) {
    auto read = hf::read_hf_config(text, network.path.string());
    if (!read) {
        return read.diagnostics();
    }
    NamedNetwork named = network;
    named.id = network.path.stem() == "config" && network.path.has_parent_path()
                   ? fs::absolute(network.path).parent_path().filename().string()
                   : named.id;
    auto parsed = parse_yaml_with(*std::move(read), network.path.string(), given, named, edges);
    Diagnostics found = read.diagnostics();
    for (Diagnostic d : parsed.diagnostics()) { // the lines are not those of the file
        d.where = {network.path.string(), 0, 0};
        found.add(std::move(d));
    }
    return parsed ? NetworkResult(*std::move(parsed), std::move(found)) : NetworkResult(found);
}

NetworkResult load_path(const NamedNetwork& network, const Given& given,
                        std::optional<GraphEdges>& edges) {
    const fs::path& path = network.path;
    if (onnx::is_onnx_file(path)) {
        return load_model(path, given, edges);
    }
    if (is_trace_file(path)) {
        return load_trace(path, given);
    }
    if (auto measured = is_no_network(path)) {
        return *std::move(measured);
    }
    auto text = read_text_file(path, kMaxCsvBytes);
    if (!text) {
        return text.diagnostics();
    }
    if (hf::is_hf_config(*text)) {
        return load_hf(*text, network, given, edges);
    }
    if (const NetworkReader* reader = network_reader_of(*text)) {
        return parse_foreign(*reader, *std::move(text), path.string(), given, edges);
    }
    if (own_format(*text) == OwnFormat::network_yaml) {
        return parse_yaml_with(std::move(*text), path.string(), given, network, edges);
    }
    if (!given.values.empty()) {
        return NetworkResult::failure("bad-parameter", "a table of layers has no parameters",
                                      "leave out what stands behind ':'", {path.string(), 0, 0});
    }
    auto table = parse_layer_csv(std::move(*text), path.string());
    if (!table) {
        return table.diagnostics();
    }
    return {network_of(*table, path), table.diagnostics()};
}

// "mobilenet-v1-0.5-128", "google/mobilenet_v2_1.0_224": the longest name in the folders that
// numbers alone follow, of a network that has no named variants.
std::optional<std::pair<NamedNetwork, Given>> find_with_suffix(const std::string& reference,
                                                               const Folders& folders) {
    if (is_file_path(reference)) {
        return std::nullopt;
    }
    const std::size_t slash = reference.find('/'); // behind a publisher
    const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
    for (std::size_t cut = reference.find_last_of("-_"); cut != std::string::npos && cut > begin;
         cut = reference.find_last_of("-_", cut - 1)) {
        Given given;
        std::string numbers = reference.substr(cut + 1);
        std::ranges::replace(numbers, '_', '-');
        for (const std::string_view part : split(numbers, '-')) {
            const auto value = plain_number(part);
            if (!value) {
                return std::nullopt;
            }
            given.values.emplace_back("", *value);
        }
        auto named = find_network(reference.substr(begin, cut - begin), folders, Spelling::any);
        // Names of a family's members end in numbers, too: "gpt-4" is no gpt of four tokens.
        const auto head =
            named ? load_network_head(named->path) : Result<NetworkHead>(NetworkHead{});
        if (named && head && head->variants.empty()) {
            named->id = reference.substr(begin);
            return std::pair(*std::move(named), std::move(given));
        }
    }
    return std::nullopt;
}

NetworkResult unknown(const std::string& name, const Folders& folders) {
    if (looks_like_path(name)) {
        const std::string near = network_candidates(name, folders);
        const bool named = near.starts_with("one of") || near.starts_with("did you mean");
        return NetworkResult::failure("file-not-found", "there is no such file",
                                      named ? near + " Or check the path" : "check the path",
                                      {name, 0, 0});
    }
    return NetworkResult::failure("unknown-network",
                                  fmt::format("there is no network '{}'", name.substr(0, 80)),
                                  network_candidates(name, folders));
}

// "sdxl" as sdxl-unet, and a warning that says so.
NetworkResult load_short(const std::string& name, const NamedNetwork& meant, const Given& given,
                         std::optional<GraphEdges>& edges) {
    auto network = load_path(meant, given, edges);
    if (!network) {
        return network;
    }
    Diagnostics said;
    said.warning("short-name", fmt::format("\"{}\" is taken as {}", name, meant.id));
    said.append(network.diagnostics());
    return {*std::move(network), std::move(said)};
}

// PUBLISHER/NAME of a model's page at Hugging Face; a name that is no address as it is. Nothing for
// every other address.
std::optional<std::string> without_site(std::string_view name) {
    const std::size_t scheme = name.starts_with("https://")  ? 8
                               : name.starts_with("http://") ? 7
                                                             : 0;
    for (const std::string_view site : {"huggingface.co/", "hf.co/"}) {
        if (name.substr(scheme).starts_with(site)) {
            const std::string_view model = name.substr(scheme + site.size());
            const std::size_t slash = model.find('/');
            const bool both = slash < model.size() - 1; // what follows is not empty
            return both && !is_file_path(model) ? std::optional<std::string>(model) : std::nullopt;
        }
    }
    return scheme == 0 ? std::optional<std::string>(name) : std::nullopt;
}

NetworkResult load_named(const std::string& reference, const Folders& folders,
                         std::optional<GraphEdges>& edges) {
    std::error_code status;
    const std::size_t colon = reference.rfind(':');
    if (colon != std::string::npos) {
        const std::string name = reference.substr(0, colon);
        auto named = find_network(name, folders, Spelling::exact);
        if (!named && fs::exists(name, status)) {
            named = NamedNetwork{name, {}, fs::path(name).stem().string()};
        } else if (!named) {
            named = find_network(name, folders, Spelling::any);
        }
        const auto meant = named ? std::nullopt : find_short_name(name, folders);
        if (!named && !meant) { // "llama3.1:8b", as Ollama names models
            std::string tagged = reference;
            tagged[colon] = '-';
            const auto other = find_short_name(tagged, folders);
            return other ? load_short(reference, *other, {}, edges) : unknown(name, folders);
        }
        const auto given = parse_given(std::string_view(reference).substr(colon + 1));
        if (!given) {
            return given.diagnostics();
        }
        if (meant) {
            NamedNetwork sized = *meant;
            sized.id += reference.substr(colon);
            return load_short(name, sized, *given, edges);
        }
        if (!looks_like_path(name)) {
            named->id += reference.substr(colon);
        }
        return load_path(*named, *given, edges);
    }
    if (auto named = find_network(reference, folders, Spelling::any)) {
        return load_path(*named, {}, edges);
    }
    if (const auto found = find_with_suffix(reference, folders)) {
        return load_path(found->first, found->second, edges);
    }
    if (const auto meant = find_short_name(reference, folders)) {
        return load_short(reference, *meant, {}, edges);
    }
    return unknown(reference, folders);
}

NetworkResult load_any(const std::string& reference, const Folders& folders,
                       std::optional<GraphEdges>& edges) {
    std::error_code status;
    if (reference == "-") {
        return load_path({reference, {}, "stdin"}, {}, edges);
    }
    if (auto named = find_network(reference, folders, Spelling::exact)) {
        return load_path(*named, {}, edges);
    }
    if (fs::exists(reference, status)) {
        return load_path({reference, {}, fs::path(reference).stem().string()}, {}, edges);
    }
    if (const auto name = without_site(reference)) {
        return load_named(*name, folders, edges);
    }
    return NetworkResult::failure(
        "unknown-network",
        fmt::format("'{}' is not a model's page at huggingface.co", reference.substr(0, 80)),
        "write huggingface.co/PUBLISHER/NAME, or download the model's config.json or ONNX file");
}

// The beginning of a mapping whose keys are quoted: "name": …
bool begins_with_quoted_key(std::string_view line) {
    const std::size_t end = line.starts_with('"') ? line.find('"', 1) : std::string_view::npos;
    return end != std::string_view::npos && line.substr(end + 1).starts_with(':');
}

} // namespace

OwnFormat own_format(std::string_view text) {
    const std::string head = comma_separated(std::string(text.substr(0, 4000)));
    CsvReader reader(head, "");
    CsvRecord header;
    Diagnostics ignored;
    if (!reader.next(header, ignored) || header.cells.size() < 2) {
        return OwnFormat::network_yaml;
    }
    const bool mapping = header.cells[0].text.find(':') != std::string_view::npos ||
                         header.cells[0].text.starts_with("{") ||
                         begins_with_quoted_key(header.raw);
    return mapping ? OwnFormat::network_yaml : OwnFormat::layer_csv;
}

Result<std::vector<NetworkHead>> list_networks(const Folders& folders) {
    std::map<std::string, NetworkHead> heads;
    Diagnostics warnings;
    for (const fs::path& folder : folders) {
        for (const fs::path& file : network_files(folder)) {
            if (heads.contains(file.stem().string())) {
                continue;
            }
            auto head = load_network_head(file);
            if (head) {
                for (NetworkHead& variant : heads_of_variants(*head)) {
                    heads.emplace(variant.id, std::move(variant));
                }
                heads.emplace(head->id, std::move(*head));
                continue;
            }
            for (Diagnostic d : head.diagnostics()) {
                d.severity = Severity::warning;
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
    std::optional<GraphEdges> ignored;
    return load_any(reference, folders, ignored);
}

Result<NetworkGraph> load_wired_network(const std::string& reference, const Folders& folders) {
    NetworkGraph wired;
    auto network = load_any(reference, folders, wired.edges);
    if (!network) {
        return network.diagnostics();
    }
    wired.network = *std::move(network);
    return {std::move(wired), network.diagnostics()};
}

} // namespace eyeroof::formats
