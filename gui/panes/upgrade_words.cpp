#include "gui/panes/upgrade_words.hpp"

#include "analysis/upgrade/amounts.hpp"
#include "gui/views/qt_text.hpp"
#include "report/upgrade/purchase_tables.hpp"

#include <QCoreApplication>
#include <QLocale>
#include <QRegularExpression>
#include <QStringList>
#include <algorithm>
#include <cmath>

namespace eyeroof::gui {

namespace {

QString tr(const char* words) {
    return QCoreApplication::translate("UpgradePane", words);
}

bool unpriced(const analysis::Upgrade& upgrade) {
    return upgrade.verdict == analysis::UpgradeVerdict::unpriced;
}

// A fleet's members run in their own ways; the question says what they share.
QString run_of(const analysis::UpgradeQuestion& question, const analysis::Upgrade& u) {
    if (!u.run.empty()) {
        return text(u.run);
    }
    QStringList parts = {question.open() ? tr("training in mixed precision at the largest batch")
                         : question.phase == "inference"
                             ? tr("inference")
                             : tr("training step with %1").arg(text(question.phase))};
    if (question.batch) {
        parts << tr("batch %1").arg(*question.batch);
    }
    return parts.join(", ");
}

// The last day that a source speaks of, as far as it tells one.
QDate date_in(const QString& source) {
    static const QRegularExpression day("(20\\d\\d)-(\\d\\d)-(\\d\\d)");
    static const QRegularExpression month("([A-Z][a-z]+) (20\\d\\d)");
    static const QRegularExpression year("\\b(20\\d\\d)\\b");
    if (const auto found = day.match(source); found.hasMatch()) {
        return QDate::fromString(found.captured(0), Qt::ISODate);
    }
    if (const auto found = month.match(source); found.hasMatch()) {
        const QDate date = QLocale::c().toDate("1 " + found.captured(0), "d MMMM yyyy");
        if (date.isValid()) {
            return date;
        }
    }
    const auto found = year.match(source);
    return found.hasMatch() ? QDate(found.captured(1).toInt(), 12, 31) : QDate();
}

QString price_text(const QString& what, double usd, int digits, const std::string& source,
                   const QDate& today) {
    const QString from = text(source);
    const QString age = age_of(from, today);
    return tr("%1: $%2%3")
        .arg(what)
        .arg(usd, 0, 'f', digits)
        .arg(from.isEmpty() ? QString()
                            : " (" + from + (age.isEmpty() ? QString() : "; " + age) + ")");
}

QString prices_text(const analysis::Upgrade& u, const QDate& today) {
    const analysis::UpgradeMoney& m = u.money;
    QStringList lines;
    if (m.priced) {
        lines
            << (m.from_owned
                    ? tr("%1 is owned: no rent; power and what its resale would bring, $%2 an hour")
                          .arg(text(u.from))
                          .arg(m.from_usd_per_hour, 0, 'f', 2)
                    : price_text(tr("An hour of %1").arg(text(u.from)), m.from_usd_per_hour, 2,
                                 m.from_price_source, today));
        lines << price_text(tr("An hour of %1").arg(text(u.to)), m.to_usd_per_hour, 2,
                            m.to_price_source, today);
    }
    if (m.outlay_usd) {
        lines << price_text(tr("To buy %1, less what the old one brings").arg(text(u.to)),
                            *m.outlay_usd, 0, m.buy_source, today);
    }
    if (m.owned_usd_per_hour) {
        lines << tr("Bought, an hour of work costs $%1 over %2 years at %3 % use: its price, "
                    "electricity and its share of the host")
                     .arg(*m.owned_usd_per_hour, 0, 'f', 2)
                     .arg(m.years, 0, 'g', 3)
                     .arg(100.0 * m.utilization, 0, 'f', 0);
    }
    return lines.join("\n");
}

} // namespace

QString capital(QString sentence) {
    if (!sentence.isEmpty()) {
        sentence[0] = sentence[0].toUpper();
    }
    return sentence;
}

QString interval_text(const analysis::Interval& i) {
    return QString("%1x (%2x to %3x)")
        .arg(i.value, 0, 'f', 2)
        .arg(i.low, 0, 'f', 2)
        .arg(i.high, 0, 'f', 2);
}

QString sign_of(analysis::UpgradeVerdict verdict) {
    switch (verdict) {
    case analysis::UpgradeVerdict::pays_off:
        return "✓ ";
    case analysis::UpgradeVerdict::does_not:
        return "✗ ";
    case analysis::UpgradeVerdict::undecided:
    case analysis::UpgradeVerdict::equal:
        return "≈ ";
    case analysis::UpgradeVerdict::does_not_fit:
        return "✗ ";
    case analysis::UpgradeVerdict::unpriced:
        return {};
    }
    return {};
}

QString headline_html(const analysis::UpgradeQuestion& question, const analysis::Upgrade& u,
                      const QString& sentence, const QColor& colour) {
    const QString what = question.phase == "inference" ? tr("Running") : tr("Training");
    const QString hosts =
        u.from_step.host == u.to_step.host
            ? tr("both in %1").arg(text(u.from_step.host))
            : tr("now in %1, then in %2").arg(text(u.from_step.host), text(u.to_step.host));
    return tr("<span style='font-size:x-large; font-weight:600; color:%1'>%2</span>"
              "<br><span style='font-size:large'>%3 %4 on %5 instead of %6: %7 as fast, 80 % "
              "interval.</span>"
              "<br>%8; %9.")
        .arg(colour.name(), sign_of(u.verdict) + sentence.toHtmlEscaped(), what,
             text(u.network).toHtmlEscaped(), text(u.to), text(u.from), interval_text(u.speedup),
             capital(run_of(question, u)).toHtmlEscaped(), hosts);
}

namespace {

QString flip_line(const analysis::Flip& flip) {
    QString line = capital(text(flip.what)).toHtmlEscaped();
    if (flip.speedup) {
        line += tr(": %1x").arg(*flip.speedup, 0, 'f', 2);
    }
    if (!flip.break_even.empty()) {
        line += ", " + text(flip.break_even).toHtmlEscaped();
    }
    return "<li>" + line + (flip.flips ? QString() : tr(" (the verdict stays)")) + "</li>";
}

QString evidence_line(const analysis::NearEvidence& near) {
    const analysis::EvidenceRow& row = near.row;
    QString line = tr("%1, %2 to %3, %4 in %5 precision: %6x")
                       .arg(text(row.network), text(row.key.from), text(row.key.to),
                            text(row.key.phase), text(row.key.precision))
                       .arg(row.speedup, 0, 'f', 2);
    if (row.predicted > 0.0) {
        line += tr(" (predicted %1x)").arg(row.predicted, 0, 'f', 2);
    }
    return "<li>" + line.toHtmlEscaped() + "; " + text(row.source).toHtmlEscaped() + "</li>";
}

} // namespace

QString cost_html(const analysis::PurchaseAnswer& answer) {
    const auto usd = [](double amount) { return text(analysis::in_dollars(amount)); };
    QStringList parts;
    if (answer.outlay_usd) {
        parts << tr("Outlay %1").arg(usd(*answer.outlay_usd));
    }
    if (answer.now.usd_per_year > 0.0 && answer.then.usd_per_year > 0.0) {
        parts << tr("%1 a year instead of %2")
                     .arg(usd(answer.then.usd_per_year), usd(answer.now.usd_per_year));
    }
    if (answer.payback_months) {
        parts << tr("paid back in %1 months").arg(*answer.payback_months, 0, 'f', 1);
    }
    return parts.isEmpty() ? QString() : "<br><b>" + parts.join(", ") + "</b>.";
}

QString decision_html(const analysis::Purchase& purchase, std::size_t chosen) {
    const analysis::PurchaseAnswer& answer = purchase.answers.at(chosen);
    constexpr std::size_t most = 4;
    QString flips, evidence;
    for (std::size_t i = 0; i < std::min(most, answer.flips.size()); ++i) {
        flips += flip_line(answer.flips[i]);
    }
    for (std::size_t i = 0; i < std::min(most, answer.upgrade.nearest.size()); ++i) {
        evidence += evidence_line(answer.upgrade.nearest[i]);
    }
    const QString flip_part =
        flips.isEmpty() ? tr("<b>What would change the verdict</b><br>Nothing that was tried.")
                        : tr("<b>What would change the verdict</b><ul style='margin-left:-24px; "
                             "margin-top:0px'>%1</ul>")
                              .arg(flips);
    const QString evidence_part =
        evidence.isEmpty() ? tr("<b>Published speedups</b><br>None resembles this question.")
                           : tr("<b>Published speedups nearest to the question</b>"
                                "<ul style='margin-left:-24px; margin-top:0px'>%1</ul>")
                                 .arg(evidence);
    const QString without = purchase.unbought
                                ? tr("<p>Without buying, on %1: %2.</p>")
                                      .arg(text(answer.now.gpu), text(purchase.unbought->change))
                                : QString();
    return without + "<table width='100%'><tr><td width='50%' valign='top'>" + flip_part +
           "</td><td width='50%' valign='top'>" + evidence_part + "</td></tr></table>";
}

// What the command line's options are called here.
QString in_the_window(const std::string& note) {
    return text(note).replace("--sweep-batch 1,8,64 shows",
                              tr("other batches, under \"Also at\", show"));
}

QString reasons_text(const analysis::Upgrade& u, const QString& terms, const QDate& today) {
    QStringList lines;
    if (!terms.isEmpty()) {
        lines << capital(terms) + ".";
    }
    if (unpriced(u)) {
        lines << tr("Whether it pays depends on the prices: enter on the left what an hour of each "
                    "GPU costs.");
    } else if (!std::isfinite(u.threshold)) {
        lines << tr("No speedup is enough (%1).").arg(text(u.threshold_basis));
    } else {
        lines << tr("%1x as fast is enough (%2). The verdict is wrong with a probability of %3.")
                     .arg(QString::number(u.threshold, 'f', 2), text(u.threshold_basis),
                          text(analysis::chance_text(u.probability_wrong)));
    }
    const QString prices = prices_text(u, today);
    if (!prices.isEmpty()) {
        lines << prices;
    }
    QStringList notes;
    for (const std::string& note : u.notes) {
        notes << capital(in_the_window(note)) + ".";
    }
    if (!notes.isEmpty()) {
        lines << notes.join(" ");
    }
    return lines.join("\n");
}

QString age_of(const QString& source, const QDate& today) {
    const QDate date = date_in(source);
    if (!date.isValid()) {
        return {};
    }
    const int months = std::max(0, (today.year() - date.year()) * 12 + today.month() -
                                       date.month() - (today.day() < date.day() ? 1 : 0));
    return months == 0   ? tr("less than a month old")
           : months == 1 ? tr("1 month old")
           : months < 24 ? tr("%1 months old").arg(months)
                         : tr("%1 years old").arg(months / 12);
}

} // namespace eyeroof::gui
