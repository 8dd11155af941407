#include "analysis/upgrade/question.hpp"

#include "analysis/scenario/fields.hpp"
#include "base/shell.hpp"
#include "base/suggest.hpp"
#include "model/workload/layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

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

// Fields of a scenario that the page has fields of its own for.
constexpr std::array<std::string_view, 9> kFieldsOfPage = {
    "network", "phase", "optimizer", "batch", "dtype", "launch", "layout", "compiled", "host"};

template <class Names> bool is_one_of(std::string_view name, const Names& names) {
    return std::ranges::find(names, name) != std::ranges::end(names);
}

// Words between blanks; what stands in quotes is one.
std::vector<std::string> shell_words(const std::string& text) {
    std::vector<std::string> words;
    std::optional<std::string> word;
    char quote = '\0';
    for (const char c : text) {
        if (quote != '\0' ? c == quote : c == '\'' || c == '"') {
            quote = quote == '\0' ? c : '\0';
            word = word.value_or("");
        } else if (quote == '\0' && (c == ' ' || c == '\t')) {
            if (word) {
                words.push_back(*std::exchange(word, std::nullopt));
            }
        } else {
            word = word.value_or("") + c;
        }
    }
    if (word) {
        words.push_back(*word);
    }
    return words;
}

// The scenario's field behind an option: "to-set" is "set" of one side.
std::string field_of(const std::string& option) {
    for (const std::string side : {"from-", "to-"}) {
        if (option.starts_with(side) && is_one_of(option.substr(side.size()), kFieldsOfASide)) {
            return option.substr(side.size());
        }
    }
    return option;
}

// As the command line sees it: with such an option nothing of what runs is left open.
bool says_what_runs(const std::string& option) {
    const std::string name = field_of(option);
    return name != option ? name != "set" && name != "host-speed" && name != "power-cap"
                          : name != "dim" && find_field(name)->group != FieldGroup::where;
}

} // namespace

std::vector<std::string> more_names() {
    std::vector<std::string> names = {"from-fabric", "to-fabric"};
    for (const ScenarioField& field : scenario_fields()) {
        if (!is_one_of(field.name, kFieldsOfNoUpgrade) && !is_one_of(field.name, kFieldsOfPage)) {
            names.push_back(field.name);
        }
    }
    for (const char* side : {"from-", "to-"}) {
        for (const std::string_view field : kFieldsOfASide) {
            if (field != "dtype" && field != "host") {
                names.push_back(side + std::string(field));
            }
        }
    }
    return names;
}

Result<std::vector<MoreOption>> more_options_of(const std::string& text) {
    using Answer = Result<std::vector<MoreOption>>;
    const std::vector<std::string> names = more_names();
    const std::vector<std::string> words = shell_words(text);
    std::vector<MoreOption> options;
    Scenario tried;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::size_t equals = std::min(words[i].find('='), words[i].size());
        const std::string name = words[i].substr(std::min<std::size_t>(2, equals),
                                                 equals - std::min<std::size_t>(2, equals));
        if (!words[i].starts_with("--") || !is_one_of(name, names)) {
            return Answer::failure("usage", "'" + words[i] + "' is no option that can stand here",
                                   "as in --library cudnn-8 --dim seq=512; " +
                                       (is_one_of(name, kFieldsOfPage)
                                            ? std::string("it has a field of its own above")
                                            : suggestion(name, names)));
        }
        const ScenarioField* field = find_field(field_of(name));
        const bool flag = field != nullptr && field->kind == FieldKind::flag;
        MoreOption option{name, flag ? "1" : ""};
        if (equals < words[i].size()) {
            option.value = words[i].substr(equals + 1);
        } else if (!flag && i + 1 < words.size()) {
            option.value = words[++i];
        }
        if (option.value.empty()) {
            return Answer::failure("usage", "--" + name + " has no value",
                                   field != nullptr ? "as in --" + name + " " + field->value
                                                    : "name a fabric (eyeroof hw list)");
        }
        if (field != nullptr) {
            if (const auto wrong = field->set(tried, {option.value}); wrong.has_errors()) {
                return wrong;
            }
        }
        options.push_back(std::move(option));
    }
    return Answer(std::move(options));
}

namespace {

Diagnostics take_more(const UpgradeQuestion& question, AskedUpgrade& asked) {
    const auto options = more_options_of(question.more);
    if (!options) {
        return options.diagnostics();
    }
    Diagnostics found;
    for (const MoreOption& option : *options) {
        const ScenarioField* field = find_field(field_of(option.name));
        if (field == nullptr) {
            (option.name == "from-fabric" ? asked.from_fabric : asked.to_fabric) = option.value;
            continue;
        }
        if (question.open() && says_what_runs(option.name)) {
            found.error("usage", "--" + option.name + " says what runs, which is left open",
                        "choose inference or training first");
        }
        for (const auto& [side, scenario] : {std::pair{"to-", &asked.from}, {"from-", &asked.to}}) {
            if (!option.name.starts_with(side)) { // of the other side, or of both
                std::vector<std::string> values = {option.value};
                if (field->kind == FieldKind::list) {
                    values = field->get(*scenario);
                    values.push_back(option.value);
                }
                found.append(field->set(*scenario, values));
            }
        }
    }
    return found;
}

void take_prices(const UpgradeQuestion& q, FleetQuestion& fleet) {
    fleet.owned = q.from_owned;
    fleet.usd_per_hour = q.from_owned ? std::nullopt : q.from.usd_per_hour;
    fleet.resale_usd = q.from.buy_usd;
    fleet.terms = {q.count,   q.age_years,     q.budget_usd,
                   q.samples, q.deadline_days, q.kg_co2_per_kwh};
    fleet.utilization = q.utilization;
    fleet.years = q.years;
    fleet.usd_per_kwh = q.power_usd_per_kwh;
    fleet.pue = q.pue;
    fleet.host_usd_per_month = q.host_usd_per_month;
}

} // namespace

Result<AskedUpgrade> asked_of(const UpgradeQuestion& q) {
    AskedUpgrade asked;
    asked.open = q.open();
    asked.threshold = q.threshold;
    asked.from_rate = q.measured_old;
    asked.to_rate = q.measured_new;
    asked.fleet.gpu = q.from.name;
    asked.fleet.host = q.from_host;
    take_prices(q, asked.fleet);
    for (const AskedNetwork& network : q.networks) {
        asked.fleet.runs.push_back(
            {network.name, network.weight, {}, q.largest_batch && !q.open()});
    }
    for (const AskedGpu& gpu : q.to) {
        asked.fleet.offers.push_back({gpu.name,
                                      gpu.buy_usd,
                                      gpu.usd_per_hour,
                                      gpu.buy_usd && !gpu.usd_per_hour,
                                      q.to_host,
                                      {},
                                      q.open() ? std::nullopt : gpu.data_type});
    }
    if (!q.open()) {
        asked.from.data_type = q.from.data_type;
        for (Scenario* side : {&asked.from, &asked.to}) {
            side->batch = q.largest_batch ? std::nullopt : q.batch;
            set_field(*side, "launch", q.launch);
            set_field(*side, "layout", q.layout);
            side->compiled = q.compiled;
            if (q.phase != "inference") {
                side->training = TrainingOptions{q.phase};
            }
        }
    }
    Diagnostics found = take_more(q, asked);
    return found.has_errors() ? Result<AskedUpgrade>(std::move(found))
                              : Result<AskedUpgrade>(std::move(asked));
}

// How it runs, where that is not left to the program.
static void add_run(const UpgradeQuestion& question, const AskedGpu& to, std::string& line) {
    const auto add = [&](const char* option, const std::string& word) {
        line += word.empty() ? "" : fmt::format(" {} {}", option, shell_quoted(word));
    };
    add("--from-dtype", type_name(question.from.data_type));
    add("--to-dtype", type_name(to.data_type));
    if (question.largest_batch) {
        line += " --largest-batch";
    } else if (question.batch) {
        line += fmt::format(" --batch {}", *question.batch);
    }
    add("--launch", question.launch);
    add("--layout", question.layout);
    line += question.compiled ? " --compiled" : "";
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
    if (!question.open()) {
        line += question.phase == "inference" ? " --phase inference"
                                              : " --phase training --optimizer " + question.phase;
        add_run(question, to, line);
    }
    const auto add = [&](const char* option, const auto& value) {
        line += value ? fmt::format(" {} {}", option, *value) : std::string{};
    };
    const auto add_word = [&](const char* option, const std::string& word) {
        line += word.empty() ? "" : fmt::format(" {} {}", option, shell_quoted(word));
    };
    add_word("--from-host", question.from_host);
    add_word("--to-host", question.to_host);
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
    add_other("--pue", question.pue, usual.pue);
    add_other("--co2", question.kg_co2_per_kwh, PurchaseTerms{}.kg_co2_per_kwh);
    add("--age", question.age_years);
    add("--budget", question.budget_usd);
    add("--samples", question.samples);
    add("--deadline", question.deadline_days);
    add("--threshold", question.threshold);
    add("--measured-old", question.measured_old);
    add("--measured-new", question.measured_new);
    for (const std::string& file : question.prices) {
        line += " --prices " + shell_quoted(file);
    }
    line += question.more.empty() ? "" : " " + question.more;
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
