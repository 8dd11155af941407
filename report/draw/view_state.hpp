// The visible part of a plot: filters, visible roofs, ranges, selection, theme.
// Session files save it, so that the command line draws the same plot as the explorer.
#pragma once

#include "report/draw/axis.hpp"
#include "report/draw/theme.hpp"

#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace eyeroof::report {

// automatic: by machine with several; else by limiting step, or by level where every level is in
// view. share: by classes of the share of the time. type: of the data. module: by the beginnings of
// the names (see SeriesTable). With every level in view the marker is the level.
enum class ColourBy { automatic, limiter, machine, share, type, module };

// As sessions and --color-by spell them.
inline constexpr std::array<std::pair<const char*, ColourBy>, 6> kColourBy = {
    {{"automatic", ColourBy::automatic},
     {"limiter", ColourBy::limiter},
     {"machine", ColourBy::machine},
     {"share", ColourBy::share},
     {"type", ColourBy::type},
     {"module", ColourBy::module}}};

struct ViewState {
    std::string filter;              // regular expression over names in any case; empty: all
    std::optional<int> top;          // only so many points, heaviest first
    std::optional<double> top_share; // only the heaviest that make up this share of the time, 0 … 1
    bool predicted = true;
    bool measured = true;
    std::set<std::string> hidden;          // point ids
    std::set<std::string> only;            // point ids, the others hidden; empty: all
    std::set<std::string> hidden_machines; // ids: their points and roofs
    std::set<std::string> hidden_series;   // keys of SceneSeries: their points
    bool labels = true;
    bool zones = false; // where memory, either, or arithmetic bounds, behind the points
    std::string level;  // whose bytes give the intensity; empty: the outermost
    std::optional<std::set<std::string>> roofs; // ids; nullopt: those that the points need
    std::optional<LogRange> x, y;               // nullopt: everything
    std::set<std::string> selection;            // point ids
    ColourBy colour_by = ColourBy::automatic;
    std::string time_unit;      // of all times of the table of layers: "us"; empty: each its own
    std::optional<Theme> theme; // nullopt: as wherever it is shown

    bool operator==(const ViewState&) const = default;
};

} // namespace eyeroof::report
