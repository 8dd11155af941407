#include "model/gpu/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::model {

namespace {

// What the group's kernel is called by, and takes the error of: its reduction, else what moves
// most.
const Layer& heaviest(const KernelGroup& group) {
    const Layer* best = &group.members.front().layer;
    double most = -1.0;
    for (const GroupMember& member : group.members) {
        const auto work = work_of(member.layer);
        const bool reduces = std::holds_alternative<RowsShape>(member.layer.shape);
        const double weight =
            (work ? static_cast<double>(work->bytes()) : 0.0) + (reduces ? 1e18 : 0);
        if (weight > most) {
            most = weight;
            best = &member.layer;
        }
    }
    return *best;
}

} // namespace

Result<GpuPrediction> predict_group(const Gpu& gpu, const KernelGroup& group,
                                    const Software& software, Detail detail) {
    KernelChoice whole;
    whole.kernel_class = KernelClass::memory;
    whole.memory.bytes = static_cast<double>(group.read_bytes + group.written_bytes);
    Work work;
    work.tensors = {{"input", 0, group.read_bytes, false},
                    {"output", 0, group.written_bytes, true}};
    double start_s = 0.0;
    double resident_bytes = 0.0;
    for (const GroupMember& member : group.members) {
        const auto own = work_of(member.layer);
        const auto kernel = own ? kernel_of(gpu, member.layer, *own, software)
                                : Result<KernelChoice>(own.diagnostics());
        if (!kernel) {
            return kernel.diagnostics();
        }
        if (kernel->kernel_class != KernelClass::memory) {
            return Result<GpuPrediction>::failure(
                "not-pointwise", fmt::format("{} is not a memory operator", member.layer.name),
                "only pointwise operators and reductions are fused");
        }
        const MemoryTime& m = kernel->memory;
        const double both = member.layer.op == Op::embedding ? std::max(m.moved_s, m.sm_s)
                                                             : std::hypot(m.moved_s, m.sm_s);
        start_s = std::max(start_s, m.body_s - both);
        whole.memory.moved_s += m.moved_s * member.outside;
        whole.memory.sm_s += m.sm_s;
        resident_bytes += m.resident * m.bytes * member.outside;
        work.flops += own->flops;
    }
    whole.memory.resident = std::min(resident_bytes / std::max(whole.memory.bytes, 1.0), 1.0);
    whole.memory.gather_bound = whole.memory.sm_s > whole.memory.moved_s;
    whole.memory.body_s = std::max(start_s, 0.0) +
                          std::hypot(whole.memory.moved_s, whole.memory.sm_s) +
                          static_cast<double>(group.kernels - 1) * kernel_start_s(gpu);
    whole.body_s = whole.memory.body_s;
    const Layer& layer = heaviest(group);
    whole.type = layer.types.input;
    return predict_kernel(gpu, layer, work, whole, software, Timing::kernel, detail);
}

} // namespace eyeroof::model
