#include "base/lines.hpp"
#include "report/calibrate/validation_answers.hpp"

#include <fmt/format.h>

namespace eyeroof::report {

namespace {

using analysis::ErrorFigures;
using analysis::NetworkFigures;
using analysis::NetworkResult;
using analysis::ValidatedRow;
using analysis::ValidationGroup;

std::string error_sentence(int rows, double error, double inside) {
    return fmt::format("{}: mean error {:.1f} %, {:.0f} % inside the 80 % intervals",
                       counted(rows, "row"), 100.0 * error, 100.0 * inside);
}

std::vector<Column<ValidationGroup>> layer_columns() {
    std::vector<Column<ValidationGroup>> columns = {
        {"gpu", "gpu", Unit::none, &ValidationGroup::gpu},
        {"op", "op", Unit::none, &ValidationGroup::op},
        {"dtype", "type", Unit::none, &ValidationGroup::dtype},
        {"direction", "direction", Unit::none, &ValidationGroup::direction}};
    const auto add = [&](const char* key, const char* title, Unit unit, auto member,
                         const char* meaning) {
        columns.emplace_back(
            key, title, unit, [member](const ValidationGroup& g) { return g.figures.*member; },
            kAll, meaning);
    };
    add("rows", "rows", Unit::count, &ErrorFigures::rows, "");
    add("mape", "error", Unit::share, &ErrorFigures::mape, "mean |predicted / measured - 1|");
    add("median", "median", Unit::share, &ErrorFigures::median, "of the same");
    add("bias", "bias", Unit::share, &ErrorFigures::bias, "of the geometric mean of ratios");
    add("naive_mape", "naive", Unit::share, &ErrorFigures::naive_mape, "error of the roofline");
    add("coverage", "within", Unit::share, &ErrorFigures::coverage,
        "share of rows inside their intervals");
    add("unphysical", "unphysical", Unit::count, &ErrorFigures::unphysical,
        "predictions below their own step 6");
    columns.emplace_back("exchanged_mape", "", Unit::share, &ValidationGroup::exchanged_mape,
                         kPrograms, "with n and k exchanged, where that is far better");
    return columns;
}

AnswerTable worst_layers(const std::vector<ValidatedRow>& rows) {
    const auto ratio = [](const ValidatedRow& r) { return r.predicted_s / r.row.measured_s; };
    return make_table<ValidatedRow>(
        "worst", "Farthest off", rows,
        {{"line", "line", Unit::count, [](const ValidatedRow& r) { return r.row.line; }},
         {"gpu", "gpu", Unit::none, [](const ValidatedRow& r) { return r.row.gpu; }},
         {"op", "op", Unit::none,
          [](const ValidatedRow& r) { return model::op_name(r.row.layer.op); }},
         {"dtype", "", Unit::none,
          [](const ValidatedRow& r) { return model::data_type_name(r.row.layer.types.input); }},
         {"direction", "", Unit::none,
          [](const ValidatedRow& r) {
              return r.row.layer.direction == model::Direction::fwd ? "fwd" : "gradient";
          }},
         {"class", "", Unit::none, &ValidatedRow::kernel_class, kPrograms, "class of kernels"},
         {"kind", "", Unit::none, &ValidatedRow::kind, kPrograms, "kind of row in error_by_kind"},
         {"part", "", Unit::none, &ValidatedRow::part, kPrograms, "longest part of the kernel"},
         {"held_out", "", Unit::none, &ValidatedRow::held_out, kPrograms,
          "whether a fit holds the shape out"},
         {"flops", "", Unit::none, &ValidatedRow::flops},
         {"bytes", "", Unit::bytes, &ValidatedRow::bytes},
         {"measured_s", "measured", Unit::seconds,
          [](const ValidatedRow& r) { return r.row.measured_s; }},
         {"predicted_s", "predicted", Unit::seconds, &ValidatedRow::predicted_s},
         {"", "ratio", Unit::times, ratio, kPeople},
         {"low_s", "", Unit::seconds, &ValidatedRow::low_s},
         {"high_s", "", Unit::seconds, &ValidatedRow::high_s},
         {"naive_s", "", Unit::seconds, &ValidatedRow::naive_s},
         {"limiter", "limiter", Unit::none, &ValidatedRow::limiter}});
}

std::vector<Column<NetworkFigures>> network_columns() {
    return {{"gpu", "gpu", Unit::none, &NetworkFigures::gpu},
            {"phase", "phase", Unit::none, &NetworkFigures::phase},
            {"dtype", "type", Unit::none, &NetworkFigures::dtype},
            {"rows", "rows", Unit::count, &NetworkFigures::rows},
            {"mape", "error", Unit::share, &NetworkFigures::mape},
            {"naive_mape", "naive", Unit::share, &NetworkFigures::naive_mape, kAll,
             "error of the layers' rooflines"},
            {"bias", "bias", Unit::share, &NetworkFigures::bias, kAll,
             "of the geometric mean of ratios"},
            {"inside", "inside", Unit::share, &NetworkFigures::inside, kAll,
             "share of rows inside their intervals"}};
}

AnswerTable network_rows(const std::vector<NetworkResult>& rows) {
    const auto row = [](auto member) {
        return [member](const NetworkResult& r) { return r.row.*member; };
    };
    using Measured = analysis::MeasuredNetwork;
    const auto error = [](const NetworkResult& r) {
        return r.predicted_s / r.row.measured_s - 1.0;
    };
    return make_table<NetworkResult>(
        "networks", "Networks", rows,
        {{"line", "", Unit::count, row(&Measured::line)},
         {"network", "network", Unit::none, row(&Measured::network)},
         {"family", "", Unit::none, row(&Measured::family)},
         {"gpu", "gpu", Unit::none, row(&Measured::gpu)},
         {"phase", "phase", Unit::none, row(&Measured::phase)},
         {"dtype", "", Unit::none, row(&Measured::dtype)},
         {"measured_s", "measured", Unit::seconds, row(&Measured::measured_s)},
         {"predicted_s", "predicted", Unit::seconds, &NetworkResult::predicted_s},
         {"", "error", Unit::share, error, kPeople},
         {"low_s", "", Unit::seconds, &NetworkResult::low_s},
         {"high_s", "", Unit::seconds, &NetworkResult::high_s},
         {"host_s", "host", Unit::seconds, &NetworkResult::host_s},
         {"device_s", "kernels", Unit::seconds, &NetworkResult::device_s},
         {"naive_s", "", Unit::seconds, &NetworkResult::naive_s}});
}

} // namespace

Answer layers_validated(const analysis::Validation& v) {
    Answer a;
    a.schema = "eyeroof/validation/1";
    a.title = "Predicted and measured layers";
    a.sentences = {error_sentence(v.all.rows, v.all.mape, v.all.coverage),
                   fmt::format("Mean of the groups' errors: {:.1f} %", 100.0 * v.mean_of_groups)};
    a.figures = {{"mean_of_groups_mape", "", v.mean_of_groups, Unit::share}};
    for (const ValidationGroup& g : v.groups) {
        if (g.exchanged_mape) {
            a.warnings.push_back(fmt::format(
                "{} {} {} {}: with n and k exchanged the error is {:.1f} %: does the table name "
                "its columns the other way round?",
                g.gpu, g.op, g.dtype, g.direction, 100.0 * *g.exchanged_mape));
        }
    }
    add_groups<ValidationGroup>(a, v.groups, {"all rows", "", "", "", v.all, {}}, layer_columns());
    a.tables.push_back(worst_layers(v.worst));
    a.rows = "groups";
    return a;
}

Answer networks_validated(const analysis::NetworksValidation& v) {
    Answer a;
    a.schema = "eyeroof/networks/1";
    a.title = "Predicted and measured networks";
    a.sentences = {error_sentence(v.all.rows, v.all.mape, v.all.inside)};
    a.tables = {network_rows(v.rows)};
    add_groups(a, v.groups, v.all, network_columns());
    a.rows = "networks";
    return a;
}

} // namespace eyeroof::report
