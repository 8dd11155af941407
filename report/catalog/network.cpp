#include "report/catalog/network.hpp"

#include "base/csv.hpp"
#include "base/json.hpp"
#include "base/lines.hpp"
#include "base/units.hpp"
#include "formats/layer_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>

namespace eyeroof::report {

namespace {

using Json = nlohmann::ordered_json;
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

std::string layer_line(const model::Layer& layer) {
    const model::Work work = work_of(layer).value();
    std::string shape = shape_text(layer);
    if (layer.direction != model::Direction::fwd) {
        shape = fmt::format("{}: {}", direction_name(layer.direction), shape);
    }
    return fmt::format("{} {} {} {} {} {} {}\n", left(layer.name, 15), left(op_name(layer.op), 11),
                       right(fmt::format("{}", layer.count), 4), left(shape, 40),
                       right(si(work.macs, "MAC"), 10), right(si(work.bytes(), "B"), 8),
                       right(fmt::format("{:.4g}", intensity(work)), 6));
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

Json parameters_json(const std::vector<formats::Parameter>& parameters) {
    Json list = Json::array();
    for (const formats::Parameter& p : parameters) {
        list.push_back({{"name", p.name},
                        {"default", p.standard},
                        {"min", p.min},
                        {"max", p.max},
                        {"meaning", p.meaning}});
    }
    return list;
}

Json totals_json(const model::NetworkTotals& totals) {
    return {{"macs", totals.macs},
            {"flops", totals.flops},
            {"parameters", totals.parameters},
            {"weight_bytes", totals.weight_bytes},
            {"accesses_without_reuse", totals.accesses_without_reuse()}};
}

// The cells of the layer CSV under their column names; numbers as numbers.
Json layer_json(const model::Layer& layer) {
    Json json;
    const auto cells = formats::layer_to_text(layer);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        Count number = 0;
        const char* last = cells[i].data() + cells[i].size();
        const auto [end, error] = std::from_chars(cells[i].data(), last, number);
        if (cells[i].empty()) {
            continue;
        }
        const bool numeric = error == std::errc{} && end == last && i > 1;
        json[std::string(formats::column_names()[i])] = numeric ? Json(number) : Json(cells[i]);
    }
    const model::Work work = work_of(layer).value();
    json["count"] = layer.count;
    json["macs"] = work.macs;
    json["flops"] = work.flops;
    json["read_bytes"] = work.bytes_read();
    json["write_bytes"] = work.bytes_written();
    Json tensors = Json::array();
    for (const model::TensorUse& t : work.tensors) {
        tensors.push_back({{"name", t.name},
                           {"elements", t.elements},
                           {"bytes", t.bytes},
                           {"written", t.written}});
    }
    json["tensors"] = std::move(tensors);
    return json;
}

std::string parameters_text(const std::vector<formats::Parameter>& parameters) {
    std::string text;
    for (const formats::Parameter& p : parameters) {
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", p.name, p.standard);
    }
    return text;
}

} // namespace

std::string shape_text(const model::Layer& layer) {
    return std::visit(ShapeText{layer.op}, layer.shape);
}

std::string uncosted_to_text(const model::Network& network) {
    const Count missing = uncosted_operators(network);
    if (missing == 0) {
        return {};
    }
    std::string text = fmt::format("Not costed: {} of {} operators ({:.1f} %)\n", missing,
                                   operators_of(network), 100.0 * uncosted_share(network));
    for (const model::Uncosted& u : network.uncosted) {
        text +=
            wrapped(fmt::format("{} x {}{}: {}{}", u.count, masked_controls(u.op),
                                u.name.empty() ? "" : " (first " + masked_controls(u.name) + ")",
                                masked_controls(u.why), u.may_multiply ? "; it may multiply" : ""),
                    2, 100);
    }
    return text;
}

std::string network_to_text(const model::Network& network, const model::NetworkTotals& totals) {
    std::string text = wrapped(fmt::format("{} ({})", network.name, network.id), 0, 100);
    if (!network.source.empty()) {
        text += wrapped("Source: " + network.source, 0, 100);
    }
    text += fmt::format("\n{} {} {} {} {} {} {}\n", left("layer", 15), left("operator", 11),
                        right("runs", 4), left("shape", 40), right("work", 10), right("traffic", 8),
                        right("FLOP/B", 6));
    Count runs = 0;
    for (const model::Layer& layer : network.layers) {
        text += layer_line(layer);
        runs += layer.count;
    }
    text +=
        "\n" + wrapped_parts(
                   {counted(network.layers.size(), "layer") + ", " + counted(runs, "run"),
                    format_si(static_cast<double>(totals.macs), "MAC", 4),
                    format_si(static_cast<double>(totals.flops), "FLOP", 4),
                    format_si(static_cast<double>(totals.parameters), "", 4) + " parameters",
                    si(totals.weight_bytes, "B") + " of weights",
                    format_si(totals.accesses_without_reuse(), "", 4) + " accesses without reuse",
                    types_line(network)},
                   0, 100);
    text += wrapped("Work and traffic are of one run. Traffic is compulsory: every tensor once.", 0,
                    100);
    text += network.uncosted.empty() ? "" : "\n" + uncosted_to_text(network);
    return text;
}

std::string network_to_json(const model::Network& network, const model::NetworkTotals& totals) {
    Json json = {{"schema", "eyeroof/net/1"},
                 {"id", network.id},
                 {"name", network.name},
                 {"source", network.source}};
    Json layers = Json::array();
    for (const model::Layer& layer : network.layers) {
        layers.push_back(layer_json(layer));
    }
    json["layers"] = std::move(layers);
    json["total"] = totals_json(totals);
    json["operators"] = operators_of(network);
    json["uncosted_share"] = uncosted_share(network);
    Json uncosted = Json::array();
    for (const model::Uncosted& u : network.uncosted) {
        uncosted.push_back({{"op", u.op},
                            {"name", u.name},
                            {"why", u.why},
                            {"count", u.count},
                            {"may_multiply", u.may_multiply}});
    }
    json["uncosted"] = std::move(uncosted);
    return json_document(json);
}

constexpr std::size_t kNameWidth = 18; // names are typed as they stand here, so none is cut

namespace {

std::string shortened(const std::string& name, std::size_t width) {
    return display_width(name) > width ? left(name, width) : name;
}

} // namespace

std::string networks_to_text(const std::vector<NetworkRow>& rows) {
    std::string text = fmt::format("{} {} {} {} {}\n", left("name", kNameWidth), right("runs", 5),
                                   right("work", 11), right("weights", 9),
                                   "description, and parameters with their defaults");
    for (const NetworkRow& row : rows) {
        text += fmt::format(
            "{} {} {} {} {}\n", left(row.head.id, kNameWidth), right(std::to_string(row.runs), 5),
            right(si(row.totals.macs, "MAC"), 11), right(si(row.totals.weight_bytes, "B"), 9),
            shortened(masked_controls(row.head.name), 100 - kNameWidth - 29));
        if (!row.head.parameters.empty()) {
            text += wrapped(parameters_text(row.head.parameters), kNameWidth + 29, 100);
        }
    }
    return text + "\nParameters are set behind the name: mobilenet-v1:width=0.5,resolution=128\n";
}

std::string networks_to_json(const std::vector<NetworkRow>& rows) {
    Json list = Json::array();
    for (const NetworkRow& row : rows) {
        list.push_back({{"id", row.head.id},
                        {"name", row.head.name},
                        {"source", row.head.source},
                        {"path", row.head.path.string()},
                        {"runs", row.runs},
                        {"total", totals_json(row.totals)},
                        {"parameters", parameters_json(row.head.parameters)}});
    }
    return json_document({{"schema", "eyeroof/nets/1"}, {"networks", std::move(list)}});
}

std::string networks_to_csv(const std::vector<NetworkRow>& rows) {
    std::string csv = "id,name,runs,macs,weight_bytes\n";
    for (const NetworkRow& row : rows) {
        csv += fmt::format("{},{},{},{},{}\n", csv_quoted(row.head.id), csv_quoted(row.head.name),
                           row.runs, row.totals.macs, row.totals.weight_bytes);
    }
    return csv;
}

} // namespace eyeroof::report
