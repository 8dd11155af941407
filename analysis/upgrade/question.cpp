#include "analysis/upgrade/question.hpp"

#include "analysis/scenario/fields.hpp"
#include "base/shell.hpp"
#include "model/workload/layer.hpp"

#include <fmt/format.h>

#include <charconv>

namespace eyeroof::analysis {

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

// Names that no field has are as if they were not there; fields read their own.
void set_field(Scenario& scenario, const char* field, const std::string& value) {
    if (!value.empty()) {
        static_cast<void>(find_field(field)->set(scenario, {value}));
    }
}

} // namespace

HostNames hosts_of(const UpgradeQuestion& question, const std::string& usual_of_old) {
    const bool same = question.to_host == "same";
    return {question.from_host, !same                        ? question.to_host
                                : question.from_host.empty() ? usual_of_old
                                                             : question.from_host};
}

UpgradeOptions UpgradeQuestion::options(const AskedGpu& gpu) const {
    UpgradeOptions options;
    options.from.data_type = from.data_type;
    options.to.data_type = gpu.data_type;
    options.from.batch = options.to.batch = batch;
    for (Scenario* side : {&options.from, &options.to}) {
        set_field(*side, "launch", launch);
        set_field(*side, "layout", layout);
        side->compiled = compiled;
    }
    options.prices.from_owned = from_owned;
    options.prices.from_usd_per_hour = from_owned ? std::nullopt : from.usd_per_hour;
    options.prices.to_usd_per_hour = gpu.usd_per_hour;
    options.prices.to_buy_usd = gpu.buy_usd;
    options.prices.from_resale_usd = from.buy_usd;
    options.prices.utilization = utilization;
    options.prices.power_usd_per_kwh = power_usd_per_kwh;
    options.prices.host_usd_per_month = host_usd_per_month;
    options.prices.years = years;
    if (phase != "inference") {
        options.from.training = options.to.training = TrainingOptions{phase};
    }
    return options;
}

std::string command_of(const UpgradeQuestion& question, std::size_t gpu) {
    std::string line = "eyeroof upgrade";
    for (const AskedNetwork& network : question.networks) {
        line += " " + shell_quoted(question.networks.size() > 1
                                       ? fmt::format("{}@{:g}", network.name, network.weight)
                                       : network.name);
    }
    const AskedGpu& to = question.to.at(gpu);
    line += " --from " + shell_quoted(question.from.name) + " --to " + shell_quoted(to.name);
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
    const auto add_word = [&](const char* option, const std::string& word) {
        line += word.empty() ? "" : fmt::format(" {} {}", option, shell_quoted(word));
    };
    add_word("--launch", question.launch);
    add_word("--layout", question.layout);
    line += question.compiled ? " --compiled" : "";
    add_word("--from-host", question.from_host);
    // fleet files alone say "same"
    add_word("--to-host", question.to_host == "same" ? question.from_host : question.to_host);
    add("--count", question.count);
    line += question.from_owned ? " --owned" : "";
    if (!question.from_owned) {
        add("--from-per-hour", question.from.usd_per_hour);
    }
    add("--to-per-hour", to.usd_per_hour);
    add("--buy", to.buy_usd);
    add("--resale", question.from.buy_usd);
    const auto add_other = [&](const char* option, double value, double usual) {
        line += value != usual ? fmt::format(" {} {:g}", option, value) : std::string{};
    };
    const UpgradePrices usual;
    add_other("--utilization", question.utilization, UpgradePrices{}.utilization);
    add_other("--power-price", question.power_usd_per_kwh, usual.power_usd_per_kwh);
    add_other("--host-per-month", question.host_usd_per_month, usual.host_usd_per_month);
    add_other("--years", question.years, usual.years);
    if (question.networks.size() == 1) { // the command sweeps one network
        const auto add_list = [&](const char* option, const std::string& list) {
            line += list.empty() ? "" : option + list;
        };
        add_list(" --sweep-batch ", batches_text(question.sweep_batches));
        add_list(" --sweep-dtype ", types_text(question.sweep_types));
    }
    return line;
}

std::optional<std::vector<Count>> read_batches(const std::string& text) {
    std::vector<Count> batches;
    for (const std::string& word : words_of(text)) {
        Count batch = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), batch);
        if (error != std::errc{} || end != word.data() + word.size() || batch < 1 ||
            batch > 65536) {
            return std::nullopt;
        }
        batches.push_back(batch);
    }
    return batches;
}

std::optional<std::vector<DtypePair>> read_types(const std::string& text) {
    std::vector<DtypePair> pairs;
    for (const std::string& word : words_of(text)) {
        const auto colon = word.find(':');
        const std::string from = word.substr(0, colon);
        const std::string to = colon == std::string::npos ? from : word.substr(colon + 1);
        const DtypePair pair{model::data_type_from_name(from), model::data_type_from_name(to)};
        if (!pair.from || !pair.to) {
            return std::nullopt;
        }
        pairs.push_back(pair);
    }
    return pairs;
}

std::string batches_text(const std::vector<Count>& batches) {
    std::string text;
    for (const Count batch : batches) {
        text += fmt::format("{}{}", text.empty() ? "" : ",", batch);
    }
    return text;
}

std::string types_text(const std::vector<DtypePair>& types) {
    std::string text;
    for (const DtypePair& pair : types) {
        text += fmt::format("{}{}:{}", text.empty() ? "" : ",", type_name(pair.from),
                            type_name(pair.to));
    }
    return text;
}

} // namespace eyeroof::analysis
