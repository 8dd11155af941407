#include "report/page/page.hpp"
#include "report/page/table_page.hpp"

#include <doctest/doctest.h>

#include <string>

namespace test_report_table_page {

using eyeroof::report::fold_equal;
using eyeroof::report::page_answer;
using eyeroof::report::PageTable;
using eyeroof::report::TablePage;
using eyeroof::report::to_page;

namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a table's page has the answer, bars, and the figures with the units of their headings") {
    const std::string html =
        to_page({"Mappings of <net>", "2 ms in all\non a machine\n\nlayer  time\n",
                 "layer,time_s,buffer_bytes,energy_pj,tokens_per_s,link_bytes_per_s,proved\n"
                 "a<b,0.0015,2048,1e6,12.5,3e9,true\nc,0.0005,,2e6,,,false\n",
                 "", "time_s"});
    CHECK(contains(html, "<title>Mappings of &lt;net&gt;</title>"));
    CHECK(contains(html, "<p class=\"answer\">2 ms in all<br>\non a machine</p>"));
    CHECK(contains(html,
                   "<th>layer</th><th class=\"n\">time</th><th class=\"n\">buffer</th><th "
                   "class=\"n\">energy</th>"
                   "<th class=\"n\">tokens per s</th><th class=\"n\">link</th><th>proved</th>"));
    CHECK(contains(html, "<td>a&lt;b</td><td class=\"n\">1.5 ms</td><td class=\"n\">2.05 "
                         "kB</td><td class=\"n\">1 uJ</td><td class=\"n\">12.5</td>"
                         "<td class=\"n\">3 GB/s</td><td>true</td>"));
    CHECK(contains(html, "<td>c</td><td class=\"n\">500 us</td><td class=\"n\"></td>"));
    CHECK(contains(html, "width=\"440.0\"")); // the longest bar, and a third of it
    CHECK(contains(html, "width=\"146.7\""));
    CHECK(contains(html, "Content-Security-Policy"));
    CHECK(contains(html, "prefers-color-scheme:dark"));
    CHECK(contains(html, "overflow-x:auto"));
    CHECK(contains(html, "name=\"viewport\""));
}

TEST_CASE("the answer of a page goes on where the terminal's text was wrapped") {
    const std::string long_line(76, 'x');
    CHECK(page_answer(long_line + "\nwords behind\nNext\n") ==
          "<p class=\"answer\">" + long_line + " words behind<br>\nNext</p>\n");
}

TEST_CASE("rows of a page's table that differ by their names alone become one") {
    PageTable table{{{"layer", false}, {"time"}}, {{"a", "1 s"}, {"b", "2 s"}, {"c", "1 s"}}};
    fold_equal(table);
    CHECK(table.rows == std::vector<std::vector<std::string>>{{"a ×2", "1 s"}, {"b", "2 s"}});
}

TEST_CASE("a table's page takes a picture that is there, and folds long tables") {
    std::string csv = "point,value\n";
    for (int i = 0; i < 75; ++i) {
        csv += std::to_string(i) + ",1\n";
    }
    const std::string html = to_page({"Many", "answer", csv, "<svg id=\"own\"></svg>", "value"});
    CHECK(contains(html, "<figure><svg id=\"own\"></svg></figure>"));
    CHECK_FALSE(contains(html, "<rect"));
    CHECK(contains(html, "<td>59</td>"));
    CHECK_FALSE(contains(html, "<td>60</td>"));
    CHECK(contains(html, "and 15 more rows: --format csv writes all"));
    const std::string none = to_page({"None", "answer", "point,value\n", "", "value"});
    CHECK_FALSE(contains(none, "<figure>"));
}

} // namespace test_report_table_page
