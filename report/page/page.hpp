// A document as one HTML page that needs nothing from outside and may run nothing but its own
// scripts: browsers compare their SHA-256 with the page's policy.
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
// their unit's prefix and percent, else words. Every picture can be saved as a PNG.
const PageScript& page_script();

// "<!DOCTYPE html> … <body>" and the heading; `title` and `style` are inserted as they are.
// The style of sortable tables is added.
std::string page_head(std::string_view title, std::string_view style,
                      const std::vector<PageScript>& scripts = {page_script()});
std::string page_foot(const std::vector<PageScript>& scripts = {page_script()});

// The page with this behind all else that it shows; other text than a page as it is.
std::string page_with(std::string page, std::string_view last);

} // namespace eyeroof::report
