// The seven steps of a layer as a ladder of bars: what each constraint leaves of the machine, the
// machine's own bound behind the mapping's, down to the prediction and the measurement.
// Made from a report; drawn by the SVG writer and by the window, which add nothing.
#pragma once

#include "analysis/exam/report.hpp"
#include "report/draw/drawing.hpp"
#include "report/draw/geometry.hpp"
#include "report/draw/roofline_scene.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::report {

struct WaterfallBar {
    std::size_t step = 0; // 1 … 7; 0 for the rows before and after
    std::string name;     // "4 physical dimensions"
    double before = 1.0;  // shares of the machine's units, 0 … 1
    double mapping = 1.0; // what the mapping leaves
    double machine = 1.0; // what the machine would allow, at least `mapping`
    std::string value;    // "154 MAC/cycle"
    std::string change;   // "−8.3 %", empty where nothing is lost
    std::string reason;
    std::string layer;         // of a network: the one that loses most
    std::size_t layer_row = 0; // its row of the report
    std::string parameter;     // that shortens it, as --set and --host-speed call it: "host-speed"
    bool worst = false; // of a layer: saves most if it alone cost nothing; of a network: takes
                        // most in the order of the steps
    ColourRole colour = ColourRole::series1;

    // Pixels, where it stands on the canvas.
    Box row;
    double baseline = 0.0;  // of its name, change and value
    std::string shown_name; // as much of the name as there is room for
    Box mapping_box, machine_box, lost_box;
    std::vector<std::string> reason_lines;

    bool operator==(const WaterfallBar&) const = default;
};

inline constexpr double kPaleTone = 0.35; // opacity of what a better mapping could reach
inline constexpr double kReasonPx = 11.0;

// What a tone of the bars means.
struct WaterfallKey {
    Box box;
    Place at;
    std::string text;
    ColourRole colour = ColourRole::faint;
    double opacity = 1.0;

    bool operator==(const WaterfallKey&) const = default;
};

struct WaterfallScene {
    Canvas canvas;
    std::string title;
    double title_px = kTitlePx; // smaller where it would not fit
    std::string subtitle;
    // All units, steps 1 … 7, what a step has beside its kernels, predicted, measured.
    std::vector<WaterfallBar> bars;
    Box bars_area;
    double name_x = 0.0, reason_x = 0.0;
    double change_x = 0.0, value_x = 0.0; // right edges
    std::vector<WaterfallKey> legend;     // of the tones
    std::string unit;                     // of the values, above them where they do not say it
    double legend_y = 0.0;                // baseline of both
    bool has_gap = false;                 // the machine allows more than the mapping somewhere

    bool operator==(const WaterfallScene&) const = default;
};

// One layer; where a profile was laid over the report its measured time stands below the
// prediction, the difference as *unexplained*.
WaterfallScene make_waterfall(const analysis::Report& report, std::size_t layer,
                              const Canvas& canvas = {});

// The whole network: after step k the time is the sum of all layers' times at their own bounds, so
// what it leaves is the work over that time. `reason` and `layer` name the layer that loses most at
// the step. Below step 7 stand the CPU's launches, copies, and other waits of a GPU's step. Layers
// that were not measured count as predicted.
WaterfallScene make_network_waterfall(const analysis::Report& report, const Canvas& canvas = {});

// The ladder as boxes and texts: what every writer and the window paint.
Drawing drawn(const WaterfallScene& scene);

// The figures of the bars: shares of the units, values, reasons.
DrawnTable figures_of(const WaterfallScene& scene);

// The bar whose row is at a height, for clicks.
std::optional<std::size_t> bar_at(const WaterfallScene& scene, Place place);

} // namespace eyeroof::report
