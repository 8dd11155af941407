#include "gui/jobs/upgrade_question.hpp"

#include "hwdb/catalog.hpp"
#include "model/layer.hpp"
#include "study/read/catalog.hpp"
#include "study/session.hpp"

#include <fmt/format.h>

#include <charconv>

namespace eyeroof::gui {

namespace {

std::string type_name(const std::optional<model::DataType>& type) {
    return type ? std::string(model::data_type_name(*type)) : std::string{};
}

// Words between commas and blanks.
std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    std::string word;
    for (const char c : text + ",") {
        if (c != ',' && c != ' ' && c != ';') {
            word += c;
        } else if (!word.empty()) {
            words.push_back(std::exchange(word, {}));
        }
    }
    return words;
}

model::Result<study::Upgrade> judged(const UpgradeQuestion& question,
                                     const std::vector<study::FleetMember>& fleet,
                                     const model::Machine& from, const model::Machine& to,
                                     const study::UpgradeOptions& options) {
    auto upgrade = fleet.size() == 1 ? study::upgrade(fleet.front().network, from, to, options)
                                     : study::upgrade_fleet(fleet, from, to, options);
    if (!upgrade || (question.sweep_batches.empty() && question.sweep_types.empty())) {
        return upgrade;
    }
    std::vector<model::Count> batches = question.sweep_batches;
    if (batches.empty()) {
        batches = {question.batch.value_or(1)};
    }
    std::vector<study::DtypePair> types = question.sweep_types;
    if (types.empty()) {
        types = {{}};
    }
    auto points = study::sweep_upgrade(fleet, from, to, options, batches, types);
    if (!points) {
        return points.diagnostics();
    }
    upgrade->sweep = *std::move(points);
    return upgrade;
}

} // namespace

study::UpgradeOptions UpgradeQuestion::options(const AskedGpu& gpu) const {
    study::UpgradeOptions options;
    options.from.data_type = from.data_type;
    options.to.data_type = gpu.data_type;
    options.from.batch = options.to.batch = batch;
    options.prices.from_usd_per_hour = from.usd_per_hour;
    options.prices.to_usd_per_hour = gpu.usd_per_hour;
    options.prices.to_buy_usd = gpu.buy_usd;
    options.prices.from_resale_usd = from.buy_usd;
    options.prices.utilization = utilization;
    if (phase != "inference") {
        options.training = {phase, study::keeps_fp32_weights(from.data_type) ||
                                       study::keeps_fp32_weights(gpu.data_type)};
    }
    return options;
}

UpgradeAnswer answer_to(const UpgradeQuestion& question, const Folders& folders,
                        const std::stop_token& stop, const model::ProgressCallback& progress) {
    UpgradeAnswer answer;
    std::vector<study::FleetMember> fleet;
    for (const AskedNetwork& asked : question.networks) {
        auto network = study::read::load_network(asked.name, folders.networks);
        answer.problems.append(network.diagnostics());
        if (network) {
            fleet.push_back({*std::move(network), asked.weight});
        }
    }
    const auto from = hwdb::load_machine(question.from.name, folders.machines);
    answer.problems.append(from.diagnostics());
    if (!from || fleet.size() != question.networks.size()) {
        return answer;
    }
    for (std::size_t i = 0; i < question.to.size() && !stop.stop_requested(); ++i) {
        const AskedGpu& gpu = question.to[i];
        progress({static_cast<double>(i) / static_cast<double>(question.to.size()), gpu.name, 0.0,
                  -1.0});
        const auto to = hwdb::load_machine(gpu.name, folders.machines);
        answer.problems.append(to.diagnostics());
        if (!to) {
            continue;
        }
        auto upgrade = judged(question, fleet, *from, *to, question.options(gpu));
        answer.problems.append(upgrade.diagnostics());
        if (upgrade) {
            answer.upgrades.push_back(*std::move(upgrade));
            answer.asked.push_back(i);
        }
    }
    return answer;
}

std::string command_of(const UpgradeQuestion& question, std::size_t gpu) {
    std::string line = "eyeroof upgrade";
    for (const AskedNetwork& network : question.networks) {
        line += " " + study::shell_quoted(question.networks.size() > 1
                                              ? fmt::format("{}@{:g}", network.name, network.weight)
                                              : network.name);
    }
    const AskedGpu& to = question.to.at(gpu);
    line += " --from " + study::shell_quoted(question.from.name) + " --to " +
            study::shell_quoted(to.name);
    if (question.phase != "inference") {
        line += " --phase training --optimizer " + question.phase;
    }
    const auto add_type = [&](const char* option, const std::optional<model::DataType>& type) {
        line += type ? fmt::format(" {} {}", option, type_name(type)) : std::string{};
    };
    const auto add = [&](const char* option, const auto& value) {
        line += value ? fmt::format(" {} {}", option, *value) : std::string{};
    };
    add_type("--from-dtype", question.from.data_type);
    add_type("--to-dtype", to.data_type);
    add("--batch", question.batch);
    add("--from-per-hour", question.from.usd_per_hour);
    add("--to-per-hour", to.usd_per_hour);
    add("--buy", to.buy_usd);
    add("--resale", question.from.buy_usd);
    if (question.utilization < 1.0) {
        line += fmt::format(" --utilization {:g}", question.utilization);
    }
    if (question.networks.size() == 1) { // the command sweeps one network
        std::string batches, types;
        for (const model::Count batch : question.sweep_batches) {
            batches += fmt::format("{}{}", batches.empty() ? "" : ",", batch);
        }
        for (const study::DtypePair& pair : question.sweep_types) {
            types += fmt::format("{}{}:{}", types.empty() ? "" : ",", type_name(pair.from),
                                 type_name(pair.to));
        }
        line += batches.empty() ? "" : " --sweep-batch " + batches;
        line += types.empty() ? "" : " --sweep-dtype " + types;
    }
    return line;
}

std::optional<std::vector<model::Count>> read_batches(const std::string& text) {
    std::vector<model::Count> batches;
    for (const std::string& word : words_of(text)) {
        model::Count batch = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), batch);
        if (error != std::errc{} || end != word.data() + word.size() || batch < 1 ||
            batch > 65536) {
            return std::nullopt;
        }
        batches.push_back(batch);
    }
    return batches;
}

std::optional<std::vector<study::DtypePair>> read_types(const std::string& text) {
    std::vector<study::DtypePair> pairs;
    for (const std::string& word : words_of(text)) {
        const auto colon = word.find(':');
        const std::string from = word.substr(0, colon);
        const std::string to = colon == std::string::npos ? from : word.substr(colon + 1);
        const study::DtypePair pair{model::data_type_from_name(from),
                                    model::data_type_from_name(to)};
        if (!pair.from || !pair.to) {
            return std::nullopt;
        }
        pairs.push_back(pair);
    }
    return pairs;
}

} // namespace eyeroof::gui
