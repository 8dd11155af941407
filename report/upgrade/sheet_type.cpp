// The type of the printed sheet, from how many lines its text and its tables take.
#include "base/lines.hpp"
#include "report/upgrade/purchase_tables.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::report {

namespace {

// Upright A4 and Letter have 527 by 723 points in common between margins of 12 mm.
constexpr double kSheetWide = 527.0, kSheetHigh = 723.0;
constexpr double kLargestType = 9.0, kSmallestType = 6.0, kTypeStep = 0.25; // points
constexpr double kTypeLeading = 1.25;
constexpr double kLetterWide = 0.52; // of the type's size: a mean of Helvetica
constexpr double kPaddingLetters = 2.0;
constexpr double kSigned = 6.0; // lines: to sign on, and the command below

double wide_of(const std::string& text) {
    return static_cast<double>(display_width(text));
}

// Of `letters` in a line. Columns are as wide as their longest cells; where that is more than the
// page, all give way alike.
double lines_of(const Table& table, double letters) {
    std::vector<double> widths;
    double total = 0.0;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        double width = wide_of(table.columns[c]);
        for (const auto& row : table.rows) {
            width = std::max(width, wide_of(row[c]));
        }
        widths.push_back(width);
        total += width + kPaddingLetters;
    }
    const double shrunk = std::min(1.0, letters / std::max(total, 1.0));
    double lines = table.rows.empty() ? 0.0 : 2.5; // title and headings
    for (const auto& row : table.rows) {
        double most = 1.0;
        for (std::size_t c = 0; c < row.size(); ++c) {
            most = std::max(most, std::ceil(wide_of(row[c]) / (shrunk * std::max(widths[c], 1.0))));
        }
        lines += most + 0.15; // its rule
    }
    return lines;
}

double lines_of(const analysis::Purchase& p, double letters) {
    constexpr double kSentence = 1.5; // times the type of the text
    double lines = kSentence * std::ceil(kSentence * wide_of(p.sentence) / letters) + kSigned;
    std::vector<std::string> texts = scenario_lines(p);
    texts.push_back(terms_text(p));
    for (const auto& more : {remarks(p), price_lines(p)}) {
        texts.insert(texts.end(), more.begin(), more.end());
    }
    for (const std::string& text : texts) {
        lines += std::ceil(wide_of(text) / letters);
    }
    for (const Table& table : sheet_tables(p)) {
        lines += lines_of(table, letters);
    }
    return lines;
}

} // namespace

double sheet_type(const analysis::Purchase& p) {
    double size = kLargestType;
    while (size > kSmallestType &&
           lines_of(p, kSheetWide / (kLetterWide * size)) * size * kTypeLeading > kSheetHigh) {
        size -= kTypeStep;
    }
    return size;
}

} // namespace eyeroof::report
