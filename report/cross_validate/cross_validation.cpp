// The cross-validation as text, JSON, CSV and Markdown.
#include "report/cross_validate/cross_validation.hpp"

#include "analysis/cross_validate/cross_validate.hpp"
#include "base/csv.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <set>

namespace eyeroof::report {

namespace {

using Json = nlohmann::ordered_json;
using Figure = std::optional<double>;

std::string hundredths(const Figure& figure) {
    return figure ? fmt::format("{:.1f}", 100.0 * *figure) : "-";
}

std::string whole(const Figure& figure) {
    return figure ? fmt::format("{:.0f}", 100.0 * *figure) : "-";
}

std::string text_row(const analysis::CrossGroup& g) {
    return fmt::format("{:<12} {:<5} {:<9} {:<17}{:>7}{:>8.1f}{:>8}{:>10}{:>10}{:>8}{:>9}{:>9}\n",
                       g.op, g.dtype, g.direction, g.gpu, g.rows, 100.0 * g.naive,
                       hundredths(g.fitted), hundredths(g.held_out), hundredths(g.left_out),
                       hundredths(g.one_figure), whole(g.held_out_inside),
                       whole(g.left_out_inside));
}

Json json_of(const Figure& figure) {
    return figure ? Json(*figure) : Json(nullptr);
}

Json json_row(const analysis::CrossGroup& g) {
    return {{"op", g.op},
            {"dtype", g.dtype},
            {"direction", g.direction},
            {"gpu", g.gpu},
            {"rows", g.rows},
            {"naive_mape", g.naive},
            {"fitted_mape", json_of(g.fitted)},
            {"held_out_mape", json_of(g.held_out)},
            {"left_out_mape", json_of(g.left_out)},
            {"one_figure_mape", json_of(g.one_figure)},
            {"held_out_inside", json_of(g.held_out_inside)},
            {"left_out_inside", json_of(g.left_out_inside)}};
}

std::string csv_cell(const Figure& figure) {
    return figure ? fmt::format("{:.4f}", *figure) : "";
}

constexpr const char* kKey =
    "MAPE in %. fitted: on the rows of the fit; held-out: other shapes of the same GPU; left-out:\n"
    "constants that saw nothing of its architecture (or what --leave-out says), and its data "
    "sheet;\n"
    "+1: with one figure of the GPU, a sustained rate or its host's time for a call.\n"
    "in 80 %: share of rows inside intervals that come from other shapes, or from other GPUs.\n";

} // namespace

std::string cross_validation_text(const analysis::CrossValidation& result) {
    std::string text = kKey;
    const std::string head =
        fmt::format("{:<12} {:<5} {:<9} {:<17}{:>7}{:>8}{:>8}{:>10}{:>10}{:>8}{:>9}{:>9}\n", "op",
                    "type", "direction", "gpu", "rows", "naive", "fitted", "held-out", "left-out",
                    "+1", "held in", "left in");
    text += "\n" + head;
    for (const analysis::CrossGroup& g : result.groups) {
        text += text_row(g);
    }
    text += "\nmeans over the GPUs\n" + head;
    for (const analysis::CrossGroup& g : result.means) {
        text += text_row(g);
    }
    return text;
}

std::string cross_validation_json(const analysis::CrossValidation& result) {
    Json json = {{"schema", "eyeroof/cross-validation/1"},
                 {"groups", Json::array()},
                 {"means", Json::array()}};
    for (const analysis::CrossGroup& g : result.groups) {
        json["groups"].push_back(json_row(g));
    }
    for (const analysis::CrossGroup& g : result.means) {
        json["means"].push_back(json_row(g));
    }
    return json.dump(2) + "\n";
}

std::string cross_validation_csv(const analysis::CrossValidation& result) {
    std::string text = "op,dtype,direction,gpu,rows,naive_mape,fitted_mape,held_out_mape,"
                       "left_out_mape,one_figure_mape,held_out_inside,left_out_inside\n";
    for (const analysis::CrossGroup& g : result.groups) {
        text += fmt::format("{},{},{},{},{},{:.4f},{},{},{},{},{},{}\n", g.op, g.dtype, g.direction,
                            g.gpu, g.rows, g.naive, csv_cell(g.fitted), csv_cell(g.held_out),
                            csv_cell(g.left_out), csv_cell(g.one_figure),
                            csv_cell(g.held_out_inside), csv_cell(g.left_out_inside));
    }
    return text;
}

namespace {

std::string markdown_table(const std::vector<analysis::CrossGroup>& groups) {
    std::string text = "| op | type | direction | GPU | rows | naive | fitted | held out | left "
                       "out | +1 | held out in 80 % | left out in 80 % |\n"
                       "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: "
                       "| ---: |\n";
    for (const analysis::CrossGroup& g : groups) {
        text +=
            fmt::format("| {} | {} | {} | {} | {} | {:.1f} | {} | {} | {} | {} | {} | {} |\n", g.op,
                        g.dtype, g.direction, g.gpu, g.rows, 100.0 * g.naive, hundredths(g.fitted),
                        hundredths(g.held_out), hundredths(g.left_out), hundredths(g.one_figure),
                        whole(g.held_out_inside), whole(g.left_out_inside));
    }
    return text;
}

std::string bindings_markdown(const std::vector<analysis::BindingRow>& bindings) {
    std::set<std::string> parts;
    for (const analysis::BindingRow& row : bindings) {
        for (const auto& [part, share] : row.shares) {
            parts.insert(part);
        }
    }
    std::string text = "| class | GPU | rows |";
    std::string line = "| --- | --- | ---: |";
    for (const std::string& part : parts) {
        text += " " + part + " |";
        line += " ---: |";
    }
    text += "\n" + line + "\n";
    for (const analysis::BindingRow& row : bindings) {
        text += fmt::format("| {} | {} | {} |", row.kernel_class, row.gpu, row.rows);
        for (const std::string& part : parts) {
            const auto share = row.shares.find(part);
            text += share == row.shares.end() ? " - |"
                                              : fmt::format(" {:.1f} |", 100.0 * share->second);
        }
        text += "\n";
    }
    return text;
}

std::string ablations_markdown(const std::vector<analysis::AblationRow>& ablations) {
    std::string text = "| class | without | fitted | held out | left out |\n"
                       "| --- | --- | ---: | ---: | ---: |\n";
    for (const analysis::AblationRow& row : ablations) {
        text += fmt::format("| {} | {} | {} | {:.2f} | {:.2f} |\n", row.kernel_class,
                            row.term.empty() ? "(nothing)" : row.term,
                            row.term.empty() ? "" : fmt::format("{:.4g}", row.value),
                            100.0 * row.held_out, 100.0 * row.left_out);
    }
    return text;
}

// The constants that all GPUs share, each within what its name allows.
std::string constants_markdown(const analysis::CrossValidation& result) {
    std::set<std::string> classes;
    for (const analysis::BindingRow& row : result.bindings) {
        classes.insert(row.kernel_class);
    }
    std::string text = "| class | term | common | least | most | why |\n"
                       "| --- | --- | ---: | ---: | ---: | --- |\n";
    model::GpuCalibration common = result.carried_over;
    for (const std::string& name : classes) {
        const auto c = *model::kernel_class_from_name(name);
        for (const auto& [term, value] : model::calibration_terms(common, c)) {
            const model::TermBound bound = model::term_bound(term);
            text += fmt::format("| {} | {} | {:.4g} | {:.4g} | {:.4g} | {} |\n", name, term, *value,
                                bound.low, bound.high, bound.meaning);
        }
    }
    return text;
}

} // namespace

std::string cross_validation_markdown(const analysis::CrossValidation& result) {
    std::string text = "# Errors of predicted GPU times\n\nPrinted by `eyeroof-dev cross-validate "
                       "TABLE --format md`; what the columns mean is in\n"
                       "[gpu-model.md](gpu-model.md#errors). Figures in %.\n";
    text += "\n## Means over the GPUs\n\n" + markdown_table(result.means);
    text += "\n## By GPU\n\n" + markdown_table(result.groups);
    text += "\n## Share of rows in which a part of a kernel's time is the longest\n\n" +
            bindings_markdown(result.bindings);
    if (!result.ablations.empty()) {
        text += "\n## Mean |ln(predicted / measured)| without each term\n\n" +
                ablations_markdown(result.ablations);
    }
    return text + "\n## Constants that all GPUs share, within their bounds\n\n" +
           constants_markdown(result);
}

std::string leaderboard_csv(const analysis::CrossValidation& result, const std::string& leave_out,
                            const std::string& version) {
    std::string text = "source,gpu,class,rows,figure,error,interval_coverage,version\n";
    const auto line = [&](const analysis::LeaderRow& row, const std::string& figure,
                          const Figure& error, const Figure& inside) {
        if (error) {
            text += fmt::format("{},{},{},{},{},{:.3f},{},{}\n", csv_quoted(row.source), row.gpu,
                                row.kind, row.rows, figure, *error,
                                inside ? fmt::format("{:.2f}", *inside) : "", version);
        }
    };
    for (const analysis::LeaderRow& row : result.leaders) {
        line(row, "held out", row.held_out, row.held_out_inside);
        line(row, leave_out + " left out", row.left_out, row.left_out_inside);
    }
    return text;
}

std::string cross_rows_csv(const analysis::CrossValidation& result) {
    std::string text = "line,gpu,op,dtype,measured_s,held_out,own_s,left_out_s,mapping\n";
    for (const analysis::CrossRow& r : result.rows) {
        text +=
            fmt::format("{},{},{},{},{:.6g},{},{:.6g},{:.6g},\"{}\"\n", r.line, r.gpu, r.op,
                        r.dtype, r.measured_s, r.tested ? 1 : 0, r.own_s, r.left_out_s, r.mapping);
    }
    return text;
}

} // namespace eyeroof::report
