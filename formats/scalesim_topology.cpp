#include "base/ascii.hpp"
#include "base/csv.hpp"
#include "base/lines.hpp"
#include "base/plain_text.hpp"
#include "base/separators.hpp"
#include "base/text_file.hpp"
#include "formats/layer_csv.hpp"
#include "formats/scalesim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

namespace eyeroof::formats {

namespace {

using NetworkResult = Result<model::Network>;

enum class Kind { none, convolution, product };

Kind kind_of(const CsvRecord& header) {
    const auto cell = [&](std::size_t i) {
        return i < header.cells.size() ? lowered(header.cells[i].text) : std::string();
    };
    if (!cell(0).starts_with("layer")) {
        return Kind::none;
    }
    if (cell(1).starts_with("ifmap")) {
        return Kind::convolution;
    }
    return cell(1) == "m" && cell(2) == "n" && cell(3) == "k" ? Kind::product : Kind::none;
}

// Where the header of a topology of convolutions names each column; the files put up to two
// strides, a batch and a sparsity behind the seven that all of them have.
struct ImageColumns {
    std::size_t h = 1, w = 2, r = 3, s = 4, c = 5, k = 6, stride_h = 7;
    std::optional<std::size_t> stride_w, batch;
};

ImageColumns columns_of(const CsvRecord& header) {
    ImageColumns columns;
    int strides = 0;
    for (std::size_t i = 1; i < header.cells.size(); ++i) {
        const std::string name = lowered(header.cells[i].text);
        if (name.starts_with("stride")) {
            (++strides == 1 ? columns.stride_h : columns.stride_w.emplace()) = i;
        } else if (name.starts_with("batch")) {
            columns.batch = i;
        }
    }
    return columns;
}

// A row's numbers by position, with what each one means for messages.
class Row {
  public:
    Row(const CsvRecord& record, const std::string& file, Diagnostics& found)
        : record_(record), file_(file), found_(found) {}

    bool has(std::size_t i) const {
        return i < record_.cells.size() && !record_.cells[i].text.empty();
    }

    Count number(std::size_t i, std::string_view what) {
        if (!has(i)) {
            found_.error("missing-value", fmt::format("{} is missing", what),
                         "a row is: layer, IFMAP height, width, filter height, width, channels, "
                         "filters, stride; or layer, M, N, K",
                         place(i));
            return 0;
        }
        const std::string_view text = record_.cells[i].text;
        Count value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || end != text.data() + text.size()) {
            found_.error(
                "not-a-number",
                fmt::format("{} is '{}', which is not a whole number", what, text.substr(0, 40)),
                "write a whole number such as 64", place(i));
        }
        return value;
    }

    SourceLocation place(std::size_t i) const {
        const std::size_t known = std::min(i, record_.cells.size() - 1);
        return {file_, record_.cells[known].line, record_.cells[known].column};
    }

  private:
    const CsvRecord& record_;
    const std::string& file_;
    Diagnostics& found_;
};

// Fields of a layer by their column in the file, to place what validate() finds.
std::size_t column_of(std::string_view field, Kind kind, const ImageColumns& at) {
    const std::array<std::pair<std::string_view, std::size_t>, 8> image = {
        {{"h", at.h},
         {"w", at.w},
         {"r", at.r},
         {"s", at.s},
         {"c", at.c},
         {"k", at.k},
         {"stride", at.stride_h},
         {"n", at.batch.value_or(0)}}};
    constexpr std::array<std::pair<std::string_view, std::size_t>, 3> product = {
        {{"m", 1}, {"n", 2}, {"k", 3}}};
    const auto find = [&](const auto& names) {
        const auto found = std::find_if(names.begin(), names.end(),
                                        [&](const auto& entry) { return entry.first == field; });
        return found == names.end() ? std::size_t{0} : found->second;
    };
    return kind == Kind::product ? find(product) : find(image);
}

model::Shape read_convolution(Row& row, const ImageColumns& at, bool depthwise) {
    model::ConvShape s;
    s.h = row.number(at.h, "the IFMAP height");
    s.w = row.number(at.w, "the IFMAP width");
    s.r = row.number(at.r, "the filter height");
    s.s = row.number(at.s, "the filter width");
    s.c = row.number(at.c, "the number of channels");
    s.k = row.number(at.k, "the number of filters");
    s.stride.h = row.number(at.stride_h, "the stride");
    s.stride.w = at.stride_w ? row.number(*at.stride_w, "the stride width") : s.stride.h;
    s.n = at.batch && row.has(*at.batch) ? row.number(*at.batch, "the batch") : 1;
    if (depthwise) {
        s.groups = s.c;
        s.k = checked_mul(s.k, s.c).value_or(-1);
    }
    return s;
}

model::Shape read_product(Row& row) {
    model::GemmShape s;
    s.m = row.number(1, "M");
    s.n = row.number(2, "N");
    s.k = row.number(3, "K");
    return s;
}

// A row of commas alone, or the heading of what follows: only its first cell has text.
bool is_heading(const CsvRecord& record) {
    return record.cells.size() > 1 &&
           std::all_of(record.cells.begin() + 1, record.cells.end(),
                       [](const CsvCell& cell) { return cell.text.empty(); });
}

void read_row(const CsvRecord& record, const std::string& file, Kind kind, const ImageColumns& at,
              model::Network& network, Diagnostics& all) {
    Diagnostics found;
    Row row(record, file, found);
    model::Layer layer;
    layer.name = std::string(record.cells[0].text);
    if (kind == Kind::product) {
        layer.op = model::Op::gemm;
        layer.shape = read_product(row);
    } else {
        layer.op = model::Op::conv2d;
        layer.shape = read_convolution(row, at, layer.name.find("DP") != std::string::npos);
    }
    if (!found.has_errors()) {
        for (Diagnostic d : validate(layer)) {
            d.where = row.place(column_of(d.field, kind, at));
            found.add(std::move(d));
        }
    }
    if (found.has_errors()) {
        all.append(found);
    } else {
        network.layers.push_back(std::move(layer));
    }
}

std::optional<std::size_t> sparsity_column(const CsvRecord& header) {
    for (std::size_t i = 1; i < header.cells.size(); ++i) {
        if (lowered(header.cells[i].text).starts_with("sparsity")) {
            return i;
        }
    }
    return std::nullopt;
}

// "2:4"; nothing where it is no ratio of at most 1.
std::optional<KeptWeights> ratio_of(std::string_view text) {
    const std::size_t colon = text.find(':');
    KeptWeights ratio;
    const auto whole = [](std::string_view part, Count& value) {
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
        return error == std::errc{} && end == part.data() + part.size();
    };
    const bool read = colon != std::string_view::npos && whole(text.substr(0, colon), ratio.kept) &&
                      whole(text.substr(colon + 1), ratio.of) && ratio.kept > 0 &&
                      ratio.kept <= ratio.of;
    return read ? std::optional(ratio) : std::nullopt;
}

void check_sparsity(const CsvRecord& record, std::optional<std::size_t> column,
                    const std::string& file, Diagnostics& found) {
    if (!column || *column >= record.cells.size() || record.cells[*column].text.empty() ||
        ratio_of(record.cells[*column].text)) {
        return;
    }
    const CsvCell& cell = record.cells[*column];
    found.error("bad-ratio", fmt::format("the sparsity is '{}'", cell.text.substr(0, 40)),
                "write how many of how many weights are kept, as in 2:4",
                {file, cell.line, cell.column});
}

} // namespace

std::map<std::string, KeptWeights> scalesim_sparsity(const std::string& text) {
    std::map<std::string, KeptWeights> kept;
    const std::string table = comma_separated(plain_text(text));
    CsvReader reader(table, "");
    CsvRecord record;
    Diagnostics ignored;
    const auto column = reader.next(record, ignored) && kind_of(record) != Kind::none
                            ? sparsity_column(record)
                            : std::nullopt;
    while (column && reader.next(record, ignored)) {
        const auto ratio =
            *column < record.cells.size() ? ratio_of(record.cells[*column].text) : std::nullopt;
        if (ratio && ratio->kept < ratio->of) {
            kept.emplace(record.cells[0].text, *ratio);
        }
    }
    return kept;
}

bool is_scalesim_topology(std::string_view text) {
    const std::size_t end = std::min(text.find('\n'), std::size_t{1000});
    const std::string head = comma_separated(std::string(text.substr(0, end)));
    CsvReader reader(head, "");
    CsvRecord header;
    Diagnostics ignored;
    return reader.next(header, ignored) && kind_of(header) != Kind::none;
}

NetworkResult parse_scalesim_topology(std::string text, const std::string& file) {
    const auto checked = checked_text(comma_separated(std::move(text)), file);
    if (!checked) {
        return checked.diagnostics();
    }
    CsvReader reader(*checked, file);
    CsvRecord record;
    Diagnostics found;
    const Kind kind = reader.next(record, found) ? kind_of(record) : Kind::none;
    if (kind == Kind::none) {
        return NetworkResult::failure(
            "not-a-topology", "the first line is not the header of a SCALE-Sim topology",
            "it begins: Layer name, IFMAP Height, IFMAP Width, …; or: Layer, M, N, K",
            {file, 1, 1});
    }
    const ImageColumns columns = columns_of(record);
    if (kind == Kind::convolution && columns.stride_h != ImageColumns{}.stride_h) {
        return NetworkResult::failure(
            "bad-header", fmt::format("the stride is column {}, not 8", columns.stride_h + 1),
            "the columns are: Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, "
            "Channels, Num Filter, Strides",
            {file, 1, 1});
    }
    const auto sparsity = sparsity_column(record);
    model::Network network;
    network.id = std::filesystem::path(file).stem().string();
    network.name = network.id;
    network.source = fmt::format("SCALE-Sim topology {}", file);
    while (!found.full() && reader.next(record, found)) {
        if (!is_heading(record)) {
            check_sparsity(record, sparsity, file, found);
            read_row(record, file, kind, columns, network, found);
        }
    }
    if (!found.has_errors() && network.layers.empty()) {
        found.error("no-layers", "the topology has a header and no rows",
                    "add a row for each layer", {file, 1, 1});
    }
    if (found.has_errors()) {
        return found;
    }
    if (const auto sparse = scalesim_sparsity(*checked).size(); sparse > 0) {
        found.warning("dense-counts",
                      fmt::format("{} with a sparsity are counted dense", counted(sparse, "layer")),
                      "`--density` says what zeros a machine leaves out; `exam --compat scalesim` "
                      "takes the ratios where the cfg has SparsitySupport",
                      {file, 0, 0});
    }
    return {std::move(network), std::move(found)};
}

} // namespace eyeroof::formats
