// The cross-validation as text, JSON, CSV and Markdown.
#include "report/cross_validate/cross_validation.hpp"

#include "analysis/cross_validate/cross_validate.hpp"
#include "base/csv.hpp"
#include "base/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

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
    for (const analysis::LeftOut& other : result.also) {
        text += fmt::format("\neach {} left out\n{}", analysis::leave_out_name(other.by), head);
        for (const analysis::CrossGroup& g : other.groups) {
            text += text_row(g);
        }
        for (const analysis::CrossGroup& g : other.means) {
            text += text_row(g);
        }
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
    json["left_out_by"] = std::string(analysis::leave_out_name(result.leave_out));
    json["also"] = Json::array();
    for (const analysis::LeftOut& other : result.also) {
        Json also = {{"left_out_by", std::string(analysis::leave_out_name(other.by))},
                     {"groups", Json::array()}};
        for (const analysis::CrossGroup& g : other.groups) {
            also["groups"].push_back(json_row(g));
        }
        json["also"].push_back(std::move(also));
    }
    json["limits"] = Json::array();
    for (const analysis::BindingRow& row : result.bindings) {
        json["limits"].push_back({{"class", row.kernel_class},
                                  {"gpu", row.gpu.empty() ? Json(nullptr) : Json(row.gpu)},
                                  {"rows", row.rows},
                                  {"shares", row.shares}});
    }
    return json_document(json);
}

namespace {

std::string csv_row(const analysis::CrossGroup& g, analysis::LeaveOut by) {
    return fmt::format("{},{},{},{},{},{:.4f},{},{},{},{},{},{},{}\n", g.op, g.dtype, g.direction,
                       g.gpu, g.rows, g.naive, csv_cell(g.fitted), csv_cell(g.held_out),
                       csv_cell(g.left_out), csv_cell(g.one_figure), csv_cell(g.held_out_inside),
                       csv_cell(g.left_out_inside), analysis::leave_out_name(by));
}

} // namespace

std::string cross_validation_csv(const analysis::CrossValidation& result) {
    std::string text = "op,dtype,direction,gpu,rows,naive_mape,fitted_mape,held_out_mape,"
                       "left_out_mape,one_figure_mape,held_out_inside,left_out_inside,"
                       "left_out_by\n";
    for (const analysis::CrossGroup& g : result.groups) {
        text += csv_row(g, result.leave_out);
    }
    for (const analysis::LeftOut& other : result.also) {
        for (const analysis::CrossGroup& g : other.groups) {
            text += csv_row(g, other.by);
        }
    }
    return text;
}

Result<FormerErrors> former_errors(std::string_view csv, const std::string& file) {
    Diagnostics found;
    CsvReader reader(csv, file);
    CsvRecord record;
    std::map<std::string, std::size_t> columns;
    if (reader.next(record, found)) {
        for (std::size_t i = 0; i < record.cells.size(); ++i) {
            columns[std::string(record.cells[i].text)] = i;
        }
    }
    for (const char* name : {"op", "dtype", "direction", "left_out_mape", "left_out_by"}) {
        if (columns.count(name) == 0) {
            found.error("no-column", fmt::format("column {} is missing", name),
                        "give the CSV that an earlier run of cross-validate wrote", {file, 1, 1});
        }
    }
    std::map<std::string, std::pair<double, int>> sums;
    while (!found.has_errors() && reader.next(record, found)) {
        const auto cell = [&](const char* name) {
            const std::size_t at = columns.at(name);
            return at < record.cells.size() ? std::string(record.cells[at].text) : std::string{};
        };
        const std::string error = cell("left_out_mape");
        if (error.empty()) {
            continue;
        }
        double value = -1.0;
        const char* last = error.data() + error.size();
        const auto [end, status] = std::from_chars(error.data(), last, value);
        if (status != std::errc{} || end != last || !(value >= 0.0)) {
            found.error("bad-number", fmt::format("left_out_mape is '{}'", error),
                        "write a share such as 0.137", {file, record.line, 1});
            continue;
        }
        const std::string key = fmt::format("{} {} {} {}", cell("left_out_by"), cell("op"),
                                            cell("dtype"), cell("direction"));
        sums[key].first += value;
        ++sums[key].second;
    }
    if (found.has_errors()) {
        return found;
    }
    FormerErrors former;
    for (const auto& [key, sum] : sums) {
        former[key] = sum.first / sum.second;
    }
    return former;
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
    std::string text = "| class | GPU | rows | limits, % of the rows |\n"
                       "| --- | --- | ---: | --- |\n";
    for (const analysis::BindingRow& row : bindings) {
        text += fmt::format("| {} | {} | {} | {} |\n", row.kernel_class,
                            row.gpu.empty() ? "**all**" : row.gpu, row.rows, row.text());
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

// What a class's rows are left out by, and the errors of one such leave-out.
struct NamedMean {
    std::string by;
    const analysis::CrossGroup* mean = nullptr;
};

std::string key_of(const std::string& by, const analysis::CrossGroup& g) {
    return fmt::format("{} {} {} {}", by, g.op, g.dtype, g.direction);
}

// The means of every leave-out, those of one class after another.
std::vector<NamedMean> means_by_class(const analysis::CrossValidation& result) {
    std::vector<NamedMean> rows;
    for (const analysis::CrossGroup& g : result.means) {
        rows.push_back({std::string(analysis::leave_out_name(result.leave_out)), &g});
        for (const analysis::LeftOut& other : result.also) {
            for (const analysis::CrossGroup& of : other.means) {
                if (std::tie(of.op, of.dtype, of.direction) ==
                    std::tie(g.op, g.dtype, g.direction)) {
                    rows.push_back({std::string(analysis::leave_out_name(other.by)), &of});
                }
            }
        }
    }
    return rows;
}

std::string left_out_markdown(const analysis::CrossValidation& result, const FormerErrors& former) {
    std::string text =
        "| op | type | direction | left out | GPUs | rows | naive | former | error | "
        "in 80 % |\n"
        "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    for (const NamedMean& row : means_by_class(result)) {
        const analysis::CrossGroup& g = *row.mean;
        const auto before = former.find(key_of(row.by, g));
        const Figure known = before == former.end() ? std::nullopt : std::optional(before->second);
        text += fmt::format("| {} | {} | {} | {} | {} | {} | {:.1f} | {} | {} | {} |\n", g.op,
                            g.dtype, g.direction, row.by, g.gpu.substr(0, g.gpu.find(' ')), g.rows,
                            100.0 * g.naive, hundredths(known), hundredths(g.left_out),
                            whole(g.left_out_inside));
    }
    return text;
}

std::string also_markdown(const analysis::CrossValidation& result) {
    std::string text;
    for (const analysis::LeftOut& other : result.also) {
        text += fmt::format("\n## By GPU, each {} left out\n\n"
                            "| op | type | direction | GPU | rows | naive | error | in 80 % |\n"
                            "| --- | --- | --- | --- | ---: | ---: | ---: | ---: |\n",
                            analysis::leave_out_name(other.by));
        for (const analysis::CrossGroup& g : other.groups) {
            text += fmt::format("| {} | {} | {} | {} | {} | {:.1f} | {} | {} |\n", g.op, g.dtype,
                                g.direction, g.gpu, g.rows, 100.0 * g.naive, hundredths(g.left_out),
                                whole(g.left_out_inside));
        }
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

std::string cross_validation_markdown(const analysis::CrossValidation& result,
                                      const FormerErrors& former) {
    std::string text = "# Errors of predicted GPU times\n\nPrinted by `eyeroof-dev cross-validate "
                       "TABLE --format md`; what the columns mean is in\n"
                       "[gpu-model.md](gpu-model.md#errors). Figures in %.\n";
    text += "\n## Means over the GPUs\n\n" + markdown_table(result.means);
    text += "\n## Every class by what is left out\n\n" + left_out_markdown(result, former);
    text += "\n## By GPU\n\n" + markdown_table(result.groups);
    text += also_markdown(result);
    text += "\n## Share of rows in which a limit binds\n\n" + bindings_markdown(result.bindings);
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
    std::string text = "line,gpu,op,dtype,direction,kind,left_with,measured_s,held_out,own_s,"
                       "left_out_s,limiter,naive_s,flops,bytes,peak_flops_per_s,dram_bytes_per_s,"
                       "l2_bytes,sms,clock_hz,mapping\n";
    for (const analysis::CrossRow& r : result.rows) {
        text +=
            fmt::format("{},{},{},{},{},{},{},{:.6g},{},{:.6g},{:.6g},{},{:.6g},{:.6g},{:.6g},"
                        "{:.6g},{:.6g},{:.6g},{},{:.6g},\"{}\"\n",
                        r.line, r.gpu, r.op, r.dtype, r.direction, r.kind, csv_quoted(r.left_with),
                        r.measured_s, r.tested ? 1 : 0, r.own_s, r.left_out_s,
                        csv_quoted(r.limiter), r.naive_s, r.flops, r.bytes, r.peak_flops_per_s,
                        r.dram_bytes_per_s, r.l2_bytes, r.sms, r.clock_hz, r.mapping);
    }
    return text;
}

} // namespace eyeroof::report
