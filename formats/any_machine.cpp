#include "formats/any_machine.hpp"

#include "base/text_file.hpp"
#include "formats/accelforge.hpp"
#include "formats/maestro.hpp"
#include "formats/scalesim.hpp"
#include "formats/timeloop.hpp"
#include "formats/zigzag_hardware.hpp"
#include "hwdb/catalog.hpp"

#include <optional>

namespace eyeroof::formats {

namespace {

using ForeignMachine = std::optional<Result<model::Machine>>;

// A machine of another tool than Timeloop, recognized by its content.
ForeignMachine parse_foreign_machine(const std::string& text, const std::string& file) {
    if (is_accelforge_arch(text)) {
        return parse_accelforge_arch(text, file);
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
    if (std::filesystem::is_regular_file(reference, ignored)) {
        auto text = read_text_file(reference);
        if (text && energies.empty()) {
            if (ForeignMachine machine = parse_foreign_machine(*text, reference)) {
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
            return parse_timeloop_architecture(*std::move(text), reference, tables);
        }
    }
    if (!energies.empty()) {
        return Answer::failure("usage", "--energies go with a Timeloop architecture",
                               "a machine of eyeroof's own names its energies itself");
    }
    return hwdb::load_machine(reference, folders);
}

} // namespace eyeroof::formats
