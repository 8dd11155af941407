// What tests of the upgrade page share: what the command computes of its question, without the
// window, and waiting for verdicts.
#pragma once

#include "analysis/upgrade/asked.hpp"
#include "analysis/upgrade/question.hpp"
#include "gui/panes/answer_table.hpp"
#include "gui/panes/upgrade_form.hpp"
#include "tests/gui/window_tools.hpp"

#include <QLineEdit>

namespace eyeroof::gui::testing {

inline analysis::PurchaseQuestion asked_purchase(const analysis::UpgradeQuestion& question) {
    const analysis::DataFolders data = folders().data();
    auto asked = analysis::asked_of(question).value();
    asked.prices = hwdb::own_prices(question.prices, {}).value();
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

// The whole answer to that question, each candidate with its sweep.
inline analysis::Purchase whole_purchase(const analysis::UpgradeQuestion& question) {
    const analysis::PurchaseQuestion whole = asked_purchase(question);
    analysis::Purchase all = analysis::purchase(whole).value();
    for (std::size_t i = 0; i < all.answers.size(); ++i) {
        if (!question.sweep_batches.empty() || !question.sweep_types.empty()) {
            all.answers[i].upgrade.sweep =
                analysis::sweep_of(whole, whole.candidates[i], question.sweep_batches,
                                   question.sweep_types)
                    .value();
        }
    }
    all.unbought = analysis::without_buying(whole, all.answers[all.best], {}, {});
    return all;
}

// The whole answer is that of the command: sentence, candidates, sweeps, mix, and terms.
inline bool is_as_asked(MainWindow& window) {
    const analysis::Purchase expected = whole_purchase(window.upgrade().form().question());
    std::vector<analysis::Upgrade> upgrades;
    for (const analysis::PurchaseAnswer& answer : expected.answers) {
        upgrades.push_back(answer.upgrade);
    }
    return window.upgrade().purchase() == expected && window.upgrade().upgrades() == upgrades;
}

// The next verdicts after an action.
template <class Action> bool judged(MainWindow& window, Action action) {
    QSignalSpy spy(&window.upgrade(), &UpgradePane::judged);
    action();
    return spy.size() > 0 || spy.wait(kPatience_ms);
}

// Types into a field, and presses Return.
inline void type_into(QWidget* edit, const QString& text) {
    QVERIFY(edit != nullptr);
    if (auto* line = qobject_cast<QLineEdit*>(edit)) {
        line->selectAll();
    }
    QTest::keyClicks(edit, text);
    QTest::keyClick(edit, Qt::Key_Return);
}

} // namespace eyeroof::gui::testing
