// The cross-validation as text, JSON, CSV and Markdown.
#include "study/report/cross_validation.hpp"

#include "study/calibrate/cross_validate.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace eyeroof::study {

namespace {

using Json = nlohmann::ordered_json;
using Figure = std::optional<double>;

std::string percent(const Figure& figure) {
    return figure ? fmt::format("{:.1f}", 100.0 * *figure) : "-";
}

std::string whole(const Figure& figure) {
    return figure ? fmt::format("{:.0f}", 100.0 * *figure) : "-";
}

std::string text_row(const CrossGroup& g) {
    return fmt::format("{:<12} {:<5} {:<9} {:<17}{:>7}{:>8.1f}{:>8}{:>10}{:>10}{:>8}{:>9}{:>9}\n",
                       g.op, g.dtype, g.direction, g.gpu, g.rows, 100.0 * g.naive,
                       percent(g.fitted), percent(g.held_out), percent(g.left_out),
                       percent(g.one_figure), whole(g.held_out_inside), whole(g.left_out_inside));
}

Json json_of(const Figure& figure) {
    return figure ? Json(*figure) : Json(nullptr);
}

Json json_row(const CrossGroup& g) {
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
    "+1: with one sustained rate. "
    "in 80 %: share of rows inside intervals that come from other shapes, or from other GPUs.\n";

} // namespace

std::string cross_validation_text(const CrossValidation& result) {
    std::string text = kKey;
    const std::string head =
        fmt::format("{:<12} {:<5} {:<9} {:<17}{:>7}{:>8}{:>8}{:>10}{:>10}{:>8}{:>9}{:>9}\n", "op",
                    "type", "direction", "gpu", "rows", "naive", "fitted", "held-out", "left-out",
                    "+1", "held in", "left in");
    text += "\n" + head;
    for (const CrossGroup& g : result.groups) {
        text += text_row(g);
    }
    text += "\nmeans over the GPUs\n" + head;
    for (const CrossGroup& g : result.means) {
        text += text_row(g);
    }
    return text;
}

std::string cross_validation_json(const CrossValidation& result) {
    Json json = {{"schema", "eyeroof/cross-validation/1"},
                 {"groups", Json::array()},
                 {"means", Json::array()}};
    for (const CrossGroup& g : result.groups) {
        json["groups"].push_back(json_row(g));
    }
    for (const CrossGroup& g : result.means) {
        json["means"].push_back(json_row(g));
    }
    return json.dump(2) + "\n";
}

std::string cross_validation_csv(const CrossValidation& result) {
    std::string text = "op,dtype,direction,gpu,rows,naive_mape,fitted_mape,held_out_mape,"
                       "left_out_mape,one_figure_mape,held_out_inside,left_out_inside\n";
    for (const CrossGroup& g : result.groups) {
        text += fmt::format("{},{},{},{},{},{:.4f},{},{},{},{},{},{}\n", g.op, g.dtype, g.direction,
                            g.gpu, g.rows, g.naive, csv_cell(g.fitted), csv_cell(g.held_out),
                            csv_cell(g.left_out), csv_cell(g.one_figure),
                            csv_cell(g.held_out_inside), csv_cell(g.left_out_inside));
    }
    return text;
}

std::string cross_validation_markdown(const CrossValidation& result) {
    std::string text = "| op | type | direction | GPU | rows | naive | fitted | held out | left "
                       "out | +1 | held out in 80 % | left out in 80 % |\n"
                       "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: "
                       "| ---: |\n";
    for (const auto* rows : {&result.groups, &result.means}) {
        for (const CrossGroup& g : *rows) {
            text += fmt::format("| {} | {} | {} | {} | {} | {:.1f} | {} | {} | {} | {} | {} | {} "
                                "|\n",
                                g.op, g.dtype, g.direction, g.gpu, g.rows, 100.0 * g.naive,
                                percent(g.fitted), percent(g.held_out), percent(g.left_out),
                                percent(g.one_figure), whole(g.held_out_inside),
                                whole(g.left_out_inside));
        }
    }
    return text;
}

std::string cross_rows_csv(const CrossValidation& result) {
    std::string text = "line,gpu,op,dtype,measured_s,held_out,own_s,left_out_s,mapping\n";
    for (const CrossRow& r : result.rows) {
        text +=
            fmt::format("{},{},{},{},{:.6g},{},{:.6g},{:.6g},\"{}\"\n", r.line, r.gpu, r.op,
                        r.dtype, r.measured_s, r.tested ? 1 : 0, r.own_s, r.left_out_s, r.mapping);
    }
    return text;
}

} // namespace eyeroof::study
