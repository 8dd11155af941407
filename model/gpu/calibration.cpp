#include "model/gpu/calibration.hpp"

#include <algorithm>

namespace eyeroof::model {

namespace {

constexpr std::array<std::string_view, kKernelClasses> kClassNames = {
    "linear", "batched", "tensor_gemm", "conv", "tensor_conv", "memory", "attention", "grouped"};
constexpr std::array<std::string_view, kTimings> kTimingNames = {"eager", "stream", "kernel",
                                                                 "graph"};

using Terms = std::map<std::string, double*>;

void add_matmul(MatmulTerms& m, Terms& terms) {
    terms.insert({{"peak_share", &m.peak_share},
                  {"half_intensity", &m.half_intensity},
                  {"ramp_k", &m.ramp_k},
                  {"ramp_cycles", &m.ramp_cycles},
                  {"ramp_occupancy", &m.ramp_occupancy},
                  {"slice_cost", &m.slice_cost},
                  {"dram_share", &m.dram_share},
                  {"dram_start_s", &m.dram_start_s},
                  {"l2_share", &m.l2_share},
                  {"overlap", &m.overlap},
                  {"split_s", &m.split_s},
                  {"sustained_clock", &m.sustained_clock},
                  {"settle_s", &m.settle_s},
                  {"reuse", &m.reuse},
                  {"tlb_reach_mib", &m.tlb_reach_mib},
                  {"tlb_cost", &m.tlb_cost},
                  {"scattered_dram", &m.scattered_dram},
                  {"resident_l2", &m.resident_l2},
                  {"resident_gain", &m.resident_gain},
                  {"resident_sharpness", &m.resident_sharpness},
                  {"issue_share", &m.issue_share},
                  {"fp8_share", &m.fp8_share},
                  {"int8_share", &m.int8_share},
                  {"int8_s", &m.int8_s},
                  {"quantise_s", &m.quantise_s},
                  {"quantise_pass", &m.quantise_pass},
                  {"cast_cycles", &m.cast_cycles},
                  {"fused_cast_s", &m.fused_cast_s}});
}

void add_conv(ConvTerms& c, Terms& terms) {
    add_matmul(c.matmul, terms);
    terms.insert({{"fwd_cost", &c.fwd_cost},
                  {"bwd_data_cost", &c.bwd_data_cost},
                  {"bwd_weight_cost", &c.bwd_weight_cost},
                  {"stride_waste", &c.stride_waste},
                  {"weight_sums", &c.weight_sums},
                  {"weight_product", &c.weight_product},
                  {"fused_share", &c.fused_share},
                  {"fused_ramp_k", &c.fused_ramp_k},
                  {"fused_tail", &c.fused_tail},
                  {"fused_s", &c.fused_s},
                  {"product_cost", &c.product_cost},
                  {"transform_share", &c.transform_share},
                  {"transform_l2", &c.transform_l2},
                  {"transform_s", &c.transform_s},
                  {"layout_share", &c.layout_share},
                  {"layout_s", &c.layout_s}});
    MiopenTerms& m = c.miopen;
    terms.insert({{"miopen_peak_share", &m.peak_share},
                  {"miopen_half_intensity", &m.half_intensity},
                  {"miopen_ramp_k", &m.ramp_k},
                  {"miopen_ramp_cycles", &m.ramp_cycles},
                  {"miopen_dram_share", &m.dram_share},
                  {"miopen_overlap", &m.overlap},
                  {"miopen_split_s", &m.split_s},
                  {"miopen_whole_waves", &m.whole_waves},
                  {"miopen_data_cost", &m.data_cost},
                  {"miopen_weight_cost", &m.weight_cost},
                  {"miopen_fwd_layout", &m.fwd_layout},
                  {"miopen_data_layout", &m.data_layout},
                  {"miopen_weight_layout", &m.weight_layout},
                  {"miopen_layout_s", &m.layout_s},
                  {"miopen_unaligned_cost", &m.unaligned_cost},
                  {"miopen_winograd_share", &m.winograd_share},
                  {"miopen_winograd_s", &m.winograd_s}});
}

void add_memory(MemoryTerms& m, Terms& terms) {
    terms.insert({{"dram_share", &m.dram_share},
                  {"start_s", &m.start_s},
                  {"resident_l2", &m.resident_l2},
                  {"resident_gain", &m.resident_gain},
                  {"resident_sharpness", &m.resident_sharpness},
                  {"softmax_pass", &m.softmax_pass},
                  {"norm_pass", &m.norm_pass},
                  {"norm_cache", &m.norm_cache},
                  {"norm_cycles", &m.norm_cycles},
                  {"function_cycles", &m.function_cycles},
                  {"gated_cycles", &m.gated_cycles},
                  {"rope_cycles", &m.rope_cycles},
                  {"gather_cycles", &m.gather_cycles},
                  {"row_s", &m.row_s},
                  {"host_s", &m.host_s},
                  {"host_tail_s", &m.host_tail_s},
                  {"host_scalar_s", &m.host_scalar_s},
                  {"host_softmax_s", &m.host_softmax_s},
                  {"host_norm_s", &m.host_norm_s},
                  {"host_overlap", &m.host_overlap}});
}

void add_attention(AttentionTerms& a, Terms& terms) {
    terms.insert({{"mma_share", &a.mma_share},
                  {"score_cycles", &a.score_cycles},
                  {"overlap", &a.overlap},
                  {"cta_cycles", &a.cta_cycles},
                  {"decode_cycles", &a.decode_cycles},
                  {"append_s", &a.append_s},
                  {"apart_share", &a.apart_share},
                  {"dram_share", &a.dram_share},
                  {"resident_l2", &a.resident_l2},
                  {"combine_s", &a.combine_s},
                  {"backward_cost", &a.backward_cost},
                  {"training_cost", &a.training_cost}});
}

void add_grouped(GroupedTerms& g, Terms& terms) {
    terms.insert({{"peak_share", &g.peak_share},
                  {"dram_share", &g.dram_share},
                  {"overlap", &g.overlap},
                  {"uneven", &g.uneven},
                  {"routing_passes", &g.routing_passes},
                  {"routing_s", &g.routing_s},
                  {"expert_s", &g.expert_s},
                  {"resident_l2", &g.resident_l2},
                  {"flashinfer_cost", &g.flashinfer_cost}});
}

// Terms of products that the kernels of a class do not have. Vector lanes: 8-bit operands are no
// kernels of theirs and nothing stays in L2 between calls; tensor cores: no TLB, no rereads, no
// warps that share k; convolutions: the compute term alone, which neither splits k nor waits for
// L2.
constexpr std::array<std::string_view, 7> kBytesOnly = {
    "fp8_share",     "int8_share",  "int8_s",      "quantise_s",
    "quantise_pass", "cast_cycles", "fused_cast_s"};
constexpr std::array<std::string_view, 4> kResidentOnly = {"resident_l2", "resident_gain",
                                                           "resident_sharpness", "dram_start_s"};
constexpr std::array<std::string_view, 5> kLanesOnly = {"reuse", "scattered_dram", "tlb_reach_mib",
                                                        "tlb_cost", "slice_cost"};
constexpr std::array<std::string_view, 3> kPlainOnly = {"l2_share", "overlap", "split_s"};
constexpr std::array<std::string_view, 4> kBatchedNever = {"scattered_dram", "tlb_reach_mib",
                                                           "slice_cost", "split_s"};
constexpr std::array<std::string_view, 5> kCastsOnly = {"int8_s", "quantise_s", "quantise_pass",
                                                        "cast_cycles", "fused_cast_s"};
constexpr std::array<std::string_view, 2> kLayouts = {"layout_share", "layout_s"};
constexpr std::array<std::string_view, 12> kWinograd = {
    "fused_share",           "fused_ramp_k",     "fused_tail",   "fused_s",        "product_cost",
    "transform_s",           "transform_share",  "transform_l2", "weight_product", "weight_sums",
    "miopen_winograd_share", "miopen_winograd_s"};

template <std::size_t N> void without(const std::array<std::string_view, N>& names, Terms& terms) {
    for (const std::string_view name : names) {
        terms.erase(std::string(name));
    }
}

void without_unused(KernelClass c, Terms& terms) {
    const bool tensor = c == KernelClass::tensor_gemm || c == KernelClass::tensor_conv;
    const bool conv = c == KernelClass::conv || c == KernelClass::tensor_conv;
    if (tensor) {
        without(kLanesOnly, terms);
        terms.erase("issue_share");
    } else {
        without(kBytesOnly, terms);
        without(kResidentOnly, terms);
    }
    if (c == KernelClass::batched) {
        without(kBatchedNever, terms);
    }
    if (conv) {
        without(kResidentOnly, terms);
        without(kLanesOnly, terms);
        without(kPlainOnly, terms);
        without(kCastsOnly, terms);
    }
    if (c == KernelClass::conv) {
        without(kLayouts, terms);
    } else if (c == KernelClass::tensor_conv) {
        without(kWinograd, terms);
    }
}

} // namespace

namespace {

struct NamedBound {
    std::string_view name;
    TermBound bound;
};

constexpr const char* kShare = "a share of what the hardware offers";
constexpr double kOfSheet = 0.2; // see TermBound::spread
constexpr const char* kCycles =
    "SM cycles an element: between a vectorised load and a slow function";

// clang-format off
constexpr std::array kBounds = {
    NamedBound{"peak_share",         {0.5, 1.0, kShare, kOfSheet}},
    NamedBound{"half_intensity",     {0.1, 40.0, "half of the rate at a tile of 80 x 80 at most"}},
    NamedBound{"ramp_k",             {1.0, 256.0, "steps of k: at most a long pipeline"}},
    NamedBound{"ramp_cycles",        {50.0, 5000.0, "a few latencies of DRAM (400 to 900 cycles)"}},
    NamedBound{"ramp_occupancy",     {0.005, 1.0, "a share of an SM's registers"}},
    NamedBound{"slice_cost",         {0.005, 0.5, "a sum over a few warps beside the product"}},
    NamedBound{"dram_share",         {0.5, 1.0, kShare, kOfSheet}},
    NamedBound{"dram_start_s",       {1e-7, 5e-6, "a few latencies of DRAM"}},
    NamedBound{"l2_share",           {0.5, 1.55, "of 0.55 or 0.65 of the port: at most the port"}},
    NamedBound{"overlap",            {1.0, 8.0, "1: one after the other; 8: the longest alone"}},
    NamedBound{"split_s",            {5e-7, 5e-5, "one more kernel"}},
    NamedBound{"sustained_clock",    {0.2, 1.0, kShare, kOfSheet}},
    NamedBound{"settle_s",           {1e-5, 1e-1, "a power limiter acts within 10 us to 0.1 s"}},
    NamedBound{"reuse",              {0.1, 10.0, "sets of the operands that L2 must keep"}},
    NamedBound{"scattered_dram",     {0.1, 1.0, kShare}},
    NamedBound{"tlb_reach_mib",      {2.0, 4096.0, "one page to all of a TLB's levels"}},
    NamedBound{"tlb_cost",           {0.1, 20.0, "a walk over a load from L2"}},
    NamedBound{"resident_l2",        {0.1, 1.0, kShare}},
    NamedBound{"resident_gain",      {0.1, 1.0, kShare}},
    NamedBound{"resident_sharpness", {1.0, 16.0, "smooth to sudden"}},
    NamedBound{"issue_share",        {0.5, 1.0, kShare}},
    NamedBound{"fp8_share",          {0.3, 1.3, "8-bit against 16-bit rates, power included"}},
    NamedBound{"int8_share",         {0.3, 1.5, "8-bit against 16-bit rates, power included"}},
    NamedBound{"int8_s",             {1e-7, 2e-5, "up to two more kernels"}},
    NamedBound{"quantise_s",         {5e-7, 2e-5, "one to three more kernels"}},
    NamedBound{"quantise_pass",      {0.3, 3.0, "passes over the input: L2 serves a part"}},
    NamedBound{"cast_cycles",        {0.1, 8.0, "SM cycles an element: two slow passes"}},
    NamedBound{"fused_cast_s",       {1e-7, 1e-5, "a quick kernel, or a part of the one before"}},
    NamedBound{"mma_share",          {0.2, 1.0, kShare}},
    NamedBound{"score_cycles",       {0.03, 1.0, "of an SM, a score: exp at 16 a cycle, and beside it"}},
    NamedBound{"cta_cycles",         {100.0, 20000.0, "loads before a CTA's first tile, its store"}},
    NamedBound{"decode_cycles",      {100.0, 20000.0, "loads before a CTA's first tile, its store"}},
    NamedBound{"append_s",           {1e-7, 2e-5, "one more kernel"}},
    NamedBound{"apart_share",        {0.5, 1.0, "against kernels that pack heads"}},
    NamedBound{"combine_s",          {1e-7, 2e-5, "one more kernel"}},
    NamedBound{"backward_cost",      {0.5, 4.0, "against the forward's tile"}},
    NamedBound{"training_cost",      {0.3, 2.0, "against the tile of a serving framework"}},
    NamedBound{"flashinfer_cost",    {1.0, 6.0, "against other libraries' products"}},
    NamedBound{"uneven",             {1.0, 3.0, "the busiest SM's load against the mean"}},
    NamedBound{"routing_passes",     {1.0, 20.0, "over the routed tokens"}},
    NamedBound{"routing_s",          {1e-6, 2e-4, "kernels that sort tokens"}},
    NamedBound{"expert_s",           {1e-9, 1e-5, "an expert that has tokens"}},
    NamedBound{"fwd_cost",           {0.4, 2.5, "against a plain product"}},
    NamedBound{"bwd_data_cost",      {0.4, 2.5, "against a plain product"}},
    NamedBound{"bwd_weight_cost",    {0.4, 2.5, "against a plain product"}},
    NamedBound{"stride_waste",       {0.01, 1.0, "1: every phase does the work of all"}},
    NamedBound{"weight_sums",        {0.25, 8.0, "fp32 sums a weight"}},
    NamedBound{"weight_product",     {0.3, 3.0, "against the other directions"}},
    NamedBound{"fused_share",        {0.3, 1.0, kShare}},
    NamedBound{"fused_ramp_k",       {1.0, 128.0, "input channels"}},
    NamedBound{"fused_tail",         {0.05, 1.0, "1: half of an idle SM's time"}},
    NamedBound{"fused_s",            {5e-7, 5e-5, "one more kernel"}},
    NamedBound{"product_cost",       {0.4, 2.5, "against a plain product"}},
    NamedBound{"transform_share",    {0.3, 1.0, kShare}},
    NamedBound{"transform_l2",       {0.2, 1.0, "L2 is no slower than DRAM"}},
    NamedBound{"transform_s",        {2e-6, 2e-4, "three more kernels"}},
    NamedBound{"layout_share",       {0.02, 1.0, "of two passes over all tensors"}},
    NamedBound{"layout_s",           {5e-7, 5e-5, "one more kernel"}},
    NamedBound{"miopen_peak_share",  {0.3, 1.0, kShare}},
    NamedBound{"miopen_half_intensity", {0.1, 90.0, "half of the rate at the largest tile at most"}},
    NamedBound{"miopen_ramp_k",      {1.0, 256.0, "steps of k: at most a long pipeline"}},
    NamedBound{"miopen_ramp_cycles", {50.0, 5000.0, "a few latencies of DRAM"}},
    NamedBound{"miopen_dram_share",  {0.25, 1.0, kShare}},
    NamedBound{"miopen_overlap",     {1.0, 12.0, "1: one after the other; 12: the longest alone"}},
    NamedBound{"miopen_split_s",     {5e-7, 5e-5, "one more kernel"}},
    NamedBound{"miopen_whole_waves", {0.05, 1.0, "1: whole waves"}},
    NamedBound{"miopen_data_cost",   {0.4, 2.5, "against a forward product"}},
    NamedBound{"miopen_weight_cost", {0.4, 2.5, "against a forward product"}},
    NamedBound{"miopen_fwd_layout",  {0.01, 2.0, "of two passes over all tensors"}},
    NamedBound{"miopen_data_layout", {0.01, 2.0, "of two passes over all tensors"}},
    NamedBound{"miopen_weight_layout", {0.01, 2.0, "of two passes over all tensors"}},
    NamedBound{"miopen_layout_s",    {1e-7, 5e-5, "two more kernels"}},
    NamedBound{"miopen_unaligned_cost", {0.01, 3.0, "against 16 bytes a load: one element at least"}},
    NamedBound{"miopen_winograd_share", {0.05, 1.0, kShare}},
    NamedBound{"miopen_winograd_s",  {5e-7, 5e-5, "one more kernel"}},
    NamedBound{"start_s",            {1e-9, 5e-6, "less than a launch"}},
    NamedBound{"softmax_pass",       {0.01, 2.0, "two more readings"}},
    NamedBound{"norm_pass",          {0.01, 1.0, "one more reading"}},
    NamedBound{"norm_cache",         {0.05, 1.0, kShare}},
    NamedBound{"norm_cycles",        {0.05, 4.0, kCycles}},
    NamedBound{"function_cycles",    {0.05, 4.0, kCycles}},
    NamedBound{"gated_cycles",       {0.05, 4.0, kCycles}},
    NamedBound{"rope_cycles",        {0.05, 4.0, kCycles}},
    NamedBound{"gather_cycles",      {0.05, 4.0, kCycles}},
    NamedBound{"row_s",              {1e-10, 1e-6, "of an SM, a reduction over a row"}},
    NamedBound{"host_s",             {1e-6, 1e-4, "a framework's call"}},
    NamedBound{"host_tail_s",        {1e-6, 1e-4, "a framework's call"}},
    NamedBound{"host_scalar_s",      {1e-7, 5e-5, "a part of a framework's call"}},
    NamedBound{"host_softmax_s",     {1e-7, 5e-5, "a part of a framework's call"}},
    NamedBound{"host_norm_s",        {1e-7, 1e-4, "a part of a framework's call"}},
    NamedBound{"launch_eager",       {5e-6, 2.5e-4, "a framework's call"}},
    NamedBound{"launch_stream",      {1e-6, 2e-5, "a launch, or two"}},
    NamedBound{"launch_kernel",      {5e-7, 1e-5, "filling and draining an empty GPU"}},
    NamedBound{"launch_graph",       {5e-7, 1e-5, "filling and draining an empty GPU"}},
    NamedBound{"host_overlap",       {1.0, 8.0, "1: one after the other; 8: the longest alone"}},
};
// clang-format on

} // namespace

TermBound term_bound(std::string_view name) {
    const auto found = std::find_if(kBounds.begin(), kBounds.end(),
                                    [&](const NamedBound& b) { return b.name == name; });
    return found == kBounds.end() ? TermBound{} : found->bound;
}

bool within(const TermBound& bound, double value) {
    constexpr double kRounding = 1e-5; // files carry six digits
    return value == 0.0 ||
           (value >= bound.low * (1.0 - kRounding) && value <= bound.high * (1.0 + kRounding));
}

std::string_view kernel_class_name(KernelClass kernel_class) {
    return kClassNames[static_cast<std::size_t>(kernel_class)];
}

std::string_view timing_name(Timing timing) {
    return kTimingNames[static_cast<std::size_t>(timing)];
}

std::optional<Timing> timing_from_name(std::string_view name) {
    const auto found =
        std::find(kTimingNames.begin(), kTimingNames.end(), name == "none" ? "kernel" : name);
    return found == kTimingNames.end()
               ? std::nullopt
               : std::optional(static_cast<Timing>(found - kTimingNames.begin()));
}

namespace {

Terms every_term(GpuCalibration& calibration, KernelClass c) {
    Terms terms;
    switch (c) {
    case KernelClass::linear:
        add_matmul(calibration.linear, terms);
        break;
    case KernelClass::batched:
        add_matmul(calibration.batched, terms);
        break;
    case KernelClass::tensor_gemm:
        add_matmul(calibration.tensor_gemm, terms);
        break;
    case KernelClass::conv:
        add_conv(calibration.conv, terms);
        break;
    case KernelClass::tensor_conv:
        add_conv(calibration.tensor_conv, terms);
        break;
    case KernelClass::memory:
        add_memory(calibration.memory, terms);
        break;
    case KernelClass::attention:
        add_attention(calibration.attention, terms);
        break;
    case KernelClass::grouped:
        add_grouped(calibration.grouped, terms);
        break;
    }
    return terms;
}

bool is_of_products(KernelClass c) {
    return c < KernelClass::memory;
}

} // namespace

std::map<std::string, double*> calibration_terms(GpuCalibration& calibration, KernelClass c) {
    Terms terms = every_term(calibration, c);
    if (is_of_products(c)) {
        without_unused(c, terms);
    }
    return terms;
}

std::vector<std::string> unused_terms(KernelClass c) {
    GpuCalibration calibration;
    const Terms used = calibration_terms(calibration, c);
    std::vector<std::string> unused;
    for (const auto& [name, value] : every_term(calibration, c)) {
        if (used.find(name) == used.end()) {
            unused.push_back(name);
        }
    }
    return unused;
}

} // namespace eyeroof::model
