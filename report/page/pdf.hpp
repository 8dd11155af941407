// Text and rules on sheets of A4 as a PDF file, without a library. Fonts are the three that every
// reader has (Helvetica, Helvetica-Bold, Courier), so nothing is embedded. No date is written:
// equal contents are equal files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::report {

enum class PdfFont { plain, bold, fixed };

// Points (1/72 inch) of one line of UTF-8 text. Widths: Adobe's font metrics of the 14 standard
// fonts.
double pdf_width(std::string_view text, PdfFont font, double size);

// Lines no wider than `width` points, broken at blanks, within a word where it alone is wider. One
// line at least.
std::vector<std::string> pdf_lines(std::string_view text, PdfFont font, double size, double width);

// A page; y counts down from the upper edge. Characters that Windows-1252 lacks become a lookalike
// ("<=" for the sign) or '?'.
class PdfPage {
  public:
    static constexpr double kWidth = 595.28, kHeight = 841.89;

    void text(double x, double baseline, PdfFont font, double size, std::string_view text);
    // Grey where it separates, black where a person signs.
    void rule(double x0, double y0, double x1, double y1, bool black = false);
    const std::string& content() const { return content_; }

  private:
    std::string content_;
};

// The file; `title` is what readers show as its name.
std::string pdf_file(std::string_view title, const std::vector<PdfPage>& pages);

} // namespace eyeroof::report
