#include "formats/any_machine.hpp"

#include "base/text_file.hpp"
#include "formats/accelforge.hpp"
#include "formats/maestro.hpp"
#include "formats/scalesim.hpp"
#include "formats/timeloop.hpp"
#include "formats/zigzag_hardware.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/technology_reader.hpp"

#include <algorithm>
#include <optional>

namespace eyeroof::formats {

namespace {

using ForeignMachine = std::optional<Result<model::Machine>>;

// A machine of another tool than Timeloop, recognized by its content.
ForeignMachine parse_foreign_machine(const std::string& text, const std::string& file,
                                     const TemplateWords& words,
                                     const std::vector<std::filesystem::path>& folders) {
    if (is_accelforge_arch(text)) {
        const auto technology = hwdb::load_technology(folders);
        return parse_accelforge_arch(text, file, technology ? &technology.value() : nullptr, words);
    }
    if (is_zigzag_hardware(text)) {
        return parse_zigzag_hardware(text, file);
    }
    if (is_scalesim_cfg(text)) {
        return parse_scalesim_machine(text, file);
    }
    if (is_maestro_hardware(text)) {
        return parse_maestro_hardware(text, file);
    }
    return std::nullopt;
}

// "top.yaml.jinja2:macro=isaac,tile=isaac": a template's file and values of its variables.
struct Reference {
    std::string file;
    TemplateWords words;
};

Reference split(const std::string& reference) {
    Reference made{reference, {}};
    std::error_code ignored;
    const std::size_t colon = reference.rfind(':');
    if (colon == std::string::npos || std::filesystem::is_regular_file(reference, ignored) ||
        !std::filesystem::is_regular_file(reference.substr(0, colon), ignored)) {
        return made;
    }
    TemplateWords words;
    for (std::size_t at = colon + 1; at <= reference.size();) {
        const std::size_t end = std::min(reference.find(',', at), reference.size());
        const std::string part = reference.substr(at, end - at);
        const std::size_t equals = part.find('=');
        if (equals == std::string::npos || equals == 0) {
            return made;
        }
        words[part.substr(0, equals)] = part.substr(equals + 1);
        at = end + 1;
    }
    return {reference.substr(0, colon), std::move(words)};
}

} // namespace

bool is_foreign_machine(std::string_view text) {
    return is_accelforge_arch(text) || is_zigzag_hardware(text) || is_scalesim_cfg(text) ||
           is_maestro_hardware(text) || timeloop_has(text, TimeloopKind::architecture);
}

Result<model::Machine> load_any_machine(const std::string& reference,
                                        const std::vector<std::filesystem::path>& folders,
                                        const std::string& energies) {
    using Answer = Result<model::Machine>;
    std::error_code ignored;
    const Reference given = split(reference);
    if (std::filesystem::is_regular_file(given.file, ignored)) {
        auto text = read_text_file(given.file);
        if (text && energies.empty()) {
            if (ForeignMachine machine =
                    parse_foreign_machine(*text, given.file, given.words, folders)) {
                return *std::move(machine);
            }
        }
        if (text && timeloop_has(*text, TimeloopKind::architecture)) {
            NamedText tables;
            if (!energies.empty()) {
                auto read = read_text_file(energies);
                if (!read) {
                    return Answer(read.diagnostics());
                }
                tables = {*std::move(read), energies};
            }
            return parse_timeloop_architecture(*std::move(text), given.file, tables, given.words);
        }
    }
    if (!energies.empty()) {
        return Answer::failure("usage", "--energies go with a Timeloop architecture",
                               "a machine of eyeroof's own names its energies itself");
    }
    return hwdb::load_machine(reference, folders);
}

} // namespace eyeroof::formats
