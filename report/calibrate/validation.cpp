// The validation as text, JSON and CSV.
#include "report/calibrate/validation.hpp"

#include "analysis/calibrate/validate.hpp"
#include "base/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace eyeroof::report {

namespace {

using Json = nlohmann::ordered_json;

std::string figures_cells(const analysis::ErrorFigures& f) {
    return fmt::format("{:>7} {:>7.1f} {:>7.1f} {:>+7.1f} {:>7.1f} {:>8.0f} {:>6}", f.rows,
                       100.0 * f.mape, 100.0 * f.median, 100.0 * f.bias, 100.0 * f.naive_mape,
                       100.0 * f.coverage, f.unphysical);
}

Json figures_json(const analysis::ErrorFigures& f) {
    return {{"rows", f.rows},
            {"mape", f.mape},
            {"median", f.median},
            {"bias", f.bias},
            {"naive_mape", f.naive_mape},
            {"coverage", f.coverage},
            {"unphysical", f.unphysical}};
}

} // namespace

std::string validation_text(const analysis::Validation& v) {
    std::string text = fmt::format("{:<16} {:<12} {:<5} {:<10} {:>7} {:>7} {:>7} {:>7} {:>7} {:>8} "
                                   "{:>6}\n",
                                   "gpu", "op", "type", "direction", "rows", "MAPE %", "median",
                                   "bias %", "naive %", "within %", "unphys");
    for (const analysis::ValidationGroup& g : v.groups) {
        text += fmt::format("{:<16} {:<12} {:<5} {:<10} {}\n", g.gpu, g.op, g.dtype, g.direction,
                            figures_cells(g.figures));
        if (g.exchanged_mape) {
            text += fmt::format("    with n and k exchanged the error is {:.1f} %: does the table "
                                "name its columns the other way round?\n",
                                100.0 * *g.exchanged_mape);
        }
    }
    text += fmt::format("{:<46} {}\n", "all rows", figures_cells(v.all));
    text += fmt::format("mean of the groups' MAPE: {:.1f} %; \"within\" is the share inside the "
                        "80 % intervals\n",
                        100.0 * v.mean_of_groups);
    if (!v.worst.empty()) {
        text += "\nworst rows (line, gpu, op, measured, predicted, ratio, limiter):\n";
    }
    for (const analysis::ValidatedRow& r : v.worst) {
        text += fmt::format("  {:>6} {:<16} {:<11} {:>11.4g} s {:>11.4g} s {:>6.2f}  {}\n",
                            r.row.line, r.row.gpu, model::op_name(r.row.layer.op), r.row.measured_s,
                            r.predicted_s, r.predicted_s / r.row.measured_s, r.limiter);
    }
    return text;
}

std::string validation_json(const analysis::Validation& v) {
    Json json = {{"schema", "eyeroof/validation/1"},
                 {"all", figures_json(v.all)},
                 {"mean_of_groups_mape", v.mean_of_groups},
                 {"groups", Json::array()},
                 {"worst", Json::array()}};
    for (const analysis::ValidationGroup& g : v.groups) {
        Json group = {{"gpu", g.gpu}, {"op", g.op}, {"dtype", g.dtype}, {"direction", g.direction}};
        group.update(figures_json(g.figures));
        group["exchanged_mape"] = g.exchanged_mape ? Json(*g.exchanged_mape) : Json(nullptr);
        json["groups"].push_back(std::move(group));
    }
    for (const analysis::ValidatedRow& r : v.worst) {
        json["worst"].push_back({{"line", r.row.line},
                                 {"gpu", r.row.gpu},
                                 {"op", std::string(model::op_name(r.row.layer.op))},
                                 {"measured_s", r.row.measured_s},
                                 {"predicted_s", r.predicted_s},
                                 {"low_s", r.low_s},
                                 {"high_s", r.high_s},
                                 {"naive_s", r.naive_s},
                                 {"limiter", r.limiter}});
    }
    return json_document(json);
}

std::string validation_csv(const analysis::Validation& v) {
    std::string text =
        "gpu,op,dtype,direction,rows,mape,median,bias,naive_mape,coverage,unphysical\n";
    for (const analysis::ValidationGroup& g : v.groups) {
        const analysis::ErrorFigures& f = g.figures;
        text +=
            fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", g.gpu, g.op, g.dtype, g.direction,
                        f.rows, f.mape, f.median, f.bias, f.naive_mape, f.coverage, f.unphysical);
    }
    return text;
}

} // namespace eyeroof::report
