#include "cli/roofline_options.hpp"

#include "cli/command.hpp"
#include "formats/file_kind.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <utility>

namespace eyeroof::cli {

namespace {

Result<report::LogRange> range_of(const std::string& option, const std::string& text) {
    report::LogRange range{};
    char beyond = 0;
    if (std::sscanf(text.c_str(), "%lf:%lf%c", &range.min, &range.max, &beyond) != 2 ||
        !(range.min > 0.0) || !(range.max > range.min) || !std::isfinite(range.max)) {
        return Result<report::LogRange>::failure(
            "usage", fmt::format("roofline: '{}' is no range for {}", text, option),
            "two positive numbers, the smaller first, such as 0.1:1000");
    }
    return range;
}

} // namespace

void add_view_options(CLI::App& app, RooflineOptions& options) {
    app.add_option("--filter", options.view.filter, "Show only points whose name matches")
        ->type_name("REGEX");
    app.add_option("--top", options.view.top, "Show only the N names that take the most time")
        ->check(CLI::Range(1, 1'000'000))
        ->type_name("N");
    app.add_option("--top-share", options.top_share,
                   "Show the heaviest names, up to this share of the time")
        ->check(CLI::Range(0.0, 100.0))
        ->type_name("PERCENT");
    app.add_option("--level", options.view.level,
                   "Memory level of the operational intensity, or all [the outermost]")
        ->type_name("LEVEL");
    add_choice(
        app, "--color-by", options.color_by,
        {"auto", "limiter", "machine", "share", "type", "module"},
        "Meaning of colors; share: of the time; type: of the data; module: beginnings of the "
        "names [auto: machines, where there are several]");
    app.add_option("--roof", options.roofs,
                   "Show only this roof (repeatable), or none; the JSON output has the ids [those "
                   "that the points need]")
        ->type_name("ROOF")
        ->allow_extra_args(false);
    app.add_option("--x-range", options.x_range, "Range of operational intensities [all points]")
        ->type_name("FROM:TO");
    app.add_option("--y-range", options.y_range, "Range of FLOP/s [all points]")
        ->type_name("FROM:TO");
    app.add_option("--hide", options.hidden, "Hide predicted or measured points")
        ->check(CLI::IsMember({"predicted", "measured"}))
        ->type_name("{predicted,measured}")
        ->allow_extra_args(false);
    app.add_option("--select", options.selected, "Mark the point of this id (repeatable)")
        ->type_name("POINT")
        ->allow_extra_args(false);
    app.add_flag("--zones", options.view.zones,
                 "Tint where memory, either, or arithmetic bounds below the roofs");
    app.add_flag("--labels,!--no-labels", options.view.labels,
                 "Label the points that take the most time [yes]");
    add_choice(app, "--theme", options.theme, {"light", "dark", "auto"},
               "Colors of the SVG; auto follows the reader's setting [light]");
    app.add_option("--size", options.size, "Size of the picture in pixels [1000x640]")
        ->type_name("WxH");
}

void take_session(RooflineOptions& options, const report::Session& session) {
    options.scenario.usual = session.scenario;
    options.scenario.machines = session.machines;
    if (options.measured.profiles.empty()) {
        options.measured.profiles = session.profiles;
    }
    if (options.measured.ceilings.empty()) {
        options.measured.ceilings = session.ceilings;
    }
    if (options.measured.assignments.empty()) {
        options.measured.assignments = session.assignments;
    }
    options.edits = session.mappings;
    options.view = session.view;
    if (session.view.theme == report::Theme::dark) {
        options.theme = "dark";
    }
}

void take_measurement(RooflineOptions& options, analysis::Scenario& scenario) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(scenario.network, ignored)) {
        const auto kind = formats::kind_of_file(scenario.network);
        if (kind && *kind == formats::FileKind::profile) {
            options.measured.profiles.push_back(std::exchange(scenario.network, {}));
        }
    }
}

Result<report::ViewState> view_of(const RooflineOptions& options) {
    report::ViewState view = options.view;
    Diagnostics wrong;
    const auto set_range = [&](const char* option, const std::string& text, auto& into) {
        if (!text.empty()) {
            const auto range = range_of(option, text);
            wrong.append(range.diagnostics());
            into = range ? std::optional(*range) : into;
        }
    };
    set_range("--x-range", options.x_range, view.x);
    set_range("--y-range", options.y_range, view.y);
    if (options.top_share) {
        view.top_share = *options.top_share / 100.0;
    }
    if (!options.roofs.empty()) {
        view.roofs.emplace(options.roofs.begin(), options.roofs.end());
        view.roofs->erase("none");
    }
    for (const std::string& hidden : options.hidden) {
        (hidden == "predicted" ? view.predicted : view.measured) = false;
    }
    view.selection.insert(options.selected.begin(), options.selected.end());
    for (const auto& [word, by] : report::kColourBy) {
        view.colour_by = options.color_by == word ? by : view.colour_by;
    }
    if (wrong.has_errors()) {
        return wrong;
    }
    return view;
}

Result<report::Canvas> canvas_of(const RooflineOptions& options) {
    const std::string& size = options.size;
    int width = 0;
    int height = 0;
    char beyond = 0;
    if (std::sscanf(size.c_str(), "%5dx%5d%c", &width, &height, &beyond) != 2 || width < 240 ||
        height < 180 || width > 20000 || height > 20000) {
        return Result<report::Canvas>::failure(
            "usage", fmt::format("roofline: '{}' is not a size", size),
            "WIDTHxHEIGHT in pixels, from 240x180 to 20000x20000");
    }
    return Result<report::Canvas>(
        report::Canvas{static_cast<double>(width), static_cast<double>(height)});
}

report::SvgTheme svg_theme(const RooflineOptions& options) {
    return options.theme == "dark"   ? report::SvgTheme::dark
           : options.theme == "auto" ? report::SvgTheme::automatic
                                     : report::SvgTheme::light;
}

std::string roofline_format(const RooflineOptions& options) {
    if (!options.format.empty()) {
        return options.format;
    }
    if (options.file.empty() && options.ladder.empty()) {
        return "text";
    }
    const std::string named = format_of_name(options.file);
    return named.empty() || named == "jsonl" ? "svg" : named;
}

} // namespace eyeroof::cli
