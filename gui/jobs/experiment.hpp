// What the user tries out on the first machine: turned parameters, batch, precision, mapping; and
// the history of it that undo and redo walk through.
// Used by the main window and the what-if pane.
// Knows no widget.
#pragma once

#include "study/exam/run.hpp"
#include "study/what_if/knobs.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace eyeroof::gui {

// How the network is run: the choices of the second row.
struct HowRun {
    std::int64_t batch = 1;
    std::string data_type; // empty: the layers' own
    study::MappingPolicy mapping = study::MappingPolicy::automatic;
    std::string phase = "inference"; // or the optimizer of a training step
    study::LaunchMode launch = study::LaunchMode::stream;

    bool operator==(const HowRun&) const = default;
};

struct Experiment {
    std::vector<study::Change> changes;
    HowRun run;

    bool operator==(const Experiment&) const = default;
};

// A drag of one slider is one entry, however many steps it took.
class History {
  public:
    const Experiment& now() const { return states_[at_]; }
    // `what`: the same text twice in a row is one entry (a drag); empty: always a new one.
    void push(Experiment state, const std::string& what);
    bool can_undo() const { return at_ > 0; }
    bool can_redo() const { return at_ + 1 < states_.size(); }
    const Experiment& undo();
    const Experiment& redo();
    void clear(Experiment state); // another machine: its parameters are others
    void end_drag() { last_.clear(); }

  private:
    std::vector<Experiment> states_ = {{}};
    std::size_t at_ = 0;
    std::string last_;
};

} // namespace eyeroof::gui
