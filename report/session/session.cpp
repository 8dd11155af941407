#include "report/session/session.hpp"

#include "analysis/scenario/fields.hpp"
#include "base/text_file.hpp"
#include "hwdb/yaml.hpp"
#include "model/workload/layer.hpp"
#include "report/session/upgrade_question.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <array>
#include <functional>

namespace eyeroof::report {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<const char*, const char*>, 4> kTimeUnits = {
    {{"ns", "ns"}, {"us", "us"}, {"ms", "ms"}, {"s", "s"}}};
constexpr std::array<std::pair<const char*, Theme>, 2> kThemes = {
    {{"light", Theme::light}, {"dark", Theme::dark}}};

template <class Table, class Value> const char* word_of(const Table& table, Value value) {
    for (const auto& [word, entry] : table) {
        if (entry == value) {
            return word;
        }
    }
    return "";
}

std::string relative_to(const std::string& reference, const fs::path& folder) {
    const fs::path path(reference);
    if (folder.empty() || !path.is_absolute()) {
        return reference;
    }
    const fs::path relative = path.lexically_relative(fs::absolute(folder).lexically_normal());
    return relative.empty() ? reference : "./" + relative.generic_string();
}

std::string beside(const std::string& reference, const fs::path& folder) {
    std::error_code ignored;
    return reference.empty() || fs::path(reference).is_absolute()
               ? reference
               : fs::absolute(folder / reference, ignored).lexically_normal().string();
}

// A name of a catalog, or a path: what begins as one, also where there is no such file any more, or
// what is a file.
std::string resolved(const std::string& reference, const fs::path& folder) {
    std::error_code ignored;
    const bool path = reference.starts_with("./") || reference.starts_with("../") ||
                      (reference.find_first_of("/.") != std::string::npos &&
                       fs::exists(folder / reference, ignored));
    return path ? beside(reference, folder) : reference;
}

std::string exactly(double value) {
    return fmt::format("{}", value);
} // shortest round trip

void emit_list(YAML::Emitter& out, const char* key, const std::vector<std::string>& values,
               const fs::path& folder) {
    if (values.empty()) {
        return;
    }
    out << YAML::Key << key << YAML::Value << YAML::BeginSeq;
    for (const std::string& value : values) {
        out << YAML::DoubleQuoted << relative_to(value, folder);
    }
    out << YAML::EndSeq;
}

void emit_range(YAML::Emitter& out, const char* key, const std::optional<LogRange>& range) {
    if (range) {
        out << YAML::Key << key << YAML::Value << YAML::Flow << YAML::BeginSeq
            << exactly(range->min) << exactly(range->max) << YAML::EndSeq;
    }
}

void emit_view(YAML::Emitter& out, const ViewState& view) {
    out << YAML::Key << "view" << YAML::Value << YAML::BeginMap;
    if (!view.filter.empty()) {
        out << YAML::Key << "filter" << YAML::Value << YAML::DoubleQuoted << view.filter;
    }
    if (view.top) {
        out << YAML::Key << "top" << YAML::Value << *view.top;
    }
    if (view.top_share) {
        out << YAML::Key << "top_share" << YAML::Value << exactly(*view.top_share);
    }
    emit_list(out, "hidden", {view.hidden.begin(), view.hidden.end()}, {});
    emit_list(out, "only", {view.only.begin(), view.only.end()}, {});
    emit_list(out, "hidden_machines", {view.hidden_machines.begin(), view.hidden_machines.end()},
              {});
    emit_list(out, "hidden_series", {view.hidden_series.begin(), view.hidden_series.end()}, {});
    if (view.zones) {
        out << YAML::Key << "zones" << YAML::Value << true;
    }
    if (!view.time_unit.empty()) {
        out << YAML::Key << "time_unit" << YAML::Value << view.time_unit;
    }
    out << YAML::Key << "predicted" << YAML::Value << view.predicted;
    out << YAML::Key << "measured" << YAML::Value << view.measured;
    out << YAML::Key << "labels" << YAML::Value << view.labels;
    if (!view.level.empty()) {
        out << YAML::Key << "level" << YAML::Value << YAML::DoubleQuoted << view.level;
    }
    if (view.roofs) {
        emit_list(out, "roofs", {view.roofs->begin(), view.roofs->end()}, {});
        if (view.roofs->empty()) {
            out << YAML::Key << "roofs" << YAML::Value << YAML::BeginSeq << YAML::EndSeq;
        }
    }
    emit_range(out, "x", view.x);
    emit_range(out, "y", view.y);
    emit_list(out, "selection", {view.selection.begin(), view.selection.end()}, {});
    out << YAML::Key << "colour_by" << YAML::Value << word_of(kColourBy, view.colour_by);
    if (view.theme) {
        out << YAML::Key << "theme" << YAML::Value << word_of(kThemes, *view.theme);
    }
    out << YAML::EndMap;
}

// Its names are names of the catalog or paths, too.
analysis::UpgradeQuestion
with_names(analysis::UpgradeQuestion question,
           const std::function<std::string(const std::string&)>& changed) {
    for (analysis::AskedNetwork& network : question.networks) {
        network.name = changed(network.name);
    }
    for (std::string& file : question.prices) {
        file = changed(file);
    }
    question.from.name = changed(question.from.name);
    for (analysis::AskedGpu& gpu : question.to) {
        gpu.name = changed(gpu.name);
    }
    return question;
}

void emit_edits(YAML::Emitter& out, const std::vector<analysis::MappingEdit>& edits) {
    if (edits.empty()) {
        return;
    }
    out << YAML::Key << "mappings" << YAML::Value << YAML::BeginSeq;
    for (const analysis::MappingEdit& edit : edits) {
        out << YAML::BeginMap << YAML::Key << "layer" << YAML::Value << YAML::DoubleQuoted
            << edit.layer;
        if (edit.nest > 0) {
            out << YAML::Key << "nest" << YAML::Value << edit.nest;
        }
        if (edit.nth > 0) {
            out << YAML::Key << "nth" << YAML::Value << edit.nth;
        }
        out << YAML::Key << "mapping" << YAML::Value << YAML::Literal << edit.text << YAML::EndMap;
    }
    out << YAML::EndSeq;
}

std::vector<analysis::MappingEdit> edits_of(const hwdb::Node& node) {
    std::vector<analysis::MappingEdit> edits;
    if (!node) {
        return edits;
    }
    for (const hwdb::Node& item : node.items()) {
        analysis::MappingEdit edit;
        edit.layer = item.need("layer").text().value_or("");
        edit.nest = static_cast<std::size_t>(item["nest"].integer({0, 100}).value_or(0));
        edit.nth = static_cast<std::size_t>(item["nth"].integer({0, 100'000}).value_or(0));
        edit.text = item.need("mapping").text().value_or("");
        edits.push_back(std::move(edit));
    }
    return edits;
}

std::vector<std::string> texts(const hwdb::Node& node) {
    std::vector<std::string> values;
    if (node) {
        for (const hwdb::Node& item : node.items()) {
            values.push_back(item.text().value_or(""));
        }
    }
    return values;
}

std::optional<LogRange> range_of(const hwdb::Node& node) {
    if (!node) {
        return std::nullopt;
    }
    const auto ends = node.items(2);
    if (ends.size() != 2) {
        node.error("bad-range", "a range has two ends", "as in [1, 64]");
        return std::nullopt;
    }
    const auto min = ends[0].number(kAxisLeast, kAxisMost);
    const auto max = ends[1].number(kAxisLeast, kAxisMost);
    if (min && max && !(*min < *max)) {
        node.error("bad-range", "a range ends above its beginning", "put the smaller end first");
    }
    return min && max ? std::optional(LogRange{*min, *max}) : std::nullopt;
}

ViewState read_view(const hwdb::Node& node) {
    ViewState view;
    view.filter = node["filter"].text().value_or("");
    if (const auto top = node["top"].integer({1, 1'000'000})) {
        view.top = static_cast<int>(*top);
    }
    view.top_share = node["top_share"].number(0.0, 1.0);
    view.predicted = node["predicted"].boolean().value_or(true);
    view.measured = node["measured"].boolean().value_or(true);
    view.labels = node["labels"].boolean().value_or(true);
    view.zones = node["zones"].boolean().value_or(false);
    view.time_unit = node["time_unit"].choice(kTimeUnits, "unit of time").value_or("");
    view.level = node["level"].text().value_or("");
    if (const hwdb::Node roofs = node["roofs"]) {
        const auto ids = texts(roofs);
        view.roofs.emplace(ids.begin(), ids.end());
    }
    view.x = range_of(node["x"]);
    view.y = range_of(node["y"]);
    for (const auto& [key, ids] : {std::pair{"selection", &view.selection},
                                   {"hidden", &view.hidden},
                                   {"only", &view.only},
                                   {"hidden_machines", &view.hidden_machines},
                                   {"hidden_series", &view.hidden_series}}) {
        const auto named = texts(node[key]);
        ids->insert(named.begin(), named.end());
    }
    view.colour_by = node["colour_by"].choice(kColourBy, "way to colour").value_or(view.colour_by);
    view.theme = node["theme"].choice(kThemes, "theme");
    return view;
}

// Fields that differ from their defaults, by their JSON keys.
void emit_scenario(YAML::Emitter& out, const analysis::Scenario& scenario) {
    const analysis::Scenario usual;
    out << YAML::Key << "scenario" << YAML::Value << YAML::BeginMap;
    for (const analysis::ScenarioField& field : analysis::scenario_fields()) {
        const auto values = field.get(scenario);
        const bool named = field.name == "network" || field.name == "on";
        if (named || values == field.get(usual)) {
            continue;
        }
        out << YAML::Key << field.json_key() << YAML::Value << YAML::BeginSeq;
        for (const std::string& value : values) {
            out << YAML::DoubleQuoted << value;
        }
        out << YAML::EndSeq;
    }
    out << YAML::EndMap;
}

void set_at(const hwdb::Node& node, const analysis::ScenarioField& field,
            const std::vector<std::string>& values, analysis::Scenario& scenario) {
    for (const Diagnostic& wrong : field.set(scenario, values)) {
        node.error("bad-scenario", wrong.message, wrong.hint);
    }
}

analysis::Scenario read_scenario(const hwdb::Node& root) {
    analysis::Scenario scenario;
    const hwdb::Node node = root["scenario"];
    for (const analysis::ScenarioField& field : analysis::scenario_fields()) {
        const hwdb::Node own = node ? node[field.json_key()] : hwdb::Node{};
        if (own) {
            set_at(own, field, texts(own), scenario);
        }
    }
    return scenario;
}

// Version 1 kept a few fields beside the network.
analysis::Scenario read_first_scenario(const hwdb::Node& root) {
    analysis::Scenario scenario;
    const auto take = [&](const char* key, const char* name, std::string value) {
        if (!value.empty()) {
            set_at(root[key], *analysis::find_field(name), {std::move(value)}, scenario);
        }
    };
    if (const auto batch = root["batch"].integer({1, model::kMaxDimension})) {
        scenario.batch = *batch;
    }
    take("data_type", "dtype", root["data_type"].text().value_or(""));
    take("mapping", "mapping", root["mapping"].text().value_or(""));
    const std::string launch = root["launch"].text().value_or("");
    scenario.compiled = launch == "compiled";
    take("launch", "launch",
         launch == "compiled" ? "stream"
         : launch == "kernel" ? "none"
                              : launch);
    const std::string phase = root["phase"].text().value_or("inference");
    if (phase != "inference") {
        scenario.training.emplace();
        take("phase", "optimizer", phase);
    }
    scenario.changes = texts(root["set"]);
    return scenario;
}

} // namespace

std::string write_session(const Session& session, const fs::path& folder) {
    YAML::Emitter out;
    out << YAML::BeginMap << YAML::Key << "eyeroof" << YAML::Value << "session/2";
    if (!session.scenario.network.empty()) {
        out << YAML::Key << "network" << YAML::Value << YAML::DoubleQuoted
            << relative_to(session.scenario.network, folder);
    }
    emit_list(out, "machines", session.machines, folder);
    emit_list(out, "profiles", session.profiles, folder);
    emit_list(out, "ceilings", session.ceilings, folder);
    if (!session.assignments.empty()) {
        out << YAML::Key << "assignments" << YAML::Value << YAML::DoubleQuoted
            << relative_to(session.assignments, folder);
    }
    emit_list(out, "trials", session.trials, folder);
    emit_scenario(out, session.scenario);
    emit_edits(out, session.mappings);
    if (session.upgrade) {
        out << YAML::Key << "upgrade" << YAML::Value;
        report::emit_question(out, with_names(*session.upgrade, [&](const std::string& name) {
                                  return relative_to(name, folder);
                              }));
    }
    emit_view(out, session.view);
    out << YAML::EndMap;
    return std::string(out.c_str()) + "\n";
}

Result<Session> parse_session(std::string text, const std::string& file) {
    auto document = hwdb::parse_yaml(std::move(text), file);
    if (!document) {
        return Result<Session>(document.diagnostics());
    }
    const hwdb::Node root = document->root();
    const std::string format = root.need("eyeroof").text().value_or("session/2");
    if (format != "session/1" && format != "session/2") {
        root["eyeroof"].error("bad-format", "this is not a session of version 1 or 2",
                              "it begins with 'eyeroof: session/2'");
    }
    const fs::path folder = fs::path(file).parent_path();
    Session session;
    session.scenario = format == "session/1" ? read_first_scenario(root) : read_scenario(root);
    session.scenario.network = resolved(root["network"].text().value_or(""), folder);
    for (const std::string& machine : texts(root["machines"])) {
        session.machines.push_back(resolved(machine, folder));
    }
    for (const std::string& profile : texts(root["profiles"])) {
        session.profiles.push_back(beside(profile, folder));
    }
    for (const std::string& ceiling : texts(root["ceilings"])) {
        session.ceilings.push_back(beside(ceiling, folder));
    }
    session.assignments = beside(root["assignments"].text().value_or(""), folder);
    for (const std::string& log : texts(root["trials"])) {
        session.trials.push_back(beside(log, folder));
    }
    session.mappings = edits_of(root["mappings"]);
    session.scenario.machine = session.machines.empty() ? "" : session.machines.front();
    if (const hwdb::Node asked = root["upgrade"]) {
        session.upgrade = with_names(report::question_of(asked), [&](const std::string& name) {
            return resolved(name, folder);
        });
    }
    session.view = read_view(root["view"]);
    return document->conclude(std::move(session));
}

namespace {

// Pipes and devices that a session names: it is opened more than once, and they may never end.
Diagnostics no_files(const Session& session, const std::string& file) {
    std::vector<std::string> named = {session.scenario.network, session.assignments};
    for (const auto* names : {&session.machines, &session.profiles, &session.ceilings}) {
        named.insert(named.end(), names->begin(), names->end());
    }
    Diagnostics found;
    for (const std::string& name : named) {
        std::error_code ignored;
        const fs::file_status status = fs::status(name, ignored);
        if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) {
            found.error("not-a-file",
                        "'" + name + "' is a pipe or a device, and a session names files",
                        "save what comes out of it to a file", {file, 0, 0});
        }
    }
    return found;
}

} // namespace

Result<Session> load_session(const fs::path& file) {
    const auto text = read_text_file(file);
    if (!text) {
        return Result<Session>(text.diagnostics());
    }
    auto session = parse_session(*text, file.string());
    auto wrong = session ? no_files(*session, file.string()) : Diagnostics();
    return wrong.has_errors() ? Result<Session>(std::move(wrong)) : std::move(session);
}

} // namespace eyeroof::report
