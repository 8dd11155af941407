#include "hwdb/price_reader.hpp"

#include "base/date.hpp"
#include "hwdb/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace eyeroof::hwdb {

namespace {

constexpr std::pair<std::string_view, int> kPriceFormats[] = {{"prices/1", 1}};
constexpr double kMostUsdPerHour = 1e6;
// As a seller publishes them: its own list, a list that includes networks and services of a large
// cloud, a term of months or years, the lowest offer of several owners, and what may be taken away.
constexpr std::array<std::string_view, 5> kPriceKinds = {"list", "hyperscaler", "reserved",
                                                         "marketplace", "spot"};

std::string price_kind_at(const Node& node) {
    std::vector<std::pair<std::string, std::string>> names;
    for (const std::string_view kind : kPriceKinds) {
        names.emplace_back(kind, kind);
    }
    return node.choice(names, "kind of price").value_or("");
}

// "2026-09-20", "2026-09", "2026", or "unknown".
std::string date_at(const Node& node) {
    std::string text = node.text().value_or("");
    if (text.empty() || text == "unknown") {
        return "";
    }
    const bool plain = text.find_first_not_of("0123456789-") == std::string::npos;
    if (!plain || !date_in(text)) {
        node.error("bad-date", "'" + text + "' is not a date",
                   "as in 2026-09-20, 2026-09, 2026, or unknown");
    }
    return text;
}

void read_row(const Node& node, model::Rent rent, std::vector<model::Rent>& rents) {
    const bool whole = node.is_map();
    const Node value = whole ? node.need("value") : node;
    if (whole) {
        rent.source = node["source"].text().value_or(rent.source);
        rent.date = node.has("date") ? date_at(node["date"]) : rent.date;
        rent.note = node["note"].text().value_or("");
    }
    const auto usd = value.number(0.0, kMostUsdPerHour);
    if (usd == 0.0) {
        value.error("zero", "a rent of 0 is no price", "leave the row out");
    }
    const bool twice = std::ranges::any_of(rents, [&](const model::Rent& other) {
        return other.seller == rent.seller && other.kind == rent.kind;
    });
    if (twice) {
        value.error("two-prices",
                    fmt::format("{} of {} has this machine already", rent.kind, rent.seller),
                    "leave one of the two prices out");
    }
    rent.usd_per_hour = usd.value_or(0.0);
    rents.push_back(std::move(rent));
}

void read_table(const Node& table, Prices& prices) {
    model::Rent rent;
    rent.seller = table.need("seller").text().value_or("");
    rent.kind = price_kind_at(table.need("kind"));
    rent.date = date_at(table.need("date"));
    rent.source = table["source"].text().value_or(rent.seller);
    for (const auto& [machine, row] : table.need("usd_per_hour").entries()) {
        read_row(row, rent, prices[machine]);
    }
}

} // namespace

Result<Prices> read_prices(Document& document) {
    const Node root = document.root();
    root.need("eyeroof").choice(kPriceFormats, "format of this file");
    Prices prices;
    if (root.is_map() && root.has("tables")) {
        for (const Node& table : root["tables"].items(1)) {
            read_table(table, prices);
        }
    } else {
        read_table(root, prices);
    }
    return document.conclude(std::move(prices));
}

Result<Prices> load_prices(Folders folders) {
    const auto path = nearest_file(folders, "prices.yaml");
    if (!path) {
        return Prices{};
    }
    auto document = load_yaml(*path);
    return document ? read_prices(*document) : Result<Prices>(document.diagnostics());
}

Result<Prices> own_prices(const std::vector<std::string>& files, Folders folders) {
    Prices prices;
    Diagnostics all;
    for (const std::string& file : files) {
        auto document = load_yaml(file == "-" ? "/dev/stdin" : file);
        auto read = document ? read_prices(*document) : Result<Prices>(document.diagnostics());
        all.append(read.diagnostics());
        for (auto& [typed, rents] : read ? *read : Prices()) {
            const auto known = find_machine(typed, folders);
            if (!known) {
                const Diagnostic& why = known.diagnostics().items().front();
                all.warning(
                    "unknown-gpu",
                    fmt::format("{}; only a machine file of that id takes its price", why.message),
                    why.hint, {file, 0, 0});
            }
            for (model::Rent& rent : rents) {
                rent.own = true;
                prices[known ? known->stem().string() : typed].push_back(std::move(rent));
            }
        }
    }
    return all.has_errors() ? Result<Prices>(std::move(all))
                            : Result<Prices>(std::move(prices), std::move(all));
}

model::Machine with_prices(model::Machine machine, const Prices& prices) {
    const auto found = prices.find(machine.id);
    auto* gpu = std::get_if<model::Gpu>(&machine.kind);
    if (gpu != nullptr && found != prices.end()) {
        std::vector<model::Rent>& rents = gpu->price.rents;
        rents.insert(rents.begin(), found->second.begin(), found->second.end());
    }
    return machine;
}

} // namespace eyeroof::hwdb
