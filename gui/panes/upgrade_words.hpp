// An upgrade's verdict in words: the headline, what stands behind it, prices with their sources,
// dates and ages.
#pragma once

#include "analysis/upgrade/purchase.hpp"
#include "analysis/upgrade/question.hpp"

#include <QColor>
#include <QDate>
#include <QString>

namespace eyeroof::gui {

QString capital(QString sentence); // its first letter

QString interval_text(const analysis::Interval& interval); // "1.34 (1.10 … 1.62)"

// A sign beside the words, so that colour is not all there is; none without a verdict.
QString sign_of(analysis::UpgradeVerdict verdict);

// The sentence to quote, and what is compared: network, phase, precision, batch, launch mode, GPUs,
// hosts.
QString headline_html(const analysis::UpgradeQuestion& question, const analysis::Upgrade& upgrade,
                      const QString& sentence, const QColor& colour);

// "Outlay $90,000, $21,000 a year instead of $34,000": as far as there are prices.
QString cost_html(const analysis::PurchaseAnswer& answer);

// What would change the verdict on one candidate, ranked, with the break-even of each; published
// speed-ups that resemble the question.
QString decision_html(const analysis::Purchase& purchase, std::size_t chosen);

// Terms, threshold and chance, prices, notes; without prices, what to name.
QString reasons_text(const analysis::Upgrade& upgrade, const QString& terms, const QDate& today);

// "2 months old" by the date that a source tells ("2026-09-19", "September 2026", "2024"); empty
// where it tells none.
QString age_of(const QString& source, const QDate& today);

} // namespace eyeroof::gui
