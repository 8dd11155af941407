#include "formats/any_machine.hpp"

#include "base/text_file.hpp"
#include "formats/timeloop.hpp"
#include "hwdb/catalog.hpp"

namespace eyeroof::formats {

Result<model::Machine> load_any_machine(const std::string& reference,
                                        const std::vector<std::filesystem::path>& folders,
                                        const std::string& energies) {
    using Answer = Result<model::Machine>;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(reference, ignored)) {
        auto text = read_text_file(reference);
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
