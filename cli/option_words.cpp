#include "cli/option_words.hpp"

#include <algorithm>

namespace eyeroof::cli {

namespace {

// "N:INT in [1 - 8]" -> "N", and "FROM:TO" as it is: what the parser's own checks add is cut off.
std::string value_kind_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    std::size_t end = type.size();
    for (const char* check : {":INT in", ":UINT in", ":FLOAT in", ":POSITIVE", ":NONNEGATIVE"}) {
        end = std::min(end, type.find(check));
    }
    const std::string kind = type.substr(0, end);
    return kind == "INT" || kind == "UINT" ? "N" : kind == "FLOAT" ? "NUMBER" : kind;
}

// 1e+06 as people write it.
std::string plain(const std::string& number) {
    const std::size_t e = number.find("e+");
    constexpr std::size_t most_zeros = 7;
    if (e != 1 || number.size() > 4 + most_zeros) {
        return number;
    }
    const int zeros = std::stoi(number.substr(e + 2));
    return zeros <= static_cast<int>(most_zeros)
               ? number.substr(0, 1) + std::string(static_cast<std::size_t>(zeros), '0')
               : number;
}

// "N:INT in [1 - 8]" -> " (1 to 8)".
std::string range_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const std::size_t open = type.find(" in [");
    const std::size_t dash = type.find(" - ", open == std::string::npos ? 0 : open);
    if (open == std::string::npos || dash == std::string::npos || !type.ends_with(']')) {
        return "";
    }
    const std::size_t low = open + std::string(" in [").size();
    const std::size_t high = dash + std::string(" - ").size();
    return " (" + plain(type.substr(low, dash - low)) + " to " +
           plain(type.substr(high, type.size() - high - 1)) + ")";
}

// Nothing, zero, a number below it and an empty list mean that the option does nothing; a
// description that tells its default in words keeps them.
std::string default_of(const CLI::Option& option) {
    std::string value = option.get_default_str();
    if (value.starts_with('[') && value.ends_with(']')) {
        value = value.substr(1, value.size() - 2);
    }
    const std::string description = option.get_description();
    const bool stated = description.find('[') != std::string::npos ||
                        description.find("default") != std::string::npos;
    const bool is_flag = option.get_items_expected_max() == 0;
    return stated || is_flag || value.empty() || value == "0" || value.starts_with('-')
               ? ""
               : " [" + value + "]";
}

} // namespace

std::string name_of(const CLI::Option& option) {
    std::string text =
        option.get_positional() ? option.get_name(true) : option.get_name(false, true);
    if (const auto comma = text.find(','); comma != std::string::npos) {
        text.replace(comma, 1, ", ");
    }
    if (const auto value = text.find("{false}"); value != std::string::npos) {
        text.erase(value); // what CLI11 adds to the name of a flag that negates another
    }
    const bool takes_value = option.get_items_expected_max() > 0;
    const std::string kind = value_kind_of(option);
    return takes_value && !option.get_positional() && !kind.empty() ? text + " " + kind : text;
}

std::string limits_of(const CLI::Option& option) {
    return range_of(option) + default_of(option);
}

} // namespace eyeroof::cli
