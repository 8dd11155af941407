// Sheets of PDF: widths and wrapping by hand, characters, and a table of objects that readers need.
#include "report/page/pdf.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

namespace test_report_pdf {

using namespace eyeroof;
using eyeroof::tests::near;
using report::PdfFont;

namespace {

std::size_t count_of(const std::string& text, const std::string& word) {
    std::size_t count = 0;
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
        ++count;
    }
    return count;
}

} // namespace

TEST_CASE("a line is as wide as its letters") {
    // Helvetica: W 944, i 222, blank 278, 8 556 thousandths; bold i is 278
    CHECK(report::pdf_width("Wi 8", PdfFont::plain, 10.0) == near(20.0));
    CHECK(report::pdf_width("i", PdfFont::bold, 10.0) == near(2.78));
    CHECK(report::pdf_width("four", PdfFont::fixed, 10.0) == near(24.0));
    CHECK(report::pdf_width("é", PdfFont::plain, 10.0) == near(5.56)); // one letter of two bytes
    CHECK(report::pdf_width("", PdfFont::plain, 10.0) == 0.0);
}

TEST_CASE("text wraps at blanks, and a word that is too long within") {
    using Lines = std::vector<std::string>;
    CHECK(report::pdf_lines("888 888 8", PdfFont::fixed, 10.0, 42.0) == Lines{"888 888", "8"});
    CHECK(report::pdf_lines("88888888", PdfFont::fixed, 10.0, 18.0) == Lines{"888", "888", "88"});
    CHECK(report::pdf_lines("é é", PdfFont::fixed, 10.0, 6.0) == Lines{"é", "é"});
    CHECK(report::pdf_lines("88", PdfFont::fixed, 10.0, 1.0) == Lines{"8", "8"}); // never none
    CHECK(report::pdf_lines("", PdfFont::plain, 10.0, 10.0) == Lines{""});
}

TEST_CASE("brackets are escaped, and letters that the fonts lack are replaced") {
    report::PdfPage page;
    page.text(0.0, 0.0, PdfFont::plain, 10.0, "f(x) \\ ≤ − × € 漢 \xff\xc3");
    CHECK(page.content().find("(f\\(x\\) \\\\ <= - \xd7 \x80 ? ?\?) Tj") != std::string::npos);
}

TEST_CASE("the file's table says where each object begins, whatever stands in it") {
    std::vector<report::PdfPage> pages(3);
    for (report::PdfPage& page : pages) {
        page.text(30.0, 40.0, PdfFont::bold, 12.0, "sheet");
        page.rule(30.0, 50.0, 90.0, 50.0);
    }
    const std::string file = report::pdf_file("Replace it (soon)", pages);
    CHECK(file.starts_with("%PDF-1.4\n"));
    CHECK(file.ends_with("%%EOF\n"));
    CHECK(count_of(file, "/Type /Page ") == 3);
    CHECK(file.find("/Count 3") != std::string::npos);
    CHECK(file.find("/Title (Replace it \\(soon\\))") != std::string::npos);
    const std::size_t start =
        std::strtoul(file.c_str() + file.rfind("startxref\n") + 10, nullptr, 10);
    REQUIRE(file.compare(start, 5, "xref\n") == 0);
    const std::size_t objects = std::strtoul(file.c_str() + start + 7, nullptr, 10);
    CHECK(objects == 1 + 6 + 2 * 3);
    const std::size_t first = file.find('\n', start + 5) + 1; // lines of 20 bytes each
    for (std::size_t i = 1; i < objects; ++i) {
        const std::size_t at = std::strtoul(file.c_str() + first + 20 * i, nullptr, 10);
        CHECK(file.compare(at, std::to_string(i).size() + 6, std::to_string(i) + " 0 obj") == 0);
    }
    // each stream is as long as it says
    for (auto at = file.find("/Length "); at != std::string::npos;
         at = file.find("/Length ", at + 1)) {
        const std::size_t length = std::strtoul(file.c_str() + at + 8, nullptr, 10);
        const std::size_t begin = file.find("stream\n", at) + 7;
        CHECK(file.compare(begin + length, 9, "endstream") == 0);
    }
    CHECK(report::pdf_file("Replace it (soon)", pages) == file);
}

} // namespace test_report_pdf
