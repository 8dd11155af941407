// Fits the constants of one kernel of a serving library to its rows.
#pragma once

#include "model/gpu/library_cells.hpp"

#include <Eigen/Core>

#include <utility>
#include <vector>

namespace eyeroof::analysis {

struct FitPoint {
    model::CallParts parts;
    std::vector<std::pair<int, double>> hats; // of the shape, then of the machine
    double log_s = 0.0;
    double weight = 1.0;
    double time_s = 0.0;
    bool eager = false;
    double host_s = 0.0;      // of the machine, where the row was timed without a graph
    double power_share = 0.0; // of the board's limit; 0: not measured
    std::size_t machine = 0;
};

// The logarithms of added, joined, and the power; then shape and machines. The mean of
// |ln(predicted / measured)| is least, near the starts and with small corrections of shape.
class CellFit {
  public:
    CellFit(model::LibraryKind kind, std::size_t knots, std::size_t machines,
            const model::CallParts& like);

    // From where the last run ended; corrections that no point tells of are zero.
    void run(const std::vector<const FitPoint*>& points);

    double log_seconds(const FitPoint& p) const { return log_seconds(at_, p, nullptr, nullptr); }
    model::LibraryCell cell() const;
    double offset(std::size_t machine) const {
        return shapes_ > knots_ ? at_[index(plain() + knots_ + machine)] : 0.0;
    }
    // Along how many axes the point lies where no row of the fit did.
    double far_axes(const FitPoint& p) const;

  private:
    static Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }
    std::size_t plain() const { return added_ + joined_ + 1; }
    std::size_t size() const { return plain() + shapes_; }

    // ln of the seconds before the shape's correction; with `slopes`, its derivatives.
    double base(const Eigen::VectorXd& at, const FitPoint& p, std::vector<double>* slopes) const;
    // With the shape and the host; `kernel`: how much the time follows the kernel's.
    double log_seconds(const Eigen::VectorXd& at, const FitPoint& p, std::vector<double>* slopes,
                       double* kernel) const;
    double shape(const Eigen::VectorXd& at, const FitPoint& p) const;
    double pull(std::size_t i) const;
    double cost(const Eigen::VectorXd& at, const std::vector<const FitPoint*>& points) const;
    void equations(const std::vector<const FitPoint*>& points, Eigen::MatrixXd& left,
                   Eigen::VectorXd& right) const;
    Eigen::VectorXd moved(const Eigen::VectorXd& step) const;

    std::size_t added_, joined_, knots_, shapes_;
    Eigen::VectorXd start_, at_;
};

} // namespace eyeroof::analysis
