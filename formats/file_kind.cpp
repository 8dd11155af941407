#include "formats/file_kind.hpp"

#include "base/csv.hpp"
#include "base/suggest.hpp"
#include "base/text_file.hpp"
#include "formats/any_machine.hpp"
#include "formats/catalog.hpp"
#include "formats/hf/network.hpp"
#include "formats/layer_csv.hpp"
#include "formats/layer_text.hpp"
#include "formats/network_readers.hpp"
#include "formats/onnx/convert.hpp"
#include "hwdb/yaml.hpp"
#include "profiles/import/importer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>

namespace eyeroof::formats {

namespace {

using Answer = Result<FileKind>;

constexpr std::pair<std::string_view, FileKind> kFormats[] = {{"session", FileKind::session},
                                                              {"machine", FileKind::machine}};
// Keys that only one kind of YAML file has at its top; a file may have any of them.
constexpr std::pair<std::string_view, FileKind> kKindKeys[] = {
    {"eyeroof_ceilings", FileKind::ceilings},
    {"eyeroof_assignments", FileKind::assignments},
    {"layers", FileKind::network},
    {"machines", FileKind::session},
    {"levels", FileKind::machine},
    {"kind", FileKind::machine},
    {"clock", FileKind::machine},
    {"clocks", FileKind::machine},
    {"network", FileKind::session}};

Answer unknown(const std::string& path, const std::string& what) {
    return Answer::failure("unknown-file", what,
                           "opened are sessions, machines (eyeroof's, Timeloop's, AccelForge's, "
                           "ZigZag's, MAESTRO's, SCALE-Sim's), networks (YAML, layer CSV, ONNX, "
                           "Timeloop, AccelForge, MAESTRO, SCALE-Sim, ZigZag), "
                           "measured kernels, ceilings, assignments and logs of tuning",
                           {path, 0, 0});
}

// By "eyeroof: machine/1" where it stands, else by keys.
Answer kind_of_yaml(std::string text, const std::string& path) {
    const auto document = hwdb::parse_yaml(std::move(text), path, {true, true});
    if (!document) {
        return document.diagnostics();
    }
    const hwdb::Node root = document->root();
    if (!root.is_map()) {
        return unknown(path, "this is nothing that can be opened");
    }
    const auto entries = root.entries();
    for (const auto& [key, node] : entries) {
        if (key != "eyeroof") {
            continue;
        }
        const std::string format = node.text().value_or("");
        const std::string word(format.substr(0, format.find('/')));
        std::vector<std::string> known;
        for (const auto& [name, kind] : kFormats) {
            if (word == name) {
                return kind;
            }
            known.emplace_back(name);
        }
        const std::string close = closest(word, known);
        const auto meant = std::find_if(std::begin(kFormats), std::end(kFormats),
                                        [&](const auto& entry) { return entry.first == close; });
        return meant != std::end(kFormats)
                   ? Answer(meant->second)
                   : unknown(path, fmt::format("'eyeroof: {}' is nothing to be opened", format));
    }
    for (const auto& [known, kind] : kKindKeys) {
        for (const auto& [key, node] : entries) {
            if (key == known) {
                return kind;
            }
        }
    }
    return unknown(path, "no key of this file tells what it is");
}

// Does the table's header name layers? "op" alone does; without it, more than one size.
bool names_layers(std::string_view text) {
    CsvReader reader(text.substr(0, 4000), "");
    CsvRecord header;
    Diagnostics ignored;
    if (!reader.next(header, ignored)) {
        return false;
    }
    int columns = 0;
    for (const CsvCell& cell : header.cells) {
        const auto column = column_from_name(cell.text);
        if (column == Column::op) {
            return true;
        }
        columns += column && *column != Column::name ? 1 : 0;
    }
    return columns > 1;
}

// Its first line says so, whatever stands in the others.
bool is_trial_log(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string head(80, '\0');
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    std::erase_if(head, [](char c) { return c == ' ' || c == '\t'; });
    return head.starts_with(R"({"schema":"eyeroof/trial/)");
}

} // namespace

Answer kind_of_file(const std::string& path) {
    if (is_trial_log(path)) {
        return FileKind::trials;
    }
    const std::string_view format = profiles::format_of_file(path);
    if (!format.empty() && format != "plain-csv") {
        return FileKind::profile;
    }
    if (onnx::is_onnx_file(path)) {
        return FileKind::network;
    }
    auto text = read_text_file(path, kMaxCsvBytes);
    if (!text) {
        return text.diagnostics();
    }
    if (is_foreign_machine(*text)) {
        return FileKind::machine;
    }
    if (network_reader_of(*text) != nullptr || hf::is_hf_config(*text)) {
        return FileKind::network;
    }
    if (own_format(*text) == OwnFormat::network_yaml) {
        return kind_of_yaml(*std::move(text), path);
    }
    return format.empty() || names_layers(*text) ? FileKind::network : FileKind::profile;
}

} // namespace eyeroof::formats
