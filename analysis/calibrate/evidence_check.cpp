#include "analysis/calibrate/evidence_check.hpp"

#include "analysis/upgrade/verdict.hpp"
#include "base/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

namespace eyeroof::analysis {

namespace {

constexpr double kEvidenceAlone = 3.0;
constexpr double kPercents = 100.0;

struct Predicted {
    double ln = 0.0, sigma = 0.0;
    int families = 0;
};

using Group = std::function<bool(const EvidenceRow&, const std::string&)>;

struct HeldOut {
    std::string name;
    std::set<std::string> values;
    Group is_in;
};

std::vector<HeldOut> ways_to_hold_out(const std::vector<EvidenceRow>& rows) {
    HeldOut family{"family", {}, [](const EvidenceRow& r, const std::string& value) {
                       return r.key.family == value;
                   }};
    HeldOut source{"source", {}, [](const EvidenceRow& r, const std::string& value) {
                       return r.source == value;
                   }};
    HeldOut gpu{"GPU", {}, [](const EvidenceRow& r, const std::string& value) {
                    return r.key.from == value || r.key.to == value;
                }};
    for (const EvidenceRow& row : rows) {
        family.values.insert(row.key.family);
        source.values.insert(row.source);
        gpu.values.insert({row.key.from, row.key.to});
    }
    return {family, source, gpu};
}

double model_sigma(const EvidenceRow& row, const model::Transfer& transfer) {
    return transfer.kind(row.key.phase + " " + row.key.precision).spread;
}

Predicted by_evidence(const Evidence& evidence, const EvidenceRow& row, double ln, double sigma,
                      int families) {
    const EvidenceShift shift = evidence.shift(row.key);
    return {ln + shift.ln,
            std::sqrt(std::max(sigma * sigma - shift.explained, kEvidenceNoise * kEvidenceNoise)),
            families};
}

// Each row once, also where both of its GPUs are held out in turn: the mean of the two.
std::vector<Predicted> predictions(const std::vector<EvidenceRow>& rows,
                                   const model::Transfer& transfer, const HeldOut& out,
                                   const std::string& way) {
    std::vector<Predicted> all(rows.size());
    std::vector<int> times(rows.size(), 0);
    for (const std::string& value : out.values) {
        std::vector<EvidenceRow> kept;
        for (const EvidenceRow& row : rows) {
            if (!out.is_in(row, value)) {
                kept.push_back(row);
                kept.back().predicted = way == "evidence" ? 1.0 : row.predicted;
            }
        }
        const Evidence evidence(std::move(kept), transfer.share,
                                way == "evidence" ? kEvidenceAlone : 1.0);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (!out.is_in(rows[i], value)) {
                continue;
            }
            const model::TransferKind kind =
                transfer.kind(rows[i].key.phase + " " + rows[i].key.precision);
            const double ln = transfer.share * std::log(rows[i].predicted);
            const double sigma = model_sigma(rows[i], transfer);
            const Predicted one =
                way == "model" ? Predicted{ln, sigma, kind.families}
                : way == "both"
                    ? by_evidence(evidence, rows[i], ln, sigma, kind.families)
                    : by_evidence(evidence, rows[i], 0.0, kEvidenceAlone * sigma, kind.families);
            all[i].ln += one.ln;
            all[i].sigma += one.sigma;
            all[i].families = one.families;
            ++times[i];
        }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        all[i].ln /= times[i];
        all[i].sigma /= times[i];
    }
    return all;
}

std::vector<double> weights_of(const std::vector<EvidenceRow>& rows) {
    std::map<std::string, double> counts;
    const auto group = [](const EvidenceRow& r) {
        return r.key.family + "|" + r.key.phase + "|" + r.key.precision;
    };
    for (const EvidenceRow& row : rows) {
        counts[group(row)] += 1.0;
    }
    std::vector<double> weights;
    for (const EvidenceRow& row : rows) {
        weights.push_back(1.0 / (counts[group(row)] * static_cast<double>(counts.size())));
    }
    return weights;
}

EvidenceFigures figures_of(const std::vector<EvidenceRow>& rows,
                           const std::vector<Predicted>& predicted) {
    EvidenceFigures f;
    const std::vector<double> weights = weights_of(rows);
    std::vector<double> errors;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Predicted& p = predicted[i];
        const double truth = std::log(rows[i].speedup);
        errors.push_back(std::fabs(std::exp(p.ln - truth) - 1.0));
        f.mape += weights[i] * errors.back();
        f.inside += std::fabs(truth - p.ln) < p.sigma * student_90(p.families) ? weights[i] : 0.0;
        for (std::size_t t = 0; t < kPriceRatios.size(); ++t) {
            const double distance = p.ln - std::log(kPriceRatios[t]);
            const bool right = (distance > 0.0) == (truth > std::log(kPriceRatios[t]));
            const bool called = chance_of_wrong(distance, p.sigma, p.families) <= kStatedWrong;
            f.right[t] += right ? weights[i] : 0.0;
            f.called[t] += called ? weights[i] : 0.0;
            f.called_right[t] += called && right ? weights[i] : 0.0;
        }
    }
    for (std::size_t t = 0; t < kPriceRatios.size(); ++t) {
        f.called_right[t] = f.called[t] > 0.0 ? f.called_right[t] / f.called[t] : 0.0;
    }
    f.median = median(errors, 0.0);
    return f;
}

std::vector<ReliabilityBin> reliability_of(const std::vector<EvidenceRow>& rows,
                                           const std::vector<Predicted>& predicted) {
    std::vector<ReliabilityBin> bins = {{0.5, 0.6}, {0.6, 0.7}, {0.7, 0.8}, {0.8, 0.9}, {0.9, 1.0}};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (const double ratio : kPriceRatios) {
            const double distance = predicted[i].ln - std::log(ratio);
            const double stated =
                1.0 - chance_of_wrong(distance, predicted[i].sigma, predicted[i].families);
            const bool right = (distance > 0.0) == (rows[i].speedup > ratio);
            for (ReliabilityBin& bin : bins) {
                if (stated >= bin.low && (stated < bin.high || bin.high == 1.0)) {
                    ++bin.verdicts;
                    bin.stated += stated;
                    bin.right += right ? 1.0 : 0.0;
                    break;
                }
            }
        }
    }
    for (ReliabilityBin& bin : bins) {
        bin.stated /= std::max(1, bin.verdicts);
        bin.right /= std::max(1, bin.verdicts);
    }
    return bins;
}

std::array<DecisionLimit, 3> limits_of(const std::vector<EvidenceRow>& rows,
                                       const std::vector<Predicted>& predicted) {
    const std::vector<double> weights = weights_of(rows);
    std::array<DecisionLimit, 3> limits;
    for (std::size_t t = 0; t < kPriceRatios.size(); ++t) {
        DecisionLimit& limit = limits[t];
        double far = 0.0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const double ratio = std::log(kPriceRatios[t]);
            const double truth = std::log(rows[i].speedup) - ratio;
            const Predicted& p = predicted[i];
            limit.unbiased +=
                weights[i] * 0.5 * std::erfc(-std::fabs(truth) / p.sigma / std::sqrt(2.0));
            if (std::fabs(truth) < std::log1p(kNearRatio)) {
                limit.near += weights[i];
                continue;
            }
            far += weights[i];
            limit.far_right += (p.ln > ratio) == (truth > 0.0) ? weights[i] : 0.0;
        }
        limit.far_right = far > 0.0 ? limit.far_right / far : 0.0;
    }
    return limits;
}

std::string limits_text(const EvidenceCheck& check) {
    std::string text = "\ndecisions by both, family held out, %";
    for (const double ratio : kPriceRatios) {
        text += fmt::format("  {:>7}", fmt::format("at {:.2f}", ratio));
    }
    text += "\n";
    const auto row = [&](const std::string& name, double DecisionLimit::*figure) {
        text += fmt::format("{:<37}", name);
        for (const DecisionLimit& limit : check.limits) {
            text += fmt::format("  {:>7.0f}", kPercents * (limit.*figure));
        }
        text += "\n";
    };
    row(fmt::format("published within {:.0f} % of the ratio", kPercents * kNearRatio),
        &DecisionLimit::near);
    row("right where it is further away", &DecisionLimit::far_right);
    row("right for unbiased errors of this size", &DecisionLimit::unbiased);
    return text;
}

} // namespace

EvidenceCheck check_evidence(const std::vector<EvidenceRow>& all, const model::Transfer& transfer) {
    std::vector<EvidenceRow> rows;
    std::copy_if(all.begin(), all.end(), std::back_inserter(rows),
                 [](const EvidenceRow& row) { return row.predicted > 0.0; });
    EvidenceCheck check;
    check.rows = static_cast<int>(rows.size());
    for (const HeldOut& out : ways_to_hold_out(rows)) {
        (out.name == "family"   ? check.families
         : out.name == "source" ? check.sources
                                : check.gpus) = static_cast<int>(out.values.size());
        for (const char* way : {"model", "evidence", "both"}) {
            const std::vector<Predicted> predicted = predictions(rows, transfer, out, way);
            EvidenceFigures figures = figures_of(rows, predicted);
            figures.held_out = out.name;
            figures.way = way;
            check.figures.push_back(std::move(figures));
            if (out.name == "family" && std::string(way) == "both") {
                check.limits = limits_of(rows, predicted);
            }
            if (out.name == "source" && std::string(way) == "both") {
                check.reliability = reliability_of(rows, predicted);
            }
        }
    }
    return check;
}

std::string evidence_text(const EvidenceCheck& check) {
    std::string text =
        fmt::format("{} published speedups of {} families, {} sources, {} GPUs; errors in %, each "
                    "family, phase and precision counted once\n{:<9} {:<9} {:>6} {:>7} {:>7}",
                    check.rows, check.families, check.sources, check.gpus, "held out", "by",
                    "error", "median", "inside");
    for (const double ratio : kPriceRatios) {
        text += fmt::format("  {:<21}", fmt::format("at {:.2f}: right, called", ratio));
    }
    text += "\n";
    for (const EvidenceFigures& f : check.figures) {
        text += fmt::format("{:<9} {:<9} {:>6.1f} {:>7.1f} {:>7.0f}", f.held_out, f.way,
                            kPercents * f.mape, kPercents * f.median, kPercents * f.inside);
        for (std::size_t t = 0; t < kPriceRatios.size(); ++t) {
            text += fmt::format("  {:>5.0f} {:>6.0f} ({:>3.0f}) {:>3}", kPercents * f.right[t],
                                kPercents * f.called[t], kPercents * f.called_right[t], "");
        }
        text += "\n";
    }
    text += "called: % of rows with a verdict (% of these that are right)\n" + limits_text(check) +
            "\nreliability of both, source held out\n   stated  verdicts  mean stated  right\n";
    for (const ReliabilityBin& bin : check.reliability) {
        text += fmt::format("{:>3.0f}-{:<3.0f} % {:>9} {:>11.0f} % {:>4.0f} %\n",
                            kPercents * bin.low, kPercents * bin.high, bin.verdicts,
                            kPercents * bin.stated, kPercents * bin.right);
    }
    return text;
}

} // namespace eyeroof::analysis
