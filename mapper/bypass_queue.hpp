// The choices of what each level keeps, one after the other, the one with the lowest bound first.
// There are up to 8^(levels - 1) of them: none is made before it is asked for.
#pragma once

#include "mapper/space.hpp"

#include <queue>
#include <set>
#include <tuple>

namespace eyeroof::mapper {

class BypassQueue {
  public:
    explicit BypassQueue(const Task& task);

    // How many choices there are, those that were made already included; at least one.
    std::size_t choices() const;
    bool empty() const { return open_.empty(); }
    // No mapping of the next choice, or of one after it, has a lower value.
    double lower_bound() const;
    std::vector<model::OperandSet> next();

  private:
    struct Homes {                // of one operand
        double pj = 0.0;          // its words take at least, and of that
        double serving_pj = 0.0;  // what the innermost home serves the units with
        double word_pj = 0.0;     // … for each word
        std::size_t serves = 0;   // the innermost home
        std::uint32_t levels = 0; // bit i: level i keeps it
    };
    using Place = std::array<std::uint32_t, model::kOperands>; // of each operand's homes
    struct Open {
        double pj = 0.0;
        Place place{};
        bool joint = false; // the three operands together

        bool operator>(const Open& other) const {
            return pj != other.pj ? pj > other.pj
                                  : std::tie(place, joint) > std::tie(other.place, other.joint);
        }
    };

    void list(model::Operand o);
    Homes homes_of(model::Operand o, std::uint32_t levels) const;
    double served_together(const Place& place) const;
    void push(const Place& place);
    void settle();

    const Task& task_;
    double macs_ = 0.0;
    double windows_ = 1.0; // positions of a window that use the same input, at most
    double steps_ = 1.0;   // cycles of any mapping, at least
    std::array<std::vector<Homes>, model::kOperands> homes_; // the least energy first
    std::priority_queue<Open, std::vector<Open>, std::greater<>> open_;
    std::set<Place> seen_;
};

} // namespace eyeroof::mapper
