#include "model/gpu/memory_op.hpp"

#include "model/workload/elementwise.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::model {

namespace {

// Of a copy between host and device, beside its bytes: the median of 15 copies below 4 KiB in
// traces on V100, A100 and H100 (0.5 to 5 us; TraceLens@171dd747, HolisticTraceAnalysis@f4d0062c).
constexpr double kCopyStartS = 2e-6;
constexpr double kLinkShare = 0.8;      // of a link's bandwidth that large pinned copies reach
constexpr Count kRowInRegisters = 1024; // elements of a row that softmax keeps in registers
constexpr double kNormThreads = 128.0;  // of the CTA that normalises a row
// Of a vectorised norm: a dozen instructions an element on 128 lanes; assumed, not fitted.
constexpr double kVectorNormCycles = 0.1;
// Of copies that address each element on its own, SM cycles an element. Strided copies of 19.3 M
// elements take 0.7 to 0.8 cycles on H100 and 1.0 on MI300X, `cat` 1.0 to 1.4 on both and 1.3
// to 1.5 on A100 (AMD-AGI/TraceLens@171dd747, facebookresearch/HolisticTraceAnalysis@f4d0062c).
constexpr double kPermuteCycles = 0.8;
constexpr double kConcatCycles = 1.2;
// Of a maximum's window, whose thread finds its place by divisions: a max pooling of 2 x 2 took
// 310, 74, 28, and 38 us on T4, A100, L40S, and H100 (KernelBench@7dd9cfa0, a launch in it), which
// DRAM's bandwidth alone explains to 0.8, 0.6, 0.5, and 0.5.
constexpr double kWindowCycles = 3.2;
// Of a row that no vector load fits, cycles that a CTA's threads wait for one round of elements.
constexpr double kRoundCycles = 800.0;
constexpr double kAmdRoundCycles = 1230.0;
constexpr double kKeptRow = 65536.0; // bytes of a row that a CTA's registers keep
// Of what HBM behind Volta's memory controller and its successors' gives: GDDR, and Pascal's HBM
// ("1.5x delivered memory bandwidth" for 1.2x the pins', NVIDIA Volta V100 white paper). Operators
// above 0.3 ms reach 0.74 of the data sheet on P4 and T4, 0.77 on L40S, 0.73 on P100, against 0.88,
// 0.85 and 0.90 on V100, A100 and H100.
constexpr double kOlderMemory = 0.83;
// Of DRAM's bandwidth, by generated kernels that change a layout in tiles: two-dimensional
// convolutions of an image into 64 channels, compiled against eager (KernelBench@7dd9cfa0, H100).
constexpr double kCompiledTranspose = 0.65;
constexpr double kStridedSumCycles = 9000.0; // of a sum over rows; see serial_seconds
constexpr double kFarPartition = 0.6; // of L2's bandwidth, where half of it lies behind a crossing

// GDDR, and HBM before Volta; where a machine's file names no memory, by the architecture's usual.
bool older_memory(const Gpu& gpu) {
    if (gpu.memory_type == MemoryType::unknown) {
        return gpu.arch <= GpuArch::pascal || gpu.arch == GpuArch::turing ||
               gpu.arch == GpuArch::ada;
    }
    return gpu.memory_type != MemoryType::hbm || gpu.arch <= GpuArch::pascal;
}

// Bytes a second that streams over DRAM sustain.
double streamed(const Gpu& gpu, const MemoryTerms& terms) {
    return terms.dram_share * (older_memory(gpu) ? kOlderMemory : 1.0) * gpu.dram_bytes_per_s;
}

// The same over L2; see l2_reach_bytes.
double streamed_l2(const Gpu& gpu, const MemoryTerms& terms) {
    const bool partitions = l2_reach_bytes(gpu) < gpu.l2_bytes;
    return terms.resident_gain * (partitions ? kFarPartition : 1.0) * l2_bandwidth(gpu);
}

// Kernels after the first: the sum of three tensors is two kernels of the framework.
double further_kernels(const Layer& layer) {
    const auto* e = std::get_if<ElementwiseShape>(&layer.shape);
    return e != nullptr && e->fn == "add3" ? 1.0 : 0.0;
}

// The gradients of a norm's weights: a sum over rows in a kernel of its own ("GammaBetaBackward"),
// whose traffic the fitted constants of gradients hold; cuDNN's one kernel makes both.
double weights_gradient_s(const Gpu& gpu, const Layer& layer, NormKernel norm) {
    const bool sums = layer.op == Op::layernorm && layer.direction != Direction::fwd &&
                      norm != NormKernel::fused && gpu.arch != GpuArch::host;
    return sums ? kernel_start_s(gpu) + kStridedSumCycles / gpu.boost_hz : 0.0;
}

// Functions that multiply one half of a row by an activation of the other.
bool is_gated(std::string_view fn) {
    return fn == "swiglu" || fn == "silu_mul" || fn == "geglu" || fn == "gelu_mul" || fn == "glu";
}

// Activations with an exponential or a logarithm.
bool is_function(std::string_view fn) {
    return fn == "gelu" || fn == "silu" || fn == "tanh" || fn == "sigmoid" || fn == "softplus" ||
           fn == "exp" || fn == "log" || fn == "pow" || fn == "powu";
}

// Parts that overlap in part: the loads of one CTA run beside the arithmetic of another.
double joined2(double a, double b) {
    return std::sqrt(a * a + b * b);
}

// Positions of the maxima, which frameworks write beside them, 64 bits each.
double positions_bytes(const Gpu& gpu, const Layer& layer) {
    constexpr double kPosition = 8.0;
    const auto* pool = std::get_if<PoolShape>(&layer.shape);
    const bool writes = pool != nullptr && layer.op == Op::maxpool &&
                        layer.direction == Direction::fwd && gpu.arch != GpuArch::host;
    return writes ? kPosition * static_cast<double>(pool->n) * static_cast<double>(pool->c) *
                        static_cast<double>(pool->p()) * static_cast<double>(pool->q())
                  : 0.0;
}

bool is_norm(const Layer& layer) {
    return layer.op == Op::layernorm || layer.op == Op::batchnorm;
}

// The kernel of a gradient where only forward passes have one of their own.
NormKernel norm_kernel(const Layer& layer, NormKernel norm) {
    const bool own = layer.direction == Direction::fwd || norm == NormKernel::fused;
    return own ? norm : NormKernel::scalar;
}

bool keeps_rows(NormKernel norm) {
    return norm == NormKernel::compiled || norm == NormKernel::fused;
}

// Seconds a byte of rows that are read again while `flying` bytes of them are at work: from L2 as
// far as those fit, or as the whole tensor is `resident` there, else from DRAM. CTAs are at
// different places of their rows, so that the share that is lost changes smoothly with what flies:
// so smoothly that more SMs, which keep more rows in flight, do not make the whole 2 % slower.
struct Again {
    double sharpness = 1.0; // d ln(lost / held) / d ln(flying)
    double resident = 0.0;

    double s_per_byte(const Gpu& gpu, const MemoryTerms& terms, double flying,
                      double l2_s_per_byte) const {
        const double fill = terms.norm_cache * l2_reach_bytes(gpu) / flying;
        const double lost = (1.0 - resident) / (1.0 + std::pow(fill, sharpness));
        return lost / streamed(gpu, terms) + (1.0 - lost) * l2_s_per_byte;
    }
};

// Softmax reads rows that registers do not hold for their maximum, their sum and the result, in
// CTAs of 1024 threads.
double softmax_readings_s(const Gpu& gpu, const MemoryTerms& terms, const Layer& layer,
                          double resident, double l2_s_per_byte) {
    constexpr double kThreads = 1024.0;
    constexpr double kSharpness = 0.5; // up to three readings
    const auto* rows = std::get_if<RowsShape>(&layer.shape);
    if (rows == nullptr || layer.op != Op::softmax || rows->cols <= kRowInRegisters) {
        return 0.0;
    }
    const double row_bytes = static_cast<double>(rows->cols) * bytes_per_element(layer.types.input);
    const double held = gpu.sms * std::max(std::floor(gpu.max_threads_per_sm / kThreads), 1.0);
    const double flying = row_bytes * std::min(static_cast<double>(rows->rows), held);
    return terms.softmax_pass * row_bytes * static_cast<double>(rows->rows) *
           Again{kSharpness, resident}.s_per_byte(gpu, terms, flying, l2_s_per_byte);
}

// PyTorch's softmax of long rows of 16 bits whose starts are not aligned to 16 bytes: a CTA of 1024
// threads reads the row three times, an element a thread, and waits for each round of loads; only
// multiples of 1024 whole vectors are loaded as such (aten/src/ATen/native/cuda/SoftMax.cu,
// cunn_SoftMaxForward; aligned rows are kept in shared memory). 301,152 rows of 3,137 elements in
// bf16 take 5.7 ms on an H100 and 3.5 ms on an MI300X: 770 and 1230 cycles a round
// (AMD-AGI/TraceLens@171dd747). Rows of fp32 need no such term: of 294 unaligned ones, repeated
// readings explain the time within 10 % (NeuSight@6945927).
double unaligned_softmax_s(const Gpu& gpu, const Layer& layer, NormKernel norm) {
    constexpr double kThreads = 1024.0;
    constexpr double kLoad = 16.0;
    constexpr double kReadings = 3.0;
    const auto* rows = std::get_if<RowsShape>(&layer.shape);
    if (rows == nullptr || layer.op != Op::softmax || rows->cols <= kRowInRegisters ||
        layer.direction != Direction::fwd || keeps_rows(norm) || gpu.arch == GpuArch::host) {
        return 0.0;
    }
    const double element = bytes_per_element(layer.types.input);
    const auto cols = static_cast<double>(rows->cols);
    if (element >= 4.0 || std::fmod(cols * element, kLoad) == 0.0) {
        return 0.0;
    }
    const double vectors = std::floor(cols / (kThreads * kLoad / element));
    const double rest = cols - vectors * kThreads * kLoad / element;
    const double rounds = kReadings * (vectors + std::ceil(rest / kThreads));
    const double held = gpu.sms * std::max(std::floor(gpu.max_threads_per_sm / kThreads), 1.0);
    const double cycles = gpu.arch == GpuArch::amd ? kAmdRoundCycles : kRoundCycles;
    return std::ceil(static_cast<double>(rows->rows) / held) * rounds * cycles / gpu.boost_hz;
}

// Share of rows at work on an SM that its L1 does not hold, where one memory serves both it and
// what CTAs share: since Volta.
double missed_l1(const Gpu& gpu, double row_bytes) {
    const bool one_memory = gpu.arch != GpuArch::amd && gpu.arch >= GpuArch::volta;
    if (!one_memory || gpu.shared_bytes_per_sm <= 0.0) {
        return 1.0;
    }
    const double at_work = row_bytes * std::max(gpu.max_threads_per_sm / kNormThreads, 1.0);
    const double fill = gpu.shared_bytes_per_sm / at_work;
    return 1.0 / (1.0 + fill * fill);
}

// A norm's second reading of its rows: from L1 or L2 while those in flight fit.
double second_reading_s(const Gpu& gpu, const MemoryTerms& terms, const Layer& layer,
                        NormKernel norm, double l2_s_per_byte) {
    constexpr double kSharpness = 0.75; // two readings
    const auto* rows = std::get_if<RowsShape>(&layer.shape);
    if (rows == nullptr || !is_norm(layer)) {
        return 0.0;
    }
    const double row_bytes = static_cast<double>(rows->cols) * bytes_per_element(layer.types.input);
    if (layer.op == Op::layernorm && keeps_rows(norm) && row_bytes <= kKeptRow) {
        return 0.0;
    }
    const double held = gpu.sms * std::max(gpu.max_threads_per_sm / kNormThreads, 1.0);
    // A row of batch norm is a channel of all images: every channel is in flight.
    const double in_flight = layer.op == Op::batchnorm ? static_cast<double>(rows->rows) : held;
    const double flying = row_bytes * std::min(static_cast<double>(rows->rows), in_flight);
    const double missed = layer.op == Op::layernorm ? missed_l1(gpu, row_bytes) : 1.0;
    return terms.norm_pass * row_bytes * static_cast<double>(rows->rows) * missed *
           Again{kSharpness, 0.0}.s_per_byte(gpu, terms, flying, l2_s_per_byte);
}

// Seconds that CTAs of so many threads take to walk along rows, each transfer of a row in rounds of
// a load by all threads. 680 cycles a round explain channels of batch norms (KernelBench@7dd9cfa0,
// H100 and A100) with 16 bytes a load, and with 4.
struct Walk {
    double threads = 0.0, load_bytes = 0.0, transfers = 0.0;

    double seconds(const Gpu& gpu, const RowsShape& rows, double element) const {
        constexpr double kWalkCycles = 680.0;
        const double rounds =
            transfers * static_cast<double>(rows.cols) * element / (threads * load_bytes);
        const double held = gpu.sms * std::max(std::floor(gpu.max_threads_per_sm / threads), 1.0);
        const double turns = std::max(static_cast<double>(rows.rows) / held, 1.0);
        return turns * rounds * kWalkCycles / gpu.boost_hz;
    }
};

constexpr double kWideLoad = 16.0;

// cuDNN's batch norm with running statistics and channels first: a CTA for a plane of one image, so
// small planes take what starting the CTAs takes, whatever their size: 1.25 cycles each, read off
// the recorded H100 ("bn_fw_inf_1C11_kernel_NCHW": 131,072 CTAs of 64 threads in 80.5 us, 32,768 in
// 21.5 us).
double planes_s(const Gpu& gpu, const RowsShape& rows) {
    constexpr double kStartCycles = 1.25; // of the device
    return static_cast<double>(rows.rows) * static_cast<double>(rows.planes) * kStartCycles /
           gpu.boost_hz;
}

// cuDNN's statistics of a batch with channels first: a CTA of 512 threads walks along a channel of
// all images, reads it twice, and writes it; a gradient reads two tensors twice. A load is 4
// elements, up to 16 bytes, where an image's plane is a multiple of that. Source: kernel names of
// cuDNN ("bn_fw_tr_1C11_kernel_NCHW<__half, …>", "bn_bw_1C11": one CTA a channel). That half
// precision takes as long as fp32 was read off the recorded H100 (docs/gpu-model.md).
double channel_walk_s(const Gpu& gpu, const Layer& layer, NormKernel norm) {
    constexpr Count kElements = 4; // of a load
    const auto* rows = std::get_if<RowsShape>(&layer.shape);
    const bool vendor = gpu.arch != GpuArch::amd && gpu.arch != GpuArch::host;
    if (rows == nullptr || rows->images + rows->planes <= 0 || !vendor || keeps_rows(norm)) {
        return 0.0;
    }
    if (rows->planes > 0) {
        return planes_s(gpu, *rows);
    }
    const double element = bytes_per_element(layer.types.input);
    const bool whole = rows->cols / rows->images % kElements == 0;
    const double width = whole ? std::min(kWideLoad, element * kElements) : element;
    const double transfers = layer.direction == Direction::fwd ? 3.0 : 5.0;
    return Walk{512.0, width, transfers}.seconds(gpu, *rows, element);
}

// Frameworks give each row one CTA, of 128 threads in a layer norm (two readings and a writing) and
// of 1024 in softmax (three and one), which shows where long rows are too few to fill the device.
// Rows up to 64 KiB are measured, with the terms above (NeuSight@6945927, vidur@7d47513). Source:
// PyTorch, aten/src/ATen/native/cuda/layer_norm_kernel.cu (vectorized_layer_norm_kernel) and
// SoftMax.cu.
double row_walk_s(const Gpu& gpu, const Layer& layer, NormKernel norm) {
    const auto* rows = std::get_if<RowsShape>(&layer.shape);
    const bool softmax = layer.op == Op::softmax;
    if (rows == nullptr || layer.direction != Direction::fwd || keeps_rows(norm) ||
        gpu.arch == GpuArch::host || (!softmax && layer.op != Op::layernorm)) {
        return 0.0;
    }
    const double element = bytes_per_element(layer.types.input);
    if (static_cast<double>(rows->cols) * element <= kKeptRow) {
        return 0.0;
    }
    const Walk walk = softmax ? Walk{1024.0, kWideLoad, 4.0} : Walk{kNormThreads, kWideLoad, 3.0};
    return walk.seconds(gpu, *rows, element);
}

// Operators whose arithmetic, addresses or single-element accesses take longer than their bytes: SM
// cycles an element of what is written.
double cycles_of_element(const MemoryTerms& terms, const Layer& layer, NormKernel norm) {
    if (const auto* e = std::get_if<ElementwiseShape>(&layer.shape)) {
        const std::string_view fn = plain_function(e->fn);
        const double addresses = norm == NormKernel::compiled ? 0.0 // part of what reads the copy
                                 : fn == "concat"             ? kConcatCycles
                                 : is_strided(e->fn)          ? kPermuteCycles
                                                              : 0.0;
        return is_gated(fn)      ? terms.gated_cycles
               : is_function(fn) ? std::max(terms.function_cycles, addresses)
                                 : addresses;
    }
    if (layer.op == Op::maxpool) {
        const bool forward = layer.direction == Direction::fwd;
        return forward && norm != NormKernel::compiled ? kWindowCycles : 0.0;
    }
    const double norm_cycles = norm == NormKernel::scalar ? terms.norm_cycles : kVectorNormCycles;
    return layer.op == Op::embedding   ? terms.gather_cycles
           : layer.op == Op::rope      ? terms.rope_cycles
           : layer.op == Op::layernorm ? norm_cycles
                                       : 0.0;
}

// A pass between layouts: elements that are neighbors on one side are scattered on the other.
bool changes_layout(const Layer& layer) {
    const auto* e = std::get_if<ElementwiseShape>(&layer.shape);
    return e != nullptr && (e->fn == "to_channels_last" || e->fn == "to_channels_first");
}

// Positions by channels, turned in tiles of 32 by 32 by a CTA of 256 threads each, so few channels
// leave a tile nearly empty. Grids of cuDNN's nchwToNhwcKernel: [HW/32, C/32, N]. The cycles are
// those of the larger of two passes over 3 channels (AMD-AGI/TraceLens@171dd747, H100: 281 us for
// 200,704 tiles; the other, 10.3 us for 6144, and one over 768 channels were not used).
double turned_tiles_s(const Gpu& gpu, const ElementwiseShape& shape) {
    constexpr double kTile = 32.0;
    constexpr double kTileCycles = 366.0; // of an SM
    const double tiles = std::ceil(static_cast<double>(shape.rows) / kTile) *
                         std::ceil(static_cast<double>(shape.cols) / kTile);
    return kTileCycles * tiles / (gpu.sms * gpu.boost_hz);
}

// A copy that transposes reads each element from an L2 sector of its own: 32 bytes, 64 on AMD's
// GPUs. Source: CUDA C++ best practices guide, coalesced access; ROCm, MI300 hardware counters.
// Frameworks' loops wait for them, so that this is added to the cycles of addressing; the sum was
// held against three copies (AMD-AGI/TraceLens@171dd747, HolisticTraceAnalysis@f4d0062c), not
// fitted.
double scattered_s(const Gpu& gpu, const Layer& layer, NormKernel norm, double elements) {
    const auto* e = std::get_if<ElementwiseShape>(&layer.shape);
    const bool scatters = e != nullptr && e->fn == "transpose" && norm != NormKernel::compiled &&
                          gpu.arch != GpuArch::host;
    const double sector = gpu.arch == GpuArch::amd ? 64.0 : 32.0;
    return scatters ? elements * sector / l2_bandwidth(gpu) : 0.0;
}

double sm_seconds(const Gpu& gpu, const MemoryTerms& terms, const Layer& layer, NormKernel norm) {
    if (changes_layout(layer)) {
        return turned_tiles_s(gpu, std::get<ElementwiseShape>(layer.shape));
    }
    double elements = 0.0;
    if (const auto* e = std::get_if<ElementwiseShape>(&layer.shape)) {
        elements = static_cast<double>(e->rows) * static_cast<double>(e->cols);
    } else if (const auto* r = std::get_if<RowsShape>(&layer.shape)) {
        elements = static_cast<double>(r->rows) * static_cast<double>(r->cols);
    } else if (const auto* p = std::get_if<PoolShape>(&layer.shape)) {
        elements = static_cast<double>(p->n * p->c) * static_cast<double>(p->p() * p->q());
    }
    const bool host = gpu.arch == GpuArch::host && layer.op == Op::maxpool;
    return host ? 0.0
                : cycles_of_element(terms, layer, norm) * elements / (gpu.sms * gpu.boost_hz) +
                      scattered_s(gpu, layer, norm, elements);
}

// Cycles of a CTA's work that no other hides: a scan walks along its row, a sum over picked
// elements runs in one CTA whose lanes wait for two dependent loads each.
//   scan: 6.6 cycles an element, rows of an SM one after the other; pick: 650 cycles for 32 rows.
// Fitted on the eager times of cumsum and cross_entropy (KernelBench@7dd9cfa0) on T4, A100, L40S
// and H100, less those of a pointwise operator of the same size: 21, 6.7, 6.5 and 6.8 cycles
// for 3.2, 1.2, 0.9 and 1 rows an SM; 1180, 630, 610 and 700 cycles. A CTA takes four such rows; of
// more, CTAs run beside each other and share an SM's lanes: ten steps of eight instructions on 2
// elements a thread, 0.31 cycles an element (counted in ScanKernels.cu of PyTorch, not fitted).
// A sum along an axis that is not the innermost (a window of a plane's whole height and one
// column): CTAs share out its rows, join their sums through memory, and the last of them adds these
// up (aten/src/ATen/native/cuda/Reduce.cuh). 25 such sums of a training step take 9200 cycles
// beyond a sum along rows in the median on A100, one each on H100 and MI300X 7100 and 12,000
// (facebookresearch/HolisticTraceAnalysis@f4d0062c, AMD-AGI/TraceLens@171dd747).
double serial_seconds(const Gpu& gpu, const Layer& layer) {
    const auto* pool = std::get_if<PoolShape>(&layer.shape);
    if (pool != nullptr) {
        const bool strided = layer.direction == Direction::fwd && pool->r == pool->h &&
                             pool->s == 1 && pool->w > 1 && pool->h > 1 && pool->pad.h == 0 &&
                             gpu.arch != GpuArch::host;
        return strided ? kStridedSumCycles / gpu.boost_hz : 0.0;
    }

    constexpr double kScanCycles = 6.6;
    constexpr double kScanRows = 4.0;
    constexpr double kScanLanes = 0.31;
    constexpr double kPickCycles = 650.0;
    constexpr double kLanes = 32.0;
    const auto* e = std::get_if<ElementwiseShape>(&layer.shape);
    if (e == nullptr || gpu.arch == GpuArch::host) {
        return 0.0;
    }
    const double rows = static_cast<double>(e->rows);
    const double cols = static_cast<double>(e->cols);
    const double alone = kScanCycles * std::clamp(rows / gpu.sms, 1.0, kScanRows);
    const double cycles = e->fn == "scan"   ? cols * std::max(alone, kScanLanes * rows / gpu.sms)
                          : e->fn == "pick" ? kPickCycles * std::ceil(rows * cols / kLanes)
                                            : 0.0;
    return cycles / gpu.boost_hz;
}

// Rows that a whole CTA sums up; vectorised norms have a warp for a short row.
double reduced_rows(const Layer& layer, NormKernel norm) {
    const auto* rows = std::get_if<RowsShape>(&layer.shape);
    const bool reduces =
        layer.op == Op::softmax || (layer.op == Op::layernorm && norm == NormKernel::scalar);
    // PyTorch's warps share out rows of softmax below a warp's width, a power of two of lanes each.
    constexpr double kWarp = 32.0;
    const double lanes =
        rows != nullptr && layer.op == Op::softmax
            ? std::min(std::exp2(std::ceil(std::log2(static_cast<double>(rows->cols)))), kWarp)
            : kWarp;
    return rows != nullptr && reduces ? static_cast<double>(rows->rows) * lanes / kWarp : 0.0;
}

} // namespace

double kernel_start_s(const Gpu& gpu) {
    const LaunchSeconds& launch = gpu.calibration.record(KernelClass::memory).launch;
    return launch[static_cast<std::size_t>(Timing::kernel)] * kReferenceHz / gpu.boost_hz;
}

std::optional<double> link_of(const Gpu& gpu, const Layer& layer) {
    const auto* e = std::get_if<ElementwiseShape>(&layer.shape);
    if (e == nullptr || (e->fn != "h2d" && e->fn != "d2h" && e->fn != "peer")) {
        return std::nullopt;
    }
    constexpr double kDirections = 2.0; // link_bytes_per_s counts both
    const bool peer = e->fn == "peer" && gpu.link_bytes_per_s > 0.0;
    return peer ? gpu.link_bytes_per_s / kDirections : gpu.pcie_bytes_per_s;
}

NormKernel usual_norm(const Gpu& gpu) {
    return gpu.arch == GpuArch::blackwell ? NormKernel::vector : NormKernel::scalar;
}

MemoryTime memory_time(const Gpu& gpu, const MemoryTerms& terms, const Layer& layer,
                       const Work& work, NormKernel asked, Layout layout) {
    const NormKernel norm =
        norm_kernel(layer, asked == NormKernel::usual ? usual_norm(gpu) : asked);
    const double footprint =
        std::max(static_cast<double>(work.bytes()), 1.0) + positions_bytes(gpu, layer);
    MemoryTime t;
    if (const auto link = link_of(gpu, layer)) {
        t.bytes = static_cast<double>(work.bytes_written());
        t.link_bytes_per_s = *link;
        t.body_s = kCopyStartS + t.bytes / (kLinkShare * std::max(*link, 1.0));
        return t;
    }
    const bool compiled = asked == NormKernel::compiled;
    if (compiled && changes_layout(layer)) {
        t.bytes = footprint;
        t.moved_s = footprint / (kCompiledTranspose * gpu.dram_bytes_per_s);
        t.body_s = t.moved_s;
        return t;
    }
    const double fits = std::min(1.0, terms.resident_l2 * l2_reach_bytes(gpu) / footprint);
    t.resident = std::pow(fits, terms.resident_sharpness);
    const double further = further_kernels(layer); // each writes a sum, which the next reads
    t.bytes = footprint + 2.0 * further * static_cast<double>(work.bytes_written());
    const double dram_s = 1.0 / streamed(gpu, terms); // of a byte
    const double l2_s = std::min(dram_s, 1.0 / streamed_l2(gpu, terms));
    const double moved_s = t.bytes * ((1.0 - t.resident) * dram_s + t.resident * l2_s) +
                           second_reading_s(gpu, terms, layer, norm, l2_s) +
                           softmax_readings_s(gpu, terms, layer, t.resident, l2_s);
    t.moved_s = layout == Layout::channels_first
                    ? std::max(moved_s, channel_walk_s(gpu, layer, norm))
                    : moved_s;
    t.moved_s =
        std::max({t.moved_s, unaligned_softmax_s(gpu, layer, norm), row_walk_s(gpu, layer, norm)});
    // Generated scans and look-ups run on all lanes.
    t.sm_s = sm_seconds(gpu, terms, layer, norm) + (compiled ? 0.0 : serial_seconds(gpu, layer));
    t.gather_bound = t.sm_s > t.moved_s;
    const double both =
        layer.op == Op::embedding ? std::max(t.moved_s, t.sm_s) : joined2(t.moved_s, t.sm_s);
    t.body_s = terms.start_s + both + terms.row_s * reduced_rows(layer, norm) / gpu.sms +
               further * kernel_start_s(gpu);
    t.body_s += weights_gradient_s(gpu, layer, norm);
    return t;
}

double layout_pass_s(const Gpu& gpu, double positions, double channels, DataType type) {
    Layer pass;
    pass.op = Op::elementwise;
    constexpr double kMost = 4e18; // fits a Count
    pass.shape = layout_pass(static_cast<Count>(std::min(positions * channels, kMost)),
                             static_cast<Count>(channels), "to_channels_last");
    pass.types = {type, type, type};
    const auto work = work_of(pass);
    return work ? memory_time(gpu, gpu.calibration.memory, pass, *work).body_s : 0.0;
}

} // namespace eyeroof::model
