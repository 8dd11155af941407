#include "analysis/kernel_fit/power_fit.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

namespace {

constexpr double kWaiting = 0.25, kBusy = 0.3; // shares of the limit, before any row
constexpr double kPowerPrior = 2.0;            // rows that they count as
constexpr double kPowerNear = 0.05;            // ln: nearer rows pull in proportion

using Logs = Eigen::VectorXd; // of the shares

std::vector<double> shares_of(const Logs& at) {
    std::vector<double> shares;
    for (Eigen::Index i = 0; i < at.size(); ++i) {
        shares.push_back(std::exp(at[i]));
    }
    return shares;
}

double power_off(const std::vector<double>& shares, const PowerPoint& p) {
    return std::log(model::power_share(shares, *p.parts, p.time_s) / p.share);
}

double power_cost(const Logs& at, const Logs& start, const std::vector<PowerPoint>& points) {
    const std::vector<double> shares = shares_of(at);
    double sum = 0.5 * kPowerPrior * (at - start).squaredNorm();
    for (const PowerPoint& p : points) {
        const double off = power_off(shares, p);
        sum += std::sqrt(off * off + kPowerNear * kPowerNear) - kPowerNear;
    }
    return sum;
}

// A step of reweighted least squares; slopes by differences, since there are few shares.
Logs power_step(const Logs& at, const Logs& start, const std::vector<PowerPoint>& points,
                double damping) {
    constexpr double kStep = 1e-4;
    const Eigen::Index n = at.size();
    Eigen::MatrixXd left = Eigen::MatrixXd::Identity(n, n) * kPowerPrior;
    Logs right = -kPowerPrior * (at - start);
    std::vector<std::vector<double>> moved;
    for (Eigen::Index i = 0; i < n; ++i) {
        Logs to = at;
        to[i] += kStep;
        moved.push_back(shares_of(to));
    }
    const std::vector<double> shares = shares_of(at);
    for (const PowerPoint& p : points) {
        const double off = power_off(shares, p);
        const double weight = 1.0 / std::sqrt(off * off + kPowerNear * kPowerNear);
        Logs slope(n);
        for (Eigen::Index i = 0; i < n; ++i) {
            slope[i] = (power_off(moved[static_cast<std::size_t>(i)], p) - off) / kStep;
        }
        left += weight * slope * slope.transpose();
        right -= weight * off * slope;
    }
    left.diagonal() *= 1.0 + damping;
    return at + left.ldlt().solve(right).cwiseMax(-0.7).cwiseMin(0.7);
}

} // namespace

std::vector<double> fit_power(const std::vector<PowerPoint>& points) {
    if (points.empty()) {
        return {};
    }
    const auto parts = static_cast<Eigen::Index>(points.front().parts->joined.size());
    Logs start = Logs::Constant(parts + 1, std::log(kBusy));
    start[0] = std::log(kWaiting);
    Logs at = start;
    double best = power_cost(at, start, points), damping = 1e-2;
    for (int round = 0; round < 30 && damping < 1e3; ++round) {
        const Logs to = power_step(at, start, points, damping);
        const double now = power_cost(to, start, points);
        const bool done = now < best && best - now < 1e-5 * best;
        damping *= now < best ? 0.2 : 5.0;
        at = now < best ? to : at;
        best = std::min(best, now);
        if (done) {
            break;
        }
    }
    return shares_of(at);
}

} // namespace eyeroof::analysis
