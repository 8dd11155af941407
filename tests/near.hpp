#pragma once
// The one way in which tests compare floating-point numbers: relative to the value that is
// expected, however small it is. (doctest::Approx adds 1 to both sides, so that below 1 its
// tolerance is an absolute one: any two times of a GPU kernel, a few microseconds each, are equal
// to it.)
#include <cmath>
#include <iomanip>
#include <ostream>

namespace eyeroof::tests {

// What is expected, and how far off it may be. It keeps what it was compared with for its message.
class Near {
  public:
    Near(double expected, double tolerance, bool relative)
        : expected_(expected), tolerance_(tolerance), relative_(relative) {}

    friend bool operator==(double actual, const Near& near) {
        near.actual_ = actual;
        return actual == near.expected_ || std::abs(actual - near.expected_) <= near.allowed();
    }
    friend bool operator!=(double actual, const Near& near) { return !(actual == near); }

    friend std::ostream& operator<<(std::ostream& out, const Near& near) {
        const auto digits = out.precision(10);
        out << near.expected_ << std::setprecision(3);
        if (near.relative_) {
            out << " within " << near.tolerance_ * 100 << " % (it is off by "
                << (near.actual_ / near.expected_ - 1.0) * 100 << " %)";
        } else {
            out << " within " << near.tolerance_ << " (it is off by "
                << near.actual_ - near.expected_ << ")";
        }
        out.precision(digits);
        return out;
    }

  private:
    [[nodiscard]] double allowed() const {
        return relative_ ? tolerance_ * std::abs(expected_) : tolerance_;
    }

    double expected_;
    double tolerance_;
    bool relative_;
    mutable double actual_ = 0.0;
};

// Within a share of the expected value. The default allows for rounding in the last digits of a
// sum, no more; nothing but zero is near zero.
inline Near near(double expected, double relative_tolerance = 1e-9) {
    return {expected, relative_tolerance, true};
}

// Within an absolute distance, in the unit of the value: for what should be zero after a
// difference, and for figures that are themselves percentages or logarithms.
inline Near within(double absolute_tolerance, double expected) {
    return {expected, absolute_tolerance, false};
}

} // namespace eyeroof::tests
