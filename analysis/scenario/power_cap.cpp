#include "analysis/scenario/power_cap.hpp"

#include <algorithm>

namespace eyeroof::analysis {

namespace {

std::string_view stripped_of_blanks(std::string_view text) {
    const std::size_t from = text.find_first_not_of(' ');
    return from == std::string_view::npos
               ? std::string_view{}
               : text.substr(from, text.find_last_not_of(' ') - from + 1);
}

bool spells(char written, char wanted) {
    const bool upper = written >= 'A' && written <= 'Z';
    return wanted == '-' ? written == '-' || written == '_' || written == ' '
                         : (upper ? static_cast<char>(written - 'A' + 'a') : written) == wanted;
}

} // namespace

std::optional<std::string> power_cap_of(std::string_view change) {
    const std::size_t equals = change.find('=');
    if (equals == std::string_view::npos ||
        !std::ranges::equal(stripped_of_blanks(change.substr(0, equals)), kPowerCap, spells)) {
        return std::nullopt;
    }
    return std::string(stripped_of_blanks(change.substr(equals + 1)));
}

bool is_power_cap(std::string_view change) {
    return power_cap_of(change).has_value();
}

} // namespace eyeroof::analysis
