#include "cli/origin.hpp"

#include "base/shell.hpp"
#include "report/exam/origin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace eyeroof::cli {

namespace {

bool without_effect(const std::string& name) {
    constexpr std::array<std::string_view, 3> kNames = {"--output", "--threads", "--color"};
    return std::ranges::find(kNames, name) != kNames.end();
}

// One option as it is written, a blank before it.
std::string written(const CLI::Option& option) {
    const std::string name = option.get_name(false, false);
    if (option.count() == 0 || without_effect(name)) {
        return {};
    }
    if (option.get_expected_max() == 0) {
        return " " + name; // a flag
    }
    const bool named = !option.get_positional();
    std::string text;
    if (option.get_delimiter() != '\0') {
        std::string all;
        for (const std::string& word : option.results()) {
            all += (all.empty() ? "" : std::string(1, option.get_delimiter())) + word;
        }
        return fmt::format(" {}{}", named ? name + " " : "", shell_quoted(all));
    }
    for (const std::string& word : option.results()) {
        text += fmt::format(" {}{}", named ? name + " " : "", shell_quoted(word));
    }
    return text;
}

} // namespace

std::string command_line(const CLI::App& app) {
    const CLI::App* const parent = app.get_parent();
    std::string line = parent == nullptr ? "eyeroof" : command_line(*parent) + " " + app.get_name();
    std::string named;
    for (const CLI::Option* option : app.get_options()) {
        (option->get_positional() ? line : named) += written(*option);
    }
    return line + named;
}

std::string with_origin(std::string text, const std::string& format, const std::string& command,
                        std::vector<model::Machine> machines) {
    const report::Origin origin{EYEROOF_VERSION, command, std::move(machines)};
    return format == "md"     ? text + report::origin_markdown(origin)
           : format == "html" ? report::with_origin_html(std::move(text), origin)
                              : std::move(text);
}

} // namespace eyeroof::cli
