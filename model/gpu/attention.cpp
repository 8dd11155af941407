#include "model/gpu/attention.hpp"

#include "model/gpu/matmul.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::model {

namespace {

constexpr double kFewQueries = 16.0;      // rows of a tile's instruction: fewer are packed by head
constexpr double kMostQueries = 128.0;    // of a tile
constexpr double kKeyStep = 32.0;         // keys that the last tile is rounded up to
constexpr double kGradientProducts = 2.5; // against the forward's
constexpr double kWideHead = 128.0;       // elements above which a tile holds half the keys
constexpr double kMemoryJoin = 1.0; // what moves is hardly hidden; prompts write the cache too
constexpr double kMostSplits = 1e6;
// Heads that share keys, as TensorRT-LLM's kernels for one new token pack them on tensor cores;
// with more of them every head has CTAs of its own that multiply on vector lanes. Their share of
// the fp32 peak: 0.10 on H100 and 0.11 on GB200 in the longest rows of 48 to 128 heads to a key
// (aiconfigurator@095f58a51), where the packed kernel would take a twentieth of the time.
constexpr double kMostPackedHeads = 32.0;
constexpr double kLanesShare = 0.1;

double joined(double a, double b, double power) {
    const double most = std::max(a, b);
    return most > 0.0
               ? most * std::pow(std::pow(a / most, power) + std::pow(b / most, power), 1.0 / power)
               : 0.0;
}

struct Tiling {
    double tm = 128.0, tn = 128.0;
    double ctas = 1.0;      // all
    double key_tiles = 1.0; // of a CTA, mean
    double longest = 1.0;   // of the longest CTA
    double splits = 1.0;
    bool lanes = false; // a head's query alone, on vector lanes
};

// Key tiles of all blocks of queries: those on the diagonal are half wasted, and wholly in a prompt
// of one block, where queries of several heads lie under one another.
double seen_tiles(const AttentionShape& s, const Tiling& t, double blocks, double heads) {
    const double all = blocks * std::ceil(static_cast<double>(seen_keys(s)) / t.tn);
    if (!s.causal && s.window <= 0) {
        return all;
    }
    const double pairs = static_cast<double>(seen_pairs(s)) * static_cast<double>(s.groups) / heads;
    const double diagonal = static_cast<double>(s.m) < kMostQueries
                                ? blocks
                                : 0.5 * blocks * (t.tm / t.tn + (s.window > 0 ? 1.0 : 0.0));
    return std::min(all, pairs / (t.tm * t.tn) + diagonal);
}

// Queries fill tiles of their own; few of them share tiles with those of heads that see the same
// keys.
Tiling prompt_tiling(const AttentionShape& s, double tn, bool packed) {
    Tiling t;
    t.tn = tn;
    const bool shared = packed && static_cast<double>(s.m) < kMostQueries;
    const auto heads = static_cast<double>(shared ? s.key_heads() : s.groups);
    const double rows = static_cast<double>(s.m) * static_cast<double>(s.groups) / heads;
    t.tm = rows > kMostQueries / 2.0 ? kMostQueries : kMostQueries / 2.0;
    const double blocks = std::ceil(rows / t.tm);
    t.ctas = static_cast<double>(s.batch) * heads * blocks;
    t.key_tiles = std::max(1.0, seen_tiles(s, t, blocks, heads) / blocks);
    const double all = std::ceil(static_cast<double>(seen_keys(s)) / tn);
    const double of_window =
        s.window > 0 ? std::ceil((static_cast<double>(s.window) + t.tm) / tn) : all;
    t.longest = std::max(t.key_tiles, std::min(all, of_window));
    return t;
}

// One or a few new tokens: queries of heads that share keys are the rows of a tile.
Tiling generation_tiling(const AttentionShape& s, double tn, int sms, double most, bool lanes) {
    Tiling t;
    t.tn = tn;
    t.lanes = lanes;
    const auto heads = static_cast<double>(lanes ? s.groups : s.key_heads());
    const double rows = static_cast<double>(s.m) * static_cast<double>(s.groups) / heads;
    t.tm = lanes ? rows : std::ceil(rows / kFewQueries) * kFewQueries;
    const double blocks = static_cast<double>(s.batch) * heads;
    const double all = std::ceil(static_cast<double>(seen_keys(s)) / tn);
    t.splits = std::clamp(std::floor(2.0 * sms / blocks), 1.0, std::min(all, most));
    t.key_tiles = t.longest = std::ceil(all / t.splits);
    t.ctas = blocks * std::ceil(all / t.key_tiles);
    return t;
}

// Cycles until the last CTA is done: full SMs share the tiles; the last wave is as long as a CTA.
double compute_cycles(const Gpu& gpu, const Tiling& t, double start_cycles, double tile_cycles) {
    const double own = start_cycles + t.key_tiles * tile_cycles;
    const double shared = t.ctas / gpu.sms * own;
    const double longest = start_cycles + t.longest * tile_cycles;
    const bool uneven = t.longest > t.key_tiles; // the longest start first and fill the gaps
    const double waves = t.ctas / gpu.sms;
    const double tail = uneven ? 0.0 : 0.5 * (std::ceil(waves) - waves) * own;
    return std::max(shared + tail, longest);
}

// The type that products are computed in. Kernels before Hopper's (FlashAttention-3) read fp8 and
// multiply in 16 bits; L40S's rows, the only ones of such a GPU, take twice as long as fp8's peak.
DataType product_type(const Gpu& gpu, DataType type) {
    const bool native = gpu.arch == GpuArch::hopper || gpu.arch == GpuArch::blackwell;
    const bool cast = is_narrow_float(type) && !native;
    return cast && gpu.rate(DataType::fp16).pipe == Pipe::tensor ? DataType::fp16 : type;
}

// SM cycles of a tile's two products, at the rate of its pipe.
double product_cycles(const Gpu& gpu, DataType type, const AttentionTerms& terms, const Tiling& t,
                      double head) {
    const double per_sm = 2.0 * macs_per_cycle(gpu, t.lanes ? DataType::fp32 : type) / gpu.sms;
    return 4.0 * t.tm * t.tn * head / ((t.lanes ? kLanesShare : terms.mma_share) * per_sm);
}

// `rate` of the tiles: see apart_share.
FusedTime tiled_time(const Gpu& gpu, DataType stored, const AttentionTerms& terms,
                     const Layer& layer, const Work& work, const Tiling& t, double rate,
                     bool training) {
    const DataType type = product_type(gpu, stored);
    const auto& s = std::get<AttentionShape>(layer.shape);
    const double head = 0.5 * static_cast<double>(s.k + s.value_size()); // of both products
    const bool forward = layer.direction == Direction::fwd;
    const double times = forward ? 1.0 : kGradientProducts * terms.backward_cost;
    const double products = times * product_cycles(gpu, type, terms, t, head);
    const double scores = (forward ? 1.0 : 2.0) * terms.score_cycles * t.tm * t.tn;
    // No kernel multiplies faster than the pipe.
    const double tile = std::max(joined(products, scores, terms.overlap) / rate *
                                     (training ? terms.training_cost : 1.0),
                                 products * terms.mma_share);
    const bool cached = reads_cache(layer);
    const double start = cached ? terms.decode_cycles : terms.cta_cycles * t.tm / kMostQueries;

    FusedTime f;
    f.tile_m = static_cast<int>(t.tm);
    f.tile_n = static_cast<int>(t.tn);
    f.splits = static_cast<int>(t.splits);
    f.ctas = t.ctas;
    const double bytes = static_cast<double>(work.bytes());
    f.resident = kept_share(bytes, terms.resident_l2 * gpu.l2_bytes);
    f.dram_s = bytes * ((1.0 - f.resident) / (terms.dram_share * gpu.dram_bytes_per_s) +
                        f.resident / std::max(l2_bandwidth(gpu), gpu.dram_bytes_per_s));
    f.compute_s = compute_cycles(gpu, t, start, tile) / pipe_clock_hz(gpu, type);
    f.clock_share =
        clock_share(gpu.calibration.tensor_gemm, joined(f.compute_s, f.dram_s, kMemoryJoin));
    f.compute_s /= f.clock_share;
    f.loss = start > t.key_tiles * tile ? "CTA start and tail"
             : scores > products        ? "softmax exponentials"
                                        : "operand loads";
    const bool appends = forward && !training && (cached || s.causal);
    f.other_s = (t.splits > 1.0 ? terms.combine_s : 0.0) + (appends ? terms.append_s : 0.0);
    f.body_s = joined(f.compute_s, f.dram_s, kMemoryJoin) + f.other_s;
    return f;
}

// What a kernel walks: 8-bit gradients of cuDNN pass over all tiles under the diagonal, whatever
// the window (NVIDIA/cudnn-frontend@3929da2: 32,768 tokens with a window of 128 take 14 times as
// long in fp8 as in bf16).
AttentionShape walked(const AttentionShape& s, const Layer& layer, DataType type) {
    AttentionShape all = s;
    const bool skips = layer.direction == Direction::fwd || !is_narrow_float(type);
    all.window = skips ? s.window : 0;
    return all;
}

// A generation's kernels pack up to 32 heads in every library: apart tells only at which rate.
FusedTime packed_or_apart(const Gpu& gpu, DataType type, const AttentionTerms& terms,
                          const Layer& layer, const Work& work, bool packed, bool training) {
    const auto& s = std::get<AttentionShape>(layer.shape);
    const double heads = static_cast<double>(s.groups) / static_cast<double>(s.key_heads());
    // Kernels of latent attention pack all heads.
    const bool lanes = !packed && !training && heads > kMostPackedHeads && s.value_size() == s.k;
    const double rate = packed || training || lanes ? 1.0 : terms.apart_share;
    const double keys = std::ceil(static_cast<double>(seen_keys(s)) / kKeyStep) * kKeyStep;
    const double tn = std::min(static_cast<double>(s.k) > kWideHead ? 64.0 : 128.0, keys);
    if (!reads_cache(layer)) {
        return tiled_time(gpu, type, terms, layer, work,
                          prompt_tiling(walked(s, layer, type), tn, packed), rate, training);
    }
    const auto of_splits = [&](double most) {
        return tiled_time(gpu, type, terms, layer, work,
                          generation_tiling(s, tn, gpu.sms, most, lanes), rate, false);
    };
    const FusedTime split = of_splits(kMostSplits);
    const FusedTime whole = of_splits(1.0);
    return split.body_s < whole.body_s ? split : whole;
}

} // namespace

bool reads_cache(const Layer& layer) {
    const auto* s = std::get_if<AttentionShape>(&layer.shape);
    return s != nullptr && layer.direction == Direction::fwd &&
           static_cast<double>(s->m) < kFewQueries && s->n > s->m;
}

FusedTime attention_time(const Gpu& gpu, DataType type, const AttentionTerms& terms,
                         const Layer& layer, const Work& work, HeadPacking heads,
                         AttentionKernel kernel) {
    const bool training = kernel == AttentionKernel::training || layer.direction != Direction::fwd;
    return packed_or_apart(gpu, type, terms, layer, work, heads != HeadPacking::apart, training);
}

} // namespace eyeroof::model
