#include "profiles/gpu/lt_product.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace eyeroof::gpu {

namespace {

template <class Function> bool find(void* library, const char* name, Function& function) {
    void* symbol = dlsym(library, name);
    function = reinterpret_cast<Function>(symbol); // NOLINT: what dlsym is for
    return symbol != nullptr;
}

} // namespace

const LtType kLtTypes[7] = {
    {"fp64", true, Fill::fp64, 8, 8, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, 8.0},
    {"fp32", false, Fill::fp32, 4, 4, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F,
     CUBLAS_COMPUTE_32F_PEDANTIC, 0.0},
    {"tf32", true, Fill::fp32, 4, 4, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F,
     CUBLAS_COMPUTE_32F_FAST_TF32, 8.0},
    {"fp16", true, Fill::fp16, 2, 2, CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 7.0},
    {"bf16", true, Fill::bf16, 2, 2, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, 8.0},
    {"fp8", true, Fill::fp8_e4m3, 1, 2, CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F,
     8.9},
    {"int8", true, Fill::int8, 1, 4, CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I, 7.2},
};

const LtType& lt_type(const std::string& precision, bool tensor) {
    const auto fits = [&](const LtType& type) {
        return precision == type.precision && type.tensor == tensor;
    };
    return *std::find_if(std::begin(kLtTypes), std::end(kLtTypes), fits);
}

std::unique_ptr<LtLibrary> LtLibrary::open(const std::string& folder, std::string& why) {
    const std::string soname = "libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR);
    std::vector<std::string> places;
    if (!folder.empty()) {
        places.push_back(folder + "/" + soname);
    } else {
        places.push_back(std::string(EYEROOF_CUDA_LIBRARY_DIR) + "/" + soname);
        places.push_back(soname);
    }
    void* opened = nullptr;
    for (const std::string& place : places) {
        opened = opened != nullptr ? opened : dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    }
    if (opened == nullptr) {
        why = soname + " cannot be opened";
        return nullptr;
    }
    std::unique_ptr<LtLibrary> lt(new LtLibrary);
    bool complete = true;
#define EYEROOF_CUBLASLT_FIND(name) complete = find(opened, #name, lt->name) && complete;
    EYEROOF_CUBLASLT_FUNCTIONS(EYEROOF_CUBLASLT_FIND)
#undef EYEROOF_CUBLASLT_FIND
    if (!complete) {
        why = soname + " lacks functions that are needed";
        return nullptr;
    }
    if (const auto status = lt->cublasLtCreate(&lt->handle); status != CUBLAS_STATUS_SUCCESS) {
        why = "cublasLtCreate failed, status " + std::to_string(static_cast<int>(status));
        lt->handle = nullptr;
        return nullptr;
    }
    return lt;
}

LtLibrary::~LtLibrary() {
    if (handle != nullptr) {
        cublasLtDestroy(handle);
    }
}

LtProduct::LtProduct(const LtLibrary& library, const LtType& type, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::size_t workspace_bytes)
    : lt_(library), type_(type), workspace_bytes_(workspace_bytes) {
    const auto ok = [](cublasStatus_t status) { return status == CUBLAS_STATUS_SUCCESS; };
    const cublasOperation_t transposed = CUBLAS_OP_T;
    const auto rows = static_cast<std::uint64_t>(m);
    const auto columns = static_cast<std::uint64_t>(n);
    const auto depth = static_cast<std::uint64_t>(k);
    cublasLtMatmulPreference_t preference = nullptr;
    int found = 0;
    supported_ = ok(lt_.cublasLtMatmulDescCreate(&desc_, type.compute, type.scale)) &&
                 ok(lt_.cublasLtMatmulDescSetAttribute(desc_, CUBLASLT_MATMUL_DESC_TRANSA,
                                                       &transposed, sizeof(transposed))) &&
                 ok(lt_.cublasLtMatrixLayoutCreate(&a_, type.in, depth, rows, k)) &&
                 ok(lt_.cublasLtMatrixLayoutCreate(&b_, type.in, depth, columns, k)) &&
                 ok(lt_.cublasLtMatrixLayoutCreate(&d_, type.out, rows, columns, m)) &&
                 ok(lt_.cublasLtMatmulPreferenceCreate(&preference)) &&
                 ok(lt_.cublasLtMatmulPreferenceSetAttribute(
                     preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes_,
                     sizeof(workspace_bytes_))) &&
                 ok(lt_.cublasLtMatmulAlgoGetHeuristic(lt_.handle, desc_, a_, b_, d_, d_,
                                                       preference, 1, &choice_, &found)) &&
                 found > 0 && ok(choice_.state);
    if (preference != nullptr) {
        lt_.cublasLtMatmulPreferenceDestroy(preference);
    }
}

LtProduct::~LtProduct() {
    for (cublasLtMatrixLayout_t layout : {a_, b_, d_}) {
        if (layout != nullptr) {
            lt_.cublasLtMatrixLayoutDestroy(layout);
        }
    }
    if (desc_ != nullptr) {
        lt_.cublasLtMatmulDescDestroy(desc_);
    }
}

int LtProduct::run(const void* a, const void* b, void* d, void* workspace,
                   cudaStream_t stream) const {
    const double one64 = 1.0;
    const double zero64 = 0.0;
    const float one32 = 1.0F;
    const float zero32 = 0.0F;
    const std::int32_t one_int = 1;
    const std::int32_t zero_int = 0;
    const bool wide = type_.scale == CUDA_R_64F;
    const bool whole = type_.scale == CUDA_R_32I;
    const void* alpha = wide    ? static_cast<const void*>(&one64)
                        : whole ? static_cast<const void*>(&one_int)
                                : static_cast<const void*>(&one32);
    const void* beta = wide    ? static_cast<const void*>(&zero64)
                       : whole ? static_cast<const void*>(&zero_int)
                               : static_cast<const void*>(&zero32);
    return static_cast<int>(lt_.cublasLtMatmul(lt_.handle, desc_, alpha, a, a_, b, b_, beta, d, d_,
                                               d, d_, &choice_.algo, workspace, workspace_bytes_,
                                               stream));
}

} // namespace eyeroof::gpu
