#include "analysis/upgrade/purchase.hpp"
#include "model/machine/board.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis {

namespace {

std::size_t holders_of(const PriceView& view, const std::vector<PurchaseCandidate>& candidates) {
    return static_cast<std::size_t>(
        std::ranges::count_if(candidates, [&](const PurchaseCandidate& candidate) {
            return std::ranges::any_of(candidate.views, [&](const PriceView& other) {
                return other.name() == view.name();
            });
        }));
}

// "keep under Lambda (list) and Akash (marketplace), replace under 5 tables".
std::string grouped(const std::vector<PriceVerdict>& all) {
    constexpr std::size_t most_named = 3;
    std::vector<std::pair<std::string, std::vector<std::string>>> groups;
    for (const PriceVerdict& v : all) {
        const std::string word = verdict_word(v);
        auto at = std::ranges::find(groups, word, [](const auto& g) { return g.first; });
        if (at == groups.end()) {
            groups.push_back({word, {}});
            at = groups.end() - 1;
        }
        at->second.push_back(v.view.name());
    }
    std::string text;
    for (const auto& [word, names] : groups) {
        std::string under = fmt::format("{} tables", names.size());
        if (names.size() <= most_named) {
            under = names.front();
            for (std::size_t i = 1; i < names.size(); ++i) {
                under += (i + 1 == names.size() ? " and " : ", ") + names[i];
            }
        }
        text += (text.empty() ? "" : "; ") + word + " under " + under;
    }
    return text;
}

} // namespace

std::string verdict_word(const PriceVerdict& v) {
    return !v.over_budget.empty()                  ? "over budget"
           : v.verdict == UpgradeVerdict::pays_off ? "replace"
           : v.verdict == UpgradeVerdict::does_not ? "keep"
                                                   : std::string(verdict_name(v.verdict));
}

PurchaseQuestion with_rents(PurchaseQuestion question) {
    std::vector<PurchaseCandidate>& candidates = question.candidates;
    for (PurchaseCandidate& candidate : candidates) {
        candidate.views =
            price_views(model::price_of(question.from), model::price_of(candidate.machine),
                        candidate.options.prices, candidate.options.today);
    }
    const PriceView* shared = nullptr;
    for (const PurchaseCandidate& candidate : candidates) {
        for (const PriceView& view : candidate.views) {
            if (shared == nullptr ||
                holders_of(view, candidates) > holders_of(*shared, candidates)) {
                shared = &view;
            }
        }
    }
    const std::string name = shared == nullptr ? "" : shared->name();
    for (PurchaseCandidate& candidate : candidates) {
        std::ranges::stable_partition(candidate.views,
                                      [&](const PriceView& view) { return view.name() == name; });
        if (!candidate.views.empty()) {
            candidate.options.prices = with_view(candidate.options.prices, candidate.views.front());
        }
    }
    return question;
}

PriceWords price_words(const PurchaseAnswer& answer) {
    const std::vector<PriceVerdict>& all = answer.by_price;
    if (all.empty() || answer.upgrade.threshold_basis == "given" || !answer.upgrade.unfit.empty()) {
        return {};
    }
    const PriceView& first = all.front().view;
    const bool agree = std::ranges::all_of(
        all, [&](const PriceVerdict& v) { return verdict_word(v) == verdict_word(all.front()); });
    const std::string here = " These figures use prices of " + first.name() + ". ";
    if (first.basis == PriceBasis::two_tables) {
        return {fmt::format("No seller's table has both GPUs, so prices of different {} are "
                            "compared: {}.",
                            first.from->kind == first.to->kind ? "sellers" : "kinds",
                            grouped(all)) +
                    here,
                ""};
    }
    if (!agree) {
        return {"The verdict depends on the price table: " + grouped(all) + "." + here, ""};
    }
    return {"", all.size() < 2 ? ""
                : all.size() == 2
                    ? " The same under both price tables."
                    : fmt::format(" The same under all {} price tables.", all.size())};
}

} // namespace eyeroof::analysis
