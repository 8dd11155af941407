#include "analysis/cross_validate/kernel_fit.hpp"

#include "analysis/cross_validate/power_fit.hpp"
#include "base/parallel.hpp"
#include "base/statistics.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>

namespace eyeroof::analysis {

using model::CallSize;
using model::LibraryCell;
using model::LibraryKind;

namespace {

constexpr std::size_t kFewestRows = 30, kFewestOfHalf = 8, kFewestOfMachine = 20;
constexpr std::size_t kFewestOfPower = 100;
constexpr std::size_t kMostRows = 800; // of a kernel that the fit looks at
constexpr double kPrior = 2.0;         // rows that a constant's start counts as
constexpr double kRidge = 4.0;         // and each correction's zero
constexpr double kNear = 0.05;         // ln: nearer rows pull in proportion
constexpr double kOlder = 0.5;         // weight of rows of an older version beside the newest's

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
    bool held = false;
};

// Of one cell: the logarithms of added, joined, and the power; then shape and machines.
class CellFit {
  public:
    CellFit(LibraryKind kind, std::size_t knots, std::size_t machines, const model::CallParts& like)
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

    void run(const std::vector<const FitPoint*>& points) {
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

    double log_seconds(const FitPoint& p) const { return log_seconds(at_, p, nullptr, nullptr); }

    LibraryCell cell() const {
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
    double offset(std::size_t machine) const {
        return shapes_ > knots_ ? at_[index(plain() + knots_ + machine)] : 0.0;
    }

  private:
    static Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }
    std::size_t plain() const { return added_ + joined_ + 1; }
    std::size_t size() const { return plain() + shapes_; }

    // ln of the seconds before the shape's correction; with `slopes`, its derivatives.
    double base(const Eigen::VectorXd& at, const FitPoint& p, std::vector<double>* slopes) const {
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
    // With the shape and the host; `kernel`: how much the time follows the kernel's.
    double log_seconds(const Eigen::VectorXd& at, const FitPoint& p, std::vector<double>* slopes,
                       double* kernel) const {
        const double log_s = base(at, p, slopes) + shape(at, p);
        const double all =
            p.host_s > 0.0 ? std::log(model::with_host(std::exp(log_s), p.host_s)) : log_s;
        if (kernel != nullptr) {
            *kernel = std::exp(8.0 * (log_s - all));
        }
        return all;
    }
    double shape(const Eigen::VectorXd& at, const FitPoint& p) const {
        double sum = 0.0;
        for (const auto& [i, weight] : p.hats) {
            sum += static_cast<std::size_t>(i) < shapes_
                       ? weight * at[index(plain() + static_cast<std::size_t>(i))]
                       : 0.0;
        }
        return sum;
    }
    double pull(std::size_t i) const {
        return i + 1 == plain() ? 5.0 * kPrior : i < plain() ? kPrior : kRidge;
    }
    double cost(const Eigen::VectorXd& at, const std::vector<const FitPoint*>& points) const {
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
    void equations(const std::vector<const FitPoint*>& points, Eigen::MatrixXd& left,
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
    Eigen::VectorXd moved(const Eigen::VectorXd& step) const {
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

    std::size_t added_, joined_, knots_, shapes_;
    Eigen::VectorXd start_, at_;
};

// FNV-1a.
std::uint64_t kernel_hash(std::uint64_t hash, std::uint64_t value) {
    constexpr std::uint64_t kPrime = 1099511628211ULL;
    for (int i = 0; i < 8; ++i) {
        hash = (hash ^ ((value >> (8 * i)) & 0xffU)) * kPrime;
    }
    return hash;
}

std::uint64_t shape_hash(const model::LibraryCall& call, bool tokens) {
    const auto kind = model::library_kind(call.op, call.network).value_or(LibraryKind::product);
    const bool others = kind == LibraryKind::product || kind == LibraryKind::attention ||
                        kind == LibraryKind::latent || kind == LibraryKind::experts;
    std::uint64_t hash = 14695981039346656037ULL;
    for (std::size_t i = 0; i < model::kCallSizes; ++i) {
        const auto size = static_cast<CallSize>(i);
        const bool counts = size == CallSize::m || size == CallSize::tokens ||
                            size == CallSize::q_len || size == CallSize::batch;
        if (!tokens && others && counts) {
            continue;
        }
        hash = kernel_hash(hash, static_cast<std::uint64_t>(call.sizes[i]));
    }
    return hash ^ (hash >> 29U);
}

// "0.5.10" after "0.5.9"; what is no number counts as nothing.
std::vector<int> version_numbers(const std::string& version) {
    std::vector<int> numbers = {0};
    for (const char c : version) {
        if (c >= '0' && c <= '9' && numbers.back() < 100000000) {
            numbers.back() = 10 * numbers.back() + (c - '0');
        } else if (c == '.') {
            numbers.push_back(0);
        } else {
            break;
        }
    }
    return numbers;
}

struct KernelGroup {
    std::string family, key;
    bool shaped = true;
    std::vector<std::uint32_t> rows;
};

double kernel_quantile(std::vector<double> sorted, double share) {
    const double at = std::clamp(share * (static_cast<double>(sorted.size()) + 1.0) - 1.0, 0.0,
                                 static_cast<double>(sorted.size()) - 1.0);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// measured / predicted, ln: where eight rows of ten lie.
std::pair<double, double> kernel_band(std::vector<double> logs) {
    std::sort(logs.begin(), logs.end());
    return {std::min(std::exp(kernel_quantile(logs, 0.1)), 0.999),
            std::max(std::exp(kernel_quantile(logs, 0.9)), 1.001)};
}

class KernelFitter {
  public:
    KernelFitter(const KernelTable& table, const MachineSource& machines,
                 const KernelFitOptions& options)
        : table_(table), options_(options) {
        for (const KernelRow& row : table.rows) {
            if (!gpus_.contains(row.gpu)) {
                const auto machine = machines(row.gpu);
                const auto* gpu = machine ? std::get_if<model::Gpu>(&machine->kind) : nullptr;
                gpus_[row.gpu] = gpu == nullptr ? std::nullopt : std::optional(*gpu);
            }
        }
    }

    KernelFit run(const std::stop_token& stop) {
        KernelFit fit;
        const std::vector<KernelGroup> groups = groups_of(fit.machines_unknown);
        std::vector<LibraryCell> cells(groups.size());
        in_parallel(thread_count(options_.threads), groups.size(), [&](std::size_t i) {
            if (!stop.stop_requested()) {
                cells[i] = fitted(groups[i]);
            }
        });
        for (std::size_t i = 0; i < groups.size(); ++i) {
            if (!cells[i].added.empty()) {
                model::LibraryCells& family = fit.families[groups[i].family];
                family.source = options_.source;
                family.cells[groups[i].key] = std::move(cells[i]);
            }
        }
        return fit;
    }

  private:
    bool left_out(const KernelRow& row) const {
        const std::string all = "," + options_.leave_out + ",";
        return all.find("," + row.gpu + ",") != std::string::npos ||
               (options_.held_out && held_out(row.call));
    }

    std::vector<KernelGroup> groups_of(int& unknown) {
        std::map<std::pair<std::string, std::string>, KernelGroup> all;
        std::map<std::string, std::set<std::string>> kernels; // of a library's operator and type
        const auto add = [&](const std::string& family, model::LibraryCall call, bool shaped,
                             std::uint32_t row) {
            const std::string key = model::cell_key(call);
            KernelGroup& g = all[{family, key}];
            g.family = family;
            g.key = key;
            g.shaped = shaped;
            g.rows.push_back(row);
        };
        for (std::uint32_t i = 0; i < table_.rows.size(); ++i) {
            const KernelRow& row = table_.rows[i];
            if (row.measured_s <= 0.0 || left_out(row)) {
                continue;
            }
            if (!gpus_.at(row.gpu)) {
                ++unknown;
                continue;
            }
            const std::string family = model::kernel_family(*gpus_.at(row.gpu));
            model::LibraryCall c = row.call;
            c.version.clear();
            if (c.library == "aiter") {
                c.kernel.clear(); // tuned for each shape: no kernel has rows enough
            }
            const std::string kernel = c.kernel;
            if (!kernel.empty()) {
                add(family, c, true, i);
            }
            c.kernel.clear();
            kernels[family + model::cell_key(c)].insert(kernel);
            add(family, c, true, i);
            c.library.clear();
            add(family, c, true, i);
            c.network.clear();
            add(kOther, c, false, i);
        }
        std::vector<KernelGroup> groups;
        for (auto& [key, group] : all) {
            const auto bar = group.key.rfind('|');
            const bool own = bar + 1 < group.key.size();
            const std::string whole = group.family + group.key.substr(0, bar + 1);
            const bool alone = own && kernels.at(whole).size() < 2;
            if (!alone && group.rows.size() >= kFewestRows) {
                groups.push_back(std::move(group));
            }
        }
        // The longest first, so that no thread is left with one at the end.
        std::stable_sort(groups.begin(), groups.end(),
                         [](const KernelGroup& a, const KernelGroup& b) {
                             return a.rows.size() > b.rows.size();
                         });
        return groups;
    }

    // Evenly picked by a hash of the shape, so that the order of the table does not matter.
    std::vector<std::uint32_t> picked(const KernelGroup& group) const {
        std::vector<std::pair<std::uint64_t, std::uint32_t>> order;
        for (const std::uint32_t i : group.rows) {
            order.emplace_back(shape_hash(table_.rows[i].call, true) * 0x9e3779b97f4a7c15ULL, i);
        }
        std::sort(order.begin(), order.end());
        std::vector<std::uint32_t> rows;
        for (std::size_t i = 0; i < std::min(order.size(), 2 * kMostRows); ++i) {
            rows.push_back(order[i].second);
        }
        return rows;
    }

    LibraryCell fitted(const KernelGroup& group) const {
        const std::vector<std::uint32_t> rows = picked(group);
        const KernelRow& first = table_.rows[rows.front()];
        const LibraryKind kind = *model::library_kind(first.call.op, first.call.network);
        std::size_t knots = 0;
        for (const model::CallAxis& axis : model::call_axes(kind)) {
            knots += group.shaped ? axis.knots.size() : 0;
        }
        std::vector<std::string> machines;
        std::set<std::pair<std::vector<int>, std::string>> versions;
        for (const std::uint32_t i : rows) {
            machines.push_back(table_.rows[i].gpu);
            const std::string& version = table_.rows[i].call.version;
            versions.insert({version_numbers(version), version});
        }
        std::sort(machines.begin(), machines.end());
        machines.erase(std::unique(machines.begin(), machines.end()), machines.end());
        std::vector<FitPoint> points;
        for (const std::uint32_t i : rows) {
            points.push_back(point(table_.rows[i], kind, knots, machines));
            const bool newest = table_.rows[i].call.version == versions.rbegin()->second;
            points.back().weight = newest ? 1.0 : kOlder;
        }
        const std::size_t offsets = machines.size() > 1 ? machines.size() : 0;
        std::vector<const FitPoint*> seen, held, all;
        for (const FitPoint& p : points) {
            (p.held ? held : seen).push_back(&p);
            all.push_back(&p);
        }
        if (seen.size() < kFewestOfHalf || held.size() < kFewestOfHalf) {
            seen = held = all;
        }
        set_hosts(hosts_of(seen, machines.size()), points);
        CellFit half(kind, knots, offsets, points.front().parts);
        half.run(thinned(seen));
        LibraryCell errors;
        set_errors(half, held, machines, errors);
        const std::vector<double> hosts = hosts_of(all, machines.size());
        set_hosts(hosts, points);
        CellFit whole(kind, knots, offsets, points.front().parts);
        whole.run(thinned(all));
        LibraryCell cell = whole.cell();
        cell.machines = errors.machines;
        std::tie(cell.mape, cell.median) = std::pair(errors.mape, errors.median);
        std::tie(cell.low, cell.high) = std::pair(errors.low, errors.high);
        for (std::size_t m = 0; m < machines.size(); ++m) {
            cell.machines[machines[m]].host_s = hosts[m];
            cell.machines[machines[m]].offset = offsets > 0 ? whole.offset(m) : 0.0;
        }
        if (group.key.ends_with('|') && group.family != kOther) {
            cell.watts = watts_of(all);
        }
        cell.rows = static_cast<int>(group.rows.size());
        for (const auto& [numbers, version] : versions) {
            cell.versions += (cell.versions.empty() ? "" : ", ") + version;
        }
        return cell;
    }

    FitPoint point(const KernelRow& row, LibraryKind kind, std::size_t knots,
                   const std::vector<std::string>& machines) const {
        FitPoint p;
        p.parts = model::parts_of(*gpus_.at(row.gpu), row.call, kind);
        p.log_s = std::log(row.measured_s);
        p.time_s = row.measured_s;
        p.eager = row.call.eager;
        p.power_share = row.power_w / gpus_.at(row.gpu)->tdp_w;
        p.held = held_out(row.call);
        const auto at = std::lower_bound(machines.begin(), machines.end(), row.gpu);
        p.machine = static_cast<std::size_t>(at - machines.begin());
        if (knots > 0) {
            const std::vector<double> hats = model::shape_weights(p.parts, kind);
            for (std::size_t i = 0; i < hats.size(); ++i) {
                if (hats[i] != 0.0) {
                    p.hats.emplace_back(static_cast<int>(i), hats[i]);
                }
            }
        }
        p.hats.emplace_back(static_cast<int>(knots + p.machine), 1.0);
        return p;
    }

    // Of each machine: the median of the rows without a graph whose kernels are the shorter half.
    static std::vector<double> hosts_of(const std::vector<const FitPoint*>& points,
                                        std::size_t machines) {
        std::vector<std::vector<std::pair<double, double>>> rows(machines); // kernel's part, time
        for (const FitPoint* p : points) {
            if (p->eager) {
                const std::vector<double>& parts = p->parts.joined;
                rows[p->machine].emplace_back(*std::max_element(parts.begin(), parts.end()),
                                              p->time_s);
            }
        }
        std::vector<double> hosts;
        for (auto& of_machine : rows) {
            std::sort(of_machine.begin(), of_machine.end());
            std::vector<double> shorter;
            for (std::size_t i = 0; 2 * i < of_machine.size(); ++i) {
                shorter.push_back(of_machine[i].second);
            }
            hosts.push_back(median(shorter));
        }
        return hosts;
    }
    static void set_hosts(const std::vector<double>& hosts, std::vector<FitPoint>& points) {
        for (FitPoint& p : points) {
            p.host_s = p.eager ? hosts[p.machine] : 0.0;
        }
    }
    static std::vector<double> watts_of(const std::vector<const FitPoint*>& points) {
        std::vector<PowerPoint> measured;
        for (const FitPoint* p : points) {
            if (p->power_share > 0.0 && std::isfinite(p->power_share)) {
                measured.push_back({&p->parts, p->time_s, p->power_share});
            }
        }
        return measured.size() < kFewestOfPower ? std::vector<double>{} : fit_power(measured);
    }

    static std::vector<const FitPoint*> thinned(const std::vector<const FitPoint*>& points) {
        std::vector<const FitPoint*> some;
        const std::size_t most = std::min(points.size(), kMostRows);
        for (std::size_t i = 0; i < most; ++i) {
            some.push_back(points[i * points.size() / most]);
        }
        return some;
    }

    static void set_errors(const CellFit& half, const std::vector<const FitPoint*>& held,
                           const std::vector<std::string>& machines, LibraryCell& cell) {
        std::vector<double> errors;
        std::vector<double> logs;
        std::vector<std::vector<double>> of_machine(machines.size());
        for (const FitPoint* p : held) {
            const double off = p->log_s - half.log_seconds(*p);
            logs.push_back(off);
            of_machine[p->machine].push_back(off);
            errors.push_back(std::fabs(std::exp(-off) - 1.0));
            cell.mape += errors.back() / static_cast<double>(held.size());
        }
        cell.median = median(errors);
        std::tie(cell.low, cell.high) = kernel_band(logs);
        for (std::size_t m = 0; m < machines.size(); ++m) {
            const bool enough = of_machine[m].size() >= kFewestOfMachine;
            const auto [low, high] =
                enough ? kernel_band(of_machine[m]) : std::pair(cell.low, cell.high);
            cell.machines[machines[m]] = {0.0, low, high};
        }
    }

    static constexpr const char* kOther = model::kOtherFamily;
    const KernelTable& table_;
    const KernelFitOptions& options_;
    std::map<std::string, std::optional<model::Gpu>> gpus_;
};

} // namespace

bool held_out(const model::LibraryCall& call) {
    return (shape_hash(call, false) & 1U) != 0;
}

KernelFit fit_kernels(const KernelTable& table, const MachineSource& machines,
                      const KernelFitOptions& options, const std::stop_token& stop) {
    return KernelFitter(table, machines, options).run(stop);
}

} // namespace eyeroof::analysis
