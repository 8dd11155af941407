// The time of one layer on one GPU: seven steps, the library's kernel, an interval, the limiter.
#pragma once

#include "base/result.hpp"
#include "model/eyexam/limits.hpp"
#include "model/gpu/conv.hpp"
#include "model/gpu/fused.hpp"
#include "model/gpu/gpu.hpp"
#include "model/gpu/kernel_form.hpp"
#include "model/gpu/library_cells.hpp"
#include "model/gpu/matmul.hpp"
#include "model/gpu/memory_op.hpp"
#include "model/gpu/software.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::model {

// How the library runs the layer: what `kernel_of` chose.
struct KernelChoice {
    KernelClass kernel_class = KernelClass::linear;
    DataType type = DataType::fp16;   // of the arithmetic
    std::vector<Product> products;    // matrix products one after the other; empty: memory
    std::optional<MatmulTime> matmul; // of the last product
    std::optional<ConvTime> conv;
    std::optional<FusedTime> fused; // attention, experts
    MemoryTime memory;
    // By the constants of a serving library; with them the times above only say how the layer could
    // run.
    std::optional<LibraryTime> served;
    double body_s = 0.0; // without launch
};

struct GpuPrediction {
    KernelClass kernel_class = KernelClass::linear;
    double time_s = 0.0; // one execution as it is timed; never below step 6
    double low_s = 0.0;  // one measurement in ten lies below, by the class's held-out errors
    double high_s = 0.0;
    double launch_s = 0.0;        // of time_s, what stands beyond the kernel's work
    double step6_s = 0.0;         // what the bandwidths alone allow this kernel
    double step6_l2_s = 0.0;      // what the L2's alone does
    double machine_step6_s = 0.0; // the best kernel
    Chain steps;                  // of the library's kernel
    Chain machine_steps;          // best over tiles, splits and algorithms
    double macs = 0.0;            // of the layer; operations / 2 where there are none
    Count work_macs = 0, work_flops = 0, work_bytes = 0; // exact, of the layer or group
    double flops = 0.0, bytes = 0.0;
    double l2_bytes = 0.0; // of a product, through L2; 0: not counted
    double energy_j = 0.0; // of the board; 0: no power of such kernels was measured
    double units = 0.0;    // MAC per cycle of the pipe
    double clock_hz = 0.0;
    double clock_share = 1.0;     // under power
    Limits limits;                // seconds: what binds, what each step costs
    std::size_t limiter_step = 3; // the binding step
    Limit limit = Limit::arithmetic;
    std::string limiter; // "DRAM bandwidth", "arithmetic", "tiles and waves", "launch", …
    KernelForm form;     // algorithm, tiles, waves
    std::vector<std::string> notes;
    bool measured = false;  // the constants were fitted on this GPU
    bool in_domain = false; // and on layers like this one
};

// What a prediction contains. time: without machine_steps, machine_step6_s, limits, and what names
// the steps and the limiter, it needs half the processor time.
enum class Detail { time, reasons };

// Errors: those of validate(layer); "unsupported-type" when the GPU does not serve the type; those
// of the constants of a serving library that `software` names.
// Timing::kernel is the kernel's own time, which does not depend on how it is launched; the other
// timings are what such a measurement of one layer contains, for comparing with measured rows.
Result<GpuPrediction> predict(const Gpu& gpu, const Layer& layer, const Software& software = {},
                              Timing timing = Timing::kernel, Detail detail = Detail::reasons);

// The kernel without its start and chain: what the fit of constants needs.
Result<KernelChoice> kernel_of(const Gpu& gpu, const Layer& layer, const Work& work,
                               const Software& software = {});

// The prediction for a kernel that is known: `work` is what the layer computes and moves.
GpuPrediction predict_kernel(const Gpu& gpu, const Layer& layer, const Work& work,
                             const KernelChoice& kernel, const Software& software, Timing timing,
                             Detail detail = Detail::reasons);

// What a measurement of that kind takes for the kernel, seconds. Eager memory operators hide behind
// the host's call: host + (tail^p + body^p)^(1/p); all else adds: launch + body.
double timed_s(const Gpu& gpu, const Layer& layer, const KernelChoice& kernel, Timing timing);
// Of a time by a serving library's constants, what is left without the start of a kernel.
double served_body_s(const Gpu& gpu, const KernelChoice& kernel);

// The part of the kernel's time that is the longest: "compute", "dram", "l2", "split", "sm" (cycles
// of elements), "link" or "layout" (of what a convolution adds to its product).
std::string_view longest_part(const KernelChoice& kernel);

// What errors go by: the operator; apart from it "conv2d_gradient" (other gradients are like
// products), "attention_generation" (few new tokens after others), "attention_packed" and
// "attention_apart" where the library tells how it treats heads that share keys, "gemm_fp8"
// (kernels cast the input first), "gemm_int8", "gemm_fp8_fused" and "gemm_int8_cast" (the other way
// to cast) and "softmax_kernel", a memory operator without the host's call, which in the other
// timings is most of what a short one takes.
std::string row_kind(const Layer& layer, const Software& software = {},
                     Timing timing = Timing::kernel);

// Which constants a layer takes: tensor classes where the pipe that serves its type is one.
KernelClass kernel_class_of(const Gpu& gpu, const Layer& layer);

} // namespace eyeroof::model
