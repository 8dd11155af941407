// Any operator of a framework as a layer: what it computes and moves, by its name, dimensions and
// types. GEMMs and convolutions are those of operator_work.hpp; the rest follows the operators'
// signatures in PyTorch, vLLM, FlashAttention and FBGEMM.
#pragma once

#include "profiles/operator_work.hpp"

#include <string>
#include <string_view>

namespace eyeroof::profiles {

// What an operator does not say of itself.
struct OperatorContext {
    std::int64_t ranks = 0; // of collectives; 0: not known, taken as 2
    // Of tensors in lists, whose types are not recorded.
    model::DataType list_type = model::DataType::fp32;
};

// Pointwise operators and their gradients, norms, softmax, reductions, embeddings, gathers,
// attention, optimizers over lists of tensors, collectives, copies; GEMMs and convolutions in both
// directions. nullopt for every other operator, and for dimensions that do not fit together.
// A collective is a copy to another GPU of the bytes that each rank sends in a ring.
std::optional<OperatorLayer> any_layer_of(const Operator& op, const OperatorContext& context = {});

// A bound from traffic alone: each tensor that the operator was called with, once. `approximate`.
// nullopt where no argument is a tensor.
std::optional<OperatorLayer> traffic_of(const Operator& op, const OperatorContext& context = {});

// A GEMM, grouped GEMM or attention whose operator is not known by name, from the first operands
// whose dimensions fit one. `approximate`.
std::optional<OperatorLayer> custom_gemm_of(const Operator& op);
// A GEMM with weights of few bits, packed into larger words: their number of columns stands beside
// them, among the sizes or the scales. `approximate`.
std::optional<OperatorLayer> packed_gemm_of(const Operator& op);
std::optional<OperatorLayer> custom_attention_of(const Operator& op);
// Experts of an operator that is called so, with the weights of all that this device holds and each
// token's choice among its operands. `approximate`.
std::optional<OperatorLayer> custom_experts_of(const Operator& op);

// "record_param_comms", "c10d::allreduce_", "vllm::all_reduce", "ncclDevKernel_AllGather…".
bool is_collective(std::string_view name);

// The element type that a kernel's name says ("c10::BFloat16", "__half", "OpaqueType<2u>").
std::optional<model::DataType> type_in_kernel_name(std::string_view name);

// Has it an argument that is a tensor of at least one element?
bool has_tensors(const Operator& op);

} // namespace eyeroof::profiles
