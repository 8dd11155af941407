// Pointwise operators and at most one reduction as one kernel: what lies between them stays in
// registers.
#pragma once

#include "model/gpu/predict.hpp"

#include <vector>

namespace eyeroof::model {

struct GroupMember {
    Layer layer;
    double outside = 1.0; // share of its bytes that the kernel still moves from and to memory
};

struct KernelGroup {
    std::vector<GroupMember> members;        // in order
    Count read_bytes = 0, written_bytes = 0; // that cross the kernel's border
    Count kernels = 1;                       // that it is launched as; see kernels_of in fusion.hpp
};

// body = start + sqrt(moved^2 + sm^2), with moved the sum of the members' moved times, each by the
// share of bytes that it still moves, and sm the sum of their SM cycles; the start is the longest
// of the members' (memory_op.hpp). Each kernel after the first starts on an empty GPU. Operations
// are the members' sum, bytes those of the group. Errors: those of predict() for a member;
// "not-pointwise" for a member that is not a memory operator.
Result<GpuPrediction> predict_group(const Gpu& gpu, const KernelGroup& group,
                                    const Software& software = {}, Detail detail = Detail::reasons);

} // namespace eyeroof::model
