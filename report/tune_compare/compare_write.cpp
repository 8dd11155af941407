// Comparisons as text, JSON, CSV and SVG.
#include "report/tune_compare/compare_write.hpp"

#include "analysis/tune_compare/compare.hpp"
#include "base/csv.hpp"
#include "base/json.hpp"
#include "base/printable.hpp"
#include "base/statistics.hpp"
#include "report/draw/chart.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace eyeroof::report {

namespace {

using Json = nlohmann::ordered_json;

std::string trials_text(const analysis::tune::Comparison& all,
                        const std::optional<double>& trials) {
    return trials ? fmt::format("{:.0f}", *trials) : fmt::format(">{}", all.trials);
}

// Over layers: a run that did not come there counts as all its trials, so means are too low then.
double geometric_mean(const analysis::tune::Comparison& all, std::size_t contender,
                      std::size_t share) {
    double sum = 0.0;
    std::size_t layers = 0;
    for (const analysis::tune::Score3& score : all.scores[contender]) {
        if (score.runs > 0) {
            sum += std::log(score.trials[share].value_or(static_cast<double>(all.trials)));
            ++layers;
        }
    }
    return std::exp(sum / static_cast<double>(std::max<std::size_t>(1, layers)));
}

int censored(const analysis::tune::Comparison& all, std::size_t contender, std::size_t share) {
    int sum = 0;
    for (const analysis::tune::Score3& score : all.scores[contender]) {
        sum += score.censored[share];
    }
    return sum;
}

int runs_of(const analysis::tune::Comparison& all, std::size_t contender) {
    int sum = 0;
    for (const analysis::tune::Score3& score : all.scores[contender]) {
        sum += score.runs;
    }
    return sum;
}

// After 8, 16, 32 … trials (column 0, 1, 2 …), over layers that have runs.
double median_share(const analysis::tune::Comparison& all, std::size_t contender,
                    std::size_t column) {
    std::vector<double> shares;
    for (const analysis::tune::Score3& score : all.scores[contender]) {
        if (column < score.share_at.size()) {
            shares.push_back(score.share_at[column]);
        }
    }
    return shares.empty() ? 0.0 : median(shares);
}

std::size_t share_columns(const analysis::tune::Comparison& all) {
    std::size_t most = 0;
    for (const auto& scores : all.scores) {
        for (const analysis::tune::Score3& score : scores) {
            most = std::max(most, score.share_at.size());
        }
    }
    return most;
}

double median_reached(const analysis::tune::Comparison& all, std::size_t contender) {
    const std::size_t columns = share_columns(all);
    return columns == 0 ? 0.0 : median_share(all, contender, columns - 1);
}

std::string layer_table(const analysis::tune::Comparison& all, std::size_t share,
                        const char* title) {
    std::string text = fmt::format("{:<28}", title);
    for (const std::string& layer : all.layers) {
        text += fmt::format(" {:>7}", printable(layer).substr(0, 7));
    }
    text += '\n';
    for (std::size_t c = 0; c < all.contenders.size(); ++c) {
        text += fmt::format("{:<28}", all.contenders[c]);
        for (const analysis::tune::Score3& score : all.scores[c]) {
            text +=
                fmt::format(" {:>7}", score.runs > 0 ? trials_text(all, score.trials[share]) : "-");
        }
        text += '\n';
    }
    return text;
}

// Of each layer the best known is an optimum.
bool all_proved(const analysis::tune::Comparison& all) {
    return !all.proved.empty() &&
           std::all_of(all.proved.begin(), all.proved.end(), [](bool p) { return p; });
}

std::string share_table(const analysis::tune::Comparison& all) {
    const bool proved = all_proved(all);
    std::string text =
        fmt::format("{:<28}", proved ? "above the optimum, %, after" : "share of the best after");
    const std::size_t columns = share_columns(all);
    for (std::size_t i = 0; i < columns; ++i) {
        text += fmt::format(" {:>7}", std::min(all.trials, std::size_t{8} << i));
    }
    text += '\n';
    for (std::size_t c = 0; c < all.contenders.size(); ++c) {
        text += fmt::format("{:<28}", all.contenders[c]);
        for (std::size_t i = 0; i < columns; ++i) {
            const double share = median_share(all, c, i);
            text += proved && share > 0.0 ? fmt::format(" {:>7.1f}", 100.0 * (1.0 / share - 1.0))
                                          : fmt::format(" {:>7.3f}", share);
        }
        text += '\n';
    }
    return text;
}

// What each contender saves against random search, and transfer against the same without.
std::string saving_table(const analysis::tune::Comparison& all) {
    std::string rows;
    const auto add = [&](std::size_t base, std::size_t c) {
        rows += fmt::format("{:<28}", all.contenders[c]);
        std::size_t layers = 0;
        for (const std::size_t share : {std::size_t{0}, std::size_t{1}}) {
            const analysis::tune::Saving found = analysis::tune::saving(all, base, c, share);
            rows += fmt::format(" {:>6.2f} ({:.2f} … {:.2f})", found.ratio, found.low, found.high);
            layers = found.layers;
        }
        rows += fmt::format("  than {}, {} layers\n", all.contenders[base], layers);
    };
    for (std::size_t base = 0; base < all.contenders.size(); ++base) {
        for (std::size_t c = 0; c < all.contenders.size(); ++c) {
            const std::string& name = all.contenders[c];
            const std::size_t transfer = name.find(", transfer");
            if (c != base && (all.contenders[base] == "random" ||
                              (transfer != std::string::npos &&
                               name.substr(0, transfer) == all.contenders[base]))) {
                add(base, c);
            }
        }
    }
    return rows.empty() ? rows
                        : "times fewer trials to 90 %, and to 95 % (90 % of bootstrapped sets of "
                          "layers)\n" +
                              rows + "\n";
}

} // namespace

std::string comparison_text(const analysis::tune::Comparison& all) {
    if (all.scores.empty() || all.layers.empty()) {
        return "Stopped before all runs were there.\n";
    }
    const bool proved = all_proved(all);
    std::string text =
        fmt::format("{} layers, median of {} seeds, at most {} trials; the best known is {}\n\n",
                    all.layers.size(), all.seeds, all.trials,
                    proved              ? "the mapper's, proved"
                    : all.recorded      ? "the best trial of all logs"
                    : !all.pool.empty() ? "that of each layer's pool of measured points"
                                        : "the best of all runs");
    text += fmt::format("{:<28} {:>8} {:>8} {:>8} {:>10} {:>9}\n", "trials to, geometric mean",
                        "90 %", "95 %", "99 %", "cut at 95", "reached");
    for (std::size_t c = 0; c < all.contenders.size(); ++c) {
        text += fmt::format("{:<28}", all.contenders[c]);
        for (std::size_t share = 0; share < 3; ++share) {
            text += fmt::format(" {:>8.1f}", geometric_mean(all, c, share));
        }
        text += fmt::format(" {:>4} of {:<3} {:>8.3f}\n", censored(all, c, 1), runs_of(all, c),
                            median_reached(all, c));
    }
    text += "\n" + share_table(all) + "\n" + saving_table(all) +
            layer_table(all, 1, "trials to 95 %, by layer");
    if (!all.held_out.empty()) {
        text +=
            fmt::format("\n{:<28} {:>8} {:>8}\n", "rank correlation, held out", "median", "least");
        for (const auto& [name, found] : all.held_out) {
            text +=
                fmt::format("{:<28} {:>8.3f} {:>8.3f}\n", name, median(found),
                            found.empty() ? 0.0 : *std::min_element(found.begin(), found.end()));
        }
    }
    return text;
}

std::string comparison_json(const analysis::tune::Comparison& all) {
    Json rows = Json::array();
    for (std::size_t c = 0; c < all.scores.size(); ++c) {
        for (std::size_t layer = 0; layer < all.layers.size(); ++layer) {
            const analysis::tune::Score3& score = all.scores[c][layer];
            Json row = {{"contender", all.contenders[c]}, {"layer", all.layers[layer]}};
            constexpr std::array<const char*, 3> kKeys = {"trials_to_90", "trials_to_95",
                                                          "trials_to_99"};
            for (std::size_t share = 0; share < 3; ++share) {
                row[kKeys[share]] = score.trials[share] ? Json(*score.trials[share]) : Json();
            }
            row["runs"] = score.runs;
            row["censored_runs"] = score.censored;
            row["reached_share"] = score.reached;
            row["share_after_8_16_32"] = score.share_at;
            rows.push_back(std::move(row));
        }
    }
    Json held = Json::object();
    for (const auto& [name, found] : all.held_out) {
        held[name] = found;
    }
    const Json json = {{"schema", "eyeroof/tune-comparison/1"},
                       {"layers", all.layers},
                       {"seeds", all.seeds},
                       {"trials", all.trials},
                       {"pool_points", all.pool},
                       {"proved", all.proved},
                       {"stopped", all.stopped},
                       {"scores", rows},
                       {"held_out_rank_correlation", held}};
    return json_document(json);
}

std::string comparison_csv(const analysis::tune::Comparison& all) {
    std::string text = "contender,layer,trials_to_90,trials_to_95,trials_to_99,censored_90,"
                       "censored_95,censored_99,reached_share\n";
    for (std::size_t c = 0; c < all.scores.size(); ++c) {
        for (std::size_t layer = 0; layer < all.layers.size(); ++layer) {
            const analysis::tune::Score3& score = all.scores[c][layer];
            text += csv_quoted(all.contenders[c]) + "," + csv_quoted(all.layers[layer]);
            for (const auto& trials : score.trials) {
                text += trials ? fmt::format(",{}", *trials) : ",";
            }
            text += fmt::format(",{},{},{},{:.6g}\n", score.censored[0], score.censored[1],
                                score.censored[2], score.reached);
        }
    }
    return text;
}

std::string comparison_svg(const analysis::tune::Comparison& all) {
    Chart chart;
    chart.title = "Share of the best known, median over seeds and layers";
    chart.x_title = "trials";
    chart.x_ticks = TickText::whole;
    chart.y_title = "share of the best known";
    for (std::size_t c = 0; c < all.scores.size(); ++c) {
        ChartLine line;
        line.label = all.contenders[c];
        line.dots = true;
        for (std::size_t i = 0; i < share_columns(all); ++i) {
            line.points.emplace_back(static_cast<double>(std::min(all.trials, std::size_t{8} << i)),
                                     std::max(median_share(all, c, i), 1e-3));
        }
        chart.lines.push_back(std::move(line));
    }
    return chart_svg(chart);
}

} // namespace eyeroof::report
