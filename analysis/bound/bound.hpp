// Lower bounds of a program's time on a machine, its prediction, and the gap between.
// Three bounds, each below every execution of its kind at the machine's peaks and boost clock:
//   unfused  every operator alone, its tensors once
//   cached   operators fused at will, intermediate tensors kept on the chip as far as they fit
//   fused    inputs, weights, and outputs once, whatever the chip's size
// fused <= cached <= unfused.
#pragma once

#include "analysis/exam/report.hpp"
#include "analysis/scenario/question.hpp"
#include "base/result.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::analysis::bound {

// What a bound's time is most: arithmetic at peak, the outermost memory, what crosses from the
// last-level cache to the cores, or the start of a kernel.
enum class Wall { arithmetic, memory, on_chip, start };
std::string_view wall_text(Wall wall);

struct Bound {
    double arithmetic_s = 0.0; // of the pipe that takes longest
    double memory_s = 0.0;     // the outermost memory's bytes, less what the last-level cache may
                               // hold from the run before, at the data sheet's bandwidth
    double on_chip_s = 0.0;    // all bytes over the cores' ports; GPUs only
    double start_s = 0.0;      // before a product's kernel works and after it did; GPUs only
    double bytes = 0.0;        // that some execution has to read or write
    double time_s = 0.0;
    Wall wall = Wall::memory;

    bool operator==(const Bound&) const = default;
};

struct OperatorBound {
    std::string name;
    Count runs = 1;
    Bound bound;              // of one run
    double predicted_s = 0.0; // of one run's kernel or mapping

    bool operator==(const OperatorBound&) const = default;
};

// A part of a time, from the bound upwards. The parts add up to the prediction, or to the
// measurement where there is one.
struct GapPart {
    std::string name;
    double seconds = 0.0; // never negative
    std::string reason;

    bool operator==(const GapPart&) const = default;
};

// Another way to run the same program.
struct Change {
    std::string name;
    double time_s = 0.0; // predicted
    std::string detail;  // which operators became one kernel; empty where none did

    bool operator==(const Change&) const = default;
};

struct BoundReport {
    std::string words, network, machine;
    std::string assumptions; // at which peaks, clock, and cache
    Bound unfused, cached, fused;
    Bound roofline; // sums of a graph as speed-of-light tools take them; an execution may be below
    double predicted_s = 0.0;
    std::optional<double> low_s, high_s;
    std::optional<double> measured_s;
    std::vector<GapPart> gap;
    std::optional<Headline> headline;     // as the exam's
    std::vector<Change> changes;          // largest potential first; none on accelerators
    std::vector<OperatorBound> operators; // largest gain first

    // What the gap is measured from: the measurement, else the prediction.
    double time_s() const { return measured_s.value_or(predicted_s); }
    bool operator==(const BoundReport&) const = default;
};

// clang-format off
// Of an operator:  time = start + max(arithmetic, memory, on_chip), with
//   start = of a GPU's kernel of products (GEMM, convolution, attention, experts), else 0: blocks are
//     placed, the first operands arrive, and the last results leave while nothing else of the kernel
//     runs. Empirical: under the shortest of 226,989 products on 8 GPUs recorded without launches
//     (aisimulate 0.13, CUDA graphs): 2.2 us of Ampere at 1.41 GHz and Hopper at 1.98, 1.5 us of Ada at
//     2.52, 1.35 us of Blackwell at 1.92, shorter at higher clocks; others 1.2 us. fused: once. The
//     values were chosen on the rows that they bound; other GPUs of an architecture are assumed alike.
//   arithmetic = multiplications / peak. A GEMM multiplies m n k times. A convolution may take a fast
//     algorithm: along each dimension of r taps and stride s at least min(r, s) multiplications an
//     output and pair of channels remain (S. Winograd, "Arithmetic Complexity of Computations", 1980:
//     m outputs of an r-tap filter take m + r - 1; by phases where it strides). Other operators: 0.
//   memory  = max(bytes - cache, 0) / DRAM bandwidth. Bytes: every tensor of the operator once; of a
//     GEMM at least 2 m n k / sqrt(S) - 2 S words with S words on the chip (T. Smith et al., "A Tight
//     I/O Lower Bound for Matrix Multiplication", 2019).
//   cache   = what of them the last-level cache may hold from before; only the outermost memory's
//     bytes are spared, so that a loop over the same program is not faster than its bound either.
//   on_chip = bytes / (64 bytes a clock and SM).
// unfused = the operators' sum. fused: the sum of arithmetic for each pipe (pipes may overlap), and
// bytes of what is there before (inputs, states, weights) and after (outputs). cached = the same, but
// a GEMM whose operands and result all are such tensors moves at least its own bytes, and inputs are
// read again as follows. A result of a norm, of a softmax, or of an operator that reads a reduction
// beside what was reduced needs the last element of its row and its own element. After the row's last
// element was read, S bytes of the row at most are on the chip; as many of its elements as have
// results of their own (disjoint paths from the input, so that no set of fewer values separates them)
// are read again, or stored and read:  count max(row - S, 0). Behind one product (a convolution, a
// GEMM) and a batch's statistics the row is all results that have an input of their own: pixels x
// min(channels in, out). Computing values again spares nothing of this, as inputs are counted.
// roofline = max(all multiplications of direct convolution / peak, fused bytes / DRAM bandwidth):
// neither fast algorithms nor what a cache holds from the run before are allowed for.
// With several streams operators may run beside each other: unfused is then the longest of the sums
// of each resource.
// Accelerators: an operator's time is step 7 of the machine's chain (no mapping does better), its
// arithmetic step 4, its bytes compulsory_bytes() of model/accelerator/residency.hpp. fused moves
// what of them are a program's inputs, weights, and outputs; on a machine that keeps weights
// (exam/residency.hpp) none that stay: there the bound is one for the exam's schedule.
// Errors: those of run(); "uncosted".
// clang-format on
Result<BoundReport> bound(const Question& question, std::optional<double> measured_s = {},
                          const std::stop_token& stop = {});

} // namespace eyeroof::analysis::bound
