// The constants of the GPU time model that measurements fix, and how well they predict.
// Made by hwdb (from calibration files) and by `hw calibrate`; read by the GPU time model.
#pragma once

#include "base/provenance.hpp"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::model {

// What is launched: each class has its own library, kernels and constants.
enum class KernelClass {
    linear,
    batched,
    tensor_gemm,
    conv,
    tensor_conv,
    memory,
    attention,
    grouped
};
inline constexpr std::size_t kKernelClasses = 8;
std::string_view kernel_class_name(KernelClass kernel_class);

// Matrix products; equations in matmul.cpp. Also the matrix part of convolutions.
struct MatmulTerms {
    double peak_share = 0.93;        // of the pipe's peak, for tiles of endless intensity
    double half_intensity = 3.0;     // tile intensity tm tn/(tm+tn) at half of peak_share, elements
    double ramp_k = 15.0;            // epilogue of a CTA, in steps of k
    double ramp_cycles = 0.0;        // and its prologue: until the first operands arrive
    double ramp_occupancy = 0.1;     // resident share of an SM at which half the latency is hidden
    double slice_cost = 0.03;        // extra work of a CTA that splits k among its warps
    double dram_share = 0.7;         // of the data-sheet bandwidth that is sustained
    double dram_start_s = 0.0;       // until DRAM streams: its latency, before a CTA's first tile
    double l2_share = 0.9;           // of l2_bandwidth()
    double overlap = 3.0;            // exponent p of the norm that joins compute, L2 and DRAM
    double split_s = 6e-6;           // a second kernel that adds up the parts of split-k
    double sustained_clock = 0.9;    // share of the clock after the power limiter has settled
    double settle_s = 4e-4;          // kernel time at which the limiter is half-way there
    double reuse = 1.0;              // of the weights between two uses, what L2 has to keep
    double scattered_dram = 0.2;     // share of DRAM bandwidth of weights that are read again
    double tlb_reach_mib = 64.0;     // of one SM, over the rows that its CTAs walk along
    double tlb_cost = 5.0;           // extra time of tiles whose rows lie beyond it
    double resident_l2 = 0.0;        // share of L2 that keeps operands between calls; 0: none
    double resident_gain = 3.0;      // bandwidth of what stays, in L2 bandwidths
    double resident_sharpness = 4.0; // how suddenly a working set stops to fit
    double issue_share = 1.0;        // of issue slots left to FMAs where lanes_fill_issue
    double fp8_share = 1.0;          // of the fp8 peak, against what 16-bit types reach of theirs
    double int8_share = 1.0;         // of the int8 peak, likewise: integers draw less power
    double int8_s = 2e-6;            // int8: what scales the sums, or casts the input first
    double quantise_s = 5e-6;        // fp8: the kernel that casts the activations first
    double quantise_pass = 1.0;      // and its passes over them, read at 2 bytes, written at 1
    double cast_cycles = 2.0;        // of an SM, an element, where those kernels are slow
    double fused_cast_s = 2e-6;      // the same where the framework casts in one quick kernel

    bool operator==(const MatmulTerms&) const = default;
};

// Convolutions on AMD's GPUs; equations in miopen.hpp.
struct MiopenTerms {
    double peak_share = 0.9;      // of the pipe's peak, for tiles of endless intensity
    double half_intensity = 30.0; // tile intensity tm tn/(tm+tn) at half of peak_share, elements
    double ramp_k = 10.0;         // prologue and epilogue of a CTA, in steps of k
    double ramp_cycles = 500.0;   // and in cycles
    double dram_share = 0.8;      // of the data-sheet bandwidth that is sustained
    double overlap = 4.0;         // exponent that joins compute and DRAM
    double split_s = 1e-5;        // the kernel that adds up the parts of a split k
    double whole_waves = 0.3;     // 1: the last wave takes as long as a full one; 0: its share
    double data_cost = 1.0;       // of a data gradient's product against a forward one
    double weight_cost = 1.0;
    double fwd_layout = 0.1; // of two passes over input and output that change the layout
    double data_layout = 0.1;
    double weight_layout = 0.3;
    double layout_s = 1e-6;      // their start
    double unaligned_cost = 0.3; // more work where channels do not fill 16 bytes
    double winograd_share = 0.4; // of the vector lanes' peak
    double winograd_s = 1e-5;    // its filter transform

    bool operator==(const MiopenTerms&) const = default;
};

// Convolutions; equations in conv.cpp. `matmul` is the implicit product and Winograd's batched one.
struct ConvTerms {
    MatmulTerms matmul;
    double fwd_cost = 1.0; // of an implicit product against a plain one, by direction
    double bwd_data_cost = 1.2;
    double bwd_weight_cost = 1.2;
    double stride_waste = 0.3;   // a strided bwd_data of n phases spends n^this too many MACs
    double weight_sums = 2.0;    // fp32 sums that bwd_weight writes and reads for each weight
    double weight_product = 1.0; // product_cost in bwd_weight, against the other directions
    double fused_share = 0.75;   // fused Winograd F(2x2,3x3): share of peak
    double fused_ramp_k = 12.0;  // its prologue, in input channels
    double fused_tail = 0.5;     // slowdown of an SM with less than two of its blocks
    double fused_s = 1e-5;       // its filter transform
    double product_cost = 0.9;   // non-fused Winograd F(4x4): cost of the batched product
    double transform_share = .8; // of DRAM bandwidth that its transforms reach
    double transform_l2 = 0.8;   // time of transforms whose data stay in L2
    double transform_s = 6e-5;   // the three extra kernels
    double layout_share = 0.2;   // of two passes over all tensors, to change their layout
    double layout_s = 5e-6;
    MiopenTerms miopen; // on AMD's GPUs, in place of all others but matmul's clock

    bool operator==(const ConvTerms&) const = default;
};

// Operators bound by memory; equations in memory_op.cpp.
struct MemoryTerms {
    double dram_share = 0.85;
    double start_s = 1e-7;
    double resident_l2 = 0.3; // share of L2 that keeps tensors between calls
    double resident_gain = 1.8;
    double resident_sharpness = 5.0;
    double softmax_pass = 0.9;   // extra readings of rows longer than 1024 elements
    double norm_pass = 1.0;      // second reading of normalisations, as a share of the tensor
    double norm_cache = 1.0;     // share of L2 that keeps rows between a norm's two readings
    double norm_cycles = 0.6;    // of an SM, for each element of a norm
    double function_cycles = .4; // of an activation with an exponential: gelu, silu, tanh …
    double gated_cycles = 0.85;  // of the output of a gated activation
    double rope_cycles = 0.65;   // of a rotary embedding
    double gather_cycles = 2.0;  // of a row that is gathered
    double row_s = 1.2e-8;       // per row and SM, of row reductions
    double host_s = 1.1e-5;      // eager: the host's call before the kernel starts
    double host_tail_s = 1.6e-5; // eager: what the host still does while the kernel runs
    double host_scalar_s = 5e-6; // eager: a scalar operand, a module's call
    double host_softmax_s = 9e-6;
    double host_norm_s = 2.5e-5;
    double host_overlap = 4.0; // exponent that joins kernel and host_tail_s

    bool operator==(const MemoryTerms&) const = default;
};

// Attention as one kernel; equations in attention.cpp. In brackets: what the name allows.
struct AttentionTerms {
    double mma_share = 0.8;     // of the pipe's peak, inside a tile [0.2, 1]
    double score_cycles = 0.1;  // of an SM, for a score: exp at 16 a cycle, and what is beside it
                                // [0.03, 1]
    double overlap = 2.0;       // exponent that joins products and scores of a tile [1, 8]
    double cta_cycles = 2000.0; // of a CTA of 128 queries: loads before the first tile, store
                                // [100, 20000]
    double decode_cycles = 2000.0; // of a CTA that reads a cache for few queries [100, 20000]
    double append_s = 5e-6;        // a kernel that writes new keys to the cache [1e-7, 2e-5]
    double apart_share =
        0.8; // rate of kernels with tiles for each head against packed ones [0.5, 1]
    double dram_share = 0.85;   // of the data-sheet bandwidth [0.3, 1]
    double resident_l2 = 0.5;   // share of L2 that keeps keys between calls [0.01, 1]
    double combine_s = 3e-6;    // a second kernel that joins the parts of split keys [0, 2e-5]
    double backward_cost = 1.2; // of a gradient's tile against the forward's [0.5, 4]
    double training_cost = 1.0; // of a tile of the kernels that train, against serving's [0.3, 2]

    bool operator==(const AttentionTerms&) const = default;
};

// Layers of experts; equations in grouped.cpp. Their products are those of `tensor_gemm`.
struct GroupedTerms {
    double peak_share = 0.8;      // of the pipe's peak, for whole tiles [0.1, 1]
    double dram_share = 0.8;      // of the data-sheet bandwidth, for the weights [0.2, 1]
    double overlap = 3.0;         // exponent that joins the two [1, 8]
    double uneven = 1.2;          // load of the busiest SM against the mean [1, 3]
    double routing_passes = 4.0;  // over the routed tokens: permutation, activation, sum [1, 20]
    double routing_s = 2e-5;      // kernels that sort tokens and start the products [1e-6, 2e-4]
    double expert_s = 1e-7;       // for each expert that has tokens [1e-9, 1e-5]
    double resident_l2 = 0.5;     // share of L2 that keeps weights between calls [0.1, 1]
    double flashinfer_cost = 3.0; // of FlashInfer's fp8 products on Hopper against others' [1, 6]

    bool operator==(const GroupedTerms&) const = default;
};

// How a time was taken: around a framework's call (eager), over back-to-back calls (stream), of the
// kernel alone as a profiler does (kernel), over nodes of a graph.
enum class Timing { eager, stream, kernel, graph };
inline constexpr std::size_t kTimings = 4;
std::string_view timing_name(Timing timing);
std::optional<Timing> timing_from_name(std::string_view name);

// Seconds that a measured call takes beyond its kernel's work, by timing; kernel and graph at
// 1.5 GHz, which the model converts to the GPU's own clock.
using LaunchSeconds = std::array<double, kTimings>;

// How far measurements that were not used in the fit lay from the prediction.
struct ErrorBand {
    double low = 0.7;   // measured / predicted: one row in ten lies below
    double high = 1.45; // and one in ten above
    double mape = 0.25; // mean |predicted / measured - 1|
    double median = 0.2;
    int rows = 0;
    std::string basis; // "held-out shapes of v100-pcie-32gb", "GPUs left out"

    bool operator==(const ErrorBand&) const = default;
};

struct Domain { // of the rows that the constants were fitted on, FLOP and bytes of one layer
    double flops_low = 0.0, flops_high = 1e30;
    double bytes_low = 0.0, bytes_high = 1e30;

    bool operator==(const Domain&) const = default;
};

struct ClassRecord {
    LaunchSeconds launch{5e-5, 7e-6, 4e-6, 3e-6};
    ErrorBand band;
    std::map<std::string, ErrorBand> kinds; // by row_kind, of those that were measured
    Domain domain;
    // Share of the measured rows in which a part of a kernel's time is the longest: "compute",
    // "dram", "l2", "sm" …; empty: not counted. A part that was the longest in hardly any is not
    // measured.
    std::map<std::string, double> binds;
    bool measured = false; // fitted on this very GPU; otherwise carried over from others
    Provenance provenance;

    bool operator==(const ClassRecord&) const = default;
};

struct GpuCalibration {
    MatmulTerms linear, batched, tensor_gemm;
    ConvTerms conv, tensor_conv;
    MemoryTerms memory;
    AttentionTerms attention;
    GroupedTerms grouped;
    std::array<ClassRecord, kKernelClasses> records{};

    const ClassRecord& record(KernelClass c) const { return records[static_cast<std::size_t>(c)]; }
    ClassRecord& record(KernelClass c) { return records[static_cast<std::size_t>(c)]; }
    bool operator==(const GpuCalibration&) const = default;
};

// What a term's name allows: shares lie in (0, 1], a second reading is at most one more.
struct TermBound {
    double low = 0.0, high = 1e30;
    const char* meaning = ""; // why
    // ln, of the term over the GPUs, as far as its meaning says: what the hardware does of its data
    // sheet varies by a tenth, what a library spends by any factor.
    double spread = 1.0;
};

// The bound of a term of calibration_terms, "" or unknown: any positive number. A term that is
// switched off (0) is within.
TermBound term_bound(std::string_view name);
bool within(const TermBound& bound, double value);

// Terms of products that the kernels of a class do not have; files written before 2026-11-23 hold
// them too.
std::vector<std::string> unused_terms(KernelClass c);

// Every term of a class by its name in calibration files: "linear.ramp_k". For readers, writers and
// the fit; the order is fixed.
std::map<std::string, double*> calibration_terms(GpuCalibration& calibration, KernelClass c);

} // namespace eyeroof::model
