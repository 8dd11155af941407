// A document as one HTML page that needs nothing from outside and may run nothing but its own
// scripts: browsers compare their SHA-256 with the page's policy. One style for all pages: light,
// dark, on paper, and on a phone, where tables and pictures scroll in their own frames.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::report {

struct PageScript {
    std::string_view text;   // between <script> and </script>, to the byte
    std::string_view sha256; // of it, base64; tests/docs/csp.sh holds it
};

// Rows of tables of class "sort" are put in order by a click on a heading, or Enter: numbers with
// their unit's prefix and percent, else words. Every picture can be saved as a PNG. A link into
// folded details opens them.
const PageScript& page_script();

// "<!DOCTYPE html> … <body>"; `title` and `style`, which adds to the style of all pages, are
// inserted as they are. Colors: --ink, --faint, --paper, --line, --bar, --pale, --loss, --mark.
std::string page_head(std::string_view title, std::string_view style = {},
                      const std::vector<PageScript>& scripts = {page_script()});
std::string page_foot(const std::vector<PageScript>& scripts = {page_script()});

struct PageColumn {
    std::string heading;
    bool number = true; // right-aligned, and not broken into lines
};

// Headings and cells are HTML.
struct PageTable {
    std::vector<PageColumn> columns;
    std::vector<std::vector<std::string>> rows;
    bool sortable = true;
};

// JSON as a script of the page holds it: "</script>" or "<!--" inside a string would end the data.
std::string script_json(std::string_view json);

// Rows whose cells behind the first are equal become one: "conv2_1 ×3".
void fold_equal(PageTable& table);

// In a frame of its own.
std::string page_table(const PageTable& table);
std::string framed(std::string_view table);

struct PageBar {
    std::string name; // plain text
    double value = 0.0;
    std::string text; // HTML
};

// The largest values as bars, SVG; empty where none is above 0. `label` is HTML.
std::string page_bars(const std::string& label, std::vector<PageBar> bars);

// The page with this behind all else that it shows; other text than a page as it is.
std::string page_with(std::string page, std::string_view last);

} // namespace eyeroof::report
