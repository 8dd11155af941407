// The answer as one sheet of paper: sentence, scenario, tables, remarks, and a line to sign, in the
// largest type that keeps them on one page of A4. What stands behind them follows on other pages.
#include "report/page/pdf.hpp"
#include "report/upgrade/purchase_tables.hpp"
#include "report/upgrade/upgrade.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace eyeroof::report {

namespace {

// Upright A4 and Letter have 527 by 723 points in common between margins of 12 mm.
constexpr double kPageLeft = 34.0, kPageTop = 40.0, kPageWide = 527.0, kPageHigh = 723.0;
constexpr double kLargestType = 9.0, kSmallestType = 6.0, kTypeStep = 0.25; // points of type
constexpr double kTypeLeading = 1.25, kBlockGap = 0.6, kCellPad = 3.0;
constexpr double kFixedType = 7.0;

// Writes downwards and begins a page where one is full. Sizes are of the body's type.
class Sheet {
  public:
    explicit Sheet(double size) : size_(size) { pages_.emplace_back(); }

    void paragraph(const std::string& text, PdfFont font = PdfFont::plain, double scale = 1.0,
                   double indent = 0.0) {
        const double size = size_ * scale;
        for (const std::string& line : pdf_lines(text, font, size, kPageWide - indent)) {
            take(size * kTypeLeading);
            page().text(kPageLeft + indent, y_ - 0.3 * size, font, size, line);
        }
    }

    void item(const std::string& text) {
        const double before = y_;
        const std::size_t on = pages_.size();
        paragraph(text, PdfFont::plain, 1.0, size_);
        if (pages_.size() == on) {
            page().text(kPageLeft, before + size_ * (kTypeLeading - 0.3), PdfFont::plain, size_,
                        "•");
        }
    }

    void gap(double lines = kBlockGap) { y_ += lines * size_ * kTypeLeading; }

    void table(const Table& table) {
        if (table.rows.empty()) {
            return;
        }
        if (!table.title.empty()) {
            gap();
            paragraph(table.title, PdfFont::bold, 1.1);
        }
        const auto widths = widths_of(table);
        gap(0.3);
        line();
        row(table.columns, widths, PdfFont::bold);
        for (const auto& cells : table.rows) {
            row(cells, widths, PdfFont::plain);
        }
    }

    void signature() {
        gap(2.5);
        take(size_ * kTypeLeading);
        double x = kPageLeft;
        for (const char* what : {"Decision", "Signed", "Date"}) {
            page().text(x, y_ - 0.3 * size_, PdfFont::bold, size_, what);
            const double begin = x + pdf_width(what, PdfFont::bold, size_) + kCellPad;
            x += kPageWide / 3.0;
            page().rule(begin, y_, x - 2.0 * kCellPad, y_, true);
        }
    }

    void fixed(const std::string& text) {
        pages_.emplace_back();
        y_ = kPageTop;
        for (std::size_t from = 0; from < text.size();) {
            const std::size_t end = std::min(text.find('\n', from), text.size());
            for (const std::string& line :
                 pdf_lines(text.substr(from, end - from), PdfFont::fixed, kFixedType, kPageWide)) {
                take(kFixedType * kTypeLeading);
                page().text(kPageLeft, y_, PdfFont::fixed, kFixedType, line);
            }
            from = end + 1;
        }
    }

    const std::vector<PdfPage>& pages() const { return pages_; }

  private:
    PdfPage& page() { return pages_.back(); }

    void take(double height) {
        if (y_ + height > kPageTop + kPageHigh) {
            pages_.emplace_back();
            y_ = kPageTop;
        }
        y_ += height;
    }

    void line() { page().rule(kPageLeft, y_, kPageLeft + kPageWide, y_); }

    // As wide as their longest cells; where that is more than the page, the widest give way alike.
    std::vector<double> widths_of(const Table& table) const {
        std::vector<double> widths;
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            double width = pdf_width(table.columns[c], PdfFont::bold, size_);
            for (const auto& row : table.rows) {
                width = std::max(width, pdf_width(row[c], PdfFont::plain, size_));
            }
            widths.push_back(width + 2.0 * kCellPad);
        }
        const auto total = [&](double most) {
            return std::accumulate(widths.begin(), widths.end(), 0.0,
                                   [&](double sum, double w) { return sum + std::min(w, most); });
        };
        double low = 0.0, high = kPageWide;
        for (int i = 0; i < 40; ++i) {
            (total(0.5 * (low + high)) > kPageWide ? high : low) = 0.5 * (low + high);
        }
        for (double& width : widths) {
            width = std::min(width, low);
        }
        return widths;
    }

    void row(const std::vector<std::string>& cells, const std::vector<double>& widths,
             PdfFont font) {
        std::vector<std::vector<std::string>> lines;
        std::size_t most = 1;
        for (std::size_t c = 0; c < cells.size(); ++c) {
            lines.push_back(pdf_lines(cells[c], font, size_, widths[c] - 2.0 * kCellPad));
            most = std::max(most, lines.back().size());
        }
        const double height = static_cast<double>(most) * size_ * kTypeLeading;
        take(height);
        double x = kPageLeft;
        for (std::size_t c = 0; c < cells.size(); ++c) {
            for (std::size_t l = 0; l < lines[c].size(); ++l) {
                const double below = static_cast<double>(l + 1) * size_ * kTypeLeading;
                page().text(x + kCellPad, y_ - height + below - 0.3 * size_, font, size_,
                            lines[c][l]);
            }
            x += widths[c];
        }
        y_ += 1.0;
        line();
    }

    double size_;
    double y_ = kPageTop;
    std::vector<PdfPage> pages_;
};

Sheet sheet_of(const analysis::Purchase& p, double size, const std::string& origin) {
    Sheet sheet(size);
    sheet.paragraph(p.sentence, PdfFont::bold, 1.5);
    sheet.gap();
    for (const std::string& line : scenario_lines(p)) {
        sheet.paragraph(line);
    }
    sheet.paragraph(terms_text(p));
    for (const Table& table : sheet_tables(p)) {
        sheet.table(table);
    }
    sheet.gap();
    for (const auto& lines : {remarks(p), price_lines(p)}) {
        for (const std::string& line : lines) {
            sheet.item(line);
        }
    }
    sheet.signature();
    sheet.gap(1.5);
    sheet.paragraph(origin, PdfFont::plain, 0.85);
    return sheet;
}

} // namespace

double sheet_type(const analysis::Purchase& p, const std::string& origin) {
    double size = kLargestType;
    while (size > kSmallestType && sheet_of(p, size, origin).pages().size() > 1) {
        size -= kTypeStep;
    }
    return size;
}

std::string purchase_pdf(const analysis::Purchase& p, bool details, const std::string& origin) {
    Sheet sheet = sheet_of(p, sheet_type(p, origin), origin);
    const analysis::Upgrade& best = p.answers.at(p.best).upgrade;
    if (details || !best.sweep.empty()) {
        sheet.fixed(upgrade_text(best));
    }
    return pdf_file(p.sentence, sheet.pages());
}

} // namespace eyeroof::report
