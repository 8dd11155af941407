#include "analysis/diff/diff.hpp"

#include "base/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <map>

namespace eyeroof::analysis {

using Json = nlohmann::ordered_json;

namespace {

// Reads keys and collects what is missing.
class Reader {
  public:
    Reader(const std::string& file, Diagnostics& found) : file_(file), found_(found) {}

    const Json& at(const Json& object, const char* key, const std::string& where) {
        static const Json none;
        if (object.is_object() && object.contains(key)) {
            return object[key];
        }
        fail(where + key);
        return none;
    }
    double number(const Json& object, const char* key, const std::string& where) {
        const Json& value = at(object, key, where);
        if (!value.is_null() && !(value.is_number() && std::isfinite(value.get<double>()))) {
            fail(where + key);
        }
        return value.is_number() ? value.get<double>() : 0.0;
    }
    std::string text(const Json& object, const char* key, const std::string& where) {
        const Json& value = at(object, key, where);
        if (!value.is_null() && !value.is_string()) {
            fail(where + key);
        }
        return value.is_string() ? value.get<std::string>() : std::string();
    }
    void fail(const std::string& what) {
        if (reported_++ < kMostReported) {
            found_.error("bad-exam",
                         fmt::format("{} is no examination: '{}' is missing or wrong", file_, what),
                         "it is what `eyeroof exam --format json` writes");
        }
    }

  private:
    static constexpr int kMostReported = 5;
    const std::string& file_;
    Diagnostics& found_;
    int reported_ = 0;
};

ExamSide::Layer read_layer(const Json& json, const std::string& where, Reader& read) {
    ExamSide::Layer layer;
    layer.name = read.text(json, "name", where);
    layer.count = read.number(json, "count", where);
    for (std::size_t i = 0; i < kDiffFigures.size(); ++i) {
        layer.figures[i] = read.number(json, std::string(kDiffFigures[i]).c_str(), where);
    }
    layer.limiter = fmt::format("{} {}", read.number(json, "limiter_step", where),
                                read.text(json, "limiter", where));
    const Json& steps = read.at(json, "steps", where);
    if (!steps.is_array() || steps.size() != model::kSteps) {
        read.fail(where + "steps");
        return layer;
    }
    for (std::size_t i = 0; i < model::kSteps; ++i) {
        layer.bounds[i] =
            read.number(steps[i], "bound_macs_per_cycle", fmt::format("{}steps[{}].", where, i));
    }
    return layer;
}

void read_side(std::string_view text, Reader& read, ExamSide& side) {
    const Json json = parse_json(text);
    if (!json.is_object() || json.value("schema", Json()) != "eyeroof/exam/1") {
        read.fail("schema");
        return;
    }
    side.name = fmt::format("{} on {}", read.text(read.at(json, "network", ""), "name", "network."),
                            read.text(read.at(json, "machine", ""), "name", "machine."));
    if (json.contains("words") &&
        json["words"].is_string()) { // the whole scenario; older answers lack it
        side.name = json["words"].get<std::string>();
    }
    const Json& total = read.at(json, "total", "");
    for (std::size_t i = 0; i < kDiffFigures.size(); ++i) {
        side.total[i] = read.number(total, std::string(kDiffFigures[i]).c_str(), "total.");
    }
    const Json& layers = read.at(json, "layers", "");
    if (!layers.is_array()) {
        read.fail("layers");
        return;
    }
    for (std::size_t i = 0; i < layers.size(); ++i) {
        side.layers.push_back(read_layer(layers[i], fmt::format("layers[{}].", i), read));
    }
}

LayerDiff layer_diff(const ExamSide::Layer& a, const ExamSide::Layer& b) {
    LayerDiff diff;
    diff.name = b.name;
    diff.count = {a.count, b.count};
    for (std::size_t i = 0; i < kDiffFigures.size(); ++i) {
        diff.figures[i] = {a.figures[i], b.figures[i]};
    }
    for (std::size_t i = 0; i < model::kSteps; ++i) {
        diff.bounds[i] = {a.bounds[i], b.bounds[i]};
    }
    diff.limiter_a = a.limiter;
    diff.limiter_b = b.limiter;
    return diff;
}

} // namespace

ExamSide exam_side(const Report& report) {
    ExamSide side;
    side.name = report.words;
    const Total& total = report.total;
    side.total = {total.time_s, total.energy_j, total.outer_bytes, total.macs, total.utilization};
    for (const LayerReport& from : report.layers) {
        ExamSide::Layer layer;
        layer.name = from.layer.name;
        layer.count = static_cast<double>(from.layer.count);
        layer.figures = {from.time_s, from.energy_j, from.outer_bytes,
                         static_cast<double>(from.macs), from.utilization};
        layer.limiter = fmt::format("{} {}", from.limiter_step, from.limiter);
        for (std::size_t i = 0; i < model::kSteps; ++i) {
            layer.bounds[i] = from.steps[i].macs_per_cycle;
        }
        side.layers.push_back(std::move(layer));
    }
    return side;
}

Result<ExamSide> exam_side(std::string_view json, const std::string& file) {
    Diagnostics found;
    Reader read(file, found);
    ExamSide side;
    read_side(json, read, side);
    return found.has_errors() ? Result<ExamSide>(std::move(found))
                              : Result<ExamSide>(std::move(side));
}

ExamDiff diff_exams(const ExamSide& a, const ExamSide& b) {
    ExamDiff diff{a.name, b.name, {}, {}, {}, {}};
    for (std::size_t i = 0; i < kDiffFigures.size(); ++i) {
        diff.total[i] = {a.total[i], b.total[i]};
    }
    std::map<std::string, std::vector<const ExamSide::Layer*>>
        left; // of a, by name, last one first
    for (auto layer = a.layers.rbegin(); layer != a.layers.rend(); ++layer) {
        left[layer->name].push_back(&*layer);
    }
    for (const ExamSide::Layer& layer : b.layers) {
        const auto same = left.find(layer.name);
        if (same == left.end() || same->second.empty()) {
            diff.only_b.push_back(layer.name);
            continue;
        }
        diff.layers.push_back(layer_diff(*same->second.back(), layer));
        same->second.pop_back();
    }
    for (const ExamSide::Layer& layer : a.layers) {
        auto& rest = left[layer.name];
        if (!rest.empty()) {
            diff.only_a.push_back(layer.name);
            rest.pop_back();
        }
    }
    return diff;
}

namespace {

template <std::size_t N>
std::vector<std::optional<double>> gate_values(const std::array<BothSides, N>& figures) {
    std::vector<std::optional<double>> values;
    for (const BothSides& figure : figures) {
        values.push_back(figure.a);
        values.push_back(figure.b);
        values.push_back(figure.change());
    }
    return values;
}

} // namespace

const GateKeys& diff_gate_keys() {
    static const GateKeys keys = [] {
        GateKeys made;
        for (const std::string_view figure : kDiffFigures) {
            made.net.push_back(std::string(figure) + "_a");
            made.net.push_back(std::string(figure) + "_b");
            made.net.push_back(change_key(figure));
        }
        made.layers = made.net;
        return made;
    }();
    return keys;
}

GateFigures diff_gate_figures(const ExamDiff& diff) {
    GateFigures figures{diff_gate_keys(), gate_values(diff.total), {}, {}};
    for (const LayerDiff& layer : diff.layers) {
        figures.layers.push_back({layer.name, gate_values(layer.figures)});
    }
    figures.why_none = [](const std::string&) { return "it is 0 on the first side"; };
    return figures;
}

} // namespace eyeroof::analysis
