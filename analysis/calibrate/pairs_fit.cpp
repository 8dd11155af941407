// What whole networks showed of predicted speed-ups: the transfer, and errors without a family.
#include "analysis/calibrate/pairs.hpp"
#include "analysis/upgrade/verdict.hpp"
#include "base/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace eyeroof::analysis {

namespace {

constexpr double kLeastShare = 0.5, kMostShare = 1.2, kShareStep = 0.01;
constexpr double kPriorFamilies = 4.0; // that all kinds together count in one of them
constexpr double kLeastSpread = 0.05;
// Six families know a share badly, and one more or less moves it: it is drawn to 1, as if kernels
// and hosts were all, at this much ln error for the square of the distance; see
// docs/dev/upgrade-evidence.md.
constexpr double kSharePull = 1.0;

double ln_measured(const PairResult& row) {
    return std::log(row.pair.speedup);
}

double residual(const PairResult& row, double share) {
    return share * std::log(row.kernel_speedup) - ln_measured(row);
}

using Rows = std::vector<const PairResult*>;

std::map<std::string, Rows> by_group(const Rows& rows) {
    std::map<std::string, Rows> groups;
    for (const PairResult* row : rows) {
        groups[row->kind + "|" + row->pair.family + "|" + row->pair.match].push_back(row);
    }
    return groups;
}

// Mean over the groups of the mean of f over their rows.
template <class F> double mean_of_groups(const std::map<std::string, Rows>& groups, F f) {
    double sum = 0.0;
    for (const auto& [name, rows] : groups) {
        double own = 0.0;
        for (const PairResult* row : rows) {
            own += f(*row) / static_cast<double>(rows.size());
        }
        sum += own;
    }
    return groups.empty() ? 0.0 : sum / static_cast<double>(groups.size());
}

int families_of(const Rows& rows) {
    std::set<std::string> names;
    for (const PairResult* row : rows) {
        names.insert(row->pair.family);
    }
    return static_cast<int>(names.size());
}

double best_share(const std::map<std::string, Rows>& groups) {
    double best = 1.0;
    double least = INFINITY;
    for (double share = kLeastShare; share <= kMostShare + kShareStep / 2; share += kShareStep) {
        const double cost =
            mean_of_groups(groups,
                           [&](const PairResult& row) { return std::fabs(residual(row, share)); }) +
            kSharePull * (1.0 - share) * (1.0 - share);
        if (cost < least) {
            least = cost;
            best = share;
        }
    }
    return best;
}

} // namespace

model::Transfer fit_transfer(const std::vector<PairResult>& rows, const std::string& without) {
    Rows kept;
    for (const PairResult& row : rows) {
        if (without.empty() || row.pair.family != without) {
            kept.push_back(&row);
        }
    }
    model::Transfer transfer;
    if (kept.empty()) {
        return transfer;
    }
    const auto groups = by_group(kept);
    transfer.share = best_share(groups);
    const auto squared = [&](const PairResult& row) {
        return std::pow(residual(row, transfer.share), 2.0);
    };
    transfer.operators = transfer.share * std::sqrt(mean_of_groups(groups, [](const PairResult& r) {
                             return r.operator_sigma * r.operator_sigma;
                         }));
    const double all = mean_of_groups(groups, squared);
    std::map<std::string, Rows> kinds;
    for (const PairResult* row : kept) {
        kinds[row->kind].push_back(row);
    }
    for (const auto& [name, own] : kinds) {
        model::TransferKind& kind = transfer.kinds[name];
        kind.families = families_of(own);
        kind.rows = static_cast<int>(own.size());
        const double n = kind.families;
        const double variance =
            (n * mean_of_groups(by_group(own), squared) + kPriorFamilies * all) /
            (n + kPriorFamilies);
        kind.spread = std::max(kLeastSpread, std::sqrt(variance));
    }
    return transfer;
}

namespace {

void judge_row(const model::Transfer& transfer, PairResult& row) {
    const model::TransferKind kind = transfer.kind(row.kind);
    row.sigma = transferred_sigma(transfer, kind, row.operator_sigma);
    row.families = kind.families;
    row.predicted.value = std::pow(row.kernel_speedup, transfer.share);
    const double spread = std::exp(row.sigma * student_90(row.families));
    row.predicted.low = row.predicted.value / spread;
    row.predicted.high = row.predicted.value * spread;
}

// By families of the same kind where there are others, else of all.
double guess_without(const std::vector<PairResult>& rows, const PairResult& row) {
    std::vector<double> same;
    std::vector<double> all;
    for (const PairResult& other : rows) {
        if (other.pair.family != row.pair.family) {
            all.push_back(other.pair.speedup);
            if (other.kind == row.kind) {
                same.push_back(other.pair.speedup);
            }
        }
    }
    return median(same.empty() ? all : same, 1.0);
}

std::vector<double> ranks(const std::vector<double>& values) {
    std::vector<double> result;
    for (const double v : values) {
        double rank = 0.5;
        for (const double other : values) {
            rank += other < v ? 1.0 : other == v ? 0.5 : 0.0;
        }
        result.push_back(rank);
    }
    return result;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
    const auto n = static_cast<double>(a.size());
    const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / n;
    const double mean_b = std::accumulate(b.begin(), b.end(), 0.0) / n;
    double ab = 0.0;
    double aa = 0.0;
    double bb = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        ab += (a[i] - mean_a) * (b[i] - mean_b);
        aa += (a[i] - mean_a) * (a[i] - mean_a);
        bb += (b[i] - mean_b) * (b[i] - mean_b);
    }
    return aa > 0.0 && bb > 0.0 ? ab / std::sqrt(aa * bb) : 0.0;
}

double rank_correlation(const Rows& rows) {
    std::vector<double> measured;
    std::vector<double> predicted;
    for (const PairResult* row : rows) {
        measured.push_back(row->pair.speedup);
        predicted.push_back(row->predicted.value);
    }
    return rows.size() < 3 ? 0.0 : correlation(ranks(predicted), ranks(measured));
}

// At one price ratio, of a row that counts `one`; called_right: of all rows, not yet of the called.
void add_decision(const PairResult& row, std::size_t i, double one, PairsFigures& f) {
    const double ratio = kPriceRatios[i];
    const bool pays = row.pair.speedup > ratio;
    const bool right = (row.predicted.value > ratio) == pays;
    const double wrong =
        chance_of_wrong(std::log(row.predicted.value / ratio), row.sigma, row.families);
    const double called = wrong <= kStatedWrong ? one : 0.0;
    f.right[i] += right ? one : 0.0;
    f.guess_right[i] += (row.guess > ratio) == pays ? one : 0.0;
    f.stated_wrong[i] += one * wrong;
    f.called[i] += called;
    f.called_right[i] += right ? called : 0.0;
}

PairsFigures figures_of(const Rows& rows, const std::string& kind, const std::string& match) {
    PairsFigures f;
    f.kind = kind;
    f.match = match;
    f.rows = static_cast<int>(rows.size());
    f.families = families_of(rows);
    const auto groups = by_group(rows);
    const auto error = [&](auto pick) {
        return mean_of_groups(groups, [&](const PairResult& row) {
            return std::fabs(pick(row) / row.pair.speedup - 1.0);
        });
    };
    f.mape = error([](const PairResult& r) { return r.predicted.value; });
    f.kernel_mape = error([](const PairResult& r) { return r.kernel_speedup; });
    f.guess_mape = error([](const PairResult& r) { return r.guess; });
    f.peak_mape = error([](const PairResult& r) { return r.peak_ratio; });
    f.bandwidth_mape = error([](const PairResult& r) { return r.bandwidth_ratio; });
    f.bias = std::exp(mean_of_groups(groups,
                                     [](const PairResult& r) {
                                         return std::log(r.predicted.value / r.pair.speedup);
                                     })) -
             1.0;
    f.order = rank_correlation(rows);
    for (const PairResult* row : rows) {
        const double one = 1.0 / static_cast<double>(rows.size());
        const double measured = row->pair.speedup;
        f.inside += measured >= row->predicted.low && measured <= row->predicted.high ? one : 0.0;
        for (std::size_t i = 0; i < kPriceRatios.size(); ++i) {
            add_decision(*row, i, one, f);
        }
    }
    for (std::size_t i = 0; i < kPriceRatios.size(); ++i) {
        f.called_right[i] = f.called[i] > 0.0 ? f.called_right[i] / f.called[i] : 0.0;
    }
    return f;
}

void keep_errors(const std::vector<PairResult>& rows, model::Transfer& transfer) {
    for (auto& [name, kind] : transfer.kinds) {
        Rows own;
        for (const PairResult& row : rows) {
            if (row.kind == name) {
                own.push_back(&row);
            }
        }
        const PairsFigures f = figures_of(own, name, "");
        kind.mape = f.mape;
        kind.sheet_mape = f.bandwidth_mape;
        kind.guess_mape = f.guess_mape;
    }
}

} // namespace

void judge_pairs(PairsValidation& result) {
    std::map<std::string, model::Transfer> without;
    for (const PairResult& row : result.rows) {
        if (!without.contains(row.pair.family)) {
            without[row.pair.family] = fit_transfer(result.rows, row.pair.family);
        }
    }
    std::map<std::pair<std::string, std::string>, Rows> groups;
    Rows all;
    for (PairResult& row : result.rows) {
        judge_row(without.at(row.pair.family), row);
        row.guess = guess_without(result.rows, row);
        groups[{row.kind, row.pair.match}].push_back(&row);
        all.push_back(&row);
    }
    result.groups.clear();
    for (const auto& [key, rows] : groups) {
        result.groups.push_back(figures_of(rows, key.first, key.second));
    }
    result.all = figures_of(all, "all", "");
    result.transfer = fit_transfer(result.rows);
    keep_errors(result.rows, result.transfer);
}

} // namespace eyeroof::analysis
