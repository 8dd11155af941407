// Lines of a log as JSON, and back.
#include "analysis/trials/log.hpp"
#include "base/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace eyeroof::analysis::tune {

namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kLongestLine = 1'000'000;
constexpr Count kMostSize = model::kMaxDimension;

Json shape_json(const Workload& work) {
    return {{"convolution", work.convolution},
            {"images", work.images},
            {"height", work.height},
            {"width", work.width},
            {"channels", work.depth},
            {"outputs", work.cols},
            {"taps", {work.taps_h, work.taps_w}},
            {"stride", {work.stride.h, work.stride.w}},
            {"pad", {work.pad.h, work.pad.w}},
            {"dilation", {work.dilation.h, work.dilation.w}}};
}

// Reads keys of one object, and notes all that is wrong.
class Reader {
  public:
    Reader(const Json& json, std::string path, Diagnostics& found, const SourceLocation& where)
        : json_(json), path_(std::move(path)), found_(found), where_(where) {
        if (!json_.is_object()) {
            wrong("", "an object");
        }
    }

    Reader object(const char* key) {
        static const Json kEmpty = Json::object();
        return {has(key) ? json_[key] : kEmpty, path_ + key + ".", found_, where_};
    }
    std::string text(const char* key) {
        if (has(key) && json_[key].is_string()) {
            return json_[key].get<std::string>();
        }
        wrong(key, "a text");
        return {};
    }
    bool flag(const char* key) {
        if (has(key) && json_[key].is_boolean()) {
            return json_[key].get<bool>();
        }
        wrong(key, "true or false");
        return false;
    }
    Count whole(const char* key, Count least, Count most) {
        return has(key) ? whole_of(json_[key], key, least, most) : (wrong(key, "a number"), least);
    }
    double number(const char* key, double least) {
        if (has(key) && json_[key].is_number()) {
            const double value = json_[key].get<double>();
            if (std::isfinite(value) && value >= least) {
                return value;
            }
        }
        wrong(key, fmt::format("a number of at least {}", least));
        return 0.0;
    }
    model::Extent2 pair(const char* key, Count least) {
        if (has(key) && json_[key].is_array() && json_[key].size() == 2) {
            return {whole_of(json_[key][0], key, least, kMostSize),
                    whole_of(json_[key][1], key, least, kMostSize)};
        }
        wrong(key, "two numbers");
        return {};
    }
    std::vector<double> numbers(const char* key) {
        std::vector<double> all;
        if (!has(key) || !json_[key].is_array()) {
            wrong(key, "a list of numbers");
            return all;
        }
        for (const Json& item : json_[key]) {
            const double value = item.is_number() ? item.get<double>() : -1.0;
            if (!(value > 0.0) || !std::isfinite(value)) {
                wrong(key, "a list of numbers above 0");
                break;
            }
            all.push_back(value);
        }
        return all;
    }
    std::vector<std::pair<std::string, Count>> knobs(const char* key) {
        std::vector<std::pair<std::string, Count>> all;
        if (!has(key) || !json_[key].is_object() || json_[key].size() > kMostKnobs) {
            wrong(key, fmt::format("an object of at most {} knobs", kMostKnobs));
            return all;
        }
        for (const auto& [name, value] : json_[key].items()) {
            all.emplace_back(name, whole_of(value, key, 0, kMostSize));
        }
        return all;
    }
    bool has(const char* key) const { return json_.is_object() && json_.contains(key); }

  private:
    Count whole_of(const Json& value, const char* key, Count least, Count most) {
        if (value.is_number_integer()) {
            const bool large = value.is_number_unsigned() &&
                               value.get<std::uint64_t>() > static_cast<std::uint64_t>(most);
            if (!large && value.get<Count>() >= least && value.get<Count>() <= most) {
                return value.get<Count>();
            }
        }
        wrong(key, fmt::format("a whole number in {} … {}", least, most));
        return least;
    }
    void wrong(const std::string& key, const std::string& wanted) {
        found_.error("bad-trial", fmt::format("'{}{}' is not {}", path_, key, wanted),
                     "a trial is what `eyeroof tune --log` writes", where_, path_ + key);
    }

    const Json& json_;
    std::string path_;
    Diagnostics& found_;
    SourceLocation where_;
};

Workload work_from(Reader shape, std::string name) {
    model::Layer layer;
    layer.name = std::move(name);
    layer.types = {model::DataType::fp32, model::DataType::fp32, model::DataType::fp32};
    const bool convolution = shape.flag("convolution");
    model::ConvShape conv;
    conv.n = shape.whole("images", 1, kMostSize);
    conv.h = shape.whole("height", 1, kMostSize);
    conv.w = shape.whole("width", 1, kMostSize);
    conv.c = shape.whole("channels", 1, kMostSize);
    conv.k = shape.whole("outputs", 1, kMostSize);
    const model::Extent2 taps = shape.pair("taps", 1);
    conv.r = taps.h;
    conv.s = taps.w;
    conv.stride = shape.pair("stride", 1);
    conv.pad = shape.pair("pad", 0);
    conv.dilation = shape.pair("dilation", 1);
    layer.op = convolution ? model::Op::conv2d : model::Op::gemm;
    layer.shape = convolution ? model::Shape(conv)
                              : model::Shape(model::GemmShape{1, conv.w, conv.k, conv.c});
    auto work = workload_of(layer);
    Workload none;
    none.rows = 0;
    return work ? *std::move(work) : none;
}

GpuMachine gpu_from(Reader gpu, const std::string& name) {
    GpuMachine machine;
    machine.name = name;
    machine.capability = static_cast<int>(gpu.whole("capability", 70, 999));
    machine.sms = static_cast<int>(gpu.whole("sms", 1, 100'000));
    machine.lanes = static_cast<int>(gpu.whole("lanes", 1, 4096));
    machine.max_threads = static_cast<int>(gpu.whole("max_threads", 32, 1 << 16));
    machine.max_ctas = static_cast<int>(gpu.whole("max_ctas", 1, 4096));
    machine.registers = gpu.whole("registers", 1024, Count{1} << 24);
    machine.sm_shared_bytes = gpu.whole("sm_shared_bytes", 1024, Count{1} << 30);
    machine.cta_shared_bytes = gpu.whole("cta_shared_bytes", 1024, Count{1} << 30);
    machine.l2_bytes = gpu.whole("l2_bytes", 0, Count{1} << 50);
    machine.clock_hz = gpu.number("clock_hz", 1.0);
    machine.l2_bytes_per_s = gpu.number("l2_bytes_per_s", 1.0);
    machine.dram_bytes_per_s = gpu.number("dram_bytes_per_s", 1.0);
    return machine;
}

Json gpu_json(const GpuMachine& machine) {
    return {{"capability", machine.capability},
            {"sms", machine.sms},
            {"lanes", machine.lanes},
            {"max_threads", machine.max_threads},
            {"max_ctas", machine.max_ctas},
            {"registers", machine.registers},
            {"sm_shared_bytes", machine.sm_shared_bytes},
            {"cta_shared_bytes", machine.cta_shared_bytes},
            {"l2_bytes", machine.l2_bytes},
            {"clock_hz", machine.clock_hz},
            {"l2_bytes_per_s", machine.l2_bytes_per_s},
            {"dram_bytes_per_s", machine.dram_bytes_per_s}};
}

TrialOrigin origin_from(Reader origin) {
    TrialOrigin from;
    from.target = origin.text("target");
    from.machine = origin.text("machine");
    from.cores = static_cast<int>(origin.whole("cores", 0, 1'000'000));
    from.l1_bytes = origin.whole("l1_bytes", 0, Count{1} << 50);
    from.l2_bytes = origin.whole("l2_bytes", 0, Count{1} << 50);
    from.l3_bytes = origin.whole("l3_bytes", 0, Count{1} << 50);
    from.lanes = static_cast<int>(origin.whole("lanes", 0, 4096));
    from.registers = static_cast<int>(origin.whole("registers", 0, 4096));
    from.compiler = origin.text("compiler");
    from.flags = origin.text("flags");
    from.date = origin.text("date");
    from.command = origin.text("search");
    from.seed =
        static_cast<std::uint64_t>(origin.whole("seed", 0, std::numeric_limits<Count>::max()));
    if (origin.has("gpu")) {
        from.gpu = gpu_from(origin.object("gpu"), from.machine);
    }
    return from;
}

Outcome outcome_from(Reader& line) {
    Outcome outcome;
    outcome.times_s = line.numbers("times_s");
    outcome.error = line.has("error") ? line.text("error") : std::string{};
    outcome.detail = line.has("detail") ? line.text("detail") : std::string{};
    if (outcome.error.empty()) {
        outcome.cost = line.number("cost", std::numeric_limits<double>::min());
    }
    return outcome;
}

void parse_line(std::string_view text, const SourceLocation& where, std::vector<TrialLine>& lines,
                Diagnostics& found) {
    const Json json =
        text.size() > kLongestLine ? Json(Json::value_t::discarded) : parse_json(text);
    if (json.is_discarded() || !json.is_object()) {
        found.error("bad-json", "the line is no JSON object",
                    "a log has one object a line; is this another file?", where);
        return;
    }
    Diagnostics wrong;
    Reader reader(json, "", wrong, where);
    const std::string schema = reader.text("schema");
    if (!schema.empty() && schema != kTrialSchema) {
        found.error("unknown-schema", fmt::format("'{}' is no schema that is read here", schema),
                    fmt::format("known: {}", kTrialSchema), where, "schema");
        return;
    }
    TrialLine line;
    line.template_name = reader.text("template");
    const std::string layer = reader.text("layer");
    line.work = work_from(reader.object("shape"), layer);
    line.origin = origin_from(reader.object("origin"));
    line.knobs = reader.knobs("knobs");
    line.round = static_cast<int>(reader.whole("round", 0, 1'000'000'000));
    line.trial = reader.whole("trial", 0, 1'000'000'000'000);
    line.predicted = reader.has("predicted") ? reader.number("predicted", -1e30) : 0.0;
    line.at_s = reader.number("at_s", 0.0);
    line.outcome = outcome_from(reader);
    if (wrong.empty() && line.work.rows == 0) {
        wrong.error("bad-trial", "'shape' is no layer that can be tuned", {}, where, "shape");
    }
    if (wrong.empty()) {
        lines.push_back(std::move(line));
    }
    found.append(wrong);
}

// Whether what a killed run has left is of a trial, and not of another file.
bool begins_a_trial(std::string_view text) {
    const std::string begin = fmt::format("{{\"schema\":\"{}\",", kTrialSchema);
    const std::size_t both = std::min(text.size(), begin.size());
    return text.substr(0, both) == begin.substr(0, both);
}

} // namespace

std::string trial_text(const TrialLine& line) {
    Json knobs = Json::object();
    for (const auto& [name, value] : line.knobs) {
        knobs[name] = value;
    }
    const TrialOrigin& from = line.origin;
    Json json = {{"schema", kTrialSchema},  {"template", line.template_name},
                 {"layer", line.work.name}, {"shape", shape_json(line.work)},
                 {"knobs", knobs},          {"round", line.round},
                 {"trial", line.trial},     {"predicted", line.predicted},
                 {"at_s", line.at_s},       {"times_s", line.outcome.times_s}};
    if (line.outcome.ok()) {
        json["cost"] = line.outcome.cost;
    } else {
        json["error"] = line.outcome.error.empty() ? "failed" : line.outcome.error;
        json["detail"] = line.outcome.detail;
    }
    json["origin"] = {
        {"target", from.target},     {"machine", from.machine},     {"cores", from.cores},
        {"l1_bytes", from.l1_bytes}, {"l2_bytes", from.l2_bytes},   {"l3_bytes", from.l3_bytes},
        {"lanes", from.lanes},       {"registers", from.registers}, {"compiler", from.compiler},
        {"flags", from.flags},       {"date", from.date},           {"search", from.command},
        {"seed", from.seed}};
    if (from.gpu) {
        json["origin"]["gpu"] = gpu_json(*from.gpu);
    }
    return json_line(json) + "\n";
}

Result<std::vector<TrialLine>> parse_trials(std::string_view text, const std::string& file) {
    constexpr std::size_t kMostErrors = 20;
    std::vector<TrialLine> lines;
    Diagnostics found;
    int number = 0;
    for (std::size_t at = 0; at < text.size() && found.size() < kMostErrors;) {
        const std::size_t end = text.find('\n', at);
        ++number;
        if (end == std::string_view::npos && !begins_a_trial(text.substr(at))) {
            found.error("bad-json", "the last line is no trial, nor the beginning of one",
                        "a log has one object a line; is this another file?", {file, number, 1});
            break;
        }
        if (end == std::string_view::npos) {
            found.warning("half-a-line", "the last line has no end, and is dropped",
                          "a run was killed while it wrote; it loses this trial",
                          {file, number, 1});
            break;
        }
        if (const std::string_view line = text.substr(at, end - at); !line.empty()) {
            parse_line(line, {file, number, 1}, lines, found);
        }
        at = end + 1;
    }
    if (found.has_errors()) {
        return found;
    }
    return {std::move(lines), std::move(found)};
}

std::optional<Point> point_of(const Space& space, const TrialLine& line) {
    Point point;
    std::size_t known = 0;
    for (const auto& [name, value] : line.knobs) {
        const auto knob = space.find(name);
        if (!knob) {
            return std::nullopt;
        }
        const auto& values = space.knobs()[*knob].values;
        const auto at = std::find(values.begin(), values.end(), value);
        if (at == values.end()) {
            return std::nullopt;
        }
        point.digit[*knob] = static_cast<std::uint32_t>(at - values.begin());
        ++known;
    }
    return known == space.knobs().size() && space.valid(point) ? std::optional(point)
                                                               : std::nullopt;
}

std::vector<std::pair<std::string, Count>> knobs_of(const Space& space, const Point& point) {
    std::vector<std::pair<std::string, Count>> all;
    for (std::size_t knob = 0; knob < space.knobs().size(); ++knob) {
        all.emplace_back(space.knobs()[knob].name, space.value(point, knob));
    }
    return all;
}

TrialLine line_of(const SearchTask& search_task, const Workload& work, const TrialOrigin& origin,
                  const Trial& trial, Count number) {
    return {search_task.template_name,
            work,
            origin,
            knobs_of(search_task.space, trial.point),
            trial.round,
            number,
            trial.predicted,
            trial.at_s,
            trial.outcome};
}

std::vector<TrialLine> merged(const std::vector<std::vector<TrialLine>>& logs) {
    std::vector<TrialLine> all;
    std::set<std::string> seen;
    for (const auto& log : logs) {
        for (const TrialLine& line : log) {
            TrialLine key = line; // what happened, whenever
            key.origin.date.clear();
            key.at_s = 0.0;
            if (seen.insert(trial_text(key)).second) {
                all.push_back(line);
            }
        }
    }
    return all;
}

} // namespace eyeroof::analysis::tune
