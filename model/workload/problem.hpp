// A layer as the loop nest that spatial arrays execute: eight dimensions, three operands.
// Made from a Layer by problems_of(); consumed by mappings, the cost model, Eyexam and the mapper.
//
//   for n, g, k, c, p, q, r, s:
//     O[n, g, k, p, q] += I[n, g, c, p * stride_h + r * dilation_h, q * stride_w + s * dilation_w]
//                         * W[g, k, c, r, s]
//
// Matrix products are the special case with one filter tap: gemm [batch, m, k] x [k, n] is N =
// batch, P = m, C = k, K = n; bmm puts its batch on G. Depthwise is G = channels, C = K = 1. The
// gradients run over the same eight loops with another operand accumulated: see `produced`.
#pragma once

#include "model/workload/layer.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::model {

enum class Dim : std::uint8_t { N, G, K, C, P, Q, R, S };
inline constexpr std::size_t kDims = 8;
inline constexpr std::array<Dim, kDims> kAllDims = {Dim::N, Dim::G, Dim::K, Dim::C,
                                                    Dim::P, Dim::Q, Dim::R, Dim::S};
inline constexpr std::string_view kDimLetters = "NGKCPQRS";

constexpr std::size_t index(Dim dim) {
    return static_cast<std::size_t>(dim);
}
constexpr char letter(Dim dim) {
    return kDimLetters[index(dim)];
}

using Extents = std::array<Count, kDims>; // one number per dimension, by index(Dim)
inline constexpr Extents kOnes = {1, 1, 1, 1, 1, 1, 1, 1};

class DimSet {
  public:
    constexpr DimSet() = default;
    constexpr DimSet(std::initializer_list<Dim> dims) {
        for (const Dim d : dims) {
            insert(d);
        }
    }
    constexpr bool contains(Dim d) const { return (bits_ >> index(d)) & 1U; }
    constexpr void insert(Dim d) { bits_ = static_cast<std::uint8_t>(bits_ | (1U << index(d))); }
    constexpr int size() const { return std::popcount(bits_); }
    constexpr bool empty() const { return bits_ == 0; }
    constexpr std::uint8_t bits() const { return bits_; } // bit index(d) of dimension d
    constexpr DimSet operator|(DimSet other) const {
        other.bits_ = static_cast<std::uint8_t>(bits_ | other.bits_);
        return other;
    }
    constexpr bool operator==(const DimSet&) const = default;

  private:
    std::uint8_t bits_ = 0;
};

enum class Operand : std::uint8_t { input, weight, output };
inline constexpr std::size_t kOperands = 3;
inline constexpr std::array<Operand, kOperands> kAllOperands = {Operand::input, Operand::weight,
                                                                Operand::output};
constexpr std::size_t index(Operand o) {
    return static_cast<std::size_t>(o);
}
constexpr std::string_view operand_name(Operand o) {
    constexpr std::array<std::string_view, kOperands> names = {"input", "weight", "output"};
    return names[index(o)];
}

template <class T> using PerOperand = std::array<T, kOperands>; // by index(Operand)

class OperandSet {
  public:
    constexpr OperandSet() = default;
    constexpr OperandSet(std::initializer_list<Operand> operands) {
        for (const Operand o : operands) {
            insert(o);
        }
    }
    constexpr bool contains(Operand o) const { return (bits_ >> index(o)) & 1U; }
    constexpr void insert(Operand o) {
        bits_ = static_cast<std::uint8_t>(bits_ | (1U << index(o)));
    }
    constexpr void erase(Operand o) {
        bits_ = static_cast<std::uint8_t>(bits_ & ~(1U << index(o)));
    }
    constexpr bool empty() const { return bits_ == 0; }
    constexpr int size() const { return std::popcount(bits_); }
    constexpr bool operator==(const OperandSet&) const = default;

  private:
    std::uint8_t bits_ = 0;
};

// gather: p, q walk over outputs and the input row is p * stride + r * dilation (the usual form).
// scatter: p, q walk over input rows and columns, and the output is (p - r * dilation) / stride
// where that is a valid output; the form in which an input can be held stationary. Both do the same
// MACs.
enum class ConvForm : std::uint8_t { gather, scatter };

struct Problem {
    std::string name;
    Extents bounds = kOnes; // in gather form, whatever `form` says
    Extent2 stride{1, 1};
    Extent2 dilation{1, 1};
    Operand produced = Operand::output;          // fwd: output; bwd_data: input; bwd_weight: weight
    bool has_weight = true;                      // pooling has none
    PerOperand<int> element_bits = {16, 16, 16}; // of the layer; a machine may store wider words
    PerOperand<double> zeros = {0.0, 0.0, 0.0};  // share of zeros among the values, where known
    ConvForm form = ConvForm::gather;
    // How the input lies in memory, which only a DRAM's access pattern depends on: windows begin
    // `pad` before its first row and column, and it has `stored` rows and columns; 0: as far as
    // windows reach, less the padding of both sides.
    Extent2 pad{0, 0};
    Extent2 stored{0, 0};

    bool operator==(const Problem&) const = default;
};

// Does the operand's address depend on the dimension?
constexpr bool relevant(Operand operand, Dim dim) {
    constexpr PerOperand<DimSet> dims = {
        DimSet{Dim::N, Dim::G, Dim::C, Dim::P, Dim::Q, Dim::R, Dim::S},
        DimSet{Dim::G, Dim::K, Dim::C, Dim::R, Dim::S},
        DimSet{Dim::N, Dim::G, Dim::K, Dim::P, Dim::Q}};
    return dims[index(operand)].contains(dim);
}

// Trip counts that the mapping's loops must reach: the bounds; in scatter form P and Q walk over
// the input's rows and columns instead.
Extents loop_bounds(const Problem& problem);

// Product of the bounds; problems_of() has checked that it fits.
Count macs_of(const Problem& problem);

// Elements of an operand that a tile of the given extents touches, padding included: for the input
// (P-1)*stride_h + (R-1)*dilation_h + 1 rows when the taps touch or overlap, distinct rows
// otherwise.
Count tile_elements(const Problem& problem, Operand operand, const Extents& tile);

// The nests of a layer: one for conv2d, gemm, bmm and pooling; two for attention (Q K^T, then P V);
// none for operators without a multiply-accumulate nest. Errors: those of validate().
Result<std::vector<Problem>> problems_of(const Layer& layer);

} // namespace eyeroof::model
