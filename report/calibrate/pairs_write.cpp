// Speed-ups of whole networks, predicted beside measured, as text, JSON and CSV.
#include "report/calibrate/pairs_write.hpp"

#include "analysis/calibrate/pairs.hpp"
#include "base/csv.hpp"
#include "base/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace eyeroof::report {

namespace {

using Json = nlohmann::ordered_json;
constexpr double kPercent = 100.0;

std::string figures_line(const analysis::PairsFigures& f) {
    return fmt::format("{:<16} {:<13} {:>5} {:>4} {:>7.1f} {:>7.1f} {:>7.1f} {:>7.1f} {:>7.1f} "
                       "{:>+6.1f} {:>6.0f} {:>6.2f}\n",
                       f.kind, f.match, f.rows, f.families, kPercent * f.mape,
                       kPercent * f.kernel_mape, kPercent * f.guess_mape,
                       kPercent * f.bandwidth_mape, kPercent * f.peak_mape, kPercent * f.bias,
                       kPercent * f.inside, f.order);
}

std::string decisions_line(const analysis::PairsFigures& f) {
    std::string text = fmt::format("{:<16} {:<13}", f.kind, f.match);
    for (std::size_t i = 0; i < analysis::kPriceRatios.size(); ++i) {
        text += fmt::format("   {:>3.0f} {:>3.0f} {:>3.0f} {:>3.0f}", kPercent * f.right[i],
                            kPercent * f.guess_right[i], kPercent * f.stated_wrong[i],
                            kPercent * (1.0 - f.right[i]));
    }
    return text + "\n";
}

// Of how many rows a verdict is given, and how many of those are right.
std::string called_line(const analysis::PairsFigures& f) {
    std::string text = fmt::format("{:<16} {:<13}", f.kind, f.match);
    for (std::size_t i = 0; i < analysis::kPriceRatios.size(); ++i) {
        text += fmt::format("   {:>7.0f} {:>7}", kPercent * f.called[i],
                            f.called[i] > 0.0 ? fmt::format("{:.0f}", kPercent * f.called_right[i])
                                              : "-");
    }
    return text + "\n";
}

Json figures_json(const analysis::PairsFigures& f) {
    Json json = {{"kind", f.kind},
                 {"match", f.match},
                 {"rows", f.rows},
                 {"families", f.families},
                 {"mape", f.mape},
                 {"kernel_mape", f.kernel_mape},
                 {"median_guess_mape", f.guess_mape},
                 {"bandwidth_ratio_mape", f.bandwidth_mape},
                 {"peak_ratio_mape", f.peak_mape},
                 {"bias", f.bias},
                 {"inside", f.inside},
                 {"rank_correlation", f.order},
                 {"decisions", Json::array()}};
    for (std::size_t i = 0; i < analysis::kPriceRatios.size(); ++i) {
        json["decisions"].push_back({{"price_ratio", analysis::kPriceRatios[i]},
                                     {"right", f.right[i]},
                                     {"guess_right", f.guess_right[i]},
                                     {"stated_wrong", f.stated_wrong[i]},
                                     {"called", f.called[i]},
                                     {"called_right", f.called_right[i]}});
    }
    return json;
}

} // namespace

std::string pairs_text(const analysis::PairsValidation& v) {
    std::string text = fmt::format("{:<44} {:<15} {:<14} {:>8} {:>9} {:>7}  {:<14}\n", "network",
                                   "from", "to", "measured", "predicted", "error", "80 % interval");
    for (const analysis::PairResult& r : v.rows) {
        text +=
            fmt::format("{:<44} {:<15} {:<14} {:>8.2f} {:>9.2f} {:>+6.1f}%  {:.2f} to {:.2f}\n",
                        r.pair.network.substr(0, 44), r.pair.from, r.pair.to, r.pair.speedup,
                        r.predicted.value, kPercent * (r.predicted.value / r.pair.speedup - 1.0),
                        r.predicted.low, r.predicted.high);
    }
    text +=
        "\neach family predicted by what the others showed; mean error %, a family counted once\n";
    text +=
        fmt::format("{:<16} {:<13} {:>5} {:>4} {:>7} {:>7} {:>7} {:>7} {:>7} {:>6} {:>6} {:>6}\n",
                    "kind", "match", "rows", "fam", "error", "kernels", "median", "bandw.", "peaks",
                    "bias", "inside", "order");
    for (const analysis::PairsFigures& f : v.groups) {
        text += figures_line(f);
    }
    text += figures_line(v.all);
    text += "\ndecisions: % right, % right by the median, % wrong as stated, % wrong\n";
    text += fmt::format("{:<30}", "kind and match, at price ratio");
    for (const double ratio : analysis::kPriceRatios) {
        text += fmt::format("   {:<15.2f}", ratio);
    }
    text += "\n";
    for (const analysis::PairsFigures& f : v.groups) {
        text += decisions_line(f);
    }
    text += decisions_line(v.all);
    text +=
        fmt::format("\nverdicts given, chance of being wrong at most {:.0f} %: % of all, % right\n",
                    kPercent * analysis::kStatedWrong);
    for (const analysis::PairsFigures& f : v.groups) {
        text += called_line(f);
    }
    text += called_line(v.all);
    text += fmt::format("\nfitted on all: ln(speedup) = {:.2f} ln(kernels and host)\n",
                        v.transfer.share);
    for (const auto& [name, kind] : v.transfer.kinds) {
        text += fmt::format("  {:<16} spread of ln {:.3f}, {} families, {} rows\n", name,
                            kind.spread, kind.families, kind.rows);
    }
    return text;
}

std::string pairs_json(const analysis::PairsValidation& v) {
    Json json = {{"schema", "eyeroof/pairs/2"},
                 {"all", figures_json(v.all)},
                 {"groups", Json::array()},
                 {"transfer", {{"share", v.transfer.share}, {"kinds", Json::object()}}},
                 {"pairs", Json::array()}};
    for (const analysis::PairsFigures& f : v.groups) {
        json["groups"].push_back(figures_json(f));
    }
    for (const auto& [name, kind] : v.transfer.kinds) {
        json["transfer"]["kinds"][name] = {{"spread", kind.spread}, {"families", kind.families}};
    }
    for (const analysis::PairResult& r : v.rows) {
        json["pairs"].push_back({{"line", r.pair.line},
                                 {"network", r.pair.network},
                                 {"family", r.pair.family},
                                 {"kind", r.kind},
                                 {"match", r.pair.match},
                                 {"from", r.pair.from},
                                 {"to", r.pair.to},
                                 {"measured", r.pair.speedup},
                                 {"predicted", r.predicted.value},
                                 {"low", r.predicted.low},
                                 {"high", r.predicted.high},
                                 {"kernels_and_host", r.kernel_speedup},
                                 {"median_of_others", r.guess},
                                 {"peak_ratio", r.peak_ratio},
                                 {"bandwidth_ratio", r.bandwidth_ratio}});
    }
    return json_document(json);
}

std::string pairs_csv(const analysis::PairsValidation& v) {
    std::string text = "network,family,kind,match,from,to,measured,predicted,low,high,"
                       "kernels_and_host,median_of_others,peak_ratio,bandwidth_ratio\n";
    for (const analysis::PairResult& r : v.rows) {
        text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                            csv_quoted(r.pair.network), csv_quoted(r.pair.family), r.kind,
                            csv_quoted(r.pair.match), r.pair.from, r.pair.to, r.pair.speedup,
                            r.predicted.value, r.predicted.low, r.predicted.high, r.kernel_speedup,
                            r.guess, r.peak_ratio, r.bandwidth_ratio);
    }
    return text;
}

} // namespace eyeroof::report
