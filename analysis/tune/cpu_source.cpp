#include "analysis/tune/cpu_source.hpp"

#include <fmt/format.h>

namespace eyeroof::analysis::tune {

namespace {

// x: pixels, n: output channels, c: input channels, taps r and s. Weights lie as [r][s][c][n].
// Panels: of the input [tile of x][block of c][steps][tile_rows], of the weights [tile of n][block
// of c][steps][tile_cols]; steps are in the order in which a tile walks over taps and channels.
constexpr const char* kHead = R"(
struct Args {
    const float* in; const float* w; float* out; const long* pixel;
    long rows, cols, depth, taps_h, taps_w, step_r, step_s;
    float* in_panels; float* w_panels;
};
typedef float vec __attribute__((vector_size(4 * LENGTH), aligned(4), may_alias));
static inline long least(long a, long b) { return a < b ? a : b; }
static inline long step_of(long c, long tap, long depth, long taps) {
    return TAPS_INSIDE ? c * taps + tap : tap * depth + c;
}
extern "C" void eyeroof_prepare(const Args* a) {
#if PACK_COLS
    const long taps = a->taps_h * a->taps_w;
    for (long n0 = 0; n0 < a->cols; n0 += TILE_COLS)
        for (long c0 = 0; c0 < a->depth; c0 += BLOCK_DEPTH) {
            const long depth = least(BLOCK_DEPTH, a->depth - c0);
            float* to = a->w_panels + (n0 * a->depth + c0 * TILE_COLS) * taps;
            for (long tap = 0; tap < taps; ++tap)
                for (long c = 0; c < depth; ++c) {
                    const float* from = a->w + (tap * a->depth + c0 + c) * a->cols + n0;
                    float* at = to + step_of(c, tap, depth, taps) * TILE_COLS;
                    for (long n = 0; n < TILE_COLS; ++n)
                        at[n] = n0 + n < a->cols ? from[n] : 0.0f;
                }
        }
#endif
}
static void pack_rows(const Args* a, long x_begin, long x_end) {
#if PACK_ROWS
    const long taps = a->taps_h * a->taps_w;
    for (long x0 = x_begin; x0 < x_end; x0 += TILE_ROWS)
        for (long c0 = 0; c0 < a->depth; c0 += BLOCK_DEPTH) {
            const long depth = least(BLOCK_DEPTH, a->depth - c0);
            float* to = a->in_panels + (x0 * a->depth + c0 * TILE_ROWS) * taps;
            for (long i = 0; i < TILE_ROWS; ++i) {
                const float* pixel = a->in + a->pixel[least(x0 + i, a->rows - 1)] + c0;
                for (long tap = 0; tap < taps; ++tap) {
                    const float* from =
                        pixel + tap / a->taps_w * a->step_r + tap % a->taps_w * a->step_s;
                    for (long c = 0; c < depth; ++c)
                        to[step_of(c, tap, depth, taps) * TILE_ROWS + i] = from[c];
                }
            }
        }
#endif
}
)";

constexpr const char* kTail = R"(
static inline void tile_at(const Args* a, long x0, long n0, long c0, long depth) {
    const long rows = least(TILE_ROWS, a->rows - x0), cols = least(TILE_COLS, a->cols - n0);
    float* out = a->out + x0 * a->cols + n0;
    if (rows == TILE_ROWS && cols == TILE_COLS) {
        tile(a, x0, n0, c0, depth, out, a->cols, c0 == 0);
        return;
    }
    float rest[TILE_ROWS * TILE_COLS];
    tile(a, x0, n0, c0, depth, rest, TILE_COLS, true);
    for (long i = 0; i < rows; ++i)
        for (long n = 0; n < cols; ++n)
            out[i * a->cols + n] = (c0 == 0 ? 0.0f : out[i * a->cols + n]) + rest[i * TILE_COLS + n];
}
static void block_at(const Args* a, long x0, long x1, long n0, long n1, long c0, long depth) {
#if ROWS_INSIDE
    for (long n = n0; n < n1; n += TILE_COLS)
        for (long x = x0; x < x1; x += TILE_ROWS)
            tile_at(a, x, n, c0, depth);
#else
    for (long x = x0; x < x1; x += TILE_ROWS)
        for (long n = n0; n < n1; n += TILE_COLS)
            tile_at(a, x, n, c0, depth);
#endif
}
static void part(const Args* a, long x_begin, long x_end, long n_begin, long n_end) {
LOOPS
}
extern "C" void eyeroof_kernel(const Args* a) {
#if THREADS > 1
    const long tile = THREADS_ON_COLS ? TILE_COLS : TILE_ROWS;
    const long whole = THREADS_ON_COLS ? a->cols : a->rows;
    const long tiles = (whole + tile - 1) / tile, each = (tiles + THREADS - 1) / THREADS * tile;
    if (THREADS_ON_COLS) pack_rows(a, 0, a->rows);
#pragma omp parallel for num_threads(THREADS) schedule(static, 1)
    for (int t = 0; t < THREADS; ++t) {
        const long begin = least(t * each, whole), end = least(begin + each, whole);
        if (begin >= end) continue;
        if (THREADS_ON_COLS) part(a, 0, a->rows, begin, end);
        else { pack_rows(a, begin, end); part(a, begin, end, 0, a->cols); }
    }
#else
    pack_rows(a, 0, a->rows);
    part(a, 0, a->rows, 0, a->cols);
#endif
}
)";

std::string constants(const CpuPlan& plan) {
    std::string text = "// eyeroof candidate: " + plan_text(plan) + "\n";
    const auto define = [&](const char* name, Count value) {
        text += fmt::format("#define {} {}\n", name, value);
    };
    define("TILE_ROWS", plan.tile_rows);
    define("TILE_COLS", plan.tile_cols());
    define("LENGTH", plan.length);
    define("BLOCK_ROWS", plan.block_rows);
    define("BLOCK_COLS", plan.block_cols);
    define("BLOCK_DEPTH", plan.block_depth);
    define("PACK_ROWS", plan.pack_rows ? 1 : 0);
    define("PACK_COLS", plan.pack_cols ? 1 : 0);
    define("ROWS_INSIDE", plan.rows_inside ? 1 : 0);
    define("TAPS_INSIDE", plan.taps_inside ? 1 : 0);
    define("THREADS", plan.threads);
    define("THREADS_ON_COLS", plan.threads_on_cols ? 1 : 0);
    return text;
}

// One step: a vector of weights for each of the tile's, one value of the input for each row.
std::string step_text(const CpuPlan& plan, const std::string& value, const char* indent) {
    std::string text;
    for (Count v = 0; v < plan.tile_vectors; ++v) {
        text +=
            fmt::format("{}const vec w{} = *(const vec*)(w + {});\n", indent, v, v * plan.length);
    }
    for (Count line = 0; plan.prefetch > 0 && line < plan.tile_cols(); line += 16) {
        text += fmt::format("{}__builtin_prefetch(w + {} * w_step + {});\n", indent, plan.prefetch,
                            line);
    }
    for (Count i = 0; i < plan.tile_rows; ++i) {
        text += fmt::format("{}{{ const vec x = {} - (vec){{}};", indent,
                            fmt::format(fmt::runtime(value), i));
        for (Count v = 0; v < plan.tile_vectors; ++v) {
            text += fmt::format(" s{}_{} += x * w{};", i, v, v);
        }
        text += " }\n";
    }
    return text + fmt::format("{}w += w_step;\n", indent);
}

// The walk over taps and channels, from packed panels or from where the operands lie.
std::string walk_text(const CpuPlan& plan) {
    const std::string unroll = fmt::format("#pragma GCC unroll {}\n", plan.unroll);
    if (plan.pack_rows && plan.pack_cols) { // both are read in one stream
        return "    const long steps = depth * taps;\n" + unroll +
               "    for (long k = 0; k < steps; ++k) {\n" + step_text(plan, "p[{}]", "        ") +
               fmt::format("        p += {};\n    }}\n", plan.tile_rows);
    }
    const std::string value = plan.pack_rows ? "p[{}]" : "p{}[at]";
    const std::string next = plan.pack_rows ? fmt::format(" p += {};", plan.tile_rows) : "";
    const std::string jump =
        plan.pack_cols ? "" : "w = w_at + ((r * a->taps_w + s) * a->depth + c) * a->cols;";
    std::string text;
    if (plan.taps_inside) {
        text += "    for (long c = 0; c < depth; ++c)\n    for (long r = 0; r < a->taps_h; ++r) {\n"
                "        long at = r * a->step_r + c;\n" +
                unroll + "        for (long s = 0; s < a->taps_w; ++s) {\n            " + jump +
                "\n" + step_text(plan, value, "            ") + "            at += a->step_s;" +
                next + "\n        }\n    }\n";
        return text;
    }
    text +=
        "    for (long r = 0; r < a->taps_h; ++r)\n    for (long s = 0; s < a->taps_w; ++s) {\n"
        "        long at = r * a->step_r + s * a->step_s; const long c = 0; (void)c;\n        " +
        jump + "\n" + unroll + "        for (long k = 0; k < depth; ++k) {\n" +
        step_text(plan, value, "            ") + "            ++at;" + next +
        "\n        }\n    }\n";
    return text;
}

std::string tile_text(const CpuPlan& plan) {
    std::string text =
        "static inline __attribute__((always_inline)) void tile(const Args* a, long x0, long n0, "
        "long c0, long depth, float* out, long width, bool first) {\n"
        "    const long taps = a->taps_h * a->taps_w; (void)taps;\n";
    if (plan.pack_cols) {
        text += "    const float* w = a->w_panels + (n0 * a->depth + c0 * TILE_COLS) * taps;\n"
                "    const long w_step = TILE_COLS;\n";
    } else {
        text += "    const float* w_at = a->w + c0 * a->cols + n0; const float* w = w_at;\n"
                "    const long w_step = a->cols; (void)w_at;\n";
    }
    if (plan.pack_rows) {
        text += "    const float* p = a->in_panels + (x0 * a->depth + c0 * TILE_ROWS) * taps;\n";
    }
    for (Count i = 0; i < plan.tile_rows; ++i) {
        if (!plan.pack_rows) {
            text += fmt::format("    const float* p{} = a->in + c0 + a->pixel[least(x0 + {}, "
                                "a->rows - 1)];\n",
                                i, i);
        }
        for (Count v = 0; v < plan.tile_vectors; ++v) {
            text += fmt::format("    vec s{}_{} = {{}};\n", i, v);
        }
    }
    text += plan.pack_rows && !plan.pack_cols ? "    (void)w_step;\n" : "";
    text += walk_text(plan);
    for (Count i = 0; i < plan.tile_rows; ++i) {
        for (Count v = 0; v < plan.tile_vectors; ++v) {
            text += fmt::format("    {{ vec* o = (vec*)(out + {} * width + {}); *o = first ? "
                                "s{}_{} : *o + s{}_{}; }}\n",
                                i, v * plan.length, i, v, i, v);
        }
    }
    return text + "}\n";
}

std::string loops_text(const CpuPlan& plan) {
    std::string text, indent = "    ";
    for (const Axis axis : plan.order) {
        text += indent;
        text += axis == Axis::rows   ? "for (long x = x_begin; x < x_end; x += BLOCK_ROWS)\n"
                : axis == Axis::cols ? "for (long n = n_begin; n < n_end; n += BLOCK_COLS)\n"
                                     : "for (long c = 0; c < a->depth; c += BLOCK_DEPTH)\n";
        indent += "  ";
    }
    return text + indent +
           "block_at(a, x, least(x + BLOCK_ROWS, x_end), n, least(n + BLOCK_COLS, n_end), c, "
           "least(BLOCK_DEPTH, a->depth - c));";
}

} // namespace

std::string cpu_source(const CpuPlan& plan) {
    std::string tail = kTail;
    tail.replace(tail.find("LOOPS\n"), 5, loops_text(plan));
    return constants(plan) + kHead + tile_text(plan) + tail;
}

std::vector<std::string> harness_shape(const Workload& work) {
    std::vector<std::string> words;
    for (const Count size :
         {work.convolution ? Count{1} : Count{0}, work.images, work.height, work.width, work.depth,
          work.cols, work.taps_h, work.taps_w, work.stride.h, work.stride.w, work.pad.h, work.pad.w,
          work.dilation.h, work.dilation.w}) {
        words.push_back(fmt::format("{}", size));
    }
    return words;
}

} // namespace eyeroof::analysis::tune
