#include "report/diff/diff_write.hpp"

#include "analysis/diff/diff.hpp"
#include "base/csv.hpp"
#include "base/json.hpp"
#include "base/lines.hpp"
#include "base/markup.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace eyeroof::report {

namespace {

constexpr std::size_t kMostLayers = 20; // in text and Markdown
// Those whose times differ, the largest difference first.
std::vector<const analysis::LayerDiff*> telling(const analysis::ExamDiff& diff) {
    std::vector<const analysis::LayerDiff*> layers;
    for (const analysis::LayerDiff& layer : diff.layers) {
        if (std::abs(layer.adds_s()) > analysis::kToldChange * std::abs(diff.total[0].a)) {
            layers.push_back(&layer);
        }
    }
    std::stable_sort(layers.begin(), layers.end(),
                     [](const analysis::LayerDiff* a, const analysis::LayerDiff* b) {
                         return std::abs(a->adds_s()) > std::abs(b->adds_s());
                     });
    return layers;
}

std::string names(const std::vector<std::string>& all) {
    const std::size_t shown = std::min<std::size_t>(all.size(), 8);
    return fmt::format("{}{}", fmt::join(all.begin(), all.begin() + static_cast<long>(shown), ", "),
                       shown < all.size() ? fmt::format(" and {} more", all.size() - shown) : "");
}

std::string apart(const analysis::ExamDiff& diff, const char* end) {
    std::string text;
    if (!diff.only_a.empty()) {
        text += fmt::format("Only on the first side: {}{}", names(diff.only_a), end);
    }
    if (!diff.only_b.empty()) {
        text += fmt::format("Only on the second side: {}{}", names(diff.only_b), end);
    }
    return text;
}

nlohmann::ordered_json
figures_json(const std::array<analysis::BothSides, analysis::kDiffFigures.size()>& figures) {
    nlohmann::ordered_json json;
    for (std::size_t i = 0; i < analysis::kDiffFigures.size(); ++i) {
        nlohmann::ordered_json one = {{"a", figures[i].a}, {"b", figures[i].b}};
        if (const auto change = figures[i].change()) {
            one["change"] = *change;
        }
        json[std::string(analysis::kDiffFigures[i])] = one;
    }
    return json;
}

} // namespace

std::string figure_text(std::size_t figure, double v) {
    static constexpr std::array<const char*, analysis::kDiffFigures.size()> units = {"s", "J", "B",
                                                                                     "MAC", ""};
    return *units[figure] == '\0' ? fmt::format("{:.1f} %", 100.0 * v)
                                  : format_si(v, units[figure]);
}

std::string steps_text(const analysis::LayerDiff& layer) {
    std::string text;
    for (std::size_t i = 0; i < model::kSteps; ++i) {
        const analysis::BothSides& bound = layer.bounds[i];
        if (std::abs(bound.b - bound.a) > analysis::kToldChange * std::abs(bound.a)) {
            text += fmt::format("{}step {}: {} -> {}", text.empty() ? "" : ", ", i + 1,
                                format_si(bound.a, ""), format_si(bound.b, ""));
        }
    }
    return text.empty() ? "the bounds of all steps are equal" : text + " MAC/cycle";
}

std::string limits_text(const analysis::LayerDiff& layer) {
    return layer.limiter_a == layer.limiter_b
               ? "both at step " + layer.limiter_b
               : fmt::format("step {} -> step {}", layer.limiter_a, layer.limiter_b);
}

namespace {

// "b takes 33.6 % longer than a, 278 ms -> 372 ms; CONV2 adds most, 30.9 ms"
std::string verdict(const analysis::ExamDiff& diff,
                    const std::vector<const analysis::LayerDiff*>& layers) {
    const analysis::BothSides& time = diff.total[0];
    const double ratio = time.a > 0.0 ? time.b / time.a - 1.0 : 0.0;
    if (std::abs(ratio) <= analysis::kToldChange) {
        return fmt::format("a and b take the same time: {}", figure_text(0, time.a));
    }
    std::string text = fmt::format("b takes {:.3g} % {} than a: {} -> {}", 100.0 * std::abs(ratio),
                                   ratio > 0.0 ? "longer" : "less", figure_text(0, time.a),
                                   figure_text(0, time.b));
    if (!layers.empty()) {
        const double adds = layers.front()->adds_s();
        text += fmt::format("; {} {} most, {}", masked_controls(layers.front()->name),
                            adds < 0.0 ? "saves" : "adds", figure_text(0, std::abs(adds)));
    }
    return text;
}

} // namespace

std::string diff_text(const analysis::ExamDiff& diff) {
    static constexpr std::array<const char*, analysis::kDiffFigures.size()> names = {
        "time", "energy", "outer traffic", "MACs", "utilization"};
    const auto layers = telling(diff);
    std::string text = wrapped("a: " + masked_controls(diff.name_a), 0, kTextColumns) +
                       wrapped("b: " + masked_controls(diff.name_b), 0, kTextColumns) +
                       wrapped(verdict(diff, layers), 0, kTextColumns) + "\n";
    for (std::size_t i = 0; i < analysis::kDiffFigures.size(); ++i) {
        text += fmt::format("{:<14} {:>10} -> {:>10}  {:>9}\n", names[i],
                            figure_text(i, diff.total[i].a), figure_text(i, diff.total[i].b),
                            analysis::change_text(diff.total[i]));
    }
    text += layers.empty() ? "\nno layer's time is another\n" : "\n";
    for (std::size_t i = 0; i < std::min(layers.size(), kMostLayers); ++i) {
        const analysis::LayerDiff& layer = *layers[i];
        text +=
            fmt::format("{} {:>9} -> {:>9}  {:>9}  {}{} in all\n",
                        left(masked_controls(layer.name), 24), figure_text(0, layer.figures[0].a),
                        figure_text(0, layer.figures[0].b), analysis::change_text(layer.figures[0]),
                        layer.adds_s() < 0.0 ? "-" : "+", figure_text(0, std::abs(layer.adds_s())));
        text += wrapped(limits_text(layer) + "; " + steps_text(layer), 2, kTextColumns);
    }
    if (layers.size() > kMostLayers) {
        text += "and " + counted(layers.size() - kMostLayers, "layer") + " more\n";
    }
    return text + apart(diff, "\n");
}

std::string diff_markdown(const analysis::ExamDiff& diff) {
    std::string text = fmt::format("| | {} | {} | change |\n|---|---|---|---|\n",
                                   markdown_cell(diff.name_a), markdown_cell(diff.name_b));
    for (std::size_t i = 0; i < analysis::kDiffFigures.size(); ++i) {
        text += fmt::format("| {} | {} | {} | {} |\n", analysis::kDiffFigures[i],
                            figure_text(i, diff.total[i].a), figure_text(i, diff.total[i].b),
                            analysis::change_text(diff.total[i]));
    }
    const auto layers = telling(diff);
    if (!layers.empty()) {
        text += "\n| layer | before | after | change | limit |\n|---|---|---|---|---|\n";
    }
    for (std::size_t i = 0; i < std::min(layers.size(), kMostLayers); ++i) {
        const analysis::LayerDiff& layer = *layers[i];
        text +=
            fmt::format("| {} | {} | {} | {} | {} |\n", markdown_cell(layer.name),
                        figure_text(0, layer.figures[0].a), figure_text(0, layer.figures[0].b),
                        analysis::change_text(layer.figures[0]), markdown_cell(limits_text(layer)));
    }
    const std::string rest = apart(diff, "\n\n");
    return text + (rest.empty() ? "" : "\n" + rest);
}

std::string diff_json(const analysis::ExamDiff& diff) {
    nlohmann::ordered_json json = {{"schema", "eyeroof/diff/1"},
                                   {"a", diff.name_a},
                                   {"b", diff.name_b},
                                   {"total", figures_json(diff.total)},
                                   {"layers", nlohmann::ordered_json::array()},
                                   {"only_a", diff.only_a},
                                   {"only_b", diff.only_b}};
    for (const analysis::LayerDiff& layer : diff.layers) {
        nlohmann::ordered_json steps = nlohmann::ordered_json::array();
        for (std::size_t i = 0; i < model::kSteps; ++i) {
            steps.push_back({{"step", i + 1},
                             {"a_macs_per_cycle", layer.bounds[i].a},
                             {"b_macs_per_cycle", layer.bounds[i].b}});
        }
        json["layers"].push_back({{"name", layer.name},
                                  {"count", {{"a", layer.count.a}, {"b", layer.count.b}}},
                                  {"adds_s", layer.adds_s()},
                                  {"figures", figures_json(layer.figures)},
                                  {"steps", steps},
                                  {"limiter", {{"a", layer.limiter_a}, {"b", layer.limiter_b}}}});
    }
    return json_document(json);
}

std::string diff_csv(const analysis::ExamDiff& diff) {
    std::string text = "layer,count_a,count_b";
    for (const std::string& key : analysis::diff_gate_keys().layers) {
        text += "," + key;
    }
    text += ",adds_s,limiter_a,limiter_b\n";
    const analysis::GateFigures figures = analysis::diff_gate_figures(diff);
    for (std::size_t i = 0; i < diff.layers.size(); ++i) {
        const analysis::LayerDiff& layer = diff.layers[i];
        text += fmt::format("{},{},{}", csv_quoted(layer.name), layer.count.a, layer.count.b);
        for (const auto& figure : figures.layers[i].values) {
            text += figure ? fmt::format(",{}", *figure) : std::string(",");
        }
        text += fmt::format(",{},{},{}\n", layer.adds_s(), csv_quoted(layer.limiter_a),
                            csv_quoted(layer.limiter_b));
    }
    return text;
}

} // namespace eyeroof::report
