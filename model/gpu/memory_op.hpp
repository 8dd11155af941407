// Operators bound by memory on a GPU: element-wise functions, norms, softmax, pooling, embedding.
#pragma once

#include "model/gpu/gpu.hpp"
#include "model/gpu/software.hpp"

#include <optional>

namespace eyeroof::model {

// Clock that a kernel's time beyond its work is given at: LaunchSeconds of `kernel` and `graph`.
inline constexpr double kReferenceHz = 1.5e9;

struct MemoryTime {
    double bytes = 0.0;    // moved, with the passes that the kernel repeats
    double resident = 0.0; // share of them that L2 serves
    double body_s = 0.0;
    double moved_s = 0.0; // parts of body_s
    double sm_s = 0.0;
    bool gather_bound = false;     // SM cycles of the elements take longer than the bytes
    double link_bytes_per_s = 0.0; // of copies over PCIe or between GPUs
};

// Bytes a second, one direction, of the link that a layer copies over (h2d and d2h: PCIe, peer: the
// GPUs' own link, else PCIe); nullopt for layers that copy over none, 0 where the machine has none.
std::optional<double> link_of(const Gpu& gpu, const Layer& layer);

// clang-format off
// body = start + sqrt((once + again)^2 + sm^2) + row_s rows / SMs (row reductions), where
//   once   = bytes (compulsory, and repeated readings) ((1-r)/(share B) + r/(gain L2bw))
//   r      = min(1, resident_l2 L2 / footprint)^sharpness
//   again  = norm_pass input (u/(share B) + (1-u)/(gain L2bw)): a norm reads its rows twice, from L2
//            what is still there:  u = 1/(1 + (norm_cache L2 / flying)^2),
//            flying = rows in flight (a row a CTA of 128 threads, as many as SMs hold); batch norm's
//            statistics need the whole tensor before its second reading, and no cycles beyond it
//            Vectorised norms (NormKernel) take 0.1 cycles an element; those that keep rows in
//            registers, up to 64 KiB, read them once.
//   sm     = cycles elements / (SMs clock), by operator: norms, rotations, gates, functions with an
//            exponential and gathers (max instead of the root) take the same SM cycles an element on
//            A100 and H100, whatever the element's size or the memory's bandwidth
//            A pass between layouts takes 366 SM cycles a tile of 32 positions by 32 channels.
//   B, L2bw: 0.83 of the data sheet's DRAM where it is GDDR or older than Volta's HBM; 0.6 of L2's
//            where it has two partitions. The sum of three tensors is two kernels.
// Softmax of rows over 1024 elements reads them again from DRAM. Source: own; the kernels are
// PyTorch's (one row a CTA in layer norm, index_select's loop over elements); fitted on
// NeuSight@6945927 and vidur@7d47513.
// Copies: 10 us + bytes once over 0.8 of the link (recalled: pinned memory, large copies).
// clang-format on
MemoryTime memory_time(const Gpu& gpu, const MemoryTerms& terms, const Layer& layer,
                       const Work& work, NormKernel norm = NormKernel::usual,
                       Layout layout = Layout::channels_first);

// A library's kernel that turns a tensor of so many positions (images times pixels) from channels
// first to channels last, or back, seconds of its body.
double layout_pass_s(const Gpu& gpu, double positions, double channels, DataType type);

// What a kernel takes beyond its work: filling and draining an empty GPU.
double kernel_start_s(const Gpu& gpu);

// What a library's norms are where its name did not tell: see NormKernel.
NormKernel usual_norm(const Gpu& gpu);

} // namespace eyeroof::model
