// Matrix products by cuBLASLt, which is large and therefore opened at run time.
#pragma once

#include "profiles/collect/fault.hpp"
#include "profiles/gpu/kernels.hpp"

#include <cublasLt.h>

#include <memory>
#include <optional>
#include <string>

namespace eyeroof::gpu {

// The functions of cuBLASLt that are used.
#define EYEROOF_CUBLASLT_FUNCTIONS(X)                                                              \
    X(cublasLtCreate)                                                                              \
    X(cublasLtDestroy)                                                                             \
    X(cublasLtMatmul)                                                                              \
    X(cublasLtMatmulDescCreate)                                                                    \
    X(cublasLtMatmulDescDestroy)                                                                   \
    X(cublasLtMatmulDescSetAttribute)                                                              \
    X(cublasLtMatrixLayoutCreate)                                                                  \
    X(cublasLtMatrixLayoutDestroy)                                                                 \
    X(cublasLtMatmulPreferenceCreate)                                                              \
    X(cublasLtMatmulPreferenceDestroy)                                                             \
    X(cublasLtMatmulPreferenceSetAttribute)                                                        \
    X(cublasLtMatmulAlgoGetHeuristic)

class LtLibrary {
  public:
    // From `folder`, else from where it was at build time, else by the loader's search. nullptr,
    // with `why` filled, when it is not there.
    static std::unique_ptr<LtLibrary> open(const std::string& folder, std::string& why);
    LtLibrary(const LtLibrary&) = delete;
    LtLibrary& operator=(const LtLibrary&) = delete;
    ~LtLibrary();

#define EYEROOF_CUBLASLT_MEMBER(name) decltype(&::name) name = nullptr;
    EYEROOF_CUBLASLT_FUNCTIONS(EYEROOF_CUBLASLT_MEMBER)
#undef EYEROOF_CUBLASLT_MEMBER
    cublasLtHandle_t handle = nullptr;

  private:
    LtLibrary() = default;
};

struct LtType {
    const char* precision; // "fp16"
    bool tensor;           // on tensor cores
    Fill fill;
    std::size_t in_bytes, out_bytes;
    cudaDataType_t in, out, scale;
    cublasComputeType_t compute;
    double least_capability; // 8.9 for fp8
};
// fp64, fp32 without and with TF32, fp16, bf16, fp8, int8.
extern const LtType kLtTypes[7];
const LtType& lt_type(const std::string& precision, bool tensor);

// D = A^T B with k as the fast dimension of both: the form that every type has. Memory and
// workspace belong to the caller.
class LtProduct {
  public:
    LtProduct(const LtLibrary& library, const LtType& type, std::int64_t m, std::int64_t n,
              std::int64_t k, std::size_t workspace_bytes);
    LtProduct(const LtProduct&) = delete;
    LtProduct& operator=(const LtProduct&) = delete;
    ~LtProduct();

    bool supported() const { return supported_; }
    // cuBLAS's status; 0 when enqueued.
    int run(const void* a, const void* b, void* d, void* workspace, cudaStream_t stream) const;

  private:
    const LtLibrary& lt_;
    const LtType& type_;
    std::size_t workspace_bytes_;
    cublasLtMatmulDesc_t desc_ = nullptr;
    cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, d_ = nullptr;
    cublasLtMatmulHeuristicResult_t choice_{};
    bool supported_ = false;
};

} // namespace eyeroof::gpu
