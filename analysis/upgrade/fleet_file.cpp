#include "analysis/upgrade/fleet_file.hpp"

#include "analysis/upgrade/amounts.hpp"

#include <array>

namespace eyeroof::analysis {

namespace {

constexpr std::pair<std::string_view, int> kFleetFormats[] = {{"fleet/1", 1}};
constexpr std::array<const char*, 5> kRunFields = {"phase", "optimizer", "dtype", "launch",
                                                   "compiled"};
constexpr std::int64_t kMostDevices = 1'000'000;

// A scalar by one of the parsers of amounts; what is wrong is reported at its place.
template <class Parser>
std::optional<double> amount_at(const hwdb::Node& node, const Parser& parser) {
    const auto text = node.text();
    if (!text) {
        return std::nullopt;
    }
    const auto value = parser(*text);
    if (!value) {
        const Diagnostic& why = *value.diagnostics().begin();
        node.error(why.code, why.message, why.hint);
        return std::nullopt;
    }
    return *value;
}

std::optional<double> per_at(const hwdb::Node& node, const char* unit) {
    return amount_at(node, [&](const std::string& text) { return parse_usd_per(text, unit); });
}

void read_own(const hwdb::Node& own, FleetQuestion& question) {
    question.gpu = own.need("gpu").text().value_or("");
    if (const auto count = own["count"].integer({1, kMostDevices})) {
        question.terms.count = static_cast<int>(*count);
    }
    question.host = own["host"].text().value_or("");
    question.fabric = own["fabric"].text().value_or("");
    question.usd_per_hour = per_at(own["rent"], "h");
    question.owned = own["owned"].boolean().value_or(!question.usd_per_hour);
    question.resale_usd = amount_at(own["resale"], parse_usd);
    question.terms.age_years = amount_at(own["age"], parse_years);
}

FleetRun run_at(const hwdb::Node& node) {
    FleetRun run;
    run.network = node.need("network").text().value_or("");
    const auto share = amount_at(node["share"], [](const std::string& text) {
        return text.find('%') != std::string::npos ? parse_share(text) : parse_number(text);
    });
    run.share = share.value_or(amount_at(node["hours"], parse_number).value_or(1.0));
    for (const char* field : kRunFields) {
        if (const auto text = node[field].text()) {
            run.fields.emplace_back(field, *text == "true" ? "1" : *text);
        }
    }
    if (const auto batch = node["batch"].text()) {
        run.largest = *batch == "largest";
        if (!run.largest) {
            run.fields.emplace_back("batch", *batch);
        }
    }
    return run;
}

FleetOffer offer_at(const hwdb::Node& node) {
    FleetOffer offer;
    offer.gpu = node.need("gpu").text().value_or("");
    offer.buy_usd = amount_at(node["buy"], parse_usd);
    offer.usd_per_hour = per_at(node["rent"], "h");
    offer.bought = offer.buy_usd.has_value() || node["bought"].boolean().value_or(false);
    offer.host = node["host"].text().value_or("");
    offer.fabric = node["fabric"].text().value_or("");
    return offer;
}

void read_terms(const hwdb::Node& terms, FleetQuestion& question) {
    question.years = amount_at(terms["years"], parse_years);
    question.utilization = amount_at(terms["utilization"], parse_share);
    question.usd_per_kwh = per_at(terms["power"], "kWh");
    question.pue = terms["pue"].number(1.0, 10.0);
    question.host_usd_per_month = per_at(terms["host"], "month");
    question.terms.kg_co2_per_kwh =
        terms["co2_kg_per_kwh"].number(0.0, 100.0).value_or(question.terms.kg_co2_per_kwh);
    question.terms.budget_usd = amount_at(terms["budget"], parse_usd);
    question.terms.power_w = amount_at(terms["power_limit"], parse_watts);
    question.terms.samples = amount_at(terms["samples"], parse_number);
    question.terms.deadline_days = amount_at(terms["deadline"], parse_days);
}

} // namespace

Result<FleetOffer> parse_offer(const std::string& text) {
    FleetOffer offer;
    const auto at = text.rfind('@');
    offer.gpu = text.substr(0, at);
    if (at == std::string::npos) {
        return offer;
    }
    const std::string price = text.substr(at + 1);
    const bool rented = price.find('/') != std::string::npos;
    const auto amount = rented ? parse_usd_per(price, "h") : parse_usd(price);
    if (!amount) {
        return Result<FleetOffer>::failure(
            "bad-amount", "'" + price + "' behind " + offer.gpu + " is not a price",
            "as in a100-sxm-80gb@16k to buy it, or a100-sxm-80gb@1.39/h to rent it");
    }
    (rented ? offer.usd_per_hour : offer.buy_usd) = *amount;
    offer.bought = !rented;
    return offer;
}

Result<FleetQuestion> read_fleet(hwdb::Document& document) {
    const hwdb::Node root = document.root();
    root.need("eyeroof").choice(kFleetFormats, "format of this file");
    FleetQuestion question;
    read_own(root.need("own"), question);
    for (const hwdb::Node& run : root.need("runs").items(1)) {
        question.runs.push_back(run_at(run));
    }
    for (const hwdb::Node& offer : root.need("candidates").items(1)) {
        question.offers.push_back(offer_at(offer));
    }
    if (const hwdb::Node terms = root["terms"]) {
        read_terms(terms, question);
    }
    return document.conclude(std::move(question));
}

FleetQuestion overlaid(FleetQuestion file, const FleetQuestion& options) {
    const auto over = [](auto& value, const auto& given) { value = given ? given : value; };
    file.owned = (file.owned && !options.usd_per_hour) || options.owned;
    over(file.usd_per_hour, options.usd_per_hour);
    over(file.resale_usd, options.resale_usd);
    over(file.utilization, options.utilization);
    over(file.years, options.years);
    over(file.usd_per_kwh, options.usd_per_kwh);
    over(file.pue, options.pue);
    over(file.host_usd_per_month, options.host_usd_per_month);
    over(file.terms.count, options.terms.count);
    over(file.terms.age_years, options.terms.age_years);
    over(file.terms.budget_usd, options.terms.budget_usd);
    over(file.terms.power_w, options.terms.power_w);
    over(file.terms.served, options.terms.served);
    over(file.terms.samples, options.terms.samples);
    over(file.terms.deadline_days, options.terms.deadline_days);
    return file;
}

UpgradePrices prices_of(const FleetQuestion& question, const FleetOffer& offer) {
    UpgradePrices prices;
    prices.from_owned = question.owned;
    prices.from_usd_per_hour = question.usd_per_hour;
    prices.from_resale_usd = question.resale_usd;
    prices.to_usd_per_hour = offer.usd_per_hour;
    prices.to_buy_usd = offer.buy_usd;
    if (offer.bought) {
        prices.to_bought = true;
    }
    prices.utilization = question.utilization.value_or(prices.utilization);
    prices.years = question.years.value_or(prices.years);
    prices.power_usd_per_kwh = question.usd_per_kwh.value_or(prices.power_usd_per_kwh);
    prices.pue = question.pue.value_or(prices.pue);
    prices.host_usd_per_month = question.host_usd_per_month.value_or(prices.host_usd_per_month);
    return prices;
}

} // namespace eyeroof::analysis
