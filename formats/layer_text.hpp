// A layer spelled as text, one cell a field: the columns of the layer CSV and the keys of a layer
// in network YAML are the same, and so is what they mean. Must not know in which kind of file the
// cells stand.
#pragma once

#include "model/workload/layer.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::formats {

enum class Column {
    name,
    op,
    count,
    dtype,
    direction,
    batch,
    m,
    n,
    k,
    c,
    h,
    w,
    r,
    s,
    stride,
    pad,
    dilation,
    groups,
    rows,
    cols,
    fn,
    kv_heads,
    causal,
    window,
    topk,
    depth,
    v
};
inline constexpr std::size_t kColumns = 27;

// In the order of the enumeration; this is the header of the layer CSV.
const std::array<std::string_view, kColumns>& column_names();
std::optional<Column> column_from_name(std::string_view name); // letter case ignored
// The names that attention and experts give to columns: heads and experts are groups, q_len is m,
// kv_len n, head_dim k, v_head_dim v.
struct OtherName {
    std::string_view name;
    Column column;
};
std::span<const OtherName> other_column_names();

// An empty cell is one that is not given.
struct LayerText {
    std::array<std::string_view, kColumns> cells;

    std::string_view& operator[](Column c) { return cells[static_cast<std::size_t>(c)]; }
    std::string_view operator[](Column c) const { return cells[static_cast<std::size_t>(c)]; }
};

// The layer that the cells spell. Defaults: count 1, dtype fp16, direction fwd, batch 1, n 1 (of
// convolutions and pooling), stride 1, pad 0, dilation 1, groups 1; w and s are 1 where both are
// left out. The other dimensions that the operator uses must be given; those that it does not use
// must be empty or hold their default. Adds every violation to `found`, each with its column as
// field, and gives nothing when there was one; validate() of the layer is part of this.
std::optional<model::Layer> layer_from_text(const LayerText& text, Diagnostics& found);

// The opposite: cells that layer_from_text reads back as the same layer; defaults stay empty.
std::array<std::string, kColumns> layer_to_text(const model::Layer& layer);

// Control characters other than tab and line end, which no text of ours contains; an escape
// sequence in a quoted YAML scalar can still make one.
bool has_control_characters(std::string_view text);

// "fp16", or "int8/int8/int32" for input, weight and output.
std::optional<model::TensorTypes> types_from_text(std::string_view text);
std::string types_to_text(const model::TensorTypes& types);

} // namespace eyeroof::formats
