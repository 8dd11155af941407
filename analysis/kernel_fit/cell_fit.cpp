#include "analysis/kernel_fit/cell_fit.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

using model::LibraryCell;
using model::LibraryKind;

namespace {

constexpr double kPrior = 2.0; // rows that a constant's start counts as
constexpr double kRidge = 4.0; // and each correction's zero
constexpr double kNear = 0.05; // ln: nearer rows pull in proportion

} // namespace

CellFit::CellFit(LibraryKind kind, std::size_t knots, std::size_t machines,
                 const model::CallParts& like)
    : added_(like.added.size()), joined_(like.joined.size()), knots_(knots),
      shapes_(knots + machines) {
    start_ = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(size()));
    for (std::size_t i = 0; i < added_; ++i) {
        start_[index(i)] = std::log(i == 0 ? 4.0 : 0.5);
    }
    for (std::size_t i = 0; i < joined_; ++i) {
        start_[index(added_ + i)] = std::log(kind == LibraryKind::product ? 1.0 : 0.8);
    }
    start_[index(added_ + joined_)] = std::log(kind == LibraryKind::product ? 2.0 : 1.5);
    at_ = start_;
}

void CellFit::run(const std::vector<const FitPoint*>& points) {
    std::vector<char> measured(shapes_, 0);
    for (const FitPoint* p : points) {
        for (const auto& [i, weight] : p->hats) {
            if (weight != 0.0 && static_cast<std::size_t>(i) < shapes_) {
                measured[static_cast<std::size_t>(i)] = 1;
            }
        }
    }
    for (std::size_t i = 0; i < shapes_; ++i) {
        at_[index(plain() + i)] *= measured[i];
    }
    double damping = 1e-2;
    double best = cost(at_, points);
    for (int round = 0; round < 25; ++round) {
        Eigen::MatrixXd left;
        Eigen::VectorXd right;
        equations(points, left, right);
        bool better = false;
        double now = best;
        for (int trial = 0; trial < 8 && !better; ++trial) {
            Eigen::MatrixXd damped = left;
            damped.diagonal() *= 1.0 + damping;
            const Eigen::VectorXd to = moved(damped.ldlt().solve(right));
            now = cost(to, points);
            better = now < best;
            damping *= better ? 0.2 : 5.0;
            if (better) {
                at_ = to;
            }
        }
        const bool done = !better || best - now < 1e-5 * best;
        best = std::min(best, now);
        if (done) {
            break;
        }
    }
}

LibraryCell CellFit::cell() const {
    LibraryCell c;
    for (std::size_t i = 0; i < added_; ++i) {
        c.added.push_back(std::exp(at_[index(i)]));
    }
    for (std::size_t i = 0; i < joined_; ++i) {
        c.joined.push_back(std::exp(at_[index(added_ + i)]));
    }
    c.power = std::exp(at_[index(added_ + joined_)]);
    for (std::size_t i = 0; i < knots_; ++i) {
        c.shape.push_back(at_[index(plain() + i)]);
    }
    return c;
}

double CellFit::base(const Eigen::VectorXd& at, const FitPoint& p,
                     std::vector<double>* slopes) const {
    const double power = std::exp(at[index(added_ + joined_)]);
    double sum = 0.0;
    double terms[16];
    for (std::size_t i = 0; i < added_; ++i) {
        terms[i] = std::exp(at[index(i)]) * p.parts.added[i];
        sum += terms[i];
    }
    double most = 1e-30;
    for (std::size_t i = 0; i < joined_; ++i) {
        terms[added_ + i] = std::exp(at[index(added_ + i)]) * p.parts.joined[i];
        most = std::max(most, terms[added_ + i]);
    }
    double powers = 0.0;
    double logs = 0.0;
    for (std::size_t i = 0; i < joined_; ++i) {
        const double share = terms[added_ + i] / most;
        const double raised = share > 0.0 ? std::pow(share, power) : 0.0;
        powers += raised;
        logs += raised > 0.0 ? raised * power * std::log(share) : 0.0;
        terms[added_ + i] = raised;
    }
    powers = std::max(powers, 1e-300);
    const double joined = most * std::pow(powers, 1.0 / power);
    const double all = sum + joined;
    if (slopes != nullptr) {
        slopes->clear();
        for (std::size_t i = 0; i < added_; ++i) {
            slopes->push_back(terms[i] / all);
        }
        for (std::size_t i = 0; i < joined_; ++i) {
            slopes->push_back(joined * terms[added_ + i] / powers / all);
        }
        slopes->push_back(joined * (logs / powers - std::log(powers)) / power / all);
    }
    return std::log(all);
}

double CellFit::log_seconds(const Eigen::VectorXd& at, const FitPoint& p,
                            std::vector<double>* slopes, double* kernel) const {
    const double log_s = base(at, p, slopes) + shape(at, p);
    const double all =
        p.host_s > 0.0 ? std::log(model::with_host(std::exp(log_s), p.host_s)) : log_s;
    if (kernel != nullptr) {
        *kernel = std::exp(8.0 * (log_s - all));
    }
    return all;
}

double CellFit::shape(const Eigen::VectorXd& at, const FitPoint& p) const {
    double sum = 0.0;
    for (const auto& [i, weight] : p.hats) {
        sum += static_cast<std::size_t>(i) < shapes_
                   ? weight * at[index(plain() + static_cast<std::size_t>(i))]
                   : 0.0;
    }
    return sum;
}

double CellFit::pull(std::size_t i) const {
    return i + 1 == plain() ? 5.0 * kPrior : i < plain() ? kPrior : kRidge;
}

double CellFit::cost(const Eigen::VectorXd& at, const std::vector<const FitPoint*>& points) const {
    double sum = 0.0;
    for (const FitPoint* p : points) {
        const double off = log_seconds(at, *p, nullptr, nullptr) - p->log_s;
        sum += p->weight * (std::sqrt(off * off + kNear * kNear) - kNear);
    }
    for (std::size_t i = 0; i < size(); ++i) {
        const double from = at[index(i)] - start_[index(i)];
        sum += 0.5 * pull(i) * from * from;
    }
    return sum;
}

void CellFit::equations(const std::vector<const FitPoint*>& points, Eigen::MatrixXd& left,
                        Eigen::VectorXd& right) const {
    left = Eigen::MatrixXd::Zero(index(size()), index(size()));
    right = Eigen::VectorXd::Zero(index(size()));
    std::vector<double> slopes;
    std::vector<std::pair<Eigen::Index, double>> row;
    for (const FitPoint* p : points) {
        double kernel = 1.0;
        const double off = log_seconds(at_, *p, &slopes, &kernel) - p->log_s;
        const double weight = p->weight / std::sqrt(off * off + kNear * kNear);
        row.clear();
        for (std::size_t i = 0; i < slopes.size(); ++i) {
            row.emplace_back(index(i), kernel * slopes[i]);
        }
        for (const auto& [i, hat] : p->hats) {
            if (hat != 0.0 && static_cast<std::size_t>(i) < shapes_) {
                row.emplace_back(index(plain() + static_cast<std::size_t>(i)), kernel * hat);
            }
        }
        for (const auto& [a, x] : row) {
            for (const auto& [b, y] : row) {
                left(a, b) += weight * x * y;
            }
            right[a] -= weight * x * off;
        }
    }
    for (std::size_t i = 0; i < size(); ++i) {
        left(index(i), index(i)) += pull(i);
        right[index(i)] -= pull(i) * (at_[index(i)] - start_[index(i)]);
    }
}

Eigen::VectorXd CellFit::moved(const Eigen::VectorXd& step) const {
    constexpr double kLongest = 0.7;
    Eigen::VectorXd to = at_;
    for (std::size_t i = 0; i < size(); ++i) {
        const double by = step[index(i)];
        to[index(i)] += i < plain() ? std::clamp(by, -kLongest, kLongest) : by;
    }
    double& power = to[index(added_ + joined_)];
    power = std::clamp(power, 0.0, std::log(8.0));
    return to;
}

double CellFit::far_axes(const FitPoint& p) const {
    double far = 0.0;
    for (const auto& [i, weight] : p.hats) {
        const auto at = static_cast<std::size_t>(i);
        far += at < knots_ && at_[index(plain() + at)] == 0.0 ? weight : 0.0;
    }
    return far;
}

} // namespace eyeroof::analysis
