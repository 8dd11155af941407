#include "report/catalog/network.hpp"

#include "base/lines.hpp"
#include "base/units.hpp"
#include "formats/layer_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace eyeroof::report {

namespace {

using model::Extent2;

std::string both(Extent2 value) {
    return value.h == value.w ? std::to_string(value.h) : fmt::format("{}x{}", value.h, value.w);
}

struct ShapeText {
    model::Op op;

    std::string operator()(const model::ConvShape& s) const {
        std::string text =
            fmt::format("{}x{}x{} -> {}x{}x{}, {}x{}", s.c, s.h, s.w, s.k, s.p(), s.q(), s.r, s.s);
        text += s.stride == Extent2{1, 1} ? "" : "/" + both(s.stride);
        text += s.pad == Extent2{0, 0} ? "" : " pad " + both(s.pad);
        text += s.dilation == Extent2{1, 1} ? "" : " dilation " + both(s.dilation);
        text += s.groups == 1     ? ""
                : s.groups == s.c ? std::string(" depthwise")
                                  : fmt::format(" grp {}", s.groups);
        return times(s.n, text);
    }
    std::string operator()(const model::PoolShape& s) const {
        std::string text =
            fmt::format("{}x{}x{} -> {}x{}x{}, {}x{}", s.c, s.h, s.w, s.c, s.p(), s.q(), s.r, s.s);
        text += s.stride == Extent2{1, 1} ? "" : "/" + both(s.stride);
        text += s.pad == Extent2{0, 0} ? "" : " pad " + both(s.pad);
        return times(s.n, text);
    }
    std::string operator()(const model::GemmShape& s) const {
        return times(s.batch, fmt::format("{}x{} . {}x{}", s.m, s.k, s.k, s.n));
    }
    std::string operator()(const model::RowsShape& s) const {
        return s.table > 0 ? fmt::format("{} of {} x {}", s.rows, s.table, s.cols)
                           : fmt::format("{} x {}", s.rows, s.cols);
    }
    std::string operator()(const model::ElementwiseShape& s) const {
        return fmt::format("{} x {}, {}", s.rows, s.cols, s.fn);
    }
    std::string operator()(const model::AttentionShape& s) const {
        std::string text =
            fmt::format("{} heads, {} queries, {} keys of {}", s.groups, s.m, s.n, s.k);
        text += s.value_size() == s.k ? "" : fmt::format(", values of {}", s.v);
        text += s.key_heads() == s.groups ? "" : fmt::format(", {} with keys", s.kv_heads);
        text += s.causal ? ", causal" : "";
        text += s.window > 0 ? fmt::format(", window {}", s.window) : "";
        return times(s.batch, text);
    }
    std::string operator()(const model::MoeShape& s) const {
        return fmt::format("{} tokens to {} of {} experts, {} x {}", s.m, s.topk, s.experts, s.n,
                           s.k);
    }

    static std::string times(Count count, const std::string& text) {
        return count == 1 ? text : fmt::format("{} x [{}]", count, text);
    }
};

double intensity(const model::Work& work) {
    return static_cast<double>(work.flops) / static_cast<double>(work.bytes());
}

std::string si(Count value, std::string_view unit) {
    return value == 0 ? std::string("-") : format_si(static_cast<double>(value), unit, 4);
}

std::string shape_with_direction(const model::Layer& layer) {
    const bool forward = layer.direction == model::Direction::fwd;
    return (forward ? "" : std::string(direction_name(layer.direction)) + ": ") +
           std::visit(ShapeText{layer.op}, layer.shape);
}

std::string types_line(const model::Network& network) {
    std::string text;
    std::vector<model::TensorTypes> seen;
    for (const model::Layer& layer : network.layers) {
        if (std::find(seen.begin(), seen.end(), layer.types) == seen.end()) {
            seen.push_back(layer.types);
            text += (text.empty() ? "" : ", ") + formats::types_to_text(layer.types);
        }
    }
    return text;
}

// A cell of the layer CSV under its column's name; numbers as numbers.
Column<model::Layer> cell_column(std::size_t i) {
    const bool is_name = i <= static_cast<std::size_t>(formats::Column::op);
    const auto text = [i](const model::Layer& layer) {
        return known_text(formats::layer_to_text(layer)[i]);
    };
    Column<model::Layer> column(std::string(formats::column_names()[i]), text, kJson);
    column.head.absent = !is_name;
    if (is_name) {
        return column;
    }
    column.head.kind = Kind::number_or_text;
    column.of = [text](const model::Layer& layer) {
        const std::optional<std::string> cell = text(layer);
        Count number = 0;
        const char* last = cell ? cell->data() + cell->size() : nullptr;
        const bool whole = cell && std::from_chars(cell->data(), last, number).ptr == last;
        return whole ? Value(number) : value_of(cell);
    };
    return column;
}

std::vector<Column<model::Layer>> layer_columns() {
    using model::Layer, model::TensorUse;
    std::vector<Column<Layer>> columns;
    for (std::size_t i = 0; i < formats::kColumns; ++i) {
        if (i != static_cast<std::size_t>(formats::Column::count)) {
            columns.push_back(cell_column(i));
        }
    }
    const auto work = [](auto of) {
        return [of](const Layer& layer) { return of(work_of(layer).value()); };
    };
    const auto macs = work([](const model::Work& w) { return w.macs; });
    const auto some_macs = work(
        [](const model::Work& w) { return w.macs > 0 ? std::optional(w.macs) : std::nullopt; });
    const std::vector<Column<Layer>> more = {
        {"", "layer", Unit::none, &Layer::name, kPeople},
        {"", "operator", Unit::none, [](const Layer& l) { return op_name(l.op); }, kPeople},
        {"count", "runs", Unit::count, &Layer::count, kJson | kPeople},
        {"macs", "", Unit::none, macs, kPrograms, "of one run"},
        {"", "work", Unit::macs, some_macs, kPeople, "of one run"},
        {"", "traffic", Unit::bytes, work([](const model::Work& w) { return w.bytes(); }), kPeople,
         "compulsory: every tensor once"},
        {"", "FLOP/B", Unit::none, work(intensity), kPeople},
        {"", "shape", Unit::line, shape_with_direction, kPeople},
        {"flops", work([](const model::Work& w) { return w.flops; })},
        {"read_bytes", work([](const model::Work& w) { return w.bytes_read(); })},
        {"write_bytes", work([](const model::Work& w) { return w.bytes_written(); })},
        nested<Layer, TensorUse>("tensors", "",
                                 work([](const model::Work& w) { return w.tensors; }),
                                 {{"name", &TensorUse::name},
                                  {"elements", &TensorUse::elements},
                                  {"bytes", &TensorUse::bytes},
                                  {"written", &TensorUse::written}},
                                 kJson)};
    columns.insert(columns.end(), more.begin(), more.end());
    return columns;
}

template <class Row, class Get> std::vector<Column<Row>> total_columns(Get totals, unsigned where) {
    using T = model::NetworkTotals;
    const auto of = [totals](auto get) {
        return [totals, get](const Row& row) { return std::invoke(get, std::invoke(totals, row)); };
    };
    return {{"total.macs", "work", Unit::macs, of(&T::macs), where},
            {"total.flops", of(&T::flops), where & kPrograms},
            {"total.parameters", of(&T::parameters), where & kPrograms},
            {"total.weight_bytes", "weights", Unit::bytes, of(&T::weight_bytes), where},
            {"total.accesses_without_reuse", of(&T::accesses_without_reuse), where & kPrograms}};
}

std::vector<std::string> total_parts(const model::Network& network,
                                     const model::NetworkTotals& totals) {
    Count runs = 0;
    for (const model::Layer& layer : network.layers) {
        runs += layer.count;
    }
    return {counted(network.layers.size(), "layer") + ", " + counted(runs, "run"),
            format_si(static_cast<double>(totals.macs), "MAC", 4),
            format_si(static_cast<double>(totals.flops), "FLOP", 4),
            format_si(static_cast<double>(totals.parameters), "", 4) + " parameters",
            si(totals.weight_bytes, "B") + " of weights",
            format_si(totals.accesses_without_reuse(), "", 4) + " accesses without reuse",
            types_line(network)};
}

constexpr const char* kBasis =
    "Work and traffic are of one run. Traffic is compulsory: every tensor once.";

std::string parameters_text(const std::vector<formats::Parameter>& parameters) {
    std::string text;
    for (const formats::Parameter& p : parameters) {
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", p.name, p.standard);
    }
    return text;
}

} // namespace

Answer network_answer(const model::Network& network, const model::NetworkTotals& totals) {
    using model::Uncosted;
    Answer a;
    a.schema = "eyeroof/net/1";
    a.title = network.name;
    a.question = fmt::format("{} ({})", network.name, network.id);
    a.sentences = {fmt::format("{}", fmt::join(total_parts(network, totals), " · "))};
    a.figures = {{"id", "", network.id},
                 {"name", "", network.name},
                 {"source", "", network.source},
                 {"operators", "", operators_of(network)},
                 limited<Figure>({"uncosted_share", "", uncosted_share(network)},
                                 {.least = 0.0, .most = 1.0})};
    add_figures(a.figures, totals,
                total_columns<model::NetworkTotals>([](const auto& t) { return t; }, kJson));
    a.tables = {
        make_table("layers", "", network.layers, layer_columns()),
        make_table<Uncosted>(
            "uncosted",
            fmt::format("Not costed: {} of {} operators ({:.1f} %)", uncosted_operators(network),
                        operators_of(network), 100.0 * uncosted_share(network)),
            network.uncosted,
            {{"op", "operator", Unit::none, &Uncosted::op},
             {"name", "first", Unit::none, &Uncosted::name},
             {"why", "why", Unit::sentence, &Uncosted::why},
             {"count", "operators", Unit::count, &Uncosted::count},
             {"may_multiply", "may multiply", Unit::none, &Uncosted::may_multiply}})};
    a.notes = {kBasis};
    if (!network.source.empty()) {
        a.notes.push_back("Source: " + network.source);
    }
    return a;
}

constexpr const char* kSetting =
    "Parameters are set behind the name: mobilenet-v1:width=0.5,resolution=128";

Answer networks_answer(const std::vector<NetworkRow>& rows) {
    using formats::Parameter;
    const auto head = [](auto formats::NetworkHead::*member) {
        return [member](const NetworkRow& row) { return row.head.*member; };
    };
    const auto parameters = [](const NetworkRow& row) {
        return parameters_text(row.head.parameters);
    };
    std::vector<Column<NetworkRow>> columns = {
        {"id", "name", Unit::none, head(&formats::NetworkHead::id)},
        {"name", head(&formats::NetworkHead::name)},
        {"source", head(&formats::NetworkHead::source), kJson},
        {"path", [](const NetworkRow& row) { return row.head.path.string(); }, kJson},
        {"runs", "runs", Unit::count, &NetworkRow::runs}};
    for (Column<NetworkRow>& column : total_columns<NetworkRow>(&NetworkRow::totals, kAll)) {
        columns.push_back(std::move(column));
    }
    columns.push_back(nested<NetworkRow, Parameter>("parameters", "",
                                                    head(&formats::NetworkHead::parameters),
                                                    {{"name", &Parameter::name},
                                                     {"default", &Parameter::standard},
                                                     {"min", &Parameter::min},
                                                     {"max", &Parameter::max},
                                                     {"meaning", &Parameter::meaning}},
                                                    kJson));
    columns.push_back({"", "description", Unit::line, head(&formats::NetworkHead::name), kPeople});
    columns.push_back({"", "parameters with their defaults", Unit::sentence, parameters, kPeople});
    Answer a;
    a.schema = "eyeroof/nets/1";
    a.title = "Networks of the catalog";
    a.sentences = {counted(rows.size(), "network")};
    a.tables = {make_table("networks", "", rows, columns)};
    a.notes = {kSetting};
    return a;
}

} // namespace eyeroof::report
