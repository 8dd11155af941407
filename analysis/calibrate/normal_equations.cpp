#include "analysis/calibrate/normal_equations.hpp"

#include <cmath>

namespace eyeroof::analysis {

namespace {

constexpr double kHolds = 1e-12; // of its diagonal, what a pivot must keep

// Lower factor; a zero pivot marks an unknown that the equations do not hold.
NormalEquations factor_of(const NormalEquations& e, double damping) {
    const std::size_t n = e.right.size();
    NormalEquations l(n);
    for (std::size_t row = 0; row < n; ++row) {
        for (std::size_t column = 0; column <= row; ++column) {
            double sum = e.at(row, column) * (row == column ? 1.0 + damping : 1.0);
            for (std::size_t k = 0; k < column; ++k) {
                sum -= l.at(row, k) * l.at(column, k);
            }
            if (row == column) {
                l.at(row, row) = sum > kHolds * e.at(row, row) ? std::sqrt(sum) : 0.0;
            } else {
                const double pivot = l.at(column, column);
                l.at(row, column) = pivot > 0.0 ? sum / pivot : 0.0;
            }
        }
    }
    return l;
}

} // namespace

std::vector<double> damped_solution(const NormalEquations& equations, double damping) {
    const NormalEquations l = factor_of(equations, damping);
    std::vector<double> x = equations.right;
    const std::size_t n = x.size();
    for (std::size_t row = 0; row < n; ++row) {
        for (std::size_t k = 0; k < row; ++k) {
            x[row] -= l.at(row, k) * x[k];
        }
        x[row] = l.at(row, row) > 0.0 ? x[row] / l.at(row, row) : 0.0;
    }
    for (std::size_t row = n; row-- > 0;) {
        for (std::size_t k = row + 1; k < n; ++k) {
            x[row] -= l.at(k, row) * x[k];
        }
        x[row] = l.at(row, row) > 0.0 ? x[row] / l.at(row, row) : 0.0;
    }
    return x;
}

} // namespace eyeroof::analysis
