#include "hwdb/yaml_write.hpp"

#include "base/printable.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace eyeroof::hwdb {

namespace {

// Words that other readers take for something else than text.
constexpr std::string_view kSpecial[] = {"true", "false", "null", "yes", "no",
                                         "on",   "off",   "Null", "NULL"};

bool is_plain(std::string_view text) {
    return !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0 &&
           text.back() != ' ' &&
           std::find(std::begin(kSpecial), std::end(kSpecial), text) == std::end(kSpecial) &&
           std::all_of(text.begin(), text.end(), [](unsigned char c) {
               return std::isalnum(c) != 0 || std::string_view(" -_.+").find(
                                                  static_cast<char>(c)) != std::string_view::npos;
           });
}

} // namespace

std::string yaml_quoted(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        escaped += c == '"' || c == '\\' ? "\\" : "";
        escaped += c;
    }
    return '"' + printable(escaped) + '"'; // its \n, \x1b, \u202e are YAML's escapes too
}

std::string yaml_scalar(std::string_view text) {
    return is_plain(text) ? std::string(text) : yaml_quoted(text);
}

} // namespace eyeroof::hwdb
