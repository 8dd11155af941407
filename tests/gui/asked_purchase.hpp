// What the command computes of the question of the upgrade page, without the window.
#pragma once

#include "analysis/upgrade/asked.hpp"
#include "analysis/upgrade/question.hpp"
#include "tests/gui/window_tools.hpp"

namespace eyeroof::gui::testing {

inline analysis::PurchaseQuestion asked_purchase(const analysis::UpgradeQuestion& question) {
    const analysis::DataFolders data = folders().data();
    auto asked = analysis::asked_of(question).value();
    asked.prices = hwdb::own_prices(question.prices).value();
    analysis::PurchaseQuestion whole;
    whole.from = analysis::old_machine(asked, data).value();
    for (const analysis::FleetRun& run : asked.fleet.runs) {
        whole.fleet.push_back(analysis::member_of(run, asked.from, data).value());
    }
    for (const analysis::FleetOffer& offer : asked.fleet.offers) {
        whole.candidates.push_back(analysis::candidate_of(asked, offer, whole.from, data).value());
    }
    return analysis::with_runs(asked, std::move(whole)).value();
}

} // namespace eyeroof::gui::testing
