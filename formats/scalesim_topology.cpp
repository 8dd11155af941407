#include "base/ascii.hpp"
#include "base/csv.hpp"
#include "base/text_file.hpp"
#include "formats/layer_csv.hpp"
#include "formats/scalesim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
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
std::size_t column_of(std::string_view field, Kind kind) {
    constexpr std::array<std::string_view, 8> image = {"name", "h", "w", "r",
                                                       "s",    "c", "k", "stride"};
    constexpr std::array<std::string_view, 4> product = {"name", "m", "n", "k"};
    if (kind == Kind::product) {
        const auto at = std::find(product.begin(), product.end(), field);
        return at == product.end() ? 0 : static_cast<std::size_t>(at - product.begin());
    }
    const auto at = std::find(image.begin(), image.end(), field);
    return at == image.end() ? 0 : static_cast<std::size_t>(at - image.begin());
}

model::Shape read_convolution(Row& row, bool depthwise) {
    model::ConvShape s;
    s.h = row.number(1, "the IFMAP height");
    s.w = row.number(2, "the IFMAP width");
    s.r = row.number(3, "the filter height");
    s.s = row.number(4, "the filter width");
    s.c = row.number(5, "the number of channels");
    s.k = row.number(6, "the number of filters");
    s.stride.h = row.number(7, "the stride");
    // The second stride and the sparsity ("1:2") share the ninth column in different versions.
    s.stride.w = s.stride.h;
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

void read_row(const CsvRecord& record, const std::string& file, Kind kind, bool two_strides,
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
        layer.shape = read_convolution(row, layer.name.find("DP") != std::string::npos);
        if (two_strides) {
            std::get<model::ConvShape>(layer.shape).stride.w = row.number(8, "the stride width");
        }
    }
    if (!found.has_errors()) {
        for (Diagnostic d : validate(layer)) {
            d.where = row.place(column_of(d.field, kind));
            found.add(std::move(d));
        }
    }
    if (found.has_errors()) {
        all.append(found);
    } else {
        network.layers.push_back(std::move(layer));
    }
}

bool names_two_strides(const CsvRecord& header) {
    return header.cells.size() > 8 &&
           lowered(header.cells[8].text).find("stride") != std::string::npos;
}

} // namespace

bool is_scalesim_topology(std::string_view text) {
    const std::size_t end = std::min(text.find('\n'), std::size_t{1000});
    CsvReader reader(text.substr(0, end), "");
    CsvRecord header;
    Diagnostics ignored;
    return reader.next(header, ignored) && kind_of(header) != Kind::none;
}

NetworkResult parse_scalesim_topology(std::string text, const std::string& file) {
    const auto checked = checked_text(std::move(text), file);
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
    const bool two_strides = names_two_strides(record);
    model::Network network;
    network.id = std::filesystem::path(file).stem().string();
    network.name = network.id;
    network.source = fmt::format("SCALE-Sim topology {}", file);
    while (!found.full() && reader.next(record, found)) {
        read_row(record, file, kind, two_strides, network, found);
    }
    if (!found.has_errors() && network.layers.empty()) {
        found.error("no-layers", "the topology has a header and no rows",
                    "add a row for each layer", {file, 1, 1});
    }
    if (found.has_errors()) {
        return found;
    }
    return network;
}

NetworkResult load_scalesim_topology(const std::filesystem::path& path) {
    auto text = read_text_file(path, kMaxCsvBytes);
    if (!text) {
        return text.diagnostics();
    }
    return parse_scalesim_topology(std::move(*text), path.string());
}

} // namespace eyeroof::formats
