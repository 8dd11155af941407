#include "report/session/upgrade_question.hpp"

#include "model/workload/layer.hpp"

#include <fmt/format.h>

#include <array>
#include <tuple>

namespace eyeroof::report {

namespace {

constexpr double kMostUsd = 1e9;
constexpr double kMostShare = 1000.0;
constexpr double kMostAmount = 1e15;
constexpr std::int64_t kMostAsked = 65536;

// "inference", or the optimizer of a training step.
// "open": left to the program.
constexpr std::array<std::pair<const char*, const char*>, 5> kPhases = {
    {{"open", ""},
     {"inference", "inference"},
     {"sgd", "sgd"},
     {"sgd_momentum", "sgd_momentum"},
     {"adam", "adam"}}};

// Amounts that may be left open: key, value, least.
template <class Question> auto amounts_of(Question& question) {
    constexpr double above_zero = 1e-9;
    return std::array{std::tuple{"age_years", &question.age_years, 0.0},
                      std::tuple{"budget_usd", &question.budget_usd, 0.0},
                      std::tuple{"samples", &question.samples, above_zero},
                      std::tuple{"deadline_days", &question.deadline_days, above_zero},
                      std::tuple{"threshold", &question.threshold, above_zero},
                      std::tuple{"measured_old_per_s", &question.measured_old, above_zero},
                      std::tuple{"measured_new_per_s", &question.measured_new, above_zero}};
}

std::optional<model::DataType> type_of(const hwdb::Node& node) {
    std::vector<std::pair<std::string, model::DataType>> types;
    for (const std::string_view name : model::data_type_names()) {
        types.emplace_back(name, *model::data_type_from_name(name));
    }
    return node.choice(types, "data type");
}

analysis::AskedGpu gpu_of(const hwdb::Node& node) {
    analysis::AskedGpu gpu;
    gpu.name = node.need("gpu").text().value_or("");
    gpu.data_type = type_of(node["data_type"]);
    gpu.usd_per_hour = node["usd_per_hour"].number(0.0, kMostUsd);
    gpu.buy_usd = node["usd"].number(0.0, kMostUsd);
    return gpu;
}

void emit_number(YAML::Emitter& out, const char* key, const std::optional<double>& value) {
    if (value) {
        out << YAML::Key << key << YAML::Value << fmt::format("{}", *value);
    }
}

void emit_gpu(YAML::Emitter& out, const analysis::AskedGpu& gpu) {
    out << YAML::BeginMap << YAML::Key << "gpu" << YAML::Value << YAML::DoubleQuoted << gpu.name;
    if (gpu.data_type) {
        out << YAML::Key << "data_type" << YAML::Value
            << std::string(model::data_type_name(*gpu.data_type));
    }
    emit_number(out, "usd_per_hour", gpu.usd_per_hour);
    emit_number(out, "usd", gpu.buy_usd);
    out << YAML::EndMap;
}

} // namespace

analysis::UpgradeQuestion question_of(const hwdb::Node& node) {
    analysis::UpgradeQuestion question;
    if (const hwdb::Node networks = node["networks"]) {
        for (const hwdb::Node& item : networks.items()) {
            question.networks.push_back({item.need("name").text().value_or(""),
                                         item["share"].number(0.01, kMostShare).value_or(1.0)});
        }
    }
    if (const hwdb::Node from = node["from"]) {
        question.from = gpu_of(from);
    }
    if (const hwdb::Node to = node["to"]) {
        for (const hwdb::Node& item : to.items()) {
            question.to.push_back(gpu_of(item));
        }
    }
    question.phase = node["phase"].choice(kPhases, "phase or optimizer").value_or("inference");
    question.batch = node["batch"].integer({1, kMostAsked});
    const analysis::UpgradePrices usual;
    question.utilization = node["utilization"].number(0.01, 1.0).value_or(usual.utilization);
    question.power_usd_per_kwh =
        node["usd_per_kwh"].number(0.0, 1000.0).value_or(usual.power_usd_per_kwh);
    question.host_usd_per_month =
        node["host_usd_per_month"].number(0.0, kMostUsd).value_or(usual.host_usd_per_month);
    question.years = node["years"].number(0.1, 100.0).value_or(usual.years);
    question.from_owned = node["owned"].boolean().value_or(false);
    if (const auto count = node["count"].integer({1, kMostAsked})) {
        question.count = static_cast<int>(*count);
    }
    question.from_host = node["from_host"].text().value_or("");
    question.to_host = node["to_host"].text().value_or("");
    question.launch = node["launch"].text().value_or("");
    question.layout = node["layout"].text().value_or("");
    question.compiled = node["compiled"].boolean().value_or(false);
    question.largest_batch = node["largest_batch"].boolean().value_or(false);
    question.pue = node["pue"].number(1.0, 10.0).value_or(usual.pue);
    question.kg_co2_per_kwh =
        node["co2_kg_per_kwh"].number(0.0, 100.0).value_or(question.kg_co2_per_kwh);
    for (const auto& [key, value, least] : amounts_of(question)) {
        *value = node[key].number(least, kMostAmount);
    }
    if (const hwdb::Node prices = node["prices"]) {
        for (const hwdb::Node& item : prices.items()) {
            question.prices.push_back(item.text().value_or(""));
        }
    }
    question.more = node["options"].text().value_or("");
    if (const auto wrong = analysis::more_options_of(question.more); !wrong) {
        const Diagnostic& first = *wrong.diagnostics().begin();
        node["options"].error(first.code, first.message, first.hint);
    }
    if (const hwdb::Node batches = node["batches"]) {
        for (const hwdb::Node& item : batches.items()) {
            question.sweep_batches.push_back(item.integer({1, kMostAsked}).value_or(1));
        }
    }
    if (const hwdb::Node precisions = node["precisions"]) {
        for (const hwdb::Node& item : precisions.items()) {
            const auto pairs = analysis::read_types(item.text().value_or(""));
            if (!pairs || pairs->size() != 1) {
                item.error("bad-data-type", "this is no pair of data types",
                           "old:new, as in fp16:bf16");
            } else {
                question.sweep_types.push_back(pairs->front());
            }
        }
    }
    return question;
}

void emit_question(YAML::Emitter& out, const analysis::UpgradeQuestion& question) {
    out << YAML::BeginMap << YAML::Key << "networks" << YAML::Value << YAML::BeginSeq;
    for (const analysis::AskedNetwork& network : question.networks) {
        out << YAML::BeginMap << YAML::Key << "name" << YAML::Value << YAML::DoubleQuoted
            << network.name << YAML::Key << "share" << YAML::Value
            << fmt::format("{}", network.weight) << YAML::EndMap;
    }
    out << YAML::EndSeq;
    if (!question.from.name.empty()) {
        out << YAML::Key << "from" << YAML::Value;
        emit_gpu(out, question.from);
    }
    out << YAML::Key << "to" << YAML::Value << YAML::BeginSeq;
    for (const analysis::AskedGpu& gpu : question.to) {
        emit_gpu(out, gpu);
    }
    out << YAML::EndSeq << YAML::Key << "phase" << YAML::Value
        << (question.open() ? "open" : question.phase);
    if (question.batch) {
        out << YAML::Key << "batch" << YAML::Value << *question.batch;
    }
    emit_number(out, "utilization", question.utilization);
    const analysis::UpgradePrices usual;
    const auto emit_other = [&](const char* key, double value, double standard) {
        emit_number(out, key, value != standard ? std::optional(value) : std::nullopt);
    };
    emit_other("usd_per_kwh", question.power_usd_per_kwh, usual.power_usd_per_kwh);
    emit_other("host_usd_per_month", question.host_usd_per_month, usual.host_usd_per_month);
    emit_other("years", question.years, usual.years);
    if (question.from_owned) {
        out << YAML::Key << "owned" << YAML::Value << true;
    }
    if (question.count) {
        out << YAML::Key << "count" << YAML::Value << *question.count;
    }
    for (const auto& [key, word] : {std::pair{"from_host", &question.from_host},
                                    {"to_host", &question.to_host},
                                    {"launch", &question.launch},
                                    {"layout", &question.layout}}) {
        if (!word->empty()) {
            out << YAML::Key << key << YAML::Value << YAML::DoubleQuoted << *word;
        }
    }
    if (question.compiled) {
        out << YAML::Key << "compiled" << YAML::Value << true;
    }
    if (question.largest_batch) {
        out << YAML::Key << "largest_batch" << YAML::Value << true;
    }
    emit_other("pue", question.pue, usual.pue);
    emit_other("co2_kg_per_kwh", question.kg_co2_per_kwh,
               analysis::UpgradeQuestion{}.kg_co2_per_kwh);
    for (const auto& [key, value, least] : amounts_of(question)) {
        emit_number(out, key, *value);
    }
    if (!question.prices.empty()) {
        out << YAML::Key << "prices" << YAML::Value << question.prices;
    }
    if (!question.more.empty()) {
        out << YAML::Key << "options" << YAML::Value << YAML::DoubleQuoted << question.more;
    }
    out << YAML::Key << "batches" << YAML::Value << YAML::Flow << question.sweep_batches;
    out << YAML::Key << "precisions" << YAML::Value << YAML::Flow << YAML::BeginSeq;
    for (const analysis::DtypePair& pair : question.sweep_types) {
        out << analysis::types_text({pair});
    }
    out << YAML::EndSeq << YAML::EndMap;
}

} // namespace eyeroof::report
