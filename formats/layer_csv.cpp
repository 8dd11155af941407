#include "formats/layer_csv.hpp"

#include "base/csv.hpp"
#include "base/separators.hpp"
#include "base/suggest.hpp"
#include "base/text_file.hpp"
#include "formats/layer_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <optional>

namespace eyeroof::formats {

namespace {

using TableResult = Result<LayerTable>;

constexpr std::string_view kTotalRow = "total"; // operator of the last row of `exam --format csv`

// Diagnostics of one file, each of a row at the cell that it speaks of.
class Findings {
  public:
    void add(const Diagnostics& more, const CsvRecord& record, const std::string& file,
             const std::vector<std::optional<Column>>& columns) {
        for (Diagnostic d : more) {
            d.where = place_of(d.field, record, file, columns);
            kept_.add(std::move(d));
        }
    }
    void add(const Diagnostics& more) { kept_.append(more); }
    bool any() const { return kept_.has_errors(); }
    bool full() const { return kept_.full(); }
    Diagnostics take() { return std::move(kept_); }

  private:
    static SourceLocation place_of(const std::string& field, const CsvRecord& record,
                                   const std::string& file,
                                   const std::vector<std::optional<Column>>& columns) {
        const std::optional<Column> wanted = column_from_name(field);
        for (std::size_t i = 0; wanted && i < std::min(columns.size(), record.cells.size()); ++i) {
            if (columns[i] == wanted) {
                return {file, record.cells[i].line, record.cells[i].column};
            }
        }
        return {file, record.line, 1};
    }

    Diagnostics kept_;
};

struct Header {
    std::vector<std::optional<Column>> columns; // of each cell; nothing for extra ones
    std::vector<std::size_t> extra_cells;
    std::bitset<kColumns> present;

    bool has(Column column) const { return present[static_cast<std::size_t>(column)]; }
};

// The layer column that an unknown one was probably meant to be: one that the file lacks and that
// is near. Words of one and two letters are near to everything, and taken as they are.
std::string meant(std::string_view name, const Header& header) {
    std::vector<std::string_view> missing;
    for (std::size_t i = 0; i < kColumns; ++i) {
        const std::string_view known = column_names()[i];
        if (known.size() > 1 && !header.has(static_cast<Column>(i))) {
            missing.push_back(known);
        }
    }
    return name.size() > 2 ? closest(name, missing) : std::string();
}

void check_header(const CsvRecord& record, const std::string& file, const Header& header,
                  Diagnostics& found) {
    if (record.cells.size() == 1 &&
        record.cells[0].text.find_first_of(";\t") != std::string::npos) {
        found.error("separator", "the columns are not separated by commas",
                    "write name,op,… with commas", {file, record.line, 1});
        return;
    }
    for (const std::size_t i : header.extra_cells) {
        const CsvCell& cell = record.cells[i];
        if (const std::string near = meant(cell.text, header); !near.empty()) {
            found.error("unknown-column", fmt::format("'{}' is not a column of a layer", cell.text),
                        fmt::format("did you mean '{}'?", near), {file, cell.line, cell.column});
        }
    }
    if (!header.has(Column::op)) {
        found.error("missing-column", "there is no column 'op'",
                    "the first line names the columns: name,op,count,dtype,…",
                    {file, record.line, 1});
    }
}

Header read_header(const CsvRecord& record, const std::string& file, LayerTable& table,
                   Diagnostics& found) {
    Header header;
    for (std::size_t i = 0; i < record.cells.size(); ++i) {
        const CsvCell& cell = record.cells[i];
        const auto column = column_from_name(cell.text);
        if (column && header.has(*column)) {
            found.error("duplicate-column", fmt::format("column '{}' appears twice", cell.text),
                        "remove one of them", {file, cell.line, cell.column});
        }
        header.columns.push_back(column);
        if (column) {
            header.present.set(static_cast<std::size_t>(*column));
        } else {
            header.extra_cells.push_back(i);
            table.extra_names.emplace_back(cell.text);
        }
    }
    table.header = std::string(record.raw);
    check_header(record, file, header, found);
    return header;
}

bool check_width(const CsvRecord& record, const Header& header, Diagnostics& found) {
    const std::size_t cells = record.cells.size();
    const std::size_t columns = header.columns.size();
    if (cells == columns) {
        return true;
    }
    found.error(cells < columns ? "missing-cells" : "too-many-cells",
                fmt::format("the row has {} cells and the header {} columns", cells, columns),
                cells < columns ? "write a comma for every empty cell"
                                : "quote cells that hold commas");
    return false;
}

void read_row(const CsvRecord& record, const Header& header, LayerTable& table,
              Diagnostics& found) {
    LayerText text;
    std::vector<std::string> extras;
    extras.reserve(header.extra_cells.size());
    for (std::size_t i = 0; i < record.cells.size(); ++i) {
        if (header.columns[i]) {
            text[*header.columns[i]] = record.cells[i].text;
        } else {
            extras.emplace_back(record.cells[i].text);
        }
    }
    if (text[Column::op] == kTotalRow) { // of a result that is read again
        return;
    }
    std::optional<model::Layer> layer = layer_from_text(text, found);
    if (!layer) {
        return;
    }
    if (layer->name.empty()) {
        layer->name = fmt::format("line{}", record.line);
    }
    table.layers.push_back(std::move(*layer));
    table.rows.emplace_back(record.raw);
    table.extras.push_back(std::move(extras));
    table.lines.push_back(record.line);
}

} // namespace

int LayerTable::extra_index(std::string_view name) const {
    const auto found = std::find(extra_names.begin(), extra_names.end(), name);
    return found == extra_names.end() ? -1 : static_cast<int>(found - extra_names.begin());
}

TableResult parse_layer_csv(std::string text, const std::string& file) {
    auto checked = checked_text(std::move(text), file);
    if (!checked) {
        return checked.diagnostics();
    }
    const std::string commas = comma_separated(*std::move(checked));
    LayerTable table;
    Findings findings;
    CsvReader reader(commas, file);
    CsvRecord record;
    Diagnostics at_header;
    if (!reader.next(record, at_header)) {
        return TableResult::failure("empty-file", "there is no header line",
                                    "the first line names the columns: name,op,count,…",
                                    {file, 1, 1});
    }
    const Header header = read_header(record, file, table, at_header);
    findings.add(at_header);
    for (bool more = !findings.any(); more && !findings.full();) {
        Diagnostics quotes;
        more = reader.next(record, quotes);
        findings.add(quotes);
        if (!more || !quotes.empty()) {
            continue;
        }
        Diagnostics found;
        if (check_width(record, header, found)) {
            read_row(record, header, table, found);
        }
        findings.add(found, record, file, header.columns);
    }
    if (!findings.any() && table.layers.empty()) {
        return TableResult::failure("no-layers", "the table has a header and no rows",
                                    "add a row for each layer", {file, 1, 1});
    }
    if (findings.any()) {
        return findings.take();
    }
    return {std::move(table), findings.take()};
}

TableResult load_layer_csv(const std::filesystem::path& path) {
    auto text = read_text_file(path, kMaxCsvBytes);
    if (!text) {
        return text.diagnostics();
    }
    return parse_layer_csv(std::move(*text), path.string());
}

model::Network network_of(const LayerTable& table, const std::filesystem::path& path) {
    const std::string stem = path == "-" ? "stdin" : path.stem().string();
    return {stem, stem, "layer table " + path.string(), table.layers};
}

Result<std::string> library_of(const LayerTable& table, const std::string& file) {
    const int column = table.extra_index("library");
    std::string library;
    for (std::size_t i = 0; column >= 0 && i < table.extras.size(); ++i) {
        const std::string& named = table.extras[i][static_cast<std::size_t>(column)];
        if (!named.empty() && !library.empty() && named != library) {
            return Result<std::string>::failure(
                "several-libraries",
                fmt::format("the row names the library '{}', a row above '{}'", named, library),
                "a step has one library: name it with --library, or split the table",
                {file, table.lines[i], 1});
        }
        library = named.empty() ? library : named;
    }
    return library;
}

std::string write_layer_csv(const std::vector<model::Layer>& layers) {
    std::string csv;
    for (std::size_t i = 0; i < kColumns; ++i) {
        csv += i == 0 ? "" : ",";
        csv += column_names()[i];
    }
    csv += '\n';
    for (const model::Layer& layer : layers) {
        const auto cells = layer_to_text(layer);
        for (std::size_t i = 0; i < kColumns; ++i) {
            csv += i == 0 ? "" : ",";
            csv += csv_quoted(cells[i]);
        }
        csv += '\n';
    }
    return csv;
}

} // namespace eyeroof::formats
