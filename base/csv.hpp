// The one reader of CSV: splits text into records and cells, with the place of each cell (RFC
// 4180). Tables that people write may have blank lines, which are passed over, blanks around cells,
// and lines before the header that begin with '#'. What programs write is taken as it stands, and
// may come in pieces, so that a file of any size takes the memory of a record.
#pragma once

#include "base/result.hpp"

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof {

struct CsvCell {
    std::string_view text; // unquoted; of a table of people without surrounding blanks
    int line = 0;
    int column = 0; // of the cell's first character, in bytes from 1
};

struct CsvRecord {
    std::vector<CsvCell> cells;
    std::string_view raw; // the record as it stands in the text, without its line end
    int line = 0;
};

class CsvReader {
  public:
    // `text` must outlive the reader and all cells.
    CsvReader(std::string_view text, std::string file);

    // What a program wrote, in pieces. `more(n)` gives the last n bytes of the text that it gave
    // before and what follows them: nothing at the end. Blanks are part of a cell, so is what
    // follows a closing quote, and a blank line is a record of one empty cell.
    using More = std::function<std::string_view(std::size_t)>;
    CsvReader(More more, std::string file);

    // Fills `record` with the next one; false at the end. Cells stay valid until the next call.
    // A broken quote is reported and its record ends there: "open-quote", "after-quote".
    bool next(CsvRecord& record, Diagnostics& found);

  private:
    CsvCell cell(Diagnostics& found);
    CsvCell quoted_cell(CsvCell start, Diagnostics& found);
    void read_cells(CsvRecord& record, Diagnostics& found);
    bool skip_to_record();
    bool get_more(std::size_t from);
    bool ends_in_text() const;
    bool at_line_end() const;
    void take_line_end();

    std::string_view text_;
    More more_; // none: a table that people write
    std::string file_;
    std::size_t at_ = 0;
    std::size_t line_start_ = 0;
    int line_ = 1;
    bool before_header_ = true;
    std::deque<std::string> unescaped_; // cells with doubled quotes, of the current record
};

// A cell as CSV text: quoted where it would be read as something else, and with a ' before what a
// spreadsheet would take for a formula (the reader above takes that one away again).
std::string csv_quoted(std::string_view cell);

} // namespace eyeroof
