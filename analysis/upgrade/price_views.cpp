#include "analysis/upgrade/price_views.hpp"

#include "base/date.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace eyeroof::analysis {

namespace {

using model::Rent;

std::string table_name(const Rent& rent) {
    return fmt::format("{} ({})", rent.seller, rent.kind);
}

std::string source_text(const Rent& rent) {
    return fmt::format("{}, {}{}{}", table_name(rent), rent.date.empty() ? "undated" : rent.date,
                       rent.source == rent.seller ? "" : ": " + rent.source,
                       rent.note.empty() ? "" : "; " + rent.note);
}

bool is_one_table(const Rent& a, const Rent& b) {
    return a.seller == b.seller && a.kind == b.kind && a.own == b.own;
}

std::vector<PriceView> paired(const std::vector<Rent>& from, const std::vector<Rent>& to,
                              PriceBasis basis, auto&& belongs) {
    std::vector<PriceView> views;
    for (const Rent& a : from) {
        for (const Rent& b : to) {
            if (belongs(a, b)) {
                views.push_back({basis, a, b});
            }
        }
    }
    return views;
}

// Both are rented at prices of tables.
std::vector<PriceView> of_both(const std::vector<Rent>& from, const std::vector<Rent>& to) {
    auto views = paired(from, to, PriceBasis::one_table, is_one_table);
    if (std::ranges::any_of(views, [](const PriceView& v) { return v.from->own; })) {
        std::erase_if(views, [](const PriceView& v) { return !v.from->own; });
    }
    if (views.empty()) {
        views = paired(from, to, PriceBasis::two_tables,
                       [](const Rent& a, const Rent& b) { return a.kind == b.kind; });
    }
    if (views.empty()) {
        views =
            paired(from, to, PriceBasis::two_tables, [](const Rent&, const Rent&) { return true; });
    }
    return views;
}

// The other side is given, owned, or bought.
std::vector<PriceView> of_one(const std::vector<Rent>& rents, bool old_side) {
    const bool own = std::ranges::any_of(rents, &Rent::own);
    std::vector<PriceView> views;
    for (const Rent& rent : rents) {
        if (rent.own == own) {
            PriceView view{PriceBasis::given, {}, {}};
            (old_side ? view.from : view.to) = rent;
            views.push_back(std::move(view));
        }
    }
    return views;
}

std::size_t rank_of(const std::string& kind) {
    constexpr std::array<std::string_view, 5> order = {"list", "hyperscaler", "reserved",
                                                       "marketplace", "spot"};
    return static_cast<std::size_t>(std::ranges::find(order, kind) - order.begin());
}

// Of the older of both; nullopt where one has none.
std::optional<std::chrono::sys_days> day_of(const PriceView& view) {
    std::optional<std::chrono::sys_days> oldest;
    for (const auto* rent : {&view.from, &view.to}) {
        if (*rent) {
            const auto day = date_in((*rent)->date);
            if (!day) {
                return std::nullopt;
            }
            oldest = oldest ? std::min(*oldest, *day) : *day;
        }
    }
    return oldest;
}

} // namespace

std::string PriceView::name() const {
    if (from && to && !is_one_table(*from, *to)) {
        return table_name(*from) + " beside " + table_name(*to);
    }
    return table_name(from ? *from : *to);
}

std::string PriceView::date() const {
    if (!day_of(*this)) {
        return "undated";
    }
    const bool old_side = from && (!to || date_in(from->date) <= date_in(to->date));
    return old_side ? from->date : to->date;
}

std::vector<PriceView> price_views(const model::GpuPrice& from, const model::GpuPrice& to,
                                   const UpgradePrices& prices,
                                   std::optional<std::chrono::sys_days> today) {
    const bool old_side = !prices.from_owned && !prices.from_usd_per_hour && !from.usd_per_hour_low;
    const bool new_side = !is_bought(prices) && !prices.to_usd_per_hour && !to.usd_per_hour_low;
    std::vector<PriceView> views = old_side && new_side ? of_both(from.rents, to.rents)
                                   : old_side           ? of_one(from.rents, true)
                                   : new_side           ? of_one(to.rents, false)
                                                        : std::vector<PriceView>();
    const auto rank = [&](const PriceView& view) {
        const auto day = day_of(view);
        const bool fresh = day && (!today || *today - *day <= std::chrono::days(kOldPriceDays));
        const Rent& rent = view.to ? *view.to : *view.from;
        return std::tuple(!fresh, rank_of(rent.kind),
                          -day.value_or(std::chrono::sys_days()).time_since_epoch().count());
    };
    std::ranges::stable_sort(views, {}, rank);
    return views;
}

UpgradePrices with_view(UpgradePrices prices, const PriceView& view) {
    if (view.from) {
        prices.from_usd_per_hour = view.from->usd_per_hour;
        prices.from_source = source_text(*view.from);
    }
    if (view.to) {
        prices.to_usd_per_hour = view.to->usd_per_hour;
        prices.to_source = source_text(*view.to);
    }
    return prices;
}

} // namespace eyeroof::analysis
