// Which rents of two machines may be compared: those of one seller and kind.
#pragma once

#include "analysis/upgrade/upgrade.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

// one_table: both of one seller and kind. given: one side's price is the user's, the other's a
// list's. two_tables: no seller has both.
enum class PriceBasis { one_table, given, two_tables };

// One way to take both sides' rents.
struct PriceView {
    PriceBasis basis = PriceBasis::one_table;
    std::optional<model::Rent> from, to; // nullopt: given, owned, or bought

    std::string name() const; // "Lambda (list)", "Akash (marketplace) beside Lambda (list)"
    std::string date() const; // the older of both, or "undated"
    bool operator==(const PriceView&) const = default;
};

inline constexpr int kOldPriceDays = 120;

// All of them, best first: those of the user's own tables alone where these have both machines;
// dated ones of the last 120 days before others; list prices before hyperscalers, terms of years,
// marketplaces, and spot; the newest before older ones. Those of one seller and kind where there
// are any, else those of one kind, else all pairs. Empty where both sides have a price already, or
// one has none at all.
std::vector<PriceView> price_views(const model::GpuPrice& from, const model::GpuPrice& to,
                                   const UpgradePrices& prices,
                                   std::optional<std::chrono::sys_days> today);

// The prices with the rents of the view, and where those come from.
UpgradePrices with_view(UpgradePrices prices, const PriceView& view);

} // namespace eyeroof::analysis
