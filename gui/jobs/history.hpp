// The history of a scenario: what undo and redo walk through. It restarts with every machine:
// another one has other parameters.
#pragma once

#include "analysis/scenario/scenario.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace eyeroof::gui {

// A drag of one slider is one entry, however many steps it took.
class History {
  public:
    const analysis::Scenario& now() const { return states_[at_]; }
    // `what`: the same text twice in a row is one entry (a drag); empty: always a new one.
    void push(analysis::Scenario state, const std::string& what);
    bool can_undo() const { return at_ > 0; }
    bool can_redo() const { return at_ + 1 < states_.size(); }
    const analysis::Scenario& undo();
    const analysis::Scenario& redo();
    void clear(analysis::Scenario state);
    void end_drag() { last_.clear(); }

  private:
    std::vector<analysis::Scenario> states_ = {{}};
    std::size_t at_ = 0;
    std::string last_;
};

} // namespace eyeroof::gui
