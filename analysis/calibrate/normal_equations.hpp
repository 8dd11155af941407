// The normal equations of one step of damped least squares, and their solution.
//
// Independent of the meaning of the parameters and residuals.
#pragma once

#include <cstddef>
#include <vector>

namespace eyeroof::analysis {

// left x = right, left symmetric: only entries on and below the diagonal are kept.
struct NormalEquations {
    explicit NormalEquations(std::size_t unknowns = 0)
        : right(unknowns, 0.0), left(unknowns * (unknowns + 1) / 2, 0.0) {}

    double& at(std::size_t row, std::size_t column) { return left[row * (row + 1) / 2 + column]; }
    double at(std::size_t row, std::size_t column) const {
        return left[row * (row + 1) / 2 + column];
    }

    std::vector<double> right, left;
};

// x of (left + damping diag(left)) x = right, by Cholesky's factors (Levenberg and Marquardt's
// step). An unknown that no equation holds stays 0.
std::vector<double> damped_solution(const NormalEquations& equations, double damping);

} // namespace eyeroof::analysis
