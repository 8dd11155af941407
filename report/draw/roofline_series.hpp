// The series of a roofline's points: by step, machine, level, type, module, or share of the time,
// predicted and measured.
#pragma once

#include "report/draw/plot_input.hpp"
#include "report/draw/roofline_points.hpp"
#include "report/draw/roofline_scene.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace eyeroof::report {

std::size_t machine_index(const PlotInput& input, const std::string& id); // 0 for an unknown one
// What colors show: by_level stands for the memory levels, each in the color of its roof.
enum class Coloured { by_step, by_machine, by_share, by_type, by_module, by_level };
Coloured coloured(const PlotInput& input, const ViewState& view);

// The module of each name: its beginning up to the deepest separator ('.', '/', '_') at which at
// most `most` modules are left; where the first has more, that without the number at its end.
std::map<std::string, std::string> modules_of(const std::vector<std::string>& names,
                                              std::size_t most);

// Gives every point its series; series come into being in a fixed order of their keys.
class SeriesTable {
  public:
    // `input` outlives the table.
    SeriesTable(const PlotInput& input, const ViewState& view);

    // Counts the point into the series that it is of, and says which.
    // `share`: of the time.
    std::size_t of(const PlotPoint& point, const std::string& level, double share);

    // Series in the order of their keys, and where each old index went.
    std::pair<std::vector<SceneSeries>, std::vector<std::size_t>> sorted() const;

  private:
    std::size_t group(const PlotPoint& point, const std::string& level, double share) const;
    SceneSeries make(const PlotPoint& point, const std::string& level, double share) const;
    bool by_step(const PlotPoint& point) const;
    std::size_t run_index(const PlotPoint& point) const;
    std::size_t level_index(const std::string& level) const;
    std::string step_name(std::size_t series) const;

    const PlotInput& input_;
    Coloured coloured_;
    std::vector<std::string> levels_;            // of all points, in order of appearance
    std::vector<std::string> runs_;              // the same; predictions have none
    std::vector<std::string> types_;             // the same
    std::map<std::string, std::string> modules_; // by name of a point
    std::vector<std::string> module_names_;      // in order of appearance
    bool every_level_;
    bool both_ = false; // predicted and measured
    std::map<std::size_t, std::size_t> index_;
    std::vector<SceneSeries> series_;
    std::vector<std::size_t> keys_;
    // By series, of those of a step: what limits its points, as tables name it, and how many.
    std::map<std::size_t, std::vector<std::pair<std::string, std::size_t>>> limiters_;
};

} // namespace eyeroof::report
