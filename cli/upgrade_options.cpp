#include "cli/upgrade_options.hpp"

#include "analysis/upgrade/amounts.hpp"
#include "analysis/upgrade/asked.hpp"
#include "base/units.hpp"
#include "cli/option_values.hpp"
#include "formats/trace_gpu.hpp"
#include "formats/trace_network.hpp"
#include "hwdb/engine_reader.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <tuple>

namespace eyeroof::cli {

namespace {

// "resnet50@3" -> the network and its weight.
Result<analysis::FleetRun> run_of(const std::string& text) {
    const auto at = text.rfind('@');
    analysis::FleetRun run;
    run.network = text.substr(0, at);
    if (at != std::string::npos) {
        const char* begin = text.data() + at + 1;
        const char* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(begin, end, run.share);
        const bool whole =
            error == std::errc{} && stop == end && run.share > 0.0 && std::isfinite(run.share);
        if (!whole) {
            return Result<analysis::FleetRun>::failure(
                "bad-weight", "'" + text.substr(at + 1) + "' is not a positive weight",
                "as in resnet50@3");
        }
    }
    return run;
}

// Reads an amount as people type it; the text that is wrong, and how to write it, make the error.
template <class Parser> CLI::Validator amount(const Parser& parser) {
    return {[parser](std::string& text) -> std::string {
                const auto value = parser(text);
                if (!value) {
                    const Diagnostic& why = *value.diagnostics().begin();
                    return why.message + ": " + why.hint;
                }
                text = fmt::format("{}", *value);
                return {};
            },
            ""};
}

CLI::Validator usd_per(const char* unit) {
    return amount([unit](const std::string& text) { return analysis::parse_usd_per(text, unit); });
}

} // namespace

Result<analysis::Scenario> side_of(const UpgradeOptions& options, analysis::Scenario scenario,
                                   const std::string& side, const std::string& machine) {
    scenario.machine = machine;
    Diagnostics found;
    for (const std::string_view field : analysis::kFieldsOfASide) {
        const std::string name(field);
        const auto& value = options.of_sides.at(side + "-" + name);
        const auto texts = value.flag ? std::vector<std::string>{"1"} : value.texts;
        if (value.option->count() > 0) {
            found.append(analysis::find_field(name)->set(scenario, texts));
        }
    }
    if (found.has_errors()) {
        return found;
    }
    return {std::move(scenario), std::move(found)};
}

// "a,b@1.39/h" are two GPUs; the comma of "a@$30,000" is of its price.
static std::vector<std::string> apart(const std::vector<std::string>& texts) {
    std::vector<std::string> parts;
    for (const std::string& text : texts) {
        std::size_t from = 0;
        for (std::size_t comma = text.find(','); comma != std::string::npos;
             comma = text.find(',', comma + 1)) {
            const bool next =
                comma + 1 < text.size() && (text[comma + 1] < '0' || text[comma + 1] > '9');
            if (next && comma > from) {
                parts.push_back(text.substr(from, comma - from));
                from = comma + 1;
            }
        }
        parts.push_back(text.substr(from));
    }
    return parts;
}

Result<analysis::FleetQuestion> asked_of(Context& context, const UpgradeOptions& options,
                                         const analysis::Scenario& scenario) {
    analysis::FleetQuestion asked = options.asked;
    Diagnostics found;
    if (!options.fleet.empty()) {
        const auto text = context.document(options.fleet);
        if (!text) {
            return text.diagnostics();
        }
        auto document = hwdb::parse_yaml(*text, options.fleet);
        if (!document) {
            return document.diagnostics();
        }
        auto file = analysis::read_fleet(*document);
        if (!file) {
            return file.diagnostics();
        }
        asked = analysis::overlaid(*std::move(file), asked);
    }
    for (const std::string& text : options.networks) {
        auto run = run_of(text);
        found.append(run.diagnostics());
        if (run) {
            asked.runs.push_back(*std::move(run));
        }
    }
    for (const std::string& text : apart(options.to)) {
        auto offer = analysis::parse_offer(text);
        found.append(offer.diagnostics());
        if (offer) {
            asked.offers.push_back(*std::move(offer));
        }
    }
    if (asked.runs.empty() && !scenario.network.empty()) {
        asked.runs.push_back({scenario.network, 1.0, {}, false});
    }
    if (asked.offers.empty() && !scenario.machine.empty()) {
        asked.offers.push_back({scenario.machine, {}, {}, false, {}});
    }
    asked.gpu = options.from.empty() ? asked.gpu : options.from;
    if (asked.gpu.empty() && asked.runs.size() == 1 &&
        formats::is_trace_file(asked.runs.front().network)) {
        auto gpu = formats::gpu_of_trace(asked.runs.front().network, context.machine_dirs());
        found.append(gpu.diagnostics());
        asked.gpu = gpu ? *std::move(gpu) : "";
    }
    if (asked.runs.empty() && options.networks.empty()) {
        found.error("usage", "NETWORK is missing",
                    "a name in the catalog (eyeroof net list), or a file");
    }
    if (asked.offers.empty() && options.to.empty()) {
        found.error("usage", "--to MACHINE is missing",
                    "a name in the catalog (eyeroof hw list), or a file");
    }
    if (asked.gpu.empty() && !found.has_errors()) {
        found.error("usage", "--from MACHINE is missing",
                    "the GPU that runs it now (eyeroof hw list), or --fleet FILE; a trace names "
                    "its own GPU");
    }
    if (found.has_errors()) {
        return found;
    }
    for (analysis::FleetOffer& offer : asked.offers) { // --buy and --to-per-hour are of all of them
        offer.buy_usd = offer.buy_usd ? offer.buy_usd : options.buy;
        offer.usd_per_hour = offer.usd_per_hour ? offer.usd_per_hour : options.to_per_hour;
        offer.bought = offer.bought || (options.buy && !offer.usd_per_hour);
    }
    if (asked.usd_per_hour == 0.0) { // no rent: they are owned
        asked.owned = true;
        asked.usd_per_hour.reset();
    }
    return {std::move(asked), std::move(found)};
}

bool leaves_open(const UpgradeOptions& options) {
    if (!options.scenario.document.empty()) {
        return false;
    }
    for (const auto& [name, value] : options.scenario.values) {
        const analysis::ScenarioField* field = analysis::find_field(name);
        const bool host = field->group == analysis::FieldGroup::where;
        if (name != "network" && name != "dim" && !host && options.scenario.given(name)) {
            return false;
        }
    }
    for (const char* name : {"dtype", "library", "layout", "compiled", "launch"}) {
        if (options.of_sides.at(std::string("from-") + name).option->count() > 0 ||
            options.of_sides.at(std::string("to-") + name).option->count() > 0) {
            return false;
        }
    }
    return true;
}

void add_price_options(CLI::App& app, UpgradeOptions& options) {
    constexpr const char* kGroup = "Prices and terms";
    analysis::FleetQuestion& asked = options.asked;
    const auto add = [&](const char* name, auto& value, const CLI::Validator& reads,
                         const char* type, const char* help) {
        app.add_option(name, value, help)->transform(reads)->type_name(type)->group(kGroup);
    };
    const CLI::Validator usd = amount(analysis::parse_usd);
    app.add_flag("--owned", asked.owned, "The old GPUs are paid for and cost power, not rent")
        ->group(kGroup);
    add("--from-per-hour", asked.usd_per_hour, usd_per("h"), "USD",
        "Rent of an old GPU, USD/h; 0 means --owned");
    add("--resale", asked.resale_usd, usd, "USD", "Resale price of an old GPU [0]");
    add("--age", asked.terms.age_years, amount(analysis::parse_years), "YEARS",
        "Age of the owned GPUs; the value not yet written off is shown");
    add("--to-per-hour", options.to_per_hour, usd_per("h"), "USD", "Rent of a new GPU, USD/h");
    app.add_option("--prices", options.prices,
                   "Table of rents, a YAML file of one seller (repeatable) [prices.yaml of the "
                   "catalog]; verdicts compare GPUs within one table")
        ->type_name("FILE")
        ->allow_extra_args(false)
        ->group(kGroup);
    add("--buy", options.buy, usd, "USD", "Purchase price of a new GPU, as in 30k or $30,000");
    add("--utilization", asked.utilization, amount(analysis::parse_share), "SHARE",
        "Share of the hours in which the GPUs work, as in 0.7 or 70 % [0.7]");
    add("--power-price", asked.usd_per_kwh, usd_per("kWh"), "USD",
        "Electricity, as in 0.12 or 0.12/kWh [0.12]");
    add("--pue", asked.pue, amount(analysis::parse_number), "RATIO",
        "Power usage effectiveness (PUE) of the data center [1.4]");
    add("--co2", options.co2, amount(analysis::parse_co2), "AMOUNT",
        "CO2 emissions of electricity, as in 0.4 (kg/kWh), '56 g/kWh', or France [0.4]");
    add("--host-per-month", asked.host_usd_per_month, usd_per("month"), "USD",
        "Monthly cost of an owned GPU's share of server, space, and staff, USD [0]");
    add("--years", asked.years, amount(analysis::parse_years), "YEARS",
        "Horizon of the purchase, as in 3 or 36 months [3]");
    add("--budget", asked.terms.budget_usd, usd, "USD",
        "Budget of a purchase, less resale; of rents for the job, else for a "
        "year");
    add("--power-limit", asked.terms.power_w, amount(analysis::parse_watts), "POWER",
        "Power that all GPUs may draw, at their board limits times PUE, as in 20kW; for the "
        "cheapest mix of --count GPUs");
    add("--samples", asked.terms.samples, amount(analysis::parse_number), "AMOUNT",
        "Samples of the job, as in 1.3e9");
    add("--deadline", asked.terms.deadline_days, amount(analysis::parse_days), "TIME",
        "Deadline of the job, as in 14d or 2 weeks");
    add("--threshold", options.threshold, amount(analysis::parse_number), "RATIO",
        "Speedup that the upgrade must reach [what the prices require]");
    add("--measured-old", options.measured_old, amount(analysis::parse_rate), "RATE",
        "Your throughput on the old GPU, as in 820/s; it sets the old time and narrows the "
        "interval");
    add("--measured-new", options.measured_new, amount(analysis::parse_rate), "RATE",
        "Your throughput on the new GPU");
}

constexpr std::array kServedOptions = {"--requests", "--prompt", "--answer",
                                       "--ttft",     "--tpot",   "--engine"};

void add_served_options(CLI::App& app, UpgradeOptions& options) {
    constexpr const char* kGroup = "With --phase serving: a decoder that answers requests";
    const auto tokens = [&](const char* name, Count& value, const char* help) {
        app.add_option(name, value, help)
            ->check(CLI::Range(1, 10'000'000))
            ->capture_default_str()
            ->group(kGroup);
    };
    app.add_option("--requests", options.served.at_once,
                   "Requests of a server at a time [as many as do most within the limits]")
        ->check(CLI::Range(1, 1'000'000))
        ->type_name("N")
        ->group(kGroup);
    tokens("--prompt", options.served.prompt, "Prompt tokens of a request");
    tokens("--answer", options.served.answer, "Output tokens of a request");
    app.add_option("--ttft", options.ttft, "Limit of the time to the first token, as in 500 ms")
        ->type_name("TIME")
        ->group(kGroup);
    app.add_option("--tpot", options.tpot, "Limit of the time per output token, as in 50 ms")
        ->type_name("TIME")
        ->group(kGroup);
    app.add_option("--engine", options.engine, "Serving engine on both sides, as in serve")
        ->type_name("ENGINE|FILE")
        ->capture_default_str()
        ->group(kGroup);
}

Diagnostics take_served(const Context& context, const CLI::App& app, UpgradeOptions& options) {
    Diagnostics found;
    auto& phase = options.scenario.values.at("phase").texts;
    options.serves = options.serves || (phase.size() == 1 && phase.front() == "serving");
    if (!options.serves) {
        for (const char* name : kServedOptions) {
            if (app.get_option(name)->count() > 0) {
                found.error("usage", std::string(name) + " is of a service", "add --phase serving");
                break;
            }
        }
        return found;
    }
    phase = {"inference"};
    for (const auto& [name, text, seconds] :
         {std::tuple{"--ttft", &options.ttft, &options.served.ttft_limit_s},
          std::tuple{"--tpot", &options.tpot, &options.served.tpot_limit_s}}) {
        if (text->empty()) {
            continue;
        }
        const auto read = parse<Seconds>(*text);
        refuse(found, name, read.diagnostics());
        *seconds = read ? read->value : 0.0;
    }
    auto engine = hwdb::load_engine(options.engine, context.machine_dirs());
    found.append(engine.diagnostics());
    if (engine) {
        options.served.engine = *std::move(engine);
    }
    options.asked.terms.served = options.served;
    return found;
}

void add_side_options(CLI::App& app, UpgradeOptions& options) {
    for (const std::string side : {"from", "to"}) {
        for (const std::string_view of_side : analysis::kFieldsOfASide) {
            const std::string name(of_side);
            const analysis::ScenarioField& field = *analysis::find_field(name);
            auto& value = options.of_sides[side + "-" + name];
            const std::string which = side == "from" ? "the old GPU alone" : "the new GPU alone";
            const std::string help = fmt::format("--{} of {}", name, which);
            CLI::Option* option = field.kind == analysis::FieldKind::flag
                                      ? app.add_flag("--" + side + "-" + name, value.flag, help)
                                      : app.add_option("--" + side + "-" + name, value.texts, help)
                                            ->type_name(field.value)
                                            ->allow_extra_args(false);
            value.option = option->group("One of the two GPUs");
        }
    }
}

} // namespace eyeroof::cli
