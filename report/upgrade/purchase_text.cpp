// The answer over several candidates for a terminal: at most 80 columns; what stands behind it
// follows where it is asked for.
#include "base/lines.hpp"
#include "report/upgrade/purchase_tables.hpp"
#include "report/upgrade/upgrade.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace eyeroof::report {

namespace {

constexpr std::size_t kColumnGap = 2; // between columns
constexpr std::size_t kShownEvidence = 2;

std::vector<std::size_t> widths_of(const Table& table) {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        widths.push_back(display_width(masked_controls(table.columns[c])));
        for (const auto& row : table.rows) {
            widths[c] = std::max(widths[c], display_width(masked_controls(row[c])));
        }
    }
    return widths;
}

// Cells of the columns from `first` to before `end`, behind the first column.
std::string line_of(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                    std::size_t first, std::size_t end) {
    std::string line = left(masked_controls(cells[0]), widths[0]);
    for (std::size_t c = first; c < end; ++c) {
        line += std::string(kColumnGap, ' ') + left(masked_controls(cells[c]), widths[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

// As many columns beside the first as fit, the others in blocks below.
std::string table_text(const Table& table) {
    if (table.rows.empty()) {
        return "";
    }
    const auto widths = widths_of(table);
    std::string text = table.title.empty() ? "" : table.title + "\n";
    for (std::size_t first = 1; first < table.columns.size();) {
        std::size_t end = first;
        std::size_t used = widths[0];
        while (end < table.columns.size() &&
               (end == first || used + kColumnGap + widths[end] <= kTextColumns)) {
            used += kColumnGap + widths[end++];
        }
        text += line_of(table.columns, widths, first, end);
        for (const auto& row : table.rows) {
            text += line_of(row, widths, first, end);
        }
        text += "\n";
        first = end;
    }
    return text;
}

std::size_t table_width(const Table& table) {
    std::size_t width = 0;
    for (const std::size_t column : widths_of(table)) {
        width += (width == 0 ? 0 : kColumnGap) + column;
    }
    return width;
}

// Rows of the table that fit eight lines with its title and its head: the first, those of other
// verdicts, and then the others, in their order.
std::vector<std::size_t> shown_prices(const analysis::PurchaseAnswer& a) {
    constexpr std::size_t kMost = 5;
    const auto verdict = [&](std::size_t i) { return analysis::verdict_word(a.by_price[i]); };
    std::vector<std::size_t> rows(a.by_price.size());
    std::iota(rows.begin(), rows.end(), 0);
    if (rows.size() > kMost + 1) {
        std::stable_partition(rows.begin() + 1, rows.end(),
                              [&](std::size_t i) { return verdict(i) != verdict(0); });
        rows.resize(kMost);
        std::ranges::sort(rows);
    }
    return rows;
}

// In eight lines: without the prices themselves where these do not fit beside the verdicts.
std::string price_lines_text(const analysis::PurchaseAnswer& a) {
    const Table all = prices_table(a);
    if (all.rows.empty()) {
        return "";
    }
    Table table{all.title, all.columns, {}};
    for (const std::size_t row : shown_prices(a)) {
        table.rows.push_back(all.rows[row]);
    }
    if (table_width(table) > kTextColumns) {
        const auto leave_out = [](std::vector<std::string>& cells) {
            cells.erase(cells.begin() + 2, cells.begin() + 4); // old and new
        };
        leave_out(table.columns);
        std::ranges::for_each(table.rows, leave_out);
    }
    std::string text = table_text(table);
    if (table.rows.size() < all.rows.size()) {
        text.pop_back(); // the empty line
        text += "and " + counted(all.rows.size() - table.rows.size(), "more table") + "\n\n";
    }
    return text;
}

// Change and break-even; those that leave the verdict as it is say so. Not `all`: only the nearest
// of them.
std::string flips_text(const analysis::PurchaseAnswer& a, bool all) {
    constexpr std::ptrdiff_t kShownStays = 2;
    Table table = flips_table(a);
    if (const auto stays =
            std::ranges::find_if(table.rows, [](const auto& row) { return row[2] == "stays"; });
        !all && table.rows.end() - stays > kShownStays) {
        table.rows.erase(stays + kShownStays, table.rows.end());
    }
    if (table.rows.empty()) {
        return "";
    }
    constexpr std::size_t kMostWidth = 45;
    std::size_t width = 0;
    for (const auto& row : table.rows) {
        width = std::max(width, display_width(masked_controls(row[0])));
    }
    width = std::min(width, kMostWidth);
    std::string text = table.title + "\n";
    for (const auto& row : table.rows) {
        const std::string change = masked_controls(row[0]);
        const std::string even = row[1] + (row[2] == "stays" ? ": stays" : "");
        const bool one_line = display_width(change) <= width &&
                              width + display_width(even) + 2 * kColumnGap <= kTextColumns;
        text += one_line ? "  " + left(change, width) + "  " + even + "\n"
                         : "  " + change + "\n" + wrapped(even, 4, kTextColumns);
    }
    return text + "\n";
}

std::string beside_text(const analysis::PurchaseAnswer& a) {
    std::string line;
    for (const analysis::BesideLine& other : a.beside) {
        const analysis::Interval& i = other.speedup;
        line +=
            (line.empty() ? "Also: " : "; ") + other.what + ": " +
            (other.unfit.empty() ? fmt::format("{:.2f}x ({:.2f} to {:.2f})", i.value, i.low, i.high)
                                 : "does not fit one GPU");
    }
    return line.empty() ? line : wrapped(masked_controls(line + "."), 0, kTextColumns) + "\n";
}

// The nearest that resemble the question; where none does, the nearest of all.
std::string evidence_text(const analysis::PurchaseAnswer& a) {
    const bool near = is_near(a.upgrade);
    const Table table = evidence_table(a, near ? kShownEvidence : 1);
    std::string text;
    for (const auto& row : table.rows) {
        text +=
            wrapped(masked_controls(fmt::format(
                        "{}: {}, {}, {} to {}: {}, predicted {}{} ({})",
                        near ? "Published" : "Nearest published speedup (different kind of run)",
                        row[0], row[1], row[2], row[3], row[5], row[6],
                        row[7] == "-" ? "" : ", " + row[7], row[9])),
                    0, kTextColumns);
    }
    return text;
}

std::string paragraphs(const std::vector<std::string>& lines, std::size_t indent) {
    std::string text;
    for (const std::string& line : lines) {
        text += wrapped(masked_controls(line), indent, kTextColumns);
    }
    return text;
}

std::string scenario_text(const analysis::Purchase& p) {
    const auto lines = scenario_lines(p);
    const std::size_t own = std::max<std::size_t>(p.answers.front().upgrade.members.size(), 1);
    std::string text;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        text += wrapped(masked_controls(lines[i]), i < own ? 0 : 2, kTextColumns);
    }
    return text;
}

std::string prices_text(const analysis::Purchase& p) {
    std::string line;
    for (const std::string& price : price_lines(p)) {
        line += (line.empty() ? "Prices: " : "; ") + price;
    }
    return line.empty() ? line : wrapped(masked_controls(line + "."), 0, kTextColumns);
}

std::string details_text(const analysis::Purchase& p) {
    const analysis::PurchaseAnswer& best = p.answers.at(p.best);
    std::string text = "\n" + table_text(evidence_table(best, best.upgrade.nearest.size()));
    text += upgrade_text(best.upgrade);
    for (std::size_t i = 0; i < p.answers.size(); ++i) {
        text += i == p.best ? "" : upgrade_categories_text(p.answers[i].upgrade);
    }
    return text;
}

} // namespace

std::string purchase_text(const analysis::Purchase& p, bool details) {
    constexpr std::ptrdiff_t kMostLines = 56; // beside price tables
    const analysis::PurchaseAnswer& best = p.answers.at(p.best);
    const std::string lead = wrapped(masked_controls(p.sentence), 0, kTextColumns) + "\n" +
                             scenario_text(p) + wrapped(terms_text(p), 2, kTextColumns) + "\n" +
                             table_text(candidates_table(p));
    const std::string by_price = details ? table_text(prices_table(best)) : price_lines_text(best);
    const bool prices_decide =
        std::ranges::any_of(best.by_price, [&](const analysis::PriceVerdict& v) {
            return analysis::verdict_word(v) != analysis::verdict_word(best.by_price.front());
        });
    std::string rest = paragraphs(remarks(p), 0) + evidence_text(best) + prices_text(p) +
                       upgrade_sweep_text(best.upgrade);
    if (!details) {
        for (const analysis::PurchaseAnswer& a : p.answers) {
            rest += upgrade_categories_text(a.upgrade);
        }
        rest += by_price.empty() || prices_decide
                    ? "For the longest layers and what limits their speedup, add --details.\n"
                    : "For the price tables and the longest layers, add --details.\n";
    }
    const auto with = [&](bool all_flips) {
        return beside_text(best) + flips_text(best, all_flips) + rest;
    };
    const bool all =
        details || std::ranges::count(lead + with(true), '\n') < kMostLines; // and an empty line
    return lead + (details || prices_decide ? by_price : "") + with(all) +
           (details ? details_text(p) : "");
}

} // namespace eyeroof::report
