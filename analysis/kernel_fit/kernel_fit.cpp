#include "analysis/kernel_fit/kernel_fit.hpp"

#include "analysis/kernel_fit/cell_fit.hpp"
#include "analysis/kernel_fit/kernel_widths.hpp"
#include "analysis/kernel_fit/power_fit.hpp"
#include "base/parallel.hpp"
#include "base/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <set>
#include <tuple>

namespace eyeroof::analysis {

using model::CallSize;
using model::LibraryCell;
using model::LibraryKind;

namespace {

constexpr std::size_t kFewestRows = 30, kFewestOfHalf = 8, kFewestOfMachine = 20;
constexpr std::size_t kFewestOfPower = 100;
constexpr std::size_t kFolds = 3;      // of shapes, each predicted by a fit of the others
constexpr double kFarEnough = 0.5;     // axes, of rows that tell how much larger sizes err
constexpr int kFoldBits = 24;          // held_out takes the lowest bit
constexpr std::size_t kMostRows = 800; // of a kernel that the fit looks at
constexpr double kOlder = 0.5;         // weight of rows of an older version beside the newest's

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

struct FittedCell {
    LibraryCell cell;
    std::vector<LeftOut> left;
};

struct KernelGroup {
    std::string family, key;
    bool shaped = true;
    std::vector<std::uint32_t> rows;
};

// Of each machine: the median of the rows without a graph whose kernels are the shorter half.
std::vector<double> hosts_of(const std::vector<const FitPoint*>& points, std::size_t machines) {
    std::vector<std::vector<std::pair<double, double>>> rows(machines); // kernel's part, time
    for (const FitPoint* p : points) {
        if (p->eager) {
            const std::vector<double>& parts = p->parts.joined;
            rows[p->machine].emplace_back(*std::max_element(parts.begin(), parts.end()), p->time_s);
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
void set_hosts(const std::vector<double>& hosts, std::vector<FitPoint>& points) {
    for (FitPoint& p : points) {
        p.host_s = p.eager ? hosts[p.machine] : 0.0;
    }
}
std::vector<double> watts_of(const std::vector<const FitPoint*>& points) {
    std::vector<PowerPoint> measured;
    for (const FitPoint* p : points) {
        if (p->power_share > 0.0 && std::isfinite(p->power_share)) {
            measured.push_back({&p->parts, p->time_s, p->power_share});
        }
    }
    return measured.size() < kFewestOfPower ? std::vector<double>{} : fit_power(measured);
}

std::vector<const FitPoint*> thinned(const std::vector<const FitPoint*>& points) {
    std::vector<const FitPoint*> some;
    const std::size_t most = std::min(points.size(), kMostRows);
    for (std::size_t i = 0; i < most; ++i) {
        some.push_back(points[i * points.size() / most]);
    }
    return some;
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
        std::vector<FittedCell> cells(groups.size());
        in_parallel(thread_count(options_.threads), groups.size(), [&](std::size_t i) {
            if (!stop.stop_requested()) {
                cells[i] = fitted(groups[i]);
            }
        });
        std::vector<LeftOut> left, families;
        for (std::size_t i = 0; i < groups.size(); ++i) {
            if (!cells[i].cell.added.empty()) {
                model::LibraryCells& family = fit.families[groups[i].family];
                family.source = options_.source;
                family.cells[groups[i].key] = std::move(cells[i].cell);
                std::vector<LeftOut>& all = groups[i].family == kOther ? families : left;
                std::move(cells[i].left.begin(), cells[i].left.end(), std::back_inserter(all));
            }
        }
        const Distances distances = distances_of(left);
        for (auto& [name, family] : fit.families) {
            family.distances =
                name == kOther ? distances_of_families(families, distances) : distances;
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

    // A cell's rows as its fits see them.
    struct CellRows {
        std::vector<const KernelRow*> rows;
        LibraryKind kind = LibraryKind::product;
        std::size_t knots = 0, offsets = 0;
        std::vector<std::string> machines;
        std::vector<std::pair<std::vector<int>, std::string>> versions; // ascending
        std::vector<FitPoint> points;
    };

    CellRows rows_of(const KernelGroup& group) const {
        CellRows cell;
        for (const std::uint32_t i : picked(group)) {
            const KernelRow& row = table_.rows[i];
            cell.rows.push_back(&row);
            cell.machines.push_back(row.gpu);
            cell.versions.emplace_back(version_numbers(row.call.version), row.call.version);
        }
        const model::LibraryCall& first = cell.rows.front()->call;
        cell.kind = *model::library_kind(first.op, first.network);
        for (const model::CallAxis& axis : model::call_axes(cell.kind)) {
            cell.knots += group.shaped ? axis.knots.size() : 0;
        }
        const auto sort = [](auto& values) {
            std::sort(values.begin(), values.end());
            values.erase(std::unique(values.begin(), values.end()), values.end());
        };
        sort(cell.machines);
        sort(cell.versions);
        cell.offsets = cell.machines.size() > 1 ? cell.machines.size() : 0;
        for (const KernelRow* row : cell.rows) {
            cell.points.push_back(point(*row, cell.kind, cell.knots, cell.machines));
            const bool newest = row->call.version == cell.versions.back().second;
            cell.points.back().weight = newest ? 1.0 : kOlder;
        }
        return cell;
    }

    // Of the points that `out` does not name, from where `fit` ended.
    static CellFit fit_without(CellRows& cell, const std::vector<char>& out, CellFit fit) {
        std::vector<const FitPoint*> seen;
        for (std::size_t i = 0; i < cell.points.size(); ++i) {
            if (out[i] == 0) {
                seen.push_back(&cell.points[i]);
            }
        }
        set_hosts(hosts_of(seen, cell.machines.size()), cell.points);
        fit.run(thinned(seen));
        return fit;
    }

    FittedCell fitted(const KernelGroup& group) const {
        CellRows rows = rows_of(group);
        FittedCell fitted;
        LibraryCell& cell = fitted.cell;
        const CellFit whole =
            fit_without(rows, std::vector<char>(rows.points.size(), 0),
                        {rows.kind, rows.knots, rows.offsets, rows.points.front().parts});
        cell = whole.cell();
        std::vector<const FitPoint*> all;
        for (const FitPoint& p : rows.points) {
            all.push_back(&p);
        }
        const std::vector<double> hosts = hosts_of(all, rows.machines.size());
        const CellErrors errors = errors_of_shapes(rows, whole);
        set_errors(errors, rows, cell);
        for (std::size_t m = 0; m < rows.machines.size(); ++m) {
            cell.machines[rows.machines[m]].host_s = hosts[m];
            cell.machines[rows.machines[m]].offset = rows.offsets > 0 ? whole.offset(m) : 0.0;
        }
        if (group.key.ends_with('|') && group.family != kOther) {
            cell.watts = watts_of(all);
        }
        cell.rows = static_cast<int>(group.rows.size());
        for (const auto& [numbers, version] : rows.versions) {
            cell.versions += (cell.versions.empty() ? "" : ", ") + version;
        }
        add_left_out(group, rows, whole, errors, fitted);
        return fitted;
    }

    // ln(measured / predicted) of each row by a fit of other shapes, and its machine's offset there
    // beside the mean of the others, and how far apart those lie.
    struct CellErrors {
        std::vector<double> off, beside, spread;
    };

    CellErrors errors_of_shapes(CellRows& rows, const CellFit& whole) const {
        std::vector<std::size_t> fold;
        for (const bool tokens : {false, true}) { // few networks: their numbers of tokens differ
            std::array<std::size_t, kFolds> count{};
            fold.clear();
            for (const KernelRow* row : rows.rows) {
                fold.push_back((shape_hash(row->call, tokens) >> kFoldBits) % kFolds);
                ++count[fold.back()];
            }
            if (*std::min_element(count.begin(), count.end()) >= kFewestOfHalf) {
                break;
            }
        }
        CellErrors errors;
        errors.off.assign(rows.points.size(), 0.0);
        errors.beside = errors.spread = errors.off;
        for (std::size_t f = 0; f < kFolds; ++f) {
            std::vector<char> out;
            for (const std::size_t own : fold) {
                out.push_back(own == f ? 1 : 0);
            }
            const auto most = static_cast<std::size_t>(std::count(out.begin(), out.end(), 1));
            if (most == 0) {
                continue;
            }
            if (rows.points.size() - most < kFewestOfHalf) {
                out.assign(out.size(), 0);
            }
            const CellFit fit = fit_without(rows, out, whole);
            for (std::size_t i = 0; i < fold.size(); ++i) {
                if (fold[i] == f) {
                    const FitPoint& p = rows.points[i];
                    errors.off[i] = p.log_s - fit.log_seconds(p);
                    std::tie(errors.beside[i], errors.spread[i]) = beside_others(rows, fit, p);
                }
            }
        }
        return errors;
    }

    static std::pair<double, double> beside_others(const CellRows& rows, const CellFit& fit,
                                                   const FitPoint& p) {
        if (rows.offsets < 2) {
            return {0.0, 0.0};
        }
        double sum = 0.0, least = 1e9, most = -1e9;
        for (std::size_t m = 0; m < rows.offsets; ++m) {
            if (m != p.machine) {
                sum += fit.offset(m);
                least = std::min(least, fit.offset(m));
                most = std::max(most, fit.offset(m));
            }
        }
        const double mean = sum / static_cast<double>(rows.offsets - 1);
        return {fit.offset(p.machine) - mean, most - least};
    }

    static void set_errors(const CellErrors& found, const CellRows& rows, LibraryCell& cell) {
        std::vector<double> errors;
        std::vector<std::vector<double>> of_machine(rows.machines.size());
        for (std::size_t i = 0; i < rows.points.size(); ++i) {
            of_machine[rows.points[i].machine].push_back(found.off[i]);
            errors.push_back(std::fabs(std::exp(-found.off[i]) - 1.0));
            cell.mape += errors.back() / static_cast<double>(rows.points.size());
        }
        cell.median = median(errors);
        std::tie(cell.low, cell.high) = kernel_band(found.off);
        for (std::size_t m = 0; m < rows.machines.size(); ++m) {
            const bool enough = of_machine[m].size() >= kFewestOfMachine;
            const auto [low, high] =
                enough ? kernel_band(of_machine[m]) : std::pair(cell.low, cell.high);
            cell.machines[rows.machines[m]] = {0.0, low, high};
        }
    }

    // What fits without a machine, the newest version, a library, a family of machines, or the
    // largest sizes predict. A machine is left out by its offset alone: the other constants are
    // those of all.
    void add_left_out(const KernelGroup& group, CellRows& rows, const CellFit& whole,
                      const CellErrors& errors, FittedCell& fitted) const {
        if (group.family == kOther) {
            std::set<std::string> families;
            for (const KernelRow* row : rows.rows) {
                families.insert(model::kernel_family(*gpus_.at(row->gpu)));
            }
            for (const std::string& family : families) {
                add_trial(rows, whole, LeftOut::Why::machine, fitted, [&](std::size_t i) {
                    return model::kernel_family(*gpus_.at(rows.rows[i]->gpu)) == family;
                });
            }
            return;
        }
        const bool any_library = group.key.ends_with("||");
        if (any_library) {
            std::set<std::string> libraries;
            for (const KernelRow* row : rows.rows) {
                libraries.insert(row->call.library);
            }
            for (const std::string& library : libraries) {
                add_trial(rows, whole, LeftOut::Why::library, fitted,
                          [&](std::size_t i) { return rows.rows[i]->call.library == library; });
            }
            return;
        }
        for (std::size_t m = 0; m < rows.offsets; ++m) {
            LeftOut left{rows.kind, LeftOut::Why::machine, fitted.cell.low, fitted.cell.high, {}};
            for (std::size_t i = 0; i < rows.points.size(); ++i) {
                if (rows.points[i].machine == m && !rows.points[i].eager) {
                    left.rows.push_back({errors.off[i] + errors.beside[i], 1.0, errors.spread[i]});
                }
            }
            if (left.rows.size() >= kFewestOfMachine) {
                fitted.left.push_back(std::move(left));
            }
        }
        if (rows.versions.size() > 1) {
            add_trial(rows, whole, LeftOut::Why::version, fitted, [&](std::size_t i) {
                return rows.rows[i]->call.version == rows.versions.back().second;
            });
        }
        std::vector<double> works;
        for (const FitPoint& p : rows.points) {
            works.push_back(*std::max_element(p.parts.joined.begin(), p.parts.joined.end()));
        }
        std::vector<double> sorted = works;
        std::sort(sorted.begin(), sorted.end());
        const double large = sorted[sorted.size() * 9 / 10];
        add_trial(rows, whole, LeftOut::Why::size, fitted,
                  [&](std::size_t i) { return works[i] >= large; });
    }

    template <class Out>
    static void add_trial(CellRows& rows, const CellFit& whole, LeftOut::Why why,
                          FittedCell& fitted, Out is_out) {
        std::vector<char> out;
        std::vector<char> known(rows.machines.size(), 0); // machines that the fit sees
        for (std::size_t i = 0; i < rows.points.size(); ++i) {
            out.push_back(is_out(i) ? 1 : 0);
            if (out.back() == 0) {
                known[rows.points[i].machine] = 1;
            }
        }
        const auto count = static_cast<std::size_t>(std::count(out.begin(), out.end(), 1));
        if (count < kFewestOfMachine || out.size() - count < kFewestRows) {
            return;
        }
        const CellFit fit = fit_without(rows, out, whole);
        double mean = 0.0, least = 1e9, most = -1e9;
        int machines = 0;
        for (std::size_t m = 0; m < rows.machines.size(); ++m) {
            if (known[m] != 0) {
                mean += fit.offset(m);
                least = std::min(least, fit.offset(m));
                most = std::max(most, fit.offset(m));
                ++machines;
            }
        }
        mean /= machines;
        LeftOut left{rows.kind, why, fitted.cell.low, fitted.cell.high, {}};
        for (std::size_t i = 0; i < out.size(); ++i) {
            const FitPoint& p = rows.points[i];
            const bool own = known[p.machine] != 0;
            const double far = why == LeftOut::Why::size ? fit.far_axes(p) : 1.0;
            if (out[i] == 0 || p.eager || far < kFarEnough ||
                (why != LeftOut::Why::machine && !own)) {
                continue;
            }
            const double by = own ? 0.0 : fit.offset(p.machine) - mean;
            left.rows.push_back({p.log_s - fit.log_seconds(p) + by, far, own ? 0.0 : most - least});
        }
        if (left.rows.size() >= kFewestOfHalf) {
            fitted.left.push_back(std::move(left));
        }
    }

    FitPoint point(const KernelRow& row, LibraryKind kind, std::size_t knots,
                   const std::vector<std::string>& machines) const {
        FitPoint p;
        p.parts = model::parts_of(*gpus_.at(row.gpu), row.call, kind);
        p.log_s = std::log(row.measured_s);
        p.time_s = row.measured_s;
        p.eager = row.call.eager;
        p.power_share = row.power_w / gpus_.at(row.gpu)->tdp_w;
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
