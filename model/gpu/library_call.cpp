#include "model/gpu/library_call.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>

namespace eyeroof::model {

namespace {

constexpr std::array<std::string_view, kCallSizes> kSizeNames = {
    "b",        "m",        "n",       "k",       "batch",  "q_len",   "kv_len", "heads",
    "kv_heads", "head_dim", "window",  "causal",  "tokens", "hidden",  "inter",  "topk",
    "experts",  "tp",       "ep",      "k_heads", "k_dim",  "v_heads", "v_dim",  "state",
    "rows",     "cols",     "streams", "sites",   "gpus",   "nodes"};

constexpr double kStartUnit = 1e-6;    // of a start
constexpr double kPortBytes = 64.0;    // bytes a cycle of an SM's port to L2
constexpr double kPortsTogether = .55; // of it that many SMs reach together
constexpr double kExpsACycle = 16.0;   // exponentials a cycle and SM

// Rates of a machine at its data sheet.
struct SheetRates {
    const Gpu* gpu;
    double sms, clock, dram, l2, l2_dram;

    explicit SheetRates(const Gpu& g)
        : gpu(&g), sms(g.sms), clock(g.tensor_hz > 0.0 ? g.tensor_hz : g.boost_hz),
          dram(g.dram_bytes_per_s), l2(g.l2_bytes),
          l2_dram(sms * kPortBytes * clock * kPortsTogether) {}

    // A type without units of its own is computed in the next wider one.
    double rate(DataType type) const {
        for (const DataType t : {type, DataType::fp8, DataType::bf16, DataType::fp16}) {
            if (gpu->rate(t).flops_per_s > 0.0) {
                return gpu->rate(t).flops_per_s;
            }
        }
        return gpu->rate(DataType::fp32).flops_per_s;
    }
};

struct WordType {
    std::string_view word;
    DataType arithmetic;
    double weight_bytes, input_bytes; // of an element, scales included
};
// Blocks of 16 elements have a scale of 8 bits, of 32 elements half of that.
constexpr WordType kWordTypes[] = {
    {"bf16", DataType::bf16, 2.0, 2.0},        {"fp16", DataType::fp16, 2.0, 2.0},
    {"fp8_block", DataType::fp8, 1.0, 1.0},    {"fp8", DataType::fp8, 1.0, 1.0},
    {"mxfp8", DataType::mxfp8, 1.03, 1.03},    {"nvfp4", DataType::nvfp4, .5625, .5625},
    {"mxfp4", DataType::mxfp4, .53, .53},      {"int8_w8a8", DataType::int8, 1.0, 1.0},
    {"int8", DataType::int8, 1.0, 1.0},        {"int8_wo", DataType::bf16, 1.0, 2.0},
    {"int4_wo", DataType::bf16, .53, 2.0},     {"int4", DataType::bf16, .53, 2.0},
    {"w4a16_mxfp4", DataType::bf16, .53, 2.0}, {"w4a8_mxfp4_mxfp8", DataType::fp8, .53, 1.0},
    {"w4afp8", DataType::fp8, .53, 1.0}};

WordType of_word(std::string_view word) {
    for (const WordType& t : kWordTypes) {
        if (t.word == word) {
            return t;
        }
    }
    return kWordTypes[0];
}

// The i-th of "a/b/c"; the last where there are fewer.
std::string_view word_of(std::string_view text, int i) {
    for (; i > 0; --i) {
        const auto slash = text.find('/');
        if (slash == std::string_view::npos) {
            return text;
        }
        text.remove_prefix(slash + 1);
    }
    return text.substr(0, text.find('/'));
}

double at_least_one(double value) {
    return std::max(value, 1.0);
}

// Share of bytes that stay in `room` between calls.
double kept_between(double bytes, double room) {
    const double full = bytes / at_least_one(room);
    return 1.0 / (1.0 + full * full * full);
}

// Queries x keys of one head of one sequence: the newest q of kv tokens, each of which sees those
// before it, at most `window`.
double seen_pairs(double q, double kv, double window) {
    const double past = kv - q;
    const double few = std::clamp(window - past, 0.0, q);
    return few * past + few * (few + 1.0) / 2.0 + (q - few) * window;
}

struct CallTile {
    double m, n;
};

double tile_efficiency(const CallTile& t) {
    constexpr double kHalf = 6.0; // intensity at half of the rate
    const double intensity = t.m * t.n / (t.m + t.n);
    return intensity / (intensity + kHalf);
}

// ------------------------------------------------------------------ products

double tiled_product_s(const SheetRates& s, double rate, double b, double m, double n, double k) {
    constexpr CallTile kCallTiles[] = {{256, 256}, {256, 128}, {128, 256}, {128, 128}, {256, 64},
                                       {64, 256},  {128, 64},  {64, 128},  {64, 64},   {64, 32},
                                       {32, 64},   {16, 64},   {16, 128},  {32, 128},  {128, 32}};
    constexpr double kStep = 64.0, kStepCycles = 40.0, kStartCycles = 1000.0, kSplitS = 2e-6;
    double best = std::numeric_limits<double>::infinity();
    for (const CallTile& t : kCallTiles) {
        const double per_k = 2.0 * t.m * t.n / (rate / s.sms) / tile_efficiency(t);
        const double ctas = b * std::ceil(m / t.m) * std::ceil(n / t.n);
        for (const double split : {1.0, 2.0, 4.0, 8.0}) {
            const double steps = std::ceil(k / split / kStep);
            const double cta =
                steps * (kStep * per_k + kStepCycles / s.clock) + kStartCycles / s.clock;
            const double sums = split > 1.0 ? kSplitS + 4.0 * b * m * n * split / s.dram : 0.0;
            best = std::min(best, std::ceil(ctas * split / s.sms) * cta + sums);
        }
    }
    return best;
}

CallParts product_parts(const SheetRates& s, const LibraryCall& c) {
    constexpr double kSets = 5.0; // of weights that take turns: see matmul.cpp
    const WordType type = of_word(word_of(c.type, 0));
    const double rate = s.rate(type.arithmetic);
    const double b = at_least_one(c.of(CallSize::b)), m = c.of(CallSize::m), n = c.of(CallSize::n),
                 k = c.of(CallSize::k);
    const double weights = b * type.weight_bytes * n * k;
    const double others = b * (type.input_bytes * m * k + 2.0 * m * n);
    const double room = 0.6 * l2_reach_bytes(*s.gpu) + 0.15 * s.l2;
    const double missed = weights * (1.0 - kept_between(kSets * weights + others, room)) +
                          others * (1.0 - kept_between(weights + others, room));
    return {{kStartUnit, 2.0 * b * m * k / s.dram, k / 64.0 * 100.0 / s.clock},
            {tiled_product_s(s, rate, b, m, n, k), missed / s.dram, (weights + others) / s.l2_dram,
             2.0 * b * m * n * k / rate},
            {m, n, k, m > 64.0 && std::fmod(m, 64.0) != 0.0 ? 2.0 : 1.0, b}};
}

// ------------------------------------------------------------------ attention

CallParts attention_parts(const SheetRates& s, const LibraryCall& c) {
    constexpr double kKeys = 128.0, kQueries = 128.0, kTileCycles = 600.0, kCtaCycles = 1000.0;
    const bool generation = c.op == "attention_generation";
    const double rate = s.rate(of_word(word_of(c.type, 0)).arithmetic);
    const double kv_bytes = of_word(word_of(c.type, 1)).input_bytes;
    const double batch = c.of(CallSize::batch), q = c.of(CallSize::q_len),
                 kv = c.of(CallSize::kv_len), heads = c.of(CallSize::heads),
                 key_heads = at_least_one(c.of(CallSize::kv_heads)), d = c.of(CallSize::head_dim),
                 window = c.of(CallSize::window);
    const double seen = window > 0.0 ? std::min(window, kv) : kv;
    const double pairs = c.of(CallSize::causal) > 0.0 ? seen_pairs(q, kv, seen) : q * kv;
    const double group = heads / key_heads;
    const double bytes = batch * (key_heads * seen * 2.0 * d * kv_bytes + heads * q * d * 4.0);
    const double tile_m = generation ? 16.0 * std::ceil(group / 16.0) : kQueries;
    const double ctas = batch * (generation ? key_heads * std::ceil(group / tile_m)
                                            : heads * std::ceil(q / tile_m));
    const double tiles = std::ceil((generation ? seen : std::min(pairs / q + 64.0, seen)) / kKeys);
    const double tile_s =
        4.0 * tile_m * kKeys * d / (rate / s.sms) + tile_m * kKeys / (kExpsACycle * s.clock) * 0.5;
    const double walk = generation ? std::ceil(tiles / at_least_one(std::floor(2.0 * s.sms / ctas)))
                                   : std::ceil(seen / kKeys);
    const double keep = kept_between(bytes, 0.5 * s.l2);
    return {{kStartUnit, walk * kTileCycles / s.clock,
             generation ? 0.0 : batch * key_heads * q * 4.0 * d / s.dram,
             ctas / s.sms * kCtaCycles / s.clock},
            {4.0 * batch * heads * d * pairs / rate, std::ceil(ctas / s.sms) * tiles * tile_s,
             batch * heads * pairs / (s.sms * kExpsACycle * s.clock), bytes * (1.0 - keep) / s.dram,
             bytes / s.l2_dram},
            {q, batch, kv, heads, group, d, at_least_one(window), ctas / s.sms}};
}

// Latent attention: a token's 512 + 64 cached numbers serve all heads; a prompt's heads have keys
// of 192 and values of 128.
constexpr double kLatentWidth = 512.0, kRotaryWidth = 64.0, kKeyWidth = 192.0, kValueWidth = 128.0;

CallParts latent_parts(const SheetRates& s, const LibraryCall& c) {
    constexpr double kKeys = 64.0, kTileCycles = 600.0, kCtaCycles = 1000.0;
    const bool generation = c.op == "mla_generation";
    const double rate = s.rate(of_word(word_of(c.type, 0)).arithmetic);
    const double kv_bytes = of_word(word_of(c.type, 1)).input_bytes;
    const double batch = c.of(CallSize::batch), q = at_least_one(c.of(CallSize::q_len)),
                 kv = c.of(CallSize::kv_len), heads = c.of(CallSize::heads);
    const double pairs = seen_pairs(q, kv, kv);
    const double width = generation ? 2.0 * kLatentWidth + kRotaryWidth : kKeyWidth + kValueWidth;
    const double bytes =
        generation
            ? batch * ((kLatentWidth + kRotaryWidth) * kv * kv_bytes + heads * q * width * 2.0)
            : batch * heads * (kv + q) * width * 2.0;
    const double tile_m = generation ? 64.0 * std::ceil(heads / 64.0) : 128.0;
    const double ctas = generation ? batch : batch * heads * std::ceil(q / 128.0);
    const double tiles = std::ceil((generation ? kv : pairs / q) / kKeys);
    const double tile_s = 2.0 * tile_m * kKeys * width / (rate / s.sms);
    const double splits =
        generation ? std::min(at_least_one(std::floor(s.sms / ctas)), at_least_one(tiles / 2.0))
                   : 1.0;
    const double keep = kept_between(bytes, 0.5 * s.l2);
    return {
        {kStartUnit, tiles / splits * kTileCycles / s.clock, ctas / s.sms * kCtaCycles / s.clock},
        {2.0 * batch * heads * pairs * width / rate,
         std::ceil(ctas * splits / s.sms) * tiles * tile_s / splits, bytes * (1.0 - keep) / s.dram,
         bytes / s.l2_dram},
        {q, batch, kv, heads, ctas / s.sms}};
}

// ------------------------------------------------------------------ experts

// Share of all routed tokens that the busiest of `ranks` gets, and the busiest expert, where an
// expert's load follows a power law as ai-dynamo/aiconfigurator's collector draws it: the mean of
// 16 draws of one generator, so that the same question has the same answer.
struct Busiest {
    double rank, expert;
};

Busiest drawn(double alpha, double tokens, double topk, int experts, int ranks) {
    const bool many = tokens * topk > experts;
    const double low = std::pow(many ? 1.0 : 0.01, 1.0 - alpha);
    const double high = std::pow(many ? 0.8 * tokens : 2.0, 1.0 - alpha);
    constexpr int kDraws = 16;
    std::uint64_t state = 1;
    Busiest mean{0.0, 0.0};
    std::vector<double> loads(static_cast<std::size_t>(experts));
    const std::size_t each = static_cast<std::size_t>(std::max(1, experts / ranks));
    for (int draw = 0; draw < kDraws; ++draw) {
        double sum = 0.0;
        for (double& load : loads) {
            state = state * 6364136223846793005ULL + 1442695040888963407ULL;
            const double u = static_cast<double>(state >> 11U) * 0x1p-53;
            load = std::pow(low + (high - low) * u, 1.0 / (1.0 - alpha));
            sum += load;
        }
        double rank = 0.0;
        for (std::size_t at = 0; at + each <= loads.size(); at += each) {
            double own = 0.0;
            for (std::size_t i = at; i < at + each; ++i) {
                own += loads[i];
            }
            rank = std::max(rank, own);
        }
        mean.rank += rank / sum / kDraws;
        mean.expert += *std::max_element(loads.begin(), loads.end()) / sum / kDraws;
    }
    return mean;
}

Busiest busiest(double alpha, double tokens, double topk, double experts, double ranks) {
    using Key = std::tuple<double, double, double, double, double>;
    static std::mutex mutex;
    static std::map<Key, Busiest> known;
    const std::scoped_lock lock(mutex);
    const Key key{alpha, tokens, topk, experts, ranks};
    const auto at = known.find(key);
    return at != known.end()
               ? at->second
               : known
                     .emplace(key, drawn(alpha, tokens, topk, static_cast<int>(experts),
                                         static_cast<int>(ranks)))
                     .first->second;
}

double power_of(std::string_view distribution) {
    constexpr std::string_view kLaw = "power_law_";
    return !distribution.starts_with(kLaw)                       ? 0.0
           : distribution.substr(kLaw.size()).starts_with("1.2") ? 1.2
                                                                 : 1.01;
}

double expert_products_s(const SheetRates& s, double rate, double busy, double each, double hidden,
                         double inner, double gates) {
    double best = std::numeric_limits<double>::infinity();
    for (const double tile_m : {16.0, 32.0, 64.0, 128.0}) {
        const double rows = busy * std::ceil(each / tile_m);
        for (const double tile_n : {64.0, 128.0, 256.0}) {
            const CallTile tile{tile_m, tile_n};
            const double per_k = 2.0 * tile_m * tile_n / (rate / s.sms) / tile_efficiency(tile);
            const double up = std::ceil(rows * std::ceil(gates * inner / tile_n) / s.sms);
            const double down = std::ceil(rows * std::ceil(hidden / tile_n) / s.sms);
            best = std::min(best, per_k * (up * hidden + down * inner));
        }
    }
    return best;
}

CallParts expert_parts(const SheetRates& s, const LibraryCall& c) {
    const WordType given = of_word(word_of(c.type, 0));
    const WordType weight = of_word(word_of(c.type, 1));
    const double rate = s.rate(given.arithmetic);
    const double tokens = at_least_one(c.of(CallSize::tokens)), hidden = c.of(CallSize::hidden),
                 topk = at_least_one(c.of(CallSize::topk)),
                 experts = at_least_one(c.of(CallSize::experts)),
                 ranks = at_least_one(c.of(CallSize::ep)),
                 inner = c.of(CallSize::inter) / at_least_one(c.of(CallSize::tp));
    const double held = at_least_one(experts / ranks);
    const bool gated = c.kernel.find("nongated") == std::string::npos;
    const double products = gated ? 3.0 : 2.0;
    const double alpha = power_of(c.distribution);
    const double share =
        alpha > 0.0 ? busiest(alpha, tokens, topk, experts, ranks).rank : 1.0 / ranks;
    const double routed = tokens * topk * share;
    const double reached = held > 1.0 ? held * -std::expm1(routed * std::log1p(-1.0 / held)) : 1.0;
    const double busy = std::max(std::min(reached, routed), std::min(1.0, routed));
    const double each = routed / busy;
    const double weights = busy * products * hidden * inner * weight.weight_bytes;
    const double token_bytes = routed * hidden * 2.0;
    const double keep = kept_between(weights, 0.6 * s.l2);
    return {{kStartUnit, token_bytes / s.dram, routed * inner * 4.0 / s.dram, tokens * 1e-9,
             held * 1e-9, busy * 1e-8},
            {expert_products_s(s, rate, busy, each, hidden, inner, gated ? 2.0 : 1.0),
             2.0 * products * routed * hidden * inner / rate, weights * (1.0 - keep) / s.dram,
             (weights + 2.0 * token_bytes) / s.l2_dram},
            {tokens, each, busy, inner, hidden, topk, held, ranks,
             alpha > 0.0 ? (alpha > 1.1 ? 4.0 : 2.0) : 1.0}};
}

// ------------------------------------------------------------------ blocks of attention

CallParts block_parts(const SheetRates& s, const LibraryCall& c) {
    // DeepSeek-V3's widths stand for all: a block's own are in the constants of its network.
    constexpr double kHidden = 7168.0, kDown = 2112.0, kQuery = 1536.0, kTop = 2048.0,
                     kIndexHeads = 64.0, kIndexWidth = 128.0;
    const WordType weight = of_word(word_of(c.type, 1));
    const double kv_bytes = of_word(word_of(c.type, 2)).input_bytes;
    const double attend = s.rate(of_word(word_of(c.type, 0)).arithmetic);
    const double project = s.rate(weight.arithmetic);
    const double batch = at_least_one(c.of(CallSize::batch)),
                 q = at_least_one(c.of(CallSize::q_len)), kv = std::max(c.of(CallSize::kv_len), q),
                 heads = at_least_one(c.of(CallSize::heads)),
                 split = at_least_one(c.of(CallSize::tp));
    const double tokens = batch * q;
    const double pairs = seen_pairs(q, kv, kv);
    const double chosen = std::min(seen_pairs(q, kv, std::min(kTop, kv)), pairs);
    const double absorbed = 2.0 * kLatentWidth + kRotaryWidth;
    const double weights = kHidden * kDown + heads * (kQuery * kKeyWidth + kHidden * kValueWidth +
                                                      kLatentWidth * 2.0 * kValueWidth);
    const double waves = std::ceil(std::ceil(tokens / 128.0) *
                                   (kDown + heads * (kKeyWidth + kValueWidth)) / 128.0 / s.sms);
    const double cached = kLatentWidth + kRotaryWidth;
    return {{kStartUnit, tokens * kHidden * 2.0 / s.dram, batch * pairs * 4.0 / s.dram,
             batch * kv * 128.0 / s.dram, 2.0 * batch * heads * pairs * absorbed / attend,
             batch * kv * cached * kv_bytes / s.dram},
            {2.0 * tokens * weights / project,
             waves * 2.0 * 128.0 * 128.0 * kHidden / (project / s.sms),
             2.0 * batch * heads * chosen * absorbed / attend,
             2.0 * batch * pairs * kIndexHeads * kIndexWidth / s.rate(DataType::fp8),
             weights * weight.weight_bytes / s.dram,
             batch * std::min(std::min(kv, kTop) * q, kv) * cached * kv_bytes / s.dram,
             tokens * heads * (kLatentWidth + kKeyWidth + kValueWidth) * 2.0 / s.dram},
            {tokens, q, batch, kv, heads, split}};
}

// ------------------------------------------------------------------ the others

CallParts recurrent_parts(const SheetRates& s, const LibraryCall& c) {
    constexpr double kChunk = 64.0;
    const double batch = at_least_one(c.of(CallSize::batch)),
                 q = at_least_one(c.of(CallSize::q_len)),
                 tokens = std::max(at_least_one(c.of(CallSize::tokens)), batch * q),
                 keys = at_least_one(c.of(CallSize::k_heads)) * at_least_one(c.of(CallSize::k_dim)),
                 heads = at_least_one(c.of(CallSize::v_heads)),
                 width = at_least_one(c.of(CallSize::v_dim)),
                 state = std::max(at_least_one(c.of(CallSize::k_dim)), c.of(CallSize::state));
    const double values = heads * width;
    const double flops = tokens * values * state * 6.0;
    const double convolved = tokens * (2.0 * keys + values) * 4.0;
    const double chunks = std::ceil(q / kChunk);
    return {{kStartUnit, chunks * 500.0 / s.clock, q * 20.0 / s.clock},
            {tokens * (keys + values) * 4.0 / s.dram, convolved / s.dram,
             batch * values * state * 4.0 / s.dram, flops / s.rate(DataType::bf16),
             flops / (s.sms * s.gpu->fp32_lanes * 2.0 * s.clock),
             std::ceil(batch * heads / s.sms) * chunks * 1000.0 / s.clock, convolved / s.l2_dram},
            {q, batch, values, tokens, keys}};
}

CallParts stream_parts(const SheetRates& s, const LibraryCall& c) {
    const double tokens = at_least_one(c.of(CallSize::tokens)), hidden = c.of(CallSize::hidden),
                 wide = tokens * hidden * at_least_one(c.of(CallSize::streams)),
                 sites = at_least_one(c.of(CallSize::sites));
    return {{kStartUnit, sites * kStartUnit},
            {2.0 * wide * sites / s.dram, 2.0 * wide * sites / s.l2_dram,
             48.0 * wide * sites / s.rate(DataType::bf16),
             std::ceil(tokens / s.sms) * 1000.0 / s.clock * sites},
            {tokens, at_least_one(hidden)}};
}

CallParts cast_parts(const SheetRates& s, const LibraryCall& c) {
    const double rows = at_least_one(c.of(CallSize::rows)),
                 cols = at_least_one(c.of(CallSize::cols));
    const double bytes = 3.0 * rows * cols; // read at 2, written at 1
    return {{kStartUnit},
            {bytes * (1.0 - kept_between(bytes, 0.5 * s.l2)) / s.dram, bytes / s.l2_dram,
             std::ceil(rows / s.sms) * 300.0 / s.clock, rows * cols / (s.sms * 64.0 * s.clock)},
            {rows, cols}};
}

// Over links that the data sheet names (both directions), and 50 GB/s of a network card beyond a
// node.
CallParts exchange_parts(const SheetRates& s, const LibraryCall& c) {
    constexpr double kCard = 50e9, kUsualLink = 900e9;
    const double link = s.gpu->link_bytes_per_s > 0.0 ? s.gpu->link_bytes_per_s : kUsualLink;
    const double tokens = at_least_one(c.of(CallSize::tokens)), hidden = c.of(CallSize::hidden),
                 topk = at_least_one(c.of(CallSize::topk)),
                 gpus = at_least_one(c.of(CallSize::gpus)),
                 nodes = at_least_one(c.of(CallSize::nodes));
    return {{kStartUnit, topk * 1e-7},
            {tokens * hidden * std::min(topk, gpus) / (link / 2.0), tokens * hidden * nodes / kCard,
             tokens * topk * 1e-9},
            {tokens, gpus, nodes, topk, at_least_one(hidden)}};
}

} // namespace

std::string_view call_size_name(CallSize size) {
    return kSizeNames[static_cast<std::size_t>(size)];
}

std::optional<LibraryKind> library_kind(std::string_view op, std::string_view network) {
    const auto begins = [&](std::initializer_list<std::string_view> words) {
        return std::ranges::any_of(words, [&](std::string_view w) { return op.starts_with(w); });
    };
    return op == "gemm" || op == "bmm" ? std::optional(LibraryKind::product)
           : begins({"attention_"})    ? LibraryKind::attention
           : begins({"moe_dispatch", "moe_combine", "alltoall"}) ? LibraryKind::exchange
           : begins({"moe", "wideep_moe"})                       ? LibraryKind::experts
           : network.empty() && begins({"mla_"})                 ? LibraryKind::latent
           : begins({"mla_", "dsa_", "dsv4_", "glm5_", "msa_"})  ? LibraryKind::block
           : begins({"gdn_", "kda_", "mamba2_"})                 ? LibraryKind::recurrent
           : begins({"mhc_"})                                    ? LibraryKind::streams
           : op == "quantize"                                    ? std::optional(LibraryKind::cast)
                                                                 : std::nullopt;
}

std::string_view library_kind_name(LibraryKind kind) {
    constexpr std::array<std::string_view, kLibraryKinds> kNames = {
        "product",   "attention", "latent", "experts", "block",
        "recurrent", "streams",   "cast",   "exchange"};
    return kNames[static_cast<std::size_t>(kind)];
}

std::string call_type(std::string_view name) {
    return name == "bfloat16" ? "bf16" : name == "float16" ? "fp16" : std::string(name);
}

CallParts parts_of(const Gpu& gpu, const LibraryCall& call, LibraryKind kind) {
    const SheetRates s(gpu);
    switch (kind) {
    case LibraryKind::product:
        return product_parts(s, call);
    case LibraryKind::attention:
        return attention_parts(s, call);
    case LibraryKind::latent:
        return latent_parts(s, call);
    case LibraryKind::experts:
        return expert_parts(s, call);
    case LibraryKind::block:
        return block_parts(s, call);
    case LibraryKind::recurrent:
        return recurrent_parts(s, call);
    case LibraryKind::streams:
        return stream_parts(s, call);
    case LibraryKind::cast:
        return cast_parts(s, call);
    case LibraryKind::exchange:
        break;
    }
    return exchange_parts(s, call);
}

const std::vector<CallAxis>& call_axes(LibraryKind kind) {
    static const std::vector<CallAxis> product = {
        {"m", {0, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15}},
        {"n", {5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
        {"k", {7, 8, 9, 10, 11, 12, 13, 14, 15}},
        {"broken tiles", {0, 1}},
        {"b", {0, 1, 3, 5, 7}}};
    static const std::vector<CallAxis> attention = {{"q_len", {0, 4, 5, 6, 7, 8, 9, 10, 12, 14}},
                                                    {"batch", {0, 2, 4, 6, 8, 11}},
                                                    {"kv_len", {0, 4, 6, 8, 10, 12, 14, 16, 18}},
                                                    {"heads", {0, 2, 3, 4, 5, 6, 7}},
                                                    {"heads to a key", {0, 1, 2, 3, 4, 5, 7}},
                                                    {"head_dim", {6, 6.2, 6.35, 6.7, 7, 7.6, 8, 9}},
                                                    {"window", {0, 7, 9, 10, 11, 13}},
                                                    {"waves", {-8, -4, -2, -1, 0, 1, 2, 4, 8}}};
    static const std::vector<CallAxis> latent = {{"q_len", {0, 4, 6, 8, 10, 12, 14}},
                                                 {"batch", {0, 2, 4, 6, 8, 10}},
                                                 {"kv_len", {0, 6, 8, 10, 12, 14, 16, 18}},
                                                 {"heads", {0, 1, 2, 3, 4, 5, 6, 7}},
                                                 {"waves", {-8, -4, -2, -1, 0, 1, 2, 4, 8}}};
    static const std::vector<CallAxis> experts = {
        {"tokens", {0, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16}},
        {"tokens of an expert", {-3, 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 13}},
        {"busy experts", {0, 2, 3, 4, 5, 6, 7, 8, 9}},
        {"inter", {6, 7, 8, 9, 10, 11, 12, 14}},
        {"hidden", {10, 11, 11.5, 12, 12.6, 13, 14}},
        {"topk", {0, 1, 2, 3, 4, 5}},
        {"held experts", {0, 2, 3, 4, 5, 6, 7, 8, 9}},
        {"ep", {0, 1, 2, 3, 4, 5, 6, 8}},
        {"power law", {0, 1, 2}}};
    static const std::vector<CallAxis> block = {
        {"tokens", {0, 2, 4, 6, 7, 8, 9, 10, 12, 14, 16}},
        {"q_len", {0, 4, 6, 8, 10, 12, 14, 16}},
        {"batch", {0, 2, 4, 6, 8, 10}},
        {"kv_len", {0, 4, 6, 8, 10, 11, 12, 13, 14, 16, 18}},
        {"heads", {0, 2, 3, 4, 5, 6, 7}},
        {"tp", {0, 1, 2, 3}}};
    static const std::vector<CallAxis> recurrent = {{"q_len", {0, 2, 4, 6, 8, 10, 12, 14, 16, 18}},
                                                    {"batch", {0, 1, 2, 4, 6, 8, 10}},
                                                    {"values", {9, 10, 11, 12, 13, 14, 15}},
                                                    {"tokens", {0, 2, 4, 6, 8, 10, 12, 14, 16, 18}},
                                                    {"keys", {7, 9, 10, 11, 12, 13, 14}}};
    static const std::vector<CallAxis> streams = {{"tokens", {0, 2, 4, 6, 8, 10, 12, 14, 16, 18}},
                                                  {"hidden", {11, 12, 13, 14}}};
    static const std::vector<CallAxis> cast = {{"rows", {0, 2, 4, 6, 8, 10, 12, 14, 16, 18}},
                                               {"cols", {7, 8, 9, 10, 11, 12, 13, 14, 15, 16}}};
    static const std::vector<CallAxis> exchange = {{"tokens", {0, 2, 4, 6, 8, 10, 12, 14, 16}},
                                                   {"gpus", {1, 2, 3, 4, 5, 6}},
                                                   {"nodes", {0, 1, 2, 3, 4}},
                                                   {"topk", {0, 1, 2, 3, 4}},
                                                   {"hidden", {11, 12, 13}}};
    switch (kind) {
    case LibraryKind::product:
        return product;
    case LibraryKind::attention:
        return attention;
    case LibraryKind::latent:
        return latent;
    case LibraryKind::experts:
        return experts;
    case LibraryKind::block:
        return block;
    case LibraryKind::recurrent:
        return recurrent;
    case LibraryKind::streams:
        return streams;
    case LibraryKind::cast:
        return cast;
    case LibraryKind::exchange:
        break;
    }
    return exchange;
}

} // namespace eyeroof::model
