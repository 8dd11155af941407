#include "report/page/pdf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace eyeroof::report {

namespace {

constexpr std::size_t kGlyphs = 224; // from the blank on
constexpr unsigned char kFirst = 32;
constexpr double kUnitsOfEm = 1000.0; // of a font size
constexpr double kFixedWidth = 600.0;

// Widths of Windows-1252's characters, by Adobe's font metrics (Core 14 AFM files, 1997).
constexpr std::array<short, kGlyphs> kHelvetica = {
    278,  278, 355, 556, 556,  889, 667, 191, 333, 333, 389, 584,  278, 333,  278,  278,  556, 556,
    556,  556, 556, 556, 556,  556, 556, 556, 278, 278, 584, 584,  584, 556,  1015, 667,  667, 722,
    722,  667, 611, 778, 722,  278, 500, 667, 556, 833, 722, 778,  667, 778,  722,  667,  611, 722,
    667,  944, 667, 667, 611,  278, 278, 278, 469, 556, 333, 556,  556, 500,  556,  556,  278, 556,
    556,  222, 222, 500, 222,  833, 556, 556, 556, 556, 333, 500,  278, 556,  500,  722,  500, 500,
    500,  334, 260, 334, 584,  350, 556, 350, 222, 556, 333, 1000, 556, 556,  333,  1000, 667, 333,
    1000, 350, 611, 350, 350,  222, 222, 333, 333, 350, 556, 1000, 333, 1000, 500,  333,  944, 350,
    500,  667, 278, 333, 556,  556, 556, 556, 260, 556, 333, 737,  370, 556,  584,  333,  737, 333,
    400,  584, 333, 333, 333,  556, 537, 278, 333, 333, 365, 556,  834, 834,  834,  611,  667, 667,
    667,  667, 667, 667, 1000, 722, 667, 667, 667, 667, 278, 278,  278, 278,  722,  722,  778, 778,
    778,  778, 778, 584, 778,  722, 722, 722, 722, 667, 667, 611,  556, 556,  556,  556,  556, 556,
    889,  500, 556, 556, 556,  556, 278, 278, 278, 278, 556, 556,  556, 556,  556,  556,  556, 584,
    611,  556, 556, 556, 556,  500, 556, 500};
constexpr std::array<short, kGlyphs> kHelveticaBold = {
    278,  333, 474, 556, 556,  889, 722, 238, 333, 333, 389, 584,  278, 333,  278, 278,  556, 556,
    556,  556, 556, 556, 556,  556, 556, 556, 333, 333, 584, 584,  584, 611,  975, 722,  722, 722,
    722,  667, 611, 778, 722,  278, 556, 722, 611, 833, 722, 778,  667, 778,  722, 667,  611, 722,
    667,  944, 667, 667, 611,  333, 278, 333, 584, 556, 333, 556,  611, 556,  611, 556,  333, 611,
    611,  278, 278, 556, 278,  889, 611, 611, 611, 611, 389, 556,  333, 611,  556, 778,  556, 556,
    500,  389, 280, 389, 584,  350, 556, 350, 278, 556, 500, 1000, 556, 556,  333, 1000, 667, 333,
    1000, 350, 611, 350, 350,  278, 278, 500, 500, 350, 556, 1000, 333, 1000, 556, 333,  944, 350,
    500,  667, 278, 333, 556,  556, 556, 556, 280, 556, 333, 737,  370, 556,  584, 333,  737, 333,
    400,  584, 333, 333, 333,  611, 556, 278, 333, 333, 365, 556,  834, 834,  834, 611,  722, 722,
    722,  722, 722, 722, 1000, 722, 667, 667, 667, 667, 278, 278,  278, 278,  722, 722,  778, 778,
    778,  778, 778, 584, 778,  722, 722, 722, 722, 667, 667, 611,  556, 556,  556, 556,  556, 556,
    889,  556, 556, 556, 556,  556, 278, 278, 278, 278, 611, 611,  611, 611,  611, 611,  611, 584,
    611,  611, 611, 611, 611,  556, 611, 556};

// Characters of Windows-1252 from 0x80 to 0x9f; 0 where it has none.
constexpr std::array<std::uint32_t, 32> kUpper = {
    0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017d, 0,      0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178};

std::string single_byte(std::uint32_t code) {
    if ((code >= kFirst && code < 0x7f) || (code >= 0xa0 && code <= 0xff)) {
        return {static_cast<char>(code)};
    }
    const auto upper = std::find(kUpper.begin(), kUpper.end(), code);
    if (code != 0 && upper != kUpper.end()) {
        return {static_cast<char>(0x80 + (upper - kUpper.begin()))};
    }
    switch (code) {
    case 0x2212: // minus
        return "-";
    case 0x2264:
        return "<=";
    case 0x2265:
        return ">=";
    case 0x2248:
        return "~";
    case 0x2192:
        return "->";
    case 0x03bc: // the Greek letter for the sign
        return {static_cast<char>(0xb5)};
    default:
        return "?";
    }
}

// UTF-8 as Windows-1252; broken sequences become '?'.
std::string encoded(std::string_view text) {
    std::string bytes;
    for (std::size_t i = 0; i < text.size();) {
        const auto lead = static_cast<unsigned char>(text[i]);
        const std::size_t more = lead < 0x80   ? 0
                                 : lead < 0xc0 ? 9
                                 : lead < 0xe0 ? 1
                                 : lead < 0xf0 ? 2
                                               : 3;
        if (more == 9 || i + more >= text.size() + (more == 0 ? 1 : 0)) {
            bytes += '?';
            ++i;
            continue;
        }
        std::uint32_t code = more == 0 ? lead : lead & (0x3fU >> more);
        bool whole = true;
        for (std::size_t k = 1; k <= more; ++k) {
            const auto next = static_cast<unsigned char>(text[i + k]);
            whole = whole && (next & 0xc0U) == 0x80U;
            code = (code << 6U) | (next & 0x3fU);
        }
        bytes += whole ? single_byte(code) : "?";
        i += whole ? more + 1 : 1;
    }
    return bytes;
}

double encoded_width(std::string_view bytes, PdfFont font, double size) {
    double units = 0.0;
    for (const char c : bytes) {
        const auto at = static_cast<std::size_t>(static_cast<unsigned char>(c) - kFirst);
        units += font == PdfFont::fixed  ? kFixedWidth
                 : font == PdfFont::bold ? kHelveticaBold[at]
                                         : kHelvetica[at];
    }
    return units * size / kUnitsOfEm;
}

std::string escaped(std::string_view bytes) {
    std::string text;
    for (const char c : bytes) {
        if (c == '(' || c == ')' || c == '\\') {
            text += '\\';
        }
        text += c;
    }
    return text;
}

// Where the next character of UTF-8 begins.
std::size_t next_character(std::string_view text, std::size_t at) {
    do {
        ++at;
    } while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U);
    return at;
}

// As much of a word as the width takes, one character at least.
std::string_view head_of(std::string_view word, PdfFont font, double size, double width) {
    std::size_t end = next_character(word, 0);
    for (std::size_t next = end; next < word.size();) {
        next = next_character(word, next);
        if (pdf_width(word.substr(0, next), font, size) > width) {
            break;
        }
        end = next;
    }
    return word.substr(0, end);
}

} // namespace

double pdf_width(std::string_view text, PdfFont font, double size) {
    return encoded_width(encoded(text), font, size);
}

std::vector<std::string> pdf_lines(std::string_view text, PdfFont font, double size, double width) {
    std::vector<std::string> lines = {""};
    while (!text.empty()) {
        const std::size_t blank = std::min(text.find(' '), text.size());
        std::string_view word = text.substr(0, blank);
        text.remove_prefix(std::min(blank + 1, text.size()));
        const std::string joined =
            lines.back().empty() ? std::string(word) : lines.back() + " " + std::string(word);
        if (pdf_width(joined, font, size) <= width) {
            lines.back() = joined;
            continue;
        }
        if (!lines.back().empty()) {
            lines.emplace_back();
        }
        while (pdf_width(word, font, size) > width && next_character(word, 0) < word.size()) {
            const std::string_view head = head_of(word, font, size, width);
            lines.back() = head;
            lines.emplace_back();
            word.remove_prefix(head.size());
        }
        lines.back() = word;
    }
    return lines;
}

void PdfPage::text(double x, double baseline, PdfFont font, double size, std::string_view text) {
    content_ +=
        fmt::format("BT /F{} {:.2f} Tf {:.2f} {:.2f} Td ({}) Tj ET\n", static_cast<int>(font) + 1,
                    size, x, kHeight - baseline, escaped(encoded(text)));
}

void PdfPage::rule(double x0, double y0, double x1, double y1, bool black) {
    content_ += fmt::format("{} G 0.5 w {:.2f} {:.2f} m {:.2f} {:.2f} l S\n", black ? "0" : "0.75",
                            x0, kHeight - y0, x1, kHeight - y1);
}

std::string pdf_file(std::string_view title, const std::vector<PdfPage>& pages) {
    constexpr std::size_t kBefore = 6; // catalog, pages, three fonts, information
    std::vector<std::string> objects = {"<< /Type /Catalog /Pages 2 0 R >>", ""};
    std::string kids;
    for (std::size_t i = 0; i < pages.size(); ++i) {
        kids += fmt::format("{} 0 R ", kBefore + 1 + 2 * i);
    }
    objects[1] = fmt::format("<< /Type /Pages /Kids [ {}] /Count {} >>", kids, pages.size());
    for (const char* name : {"Helvetica", "Helvetica-Bold", "Courier"}) {
        objects.push_back(fmt::format("<< /Type /Font /Subtype /Type1 /BaseFont /{} /Encoding "
                                      "/WinAnsiEncoding >>",
                                      name));
    }
    objects.push_back(
        fmt::format("<< /Title ({}) /Producer (eyeroof) >>", escaped(encoded(title))));
    for (std::size_t i = 0; i < pages.size(); ++i) {
        objects.push_back(fmt::format(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {:.2f} {:.2f}] /Resources << /Font << "
            "/F1 3 0 R /F2 4 0 R /F3 5 0 R >> >> /Contents {} 0 R >>",
            PdfPage::kWidth, PdfPage::kHeight, kBefore + 2 + 2 * i));
        objects.push_back(fmt::format("<< /Length {} >>\nstream\n{}endstream",
                                      pages[i].content().size(), pages[i].content()));
    }
    std::string file = "%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"; // bytes that say it is no text
    std::string table = "0000000000 65535 f \n";
    for (std::size_t i = 0; i < objects.size(); ++i) {
        table += fmt::format("{:010} 00000 n \n", file.size());
        file += fmt::format("{} 0 obj\n{}\nendobj\n", i + 1, objects[i]);
    }
    const std::size_t start = file.size();
    return file + fmt::format("xref\n0 {0}\n{1}trailer\n<< /Size {0} /Root 1 0 R /Info 6 0 R >>\n"
                              "startxref\n{2}\n%%EOF\n",
                              objects.size() + 1, table, start);
}

} // namespace eyeroof::report
