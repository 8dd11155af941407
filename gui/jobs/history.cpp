#include "gui/jobs/history.hpp"

namespace eyeroof::gui {

namespace {
constexpr std::size_t kMostStates = 500;
}

void History::push(analysis::Scenario state, const std::string& what) {
    if (state == now()) {
        return;
    }
    states_.resize(at_ + 1);
    const bool same_drag = at_ > 0 && !what.empty() && what == last_;
    last_ = what;
    if (same_drag) {
        states_.back() = std::move(state);
        return;
    }
    if (states_.size() >= kMostStates) {
        states_.erase(states_.begin());
    }
    states_.push_back(std::move(state));
    at_ = states_.size() - 1;
}

const analysis::Scenario& History::undo() {
    at_ -= can_undo() ? 1 : 0;
    last_.clear();
    return now();
}

const analysis::Scenario& History::redo() {
    at_ += can_redo() ? 1 : 0;
    last_.clear();
    return now();
}

void History::clear(analysis::Scenario state) {
    states_ = {std::move(state)};
    at_ = 0;
    last_.clear();
}

} // namespace eyeroof::gui
