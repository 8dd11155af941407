// Two measured runs of the same layers, as files: one with a kernel of no layer, and a faster one.
#pragma once

namespace eyeroof::gui::testing {

inline constexpr const char* kRun = "kernel,layer,time_us,bytes_dram,flops_fp16_tensor\n"
                                    "gemm_a,CONV1,60,40000000,211000000\n"
                                    "gemm_b,CONV2,45,1200000,448000000\n"
                                    "relu,,8,,\n";
inline constexpr const char* kFaster = "kernel,layer,time_us,bytes_dram,flops_fp16_tensor\n"
                                       "gemm_a,CONV1,30,40000000,211000000\n"
                                       "gemm_c,CONV2,50,1200000,448000000\n";

} // namespace eyeroof::gui::testing
