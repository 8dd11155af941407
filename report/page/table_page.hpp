// The page of every command that answers with a table: what it says, a picture, the table.
// Light, dark, on paper, and on a phone: tables scroll in their own frame.
#pragma once

#include <string>

namespace eyeroof::report {

struct TablePage {
    std::string title;
    std::string text; // as the text format prints it: the first paragraph stands on top; empty:
                      // how many rows there are
    std::string csv;  // the table, a row of headings first; units by their endings: _s, _bytes, _j
    std::string svg;  // a picture; empty: bars of the column `bars`
    std::string bars; // heading as in the CSV
};

// At most 60 rows; a line says how many more there are.
std::string to_page(const TablePage& page);

} // namespace eyeroof::report
