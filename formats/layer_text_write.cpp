// A layer as cells: what layer_text.cpp reads back as the same layer.
#include "formats/layer_text.hpp"

#include <fmt/format.h>

namespace eyeroof::formats {

namespace {

using model::Extent2;

class LayerCells {
  public:
    void put(Column column, std::string_view text) { at(column) = std::string(text); }
    void put(Column column, Count value) { at(column) = std::to_string(value); }
    void put_unless(Count standard, Column column, Count value) {
        if (value != standard) {
            put(column, value);
        }
    }
    void put_unless(Count standard, Column column, Extent2 value) {
        if (value == Extent2{standard, standard}) {
            return;
        }
        at(column) =
            value.h == value.w ? std::to_string(value.h) : fmt::format("{}x{}", value.h, value.w);
    }
    std::array<std::string, kColumns> take() { return std::move(cells_); }

  private:
    std::string& at(Column column) { return cells_[static_cast<std::size_t>(column)]; }
    std::array<std::string, kColumns> cells_;
};

template <class Image> void put_image(LayerCells& cells, const Image& s) {
    cells.put_unless(1, Column::n, s.n);
    cells.put(Column::c, s.c);
    cells.put(Column::h, s.h);
    cells.put(Column::w, s.w);
    cells.put(Column::r, s.r);
    cells.put(Column::s, s.s);
    cells.put_unless(1, Column::stride, s.stride);
    cells.put_unless(0, Column::pad, s.pad);
}

template <class Product> void put_product(LayerCells& cells, const Product& s) {
    cells.put_unless(1, Column::batch, s.batch);
    cells.put(Column::m, s.m);
    cells.put(Column::n, s.n);
    cells.put(Column::k, s.k);
}

template <class Matrix> void put_matrix(LayerCells& cells, const Matrix& s) {
    cells.put(Column::rows, s.rows);
    cells.put(Column::cols, s.cols);
}

struct PutShape {
    LayerCells& cells;

    void operator()(const model::ConvShape& s) const {
        put_image(cells, s);
        cells.put(Column::k, s.k);
        cells.put_unless(1, Column::dilation, s.dilation);
        cells.put_unless(1, Column::groups, s.groups);
        cells.put_unless(1, Column::depth, s.depth);
    }
    void operator()(const model::PoolShape& s) const { put_image(cells, s); }
    void operator()(const model::GemmShape& s) const { put_product(cells, s); }
    void operator()(const model::RowsShape& s) const {
        put_matrix(cells, s);
        cells.put_unless(0, Column::n, std::max(s.table, s.images)); // one of them at most
        cells.put_unless(0, Column::window, s.window);
    }
    void operator()(const model::ElementwiseShape& s) const {
        put_matrix(cells, s);
        cells.put(Column::fn, s.fn);
    }
    void operator()(const model::AttentionShape& s) const {
        put_product(cells, s);
        cells.put_unless(1, Column::groups, s.groups);
        cells.put_unless(0, Column::kv_heads, s.kv_heads);
        cells.put_unless(0, Column::causal, s.causal ? Count{1} : Count{0});
        cells.put_unless(0, Column::window, s.window);
        cells.put_unless(0, Column::v, s.v);
    }
    void operator()(const model::MoeShape& s) const {
        cells.put(Column::m, s.m);
        cells.put(Column::n, s.n);
        cells.put(Column::k, s.k);
        cells.put(Column::topk, s.topk);
        cells.put(Column::groups, s.experts);
    }
};

} // namespace

std::array<std::string, kColumns> layer_to_text(const model::Layer& layer) {
    LayerCells cells;
    cells.put(Column::name, layer.name);
    cells.put(Column::op, op_name(layer.op));
    cells.put_unless(1, Column::count, layer.count);
    cells.put(Column::dtype, types_to_text(layer.types));
    if (layer.direction != model::Direction::fwd) {
        cells.put(Column::direction, direction_name(layer.direction));
    }
    std::visit(PutShape{cells}, layer.shape);
    return cells.take();
}

} // namespace eyeroof::formats
