#include "formats/layer_text.hpp"

#include "base/ascii.hpp"
#include "base/suggest.hpp"
#include "model/workload/operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>

namespace eyeroof::formats {

namespace {

using model::Extent2;
using model::Op;

constexpr std::array<std::string_view, kColumns> kNames = {
    "name", "op",   "count", "dtype",    "direction", "batch",  "m",    "n",        "k",
    "c",    "h",    "w",     "r",        "s",         "stride", "pad",  "dilation", "groups",
    "rows", "cols", "fn",    "kv_heads", "causal",    "window", "topk", "depth",    "v"};

constexpr std::array<OtherName, 6> kOtherNames = {{{"heads", Column::groups},
                                                   {"experts", Column::groups},
                                                   {"q_len", Column::m},
                                                   {"kv_len", Column::n},
                                                   {"head_dim", Column::k},
                                                   {"v_head_dim", Column::v}}};

std::string_view name_of(Column c) {
    return kNames[static_cast<std::size_t>(c)];
}

enum class Number { fine, not_whole, too_large };

// "64" and also "64.0", which spreadsheets write for whole numbers beside empty cells.
Number parse_count(std::string_view text, Count& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
    const bool zeros = rest.size() > 1 && rest[0] == '.' &&
                       rest.find_first_not_of('0', 1) == std::string_view::npos;
    if (error == std::errc::invalid_argument || !(rest.empty() || zeros)) {
        return Number::not_whole;
    }
    return error == std::errc::result_out_of_range ? Number::too_large : Number::fine;
}

// Reads the cells of one layer and remembers which were used.
class Cells {
  public:
    Cells(const LayerText& text, Diagnostics& found) : text_(text), found_(found) {}

    void report(Column column, std::string code, std::string message, std::string hint) {
        found_.error(std::move(code), std::move(message), std::move(hint), {},
                     std::string(name_of(column)));
        failed_[static_cast<std::size_t>(column)] = true;
    }

    std::string_view text(Column column) {
        used_[static_cast<std::size_t>(column)] = true;
        return text_[column];
    }

    // A dimension that must be given.
    void need(Column column, Count& value, Op op) {
        const std::string_view cell = text(column);
        if (cell.empty()) {
            report(column, "missing-value",
                   fmt::format("{} needs a value for {}", op_name(op), name_of(column)),
                   fmt::format("add {}", name_of(column)));
            return;
        }
        number(column, cell, value);
    }

    // One that keeps its default when it is not given.
    void take(Column column, Count& value) {
        if (const std::string_view cell = text(column); !cell.empty()) {
            number(column, cell, value);
        }
    }

    // "2", or height by width: "2x1".
    void take(Column column, Extent2& value) {
        const std::string_view cell = text(column);
        if (cell.empty()) {
            return;
        }
        const std::size_t cut = cell.find_first_of("xX");
        if (cut == std::string_view::npos) {
            number(column, cell, value.h);
            value.w = value.h;
            return;
        }
        if (number(column, cell.substr(0, cut), value.h)) {
            number(column, cell.substr(cut + 1), value.w);
        }
    }

    bool failed() const { return std::find(failed_.begin(), failed_.end(), true) != failed_.end(); }
    bool failed(Column column) const { return failed_[static_cast<std::size_t>(column)]; }
    const LayerText& cells() const { return text_; }
    const std::array<bool, kColumns>& used() const { return used_; }

  private:
    bool number(Column column, std::string_view cell, Count& value) {
        const Number outcome = parse_count(cell, value);
        if (outcome == Number::fine) {
            return true;
        }
        const std::string shown(cell.substr(0, 40));
        if (outcome == Number::too_large) {
            report(column, "bad-dimension", fmt::format("{} is {}", name_of(column), shown),
                   fmt::format("the largest dimension is {}", model::kMaxDimension));
        } else {
            report(column, "not-a-number",
                   fmt::format("{} is '{}', which is not a whole number", name_of(column), shown),
                   column == Column::stride || column == Column::pad || column == Column::dilation
                       ? "write 2, or height by width: 2x1"
                       : "write a whole number such as 64");
        }
        return false;
    }

    const LayerText& text_;
    Diagnostics& found_;
    std::array<bool, kColumns> used_{};
    std::array<bool, kColumns> failed_{};
};

void read_image(Cells& cells, Count& h, Count& w, Count& r, Count& s, Op op) {
    cells.need(Column::h, h, op);
    cells.need(Column::r, r, op);
    const bool one_dimensional =
        cells.cells()[Column::w].empty() && cells.cells()[Column::s].empty();
    if (!one_dimensional) {
        cells.need(Column::w, w, op);
        cells.need(Column::s, s, op);
    }
}

model::Shape read_conv(Cells& cells, Op op) {
    model::ConvShape shape;
    cells.take(Column::n, shape.n);
    cells.need(Column::c, shape.c, op);
    cells.need(Column::k, shape.k, op);
    read_image(cells, shape.h, shape.w, shape.r, shape.s, op);
    cells.take(Column::stride, shape.stride);
    cells.take(Column::pad, shape.pad);
    cells.take(Column::dilation, shape.dilation);
    cells.take(Column::groups, shape.groups);
    cells.take(Column::depth, shape.depth);
    return shape;
}

model::Shape read_pool(Cells& cells, Op op) {
    model::PoolShape shape;
    cells.take(Column::n, shape.n);
    cells.need(Column::c, shape.c, op);
    read_image(cells, shape.h, shape.w, shape.r, shape.s, op);
    cells.take(Column::stride, shape.stride);
    cells.take(Column::pad, shape.pad);
    return shape;
}

model::Shape read_gemm(Cells& cells, Op op) {
    model::GemmShape shape;
    cells.take(Column::batch, shape.batch);
    cells.need(Column::m, shape.m, op);
    cells.need(Column::n, shape.n, op);
    cells.need(Column::k, shape.k, op);
    return shape;
}

model::Shape read_attention(Cells& cells, Op op) {
    model::AttentionShape shape;
    cells.take(Column::batch, shape.batch);
    cells.take(Column::groups, shape.groups);
    cells.need(Column::m, shape.m, op);
    cells.need(Column::n, shape.n, op);
    cells.need(Column::k, shape.k, op);
    cells.take(Column::kv_heads, shape.kv_heads);
    cells.take(Column::window, shape.window);
    cells.take(Column::v, shape.v);
    Count causal = 0;
    cells.take(Column::causal, causal);
    if (causal != 0 && causal != 1) {
        cells.report(Column::causal, "bad-dimension", fmt::format("causal is {}", causal),
                     "1: a query sees what is before it; 0: it sees all keys");
    }
    shape.causal = causal == 1;
    return shape;
}

model::Shape read_moe(Cells& cells, Op op) {
    model::MoeShape shape;
    cells.need(Column::m, shape.m, op);
    cells.need(Column::n, shape.n, op);
    cells.need(Column::k, shape.k, op);
    cells.need(Column::topk, shape.topk, op);
    cells.need(Column::groups, shape.experts, op);
    return shape;
}

model::Shape read_elementwise(Cells& cells, Op op) {
    model::ElementwiseShape shape;
    cells.need(Column::rows, shape.rows, op);
    cells.need(Column::cols, shape.cols, op);
    shape.fn = std::string(cells.text(Column::fn));
    if (shape.fn.empty()) {
        cells.report(Column::fn, "missing-value", "elementwise needs a value for fn",
                     "name the function, such as add or relu: it fixes how many tensors are read");
        shape.fn = "relu";
    }
    return shape;
}

model::Shape read_rows(Cells& cells, Op op) {
    model::RowsShape shape;
    cells.need(Column::rows, shape.rows, op);
    cells.need(Column::cols, shape.cols, op);
    if (op == Op::embedding) {
        cells.take(Column::n, shape.table);
    } else if (op == Op::batchnorm) {
        cells.take(Column::n, shape.images);
    } else if (op == Op::softmax) {
        cells.take(Column::window, shape.window);
    }
    return shape;
}

model::Shape read_shape(Cells& cells, Op op) {
    switch (model::traits_of(op).shape) {
    case model::ShapeKind::conv:
        return read_conv(cells, op);
    case model::ShapeKind::gemm:
        return read_gemm(cells, op);
    case model::ShapeKind::pool:
        return read_pool(cells, op);
    case model::ShapeKind::rows:
        return read_rows(cells, op);
    case model::ShapeKind::elementwise:
        return read_elementwise(cells, op);
    case model::ShapeKind::attention:
        return read_attention(cells, op);
    case model::ShapeKind::moe:
        break;
    }
    return read_moe(cells, op);
}

// What other tools call the operators.
std::string usual_name(std::string_view name) {
    constexpr std::pair<std::string_view, std::string_view> names[] = {
        {"matmul", "gemm (m, n, k), or bmm with a batch of weights"},
        {"mm", "gemm (m, n, k)"},
        {"linear", "gemm (m, n, k)"},
        {"dense", "gemm (m, n, k)"},
        {"fc", "gemm (m, n, k)"},
        {"batch_matmul", "bmm (batch, m, n, k)"},
        {"batchmatmul", "bmm (batch, m, n, k)"},
        {"conv", "conv2d (c, h, w, k, r, s)"},
        {"convolution", "conv2d (c, h, w, k, r, s)"},
        {"conv1d", "conv2d, with w and s left out"},
        {"depthwise", "conv2d, with groups equal to c"},
        {"dwconv", "conv2d, with groups equal to c"},
        {"convtranspose", "conv2d with direction bwd_data, whose output is h by w"},
        {"conv_transpose2d", "conv2d with direction bwd_data, whose output is h by w"},
        {"mha", "attention (heads, q_len, kv_len, head_dim)"},
        {"sdpa", "attention (heads, q_len, kv_len, head_dim)"},
        {"rmsnorm", "layernorm (rows, cols)"},
        {"groupnorm", "layernorm (rows, cols)"},
        {"pool", "maxpool or avgpool"}};
    for (const auto& [usual, own] : names) {
        if (lowered(name) == usual) {
            return fmt::format("write {}", own);
        }
    }
    return model::tensors_read(lowered(name))
               ? fmt::format("write elementwise, with {} as its fn", lowered(name))
               : std::string();
}

std::optional<Op> read_op(Cells& cells) {
    const std::string_view name = cells.text(Column::op);
    const auto op = model::op_from_name(name);
    if (!op) {
        const auto known = model::op_names();
        const std::string usual = usual_name(name);
        cells.report(Column::op, name.empty() ? "missing-value" : "unknown-op",
                     name.empty() ? std::string("the operator is not given")
                                  : fmt::format("'{}' is not an operator", name),
                     usual.empty() ? suggestion(name, known) : usual);
    }
    return op;
}

void read_common(Cells& cells, model::Layer& layer) {
    layer.name = std::string(cells.text(Column::name));
    if (has_control_characters(layer.name)) {
        cells.report(Column::name, "bad-name", "the name contains control characters",
                     "use letters, digits and signs");
    }
    cells.take(Column::count, layer.count);
    if (const std::string_view text = cells.text(Column::dtype); !text.empty()) {
        const auto types = types_from_text(text);
        if (!types) {
            const auto known = model::data_type_names();
            const std::string hint =
                text.find('/') == std::string_view::npos
                    ? suggestion(text, known)
                    : "write one type, or input/weight/output: int8/int8/int32";
            cells.report(Column::dtype, "unknown-dtype",
                         fmt::format("'{}' is not a data type", text), hint);
        }
        layer.types = types.value_or(model::TensorTypes{});
    }
    if (const std::string_view text = cells.text(Column::direction); !text.empty()) {
        const auto direction = model::direction_from_name(text);
        if (!direction) {
            constexpr std::array<std::string_view, 3> known = {"fwd", "bwd_data", "bwd_weight"};
            cells.report(Column::direction, "unknown-direction",
                         fmt::format("'{}' is not a direction", text), suggestion(text, known));
        }
        layer.direction = direction.value_or(model::Direction::fwd);
    }
}

// A value in a cell that the operator does not use would be lost without a word; one that says
// nothing (the default, or the 0 of a table without empty cells) is passed over.
void refuse_unused(Cells& cells, Op op) {
    for (std::size_t i = 0; i < kColumns; ++i) {
        const std::string_view cell = cells.cells().cells[i];
        Count value = 0;
        if (cells.used()[i] || cell.empty() || static_cast<Column>(i) == Column::fn) {
            continue;
        }
        if (parse_count(cell, value) == Number::fine && (value == 0 || value == 1)) {
            continue;
        }
        cells.report(static_cast<Column>(i), "unused-value",
                     fmt::format("{} does not use {}, which is '{}'", op_name(op), kNames[i],
                                 cell.substr(0, 40)),
                     "leave it out");
    }
}

} // namespace

const std::array<std::string_view, kColumns>& column_names() {
    return kNames;
}

std::span<const OtherName> other_column_names() {
    return kOtherNames;
}

std::optional<Column> column_from_name(std::string_view name) {
    for (std::size_t i = 0; i < kColumns; ++i) {
        if (same_in_any_case(name, kNames[i])) {
            return static_cast<Column>(i);
        }
    }
    for (const OtherName& other : kOtherNames) {
        if (same_in_any_case(name, other.name)) {
            return other.column;
        }
    }
    return std::nullopt;
}

bool has_control_characters(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7F;
    });
}

std::optional<model::TensorTypes> types_from_text(std::string_view text) {
    std::array<std::optional<model::DataType>, 3> types;
    const std::size_t first = text.find('/');
    if (first == std::string_view::npos) {
        types.fill(model::data_type_from_name(text));
    } else {
        const std::size_t second = text.find('/', first + 1);
        if (second == std::string_view::npos) {
            return std::nullopt;
        }
        types[0] = model::data_type_from_name(text.substr(0, first));
        types[1] = model::data_type_from_name(text.substr(first + 1, second - first - 1));
        types[2] = model::data_type_from_name(text.substr(second + 1));
    }
    if (!types[0] || !types[1] || !types[2]) {
        return std::nullopt;
    }
    return model::TensorTypes{*types[0], *types[1], *types[2]};
}

std::string types_to_text(const model::TensorTypes& types) {
    if (types.input == types.weight && types.weight == types.output) {
        return std::string(data_type_name(types.input));
    }
    return fmt::format("{}/{}/{}", data_type_name(types.input), data_type_name(types.weight),
                       data_type_name(types.output));
}

std::optional<model::Layer> layer_from_text(const LayerText& text, Diagnostics& found) {
    Cells cells(text, found);
    model::Layer layer;
    const std::optional<Op> op = read_op(cells);
    read_common(cells, layer);
    if (!op) {
        return std::nullopt;
    }
    layer.op = *op;
    layer.shape = read_shape(cells, *op);
    refuse_unused(cells, *op);
    const Diagnostics violations = validate(layer);
    if (cells.failed()) { // of the other cells say what is wrong with each for itself
        for (const Diagnostic& d : violations) {
            const auto column = column_from_name(d.field);
            if (d.code == "bad-dimension" && column && !cells.failed(*column)) {
                found.add(d);
            }
        }
        return std::nullopt;
    }
    found.append(violations);
    return violations.has_errors() ? std::nullopt : std::optional(std::move(layer));
}

} // namespace eyeroof::formats
