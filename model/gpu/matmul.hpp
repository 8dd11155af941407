// Matrix products on a GPU: which tile and split the library would choose, and how long it takes.
#pragma once

#include "model/gpu/gpu.hpp"
#include "model/gpu/software.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::model {

// A CTA computes tm x tn outputs; `slices` of its warps share k.
struct CtaTile {
    int tm = 128;
    int tn = 128;
    int slices = 1;

    bool operator==(const CtaTile&) const = default;
};

// batch products [m, k] x [k, n]; the batch is in m when the weights are shared.
struct Product {
    double batch = 1.0, m = 1.0, n = 1.0, k = 1.0;
    double in_bytes = 2.0;  // of an element of the operands
    double out_bytes = 2.0; // of an element of the result

    bool operator==(const Product&) const = default;
};

struct KernelMapping {
    CtaTile tile;
    int splits = 1; // of k over CTAs

    bool operator==(const KernelMapping&) const = default;
};

// ctas = batch ceil(m/tm) ceil(n/tn) splits; waves over the SMs, at one CTA an SM in turn.
struct Waves {
    double ctas = 1.0;
    double full = 1.0;            // ceil(ctas / SMs)
    double efficiency = 1.0;      // ctas / (full * SMs)
    double tile_efficiency = 1.0; // m n / (tiles tm tn)

    bool operator==(const Waves&) const = default;
};
Waves waves_of(const Product& product, const KernelMapping& mapping, int sms);

// CTAs of a tile that registers let an SM hold: 32 Ki accumulators an SM (64 Ki registers, half of
// them for addresses and fragments).
int resident_ctas(const CtaTile& tile, bool tensor);

// Rows and columns of the operands that a CTA reads through L2 for each step of k: tm + tn. On
// tensor cores since Hopper a cluster of two CTAs reads the longer side of its tiles once.
double tile_reads(const Gpu& gpu, const CtaTile& tile, bool tensor);

// Does the library of 2015 serve this GPU: an early library on a GPU up to Maxwell? GEMMs in
// 128 x 128 tiles alone, k split only where it is far longer than the outputs, and no Winograd for
// weight gradients. Source: M40 in DeepBench@da81ba7 (7680 x 16 x 2560 takes 894 us, as long as
// with 128 columns; 3 x 3 weight gradients what their direct products take); P100 with the next
// does not.
bool is_first_library(const Gpu& gpu, const Software& software);

// Share of the tensor cores' rate when rows of k elements, the contiguous dimension of both
// operands, allow loads of only a part of 16 bytes: (part / 16)^(1/4), 1 for multiples of 8 fp16 or
// 16 int8 elements; 0.59 for odd fp16 sizes. Since cuBLAS 11; earlier ones leave the tensor cores.
// Source: the rule is NVIDIA's (deep-learning performance guide); the power is recalled.
double alignment_share(double k, double element_bytes);

// Share of the tensor cores' rate that rows leave: alignment_share of k and, but on AMD's GPUs, of
// the result's rows, n (cuBLAS's documentation, tensor core usage). From Hopper on, copies of tiles
// need rows of whole 16 bytes (CUDA driver API, tensor maps); libraries fall back to mma.sync, at
// 63 % of the peak (arXiv:2402.13499).
double aligned_rate(const Gpu& gpu, const Product& p);

// Do loads and addresses take issue slots from FMAs? Where lanes_fill_issue; and in the small tiles
// (64 x 64 and thinner) that later libraries kept for GPUs before Volta: P100 reaches 0.95 of its
// peak with cuBLAS 8 and 0.65 with cuBLAS 12.
bool shares_issue_slots(const Gpu& gpu, bool early);

// Tiles that the library offers; from the kernel names in NeuSight@6945927 and DeepBench@da81ba7.
// `early`: Library::until_10. Later libraries keep three for products with shared weights and
// one for batched ones before Volta; Volta and Turing choose among four for batched ones, A100 and
// GA10x always take 128 x 128, later GPUs and AMD's choose freely. Hopper and Blackwell have wider
// ones on tensor cores.
const std::vector<CtaTile>& library_tiles(const Gpu& gpu, bool batched, bool tensor, bool early);
const std::vector<CtaTile>& first_library_tiles();
const std::vector<int>& first_library_splits(const Product& product);
// All of them, of any library.
const std::vector<CtaTile>& every_tile(bool tensor);
const std::vector<int>& library_splits(bool batched);

// Share of a product's compulsory bytes that stays in L2 between calls, where
// terms.resident_l2 > 0. Activations and results stay while all operands fit together; weights only
// while five sets of them do, since layers take turns. Five is what ai-dynamo/aiconfigurator's
// collectors turn over (six in vLLM's) to keep L2 from holding one layer's weights.
//   r = 1 / (1 + (bytes / (resident L2))^s)
double resident_of(const Gpu& gpu, const MatmulTerms& terms, const Product& product);

struct MatmulTime {
    KernelMapping mapping;
    double body_s = 0.0;    // kernel time beyond the launch
    double compute_s = 0.0; // parts that overlap in body_s
    double dram_s = 0.0;
    double l2_s = 0.0;
    double split_s = 0.0; // added after the product
    double clock_share = 1.0;
    // What keeps the pipe from its peak most while a CTA computes: "occupancy", "CTA prologue and
    // epilogue", "operand loads", "instruction issue", or, beside the product, "split-k sum" and
    // "operand cast".
    std::string_view loss;
};

// clang-format off
// body = (compute/f ^p + dram^p + (l2/f)^p)^(1/p) + split, least over the library's mappings, where
//   compute = J w / (e L i a),  J = ceil(ctas / SMs)
//   w = 2 tm tn (ceil(k/splits/k0) k0 + ramp) / rate + ramp_cycles / clock
//   e = peak_share I / (I + I0),  I = tm tn / (tm + tn)
//   L = x (1 + x0) / (x + x0),  x resident share
//   i = issue_share where shares_issue_slots on vector lanes, else 1;  a = aligned_rate on tensor cores, else 1
//   dram = (1-r) start + bytes ((1-r)/(share B) + r/(gain L2bw)),  r: resident_of
//   l2 = V (1 + cost t)/(share L2) + V' d/(scattered B),  V = ctas (tm + tn) k/splits bytes,
//   V' = ctas tn k/splits bytes: the weights; on tensor cores since Hopper a cluster of two CTAs
//   reads the longer side of its tiles once: min(tm, tn) + max(tm, tn)/2
//   t = 1 / (1 + (reach / S)^4),  S = CTAs in turn on an SM (tm + tn) min(k bytes, 2 MiB)
//   d = 1 / (1 + (L2 / (reuse F))^2),  F = k/splits bytes (n min(1, tiles across / wave) + tm): what
//       is read between two uses of the weights by CTAs that start one after the other, along n
//   f = sustained + (1 - sustained) / (1 + body / settle)
// Products of narrow floats (fp8, mxfp8, mxfp6, fp4, mxfp4, nvfp4) add what casts their input (ByteCast): in kernels of its own quantise_s and
// quantise_pass times 3 bytes an element over DRAM; slowly quantise_s and the root of the squares of
// one such pass and cast_cycles SM cycles an element; in one quick kernel fused_cast_s and one pass.
// Narrow floats reach fp8_share, int8 int8_share of what 16-bit types reach of their peak; int8
// adds int8_s for its scales, and the cast where the framework does it (ByteCast::kernels, slow). int8 of
// an early library runs on DP4A: four MACs a lane and cycle.
// clang-format on
// Source: own; the terms and what each won are in docs/gpu-model.md.
MatmulTime matmul_time(const Gpu& gpu, DataType type, const MatmulTerms& terms,
                       const Product& product, const std::vector<CtaTile>& tiles,
                       const std::vector<int>& splits, bool early = false,
                       ByteCast cast = ByteCast::usual);

// The compute term alone, least over tiles and splits (a split pays its partial sums in DRAM):
// what convolutions are made of. Boost clock.
MatmulTime matmul_compute(const Gpu& gpu, DataType type, const MatmulTerms& terms,
                          const Product& product, const std::vector<CtaTile>& tiles,
                          const std::vector<int>& splits, double k_step);

// f above.
double clock_share(const MatmulTerms& terms, double body_s);

} // namespace eyeroof::model
