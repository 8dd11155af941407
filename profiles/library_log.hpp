// The logs that cuBLAS, cuBLASLt and cuDNN write of their own calls: shapes for kernels that no
// range and no framework operator explains. The texts are not documented; what is not understood is
// passed over and counted.
//
//   cuBLASLt  CUBLASLT_LOG_LEVEL=5 CUBLASLT_LOG_FILE=calls.log     one line a call
//   cuBLAS    CUBLAS_LOGINFO_DBG=1 CUBLAS_LOGDEST_DBG=calls.log    a block of lines a call
//   cuDNN     CUDNN_LOGINFO_DBG=1  CUDNN_LOGDEST_DBG=calls.log     a block of lines a call
#pragma once

#include "profiles/byte_source.hpp"
#include "profiles/measurement.hpp"

#include <vector>

namespace eyeroof::profiles {

// In the order of the log. Products are named "cublasLt::gemm", "cublas::gemm" or "cublas::bmm"
// with dimensions [m, k] and [k, n]; convolutions "cudnn::conv2d" or "cudnn::convolution_backward".
// Error "no-calls" when the text holds none that is understood; a warning counts those that are
// not.
Result<std::vector<Operator>> read_library_log(ByteSource& source);

// Gives the calls to the launches that have no operator, in order: products to kernels that are
// products by name, convolutions to convolutions; a kernel that only adds up what a split product
// left belongs to the product before it. Error "runs-differ" where the numbers differ: a shape on
// the wrong kernel is worse than none.
Result<Profile> give_logged_calls(const Profile& profile, const std::vector<Operator>& calls);

// Whether an operator comes from such a log.
bool is_logged(const Operator& op);

} // namespace eyeroof::profiles
