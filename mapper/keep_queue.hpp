// The choices of what each level keeps, one after the other, the one with the least floor first.
// There are up to 8^(levels - 1) of them: none is made before it is asked for.
// Called by search.cpp. Knows neither splits nor orders.
#pragma once

#include "mapper/space.hpp"

#include <queue>
#include <set>

namespace eyeroof::mapper {

class KeepQueue {
  public:
    explicit KeepQueue(const Task& task);

    bool empty() const { return open_.empty(); }
    // No mapping of the next choice, or of one after it, has a lower value.
    double floor() const;
    std::vector<model::OperandSet> next();

  private:
    struct Homes {                // of one operand
        double pj = 0.0;          // its words take at least
        std::uint32_t levels = 0; // bit i: level i keeps it
    };
    using Place = std::array<std::uint32_t, model::kOperands>; // of each operand's homes
    struct Open {
        double pj = 0.0;
        Place place{};

        bool operator>(const Open& other) const {
            return pj != other.pj ? pj > other.pj : place > other.place;
        }
    };

    void list(model::Operand o);
    double least_pj(model::Operand o, std::uint32_t levels) const;
    void push(const Place& place);

    const Task& task_;
    double steps_ = 1.0;                                     // cycles of any mapping, at least
    std::array<std::vector<Homes>, model::kOperands> homes_; // the least energy first
    std::priority_queue<Open, std::vector<Open>, std::greater<>> open_;
    std::set<Place> seen_;
};

} // namespace eyeroof::mapper
