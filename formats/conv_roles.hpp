// Which of a convolution's dimensions is meant by one that a file names as it likes: it follows
// from the tensors that the dimension addresses. Output and weights: K. Input and weights: C.
// Output and input: a position, or N. All three: G. Two that share an input coordinate are a
// window: the one of the output slides (P or Q), the one of the weights is the tap (R or S).
#pragma once

#include "model/workload/layer.hpp"
#include "model/workload/problem.hpp"

#include <map>
#include <optional>
#include <string>

namespace eyeroof::formats {

struct TensorsOf { // a dimension
    bool output = false;
    bool input = false;
    bool weight = false;
};

class ConvRoles {
  public:
    // A window along rows, or along columns where `columns` asks for them and they are free. Empty:
    // both are taken. True: rows.
    std::optional<bool> window(const std::string& position, const std::string& tap, bool columns);
    // Not part of a window. False: one more than a convolution has.
    bool place(const std::string& name, const TensorsOf& tensors);

    // Of size 1: any loop that nothing else needs; none where all are in use.
    void place_single(const std::string& name);

    bool has(const std::string& name) const { return dims_.contains(name); }
    const std::map<std::string, model::Dim, std::less<>>& dims() const { return dims_; }

  private:
    bool used(model::Dim dim) const;

    std::map<std::string, model::Dim, std::less<>> dims_;
};

// The role of a dimension that is one more than a convolution has: it is folded into the one that
// lies in the same tensors, as their product. None for a dimension of one tensor alone.
std::optional<model::Dim> folded_into(const TensorsOf& tensors);

// A window beyond the second is unfolded: its positions count as images, its taps as channels. By
// how much the words of the input then exceed those between the first and the last, as a factor.
double unfolding_factor(Count positions, Count stride, Count taps, Count dilation);

// A convolution by its loops, as wide as they need; the input is padded by `pad` where that leaves
// at least one row and column of it.
struct ConvLoops {
    model::Extents bounds = model::kOnes;
    model::Extent2 stride{1, 1};
    model::Extent2 dilation{1, 1};
    model::Extent2 pad{0, 0};
};
// Empty when a size does not fit 63 bits.
std::optional<model::ConvShape> conv_of(const ConvLoops& loops);

} // namespace eyeroof::formats
