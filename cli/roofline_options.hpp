// What `eyeroof roofline` was asked: its options, a session's contents below them, and what they
// mean for the study and the view.
#pragma once

#include "cli/measurements.hpp"
#include "cli/scenario_options.hpp"
#include "report/draw/svg.hpp"
#include "report/session/session.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::cli {

struct RooflineOptions {
    ScenarioOptions scenario;
    MeasurementFiles measured;
    std::string format;
    std::string file;
    std::string session;
    std::string ladder;
    std::string theme = "light";
    std::string color_by = "auto";
    std::string size = "1000x640";
    std::vector<analysis::MappingEdit> edits; // of a session, on the first machine
    std::optional<double> top_share;
    std::vector<std::string> roofs, hidden, selected;
    std::string x_range, y_range;
    report::ViewState view;
};

void add_view_options(CLI::App& app, RooflineOptions& options);

// A session's contents, where the command line does not say otherwise.
void take_session(RooflineOptions& options, const report::Session& session);
// `roofline run.jsonl` means the measurement.
void take_measurement(RooflineOptions& options, analysis::Scenario& scenario);

// What the view options say, on top of a session's view. Errors: "usage" for a range that is none.
Result<report::ViewState> view_of(const RooflineOptions& options);
// Errors: "usage" for a size that is none, or beyond 240x180 to 20000x20000 pixels.
Result<report::Canvas> canvas_of(const RooflineOptions& options);
report::SvgTheme svg_theme(const RooflineOptions& options);
// By --format, or else by the ending of the file.
std::string roofline_format(const RooflineOptions& options);

} // namespace eyeroof::cli
