#include "analysis/calibrate/run_bands.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace eyeroof::analysis {

namespace {

constexpr double kBandHolds = 0.80;    // share of rows that an interval holds
constexpr double kNormalEighty = 1.28; // of a normal distribution
constexpr int kBandStepsPerUnit = 50;  // of k
constexpr int kMostBandSteps = 200;

using RatioRows = std::vector<const RunRatio*>;

struct RatioSpread {
    double center = 0.0, deviation = 0.0; // of logarithms
    std::size_t groups = 0;

    std::pair<double, double> interval(double k) const {
        return {std::exp(center - k * deviation), std::exp(center + k * deviation)};
    }
};

RatioSpread spread_of(const RatioRows& rows) {
    std::map<std::string, std::vector<double>> groups;
    for (const RunRatio* row : rows) {
        groups[row->group].push_back(std::log(row->ratio));
    }
    RatioSpread spread;
    spread.groups = groups.size();
    const auto n = static_cast<double>(groups.size());
    std::vector<double> means;
    double within = 0.0;
    for (const auto& [name, logs] : groups) {
        const auto m = static_cast<double>(logs.size());
        double mean = 0.0;
        for (const double x : logs) {
            mean += x / m;
        }
        for (const double x : logs) {
            within += (x - mean) * (x - mean) / (m * n);
        }
        means.push_back(mean);
        spread.center += mean / n;
    }
    double between = 0.0;
    for (const double mean : means) {
        between += (mean - spread.center) * (mean - spread.center) / std::max(n - 1.0, 1.0);
    }
    spread.deviation = std::sqrt((1.0 + 1.0 / n) * between + within);
    return spread;
}

double share_inside(const RatioRows& rows, std::pair<double, double> interval) {
    double inside = 0.0;
    for (const RunRatio* row : rows) {
        inside += row->ratio >= interval.first && row->ratio <= interval.second ? 1.0 : 0.0;
    }
    return rows.empty() ? 0.0 : inside / static_cast<double>(rows.size());
}

// One value left out: its rows, and the spread of all others.
struct RatioFold {
    RatioRows rows;
    RatioSpread others;
};

std::vector<RatioFold> folds_of(const std::vector<RunRatio>& rows, const std::string& key) {
    std::set<std::string> values;
    for (const RunRatio& row : rows) {
        values.insert(row.left_out.at(key));
    }
    std::vector<RatioFold> folds;
    for (const std::string& value : values) {
        RatioFold fold;
        RatioRows others;
        for (const RunRatio& row : rows) {
            (row.left_out.at(key) == value ? fold.rows : others).push_back(&row);
        }
        fold.others = spread_of(others);
        if (fold.others.groups >= 2) {
            folds.push_back(std::move(fold));
        }
    }
    return values.size() < 2 ? std::vector<RatioFold>{} : folds;
}

double held_share(const std::vector<RatioFold>& folds, double k) {
    double inside = 0.0;
    double all = 0.0;
    for (const RatioFold& fold : folds) {
        const auto n = static_cast<double>(fold.rows.size());
        inside += n * share_inside(fold.rows, fold.others.interval(k));
        all += n;
    }
    return inside / all;
}

} // namespace

RunBand fit_band(const std::string& kind, const std::vector<RunRatio>& rows) {
    RunBand band;
    band.kind = kind;
    band.rows = static_cast<int>(rows.size());
    if (rows.empty()) {
        return band;
    }
    std::map<std::string, std::vector<RatioFold>> ways;
    for (const auto& [key, value] : rows.front().left_out) {
        if (auto folds = folds_of(rows, key); !folds.empty()) {
            ways[key] = std::move(folds);
        }
    }
    double k = kNormalEighty;
    for (int step = 1; step <= kMostBandSteps && !ways.empty(); ++step) {
        k = static_cast<double>(step) / kBandStepsPerUnit;
        double mean = 0.0;
        for (const auto& [key, folds] : ways) {
            mean += held_share(folds, k) / static_cast<double>(ways.size());
        }
        if (mean >= kBandHolds) {
            break;
        }
    }
    RatioRows all;
    double shipped = 0.0;
    for (const RunRatio& row : rows) {
        all.push_back(&row);
        shipped += row.ratio >= row.low && row.ratio <= row.high ? 1.0 : 0.0;
    }
    const auto interval = spread_of(all).interval(k);
    band.low = interval.first;
    band.high = interval.second;
    band.inside = share_inside(all, interval);
    band.shipped = shipped / static_cast<double>(rows.size());
    for (const auto& [key, folds] : ways) {
        band.held_out[key] = held_share(folds, k);
    }
    return band;
}

} // namespace eyeroof::analysis
