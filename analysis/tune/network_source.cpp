// The program that runs a whole network with compiled kernels beside oneDNN.
#include "analysis/tune/cpu_source.hpp"

namespace eyeroof::analysis::tune {

namespace {

// A file has lines "tensors N…" (floats of each), "input T", "output T", and one for each step:
//   product NAME IN ADDED OUT RELU KERNEL SHAPE…      ADDED: a tensor, or -1
//   max|mean NAME IN OUT IMAGES H W C R S STRIDE_H STRIDE_W PAD_H PAD_W
//   point NAME A B OUT COUNT RELU                     B: a tensor, or -1
//   softmax NAME IN OUT ROWS COLS
constexpr const char* kNetworkProgram = R"network(
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <unistd.h>
#include <unordered_map>

struct Line {
    std::string kind, name, kernel;
    long in = -1, added = -1, out = -1, relu = 0, rows = 0, cols = 0;
    Shape shape{};
    long pool[10] = {}; // images h w c r s stride_h stride_w pad_h pad_w
    bool reuses = false; // nothing reads `added` later, so that the library may add into it
    long pool_h() const { return (pool[1] + 2 * pool[8] - pool[4]) / pool[6] + 1; }
    long pool_w() const { return (pool[2] + 2 * pool[9] - pool[5]) / pool[7] + 1; }
};

struct Plan {
    std::vector<long> sizes;
    long input = -1, output = -1;
    std::vector<Line> lines;
};

Plan plan_in(const char* file) {
    Plan plan;
    std::ifstream from(file);
    for (std::string text; std::getline(from, text);) {
        std::istringstream words(text);
        Line line;
        words >> line.kind;
        if (line.kind == "tensors") {
            for (long n; words >> n;) plan.sizes.push_back(n);
        } else if (line.kind == "input") {
            words >> plan.input;
        } else if (line.kind == "output") {
            words >> plan.output;
        } else {
            words >> line.name >> line.in;
            if (line.kind == "product") {
                words >> line.added >> line.out >> line.relu >> line.kernel;
                std::vector<std::string> sizes(14);
                std::vector<char*> pointers;
                for (std::string& size : sizes) {
                    words >> size;
                    pointers.push_back(size.data());
                }
                line.shape = shape_of(pointers.data());
            } else if (line.kind == "point") {
                words >> line.added >> line.out >> line.rows >> line.relu;
            } else if (line.kind == "softmax") {
                words >> line.out >> line.rows >> line.cols;
            } else {
                words >> line.out;
                for (long& n : line.pool) words >> n;
            }
            plan.lines.push_back(line);
        }
    }
    for (std::size_t i = 0; i < plan.lines.size(); ++i) {
        Line& line = plan.lines[i];
        line.reuses = line.added >= 0 && line.added != plan.input && line.added != plan.output &&
                      line.added != line.in;
        for (std::size_t j = i + 1; j < plan.lines.size(); ++j)
            line.reuses &= plan.lines[j].in != line.added && plan.lines[j].added != line.added;
    }
    return plan;
}

// Untouched pages of it are never mapped.
using Floats = std::unique_ptr<float[]>;
Floats floats(long count) { return Floats(new float[std::size_t(count + kSlack)]); }

// Weights keep the size of what passes: a ReLU halves the mean square.
struct Values {
    std::vector<float> weights, bias;
    Values(const Shape& s, std::size_t seed) {
        const long depth = s.r * s.s * s.c;
        const float scale = std::sqrt(2.0f / (0.375f * float(depth)));
        weights.resize(std::size_t(depth * s.n + kSlack));
        for (std::size_t i = 0; i < std::size_t(depth * s.n); ++i)
            weights[i] = scale * value_at(i + 1000003 * seed);
        bias.resize(std::size_t(s.n + kSlack));
        for (std::size_t i = 0; i < std::size_t(s.n); ++i) bias[i] = 0.125f * value_at(i + 31 * seed);
    }
};

void pool_max(const Line& l, const float* in, float* out) {
    const long h = l.pool[1], w = l.pool[2], c = l.pool[3];
    for (long b = 0; b < l.pool[0]; ++b)
        for (long y = 0; y < l.pool_h(); ++y)
            for (long x = 0; x < l.pool_w(); ++x) {
                float* to = out + ((b * l.pool_h() + y) * l.pool_w() + x) * c;
                std::fill(to, to + c, -3.4e38f);
                for (long r = 0; r < l.pool[4]; ++r)
                    for (long s = 0; s < l.pool[5]; ++s) {
                        const long v = y * l.pool[6] - l.pool[8] + r, u = x * l.pool[7] - l.pool[9] + s;
                        if (v < 0 || v >= h || u < 0 || u >= w) continue;
                        const float* from = in + ((b * h + v) * w + u) * c;
                        for (long n = 0; n < c; ++n) to[n] = from[n] > to[n] ? from[n] : to[n];
                    }
            }
}

void pool_mean(const Line& l, const float* in, float* out) { // padding counts as zeros
    const long h = l.pool[1], w = l.pool[2], c = l.pool[3];
    const float share = 1.0f / float(l.pool[4] * l.pool[5]);
    for (long b = 0; b < l.pool[0]; ++b)
        for (long y = 0; y < l.pool_h(); ++y)
            for (long x = 0; x < l.pool_w(); ++x) {
                float* to = out + ((b * l.pool_h() + y) * l.pool_w() + x) * c;
                std::fill(to, to + c, 0.0f);
                for (long r = 0; r < l.pool[4]; ++r)
                    for (long s = 0; s < l.pool[5]; ++s) {
                        const long v = y * l.pool[6] - l.pool[8] + r, u = x * l.pool[7] - l.pool[9] + s;
                        if (v < 0 || v >= h || u < 0 || u >= w) continue;
                        const float* from = in + ((b * h + v) * w + u) * c;
                        for (long n = 0; n < c; ++n) to[n] += from[n];
                    }
                for (long n = 0; n < c; ++n) to[n] *= share;
            }
}

void point(const Line& l, const float* a, const float* b, float* out) {
    for (long i = 0; i < l.rows; ++i) {
        const float sum = b ? a[i] + b[i] : a[i];
        out[i] = l.relu && sum < 0.0f ? 0.0f : sum;
    }
}

void softmax(const Line& l, const float* in, float* out) {
    for (long i = 0; i < l.rows; ++i, in += l.cols, out += l.cols) {
        float most = in[0], sum = 0.0f;
        for (long n = 0; n < l.cols; ++n) most = std::max(most, in[n]);
        for (long n = 0; n < l.cols; ++n) sum += out[n] = std::exp(in[n] - most);
        for (long n = 0; n < l.cols; ++n) out[n] /= sum;
    }
}

// One way to run the network: what each line calls, on tensors of its own.
struct Way {
    std::vector<Floats> tensors;
    std::vector<float*> at; // of each tensor
    std::vector<std::function<void()>> steps;

    explicit Way(const Plan& plan) {
        for (const long size : plan.sizes) {
            tensors.push_back(floats(size));
            at.push_back(tensors.back().get());
        }
        for (long i = 0; i < plan.sizes[std::size_t(plan.input)]; ++i)
            at[std::size_t(plan.input)][i] = value_at(std::uint64_t(i));
    }
    float* of(long tensor) const { return tensor < 0 ? nullptr : at[std::size_t(tensor)]; }

    // Seconds of each step, and of all.
    void run(std::vector<double>& took, double& all) const {
        using Clock = std::chrono::steady_clock;
        const auto begin = Clock::now();
        auto from = begin;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            steps[i]();
            const auto now = Clock::now();
            took[i] = std::chrono::duration<double>(now - from).count();
            from = now;
        }
        all = std::chrono::duration<double>(from - begin).count();
    }
    // What both ways run alike.
    void add_plain(const Line& l) {
        const float *a = of(l.in), *b = of(l.added);
        float* out = of(l.out);
        if (l.kind == "max") steps.push_back([=, &l] { pool_max(l, a, out); });
        else if (l.kind == "mean") steps.push_back([=, &l] { pool_mean(l, a, out); });
        else if (l.kind == "point") steps.push_back([=, &l] { point(l, a, b, out); });
        else steps.push_back([=, &l] { softmax(l, a, out); });
    }
};

// Compiled kernels -------------------------------------------------------------------------------

struct Kernel {
    Args args{};
    Floats padded, panels;
    std::vector<long> pixel;
    Step run = nullptr;
};

void pad(const Shape& s, const float* in, float* padded) {
    for (long b = 0; b < s.images; ++b)
        for (long y = 0; y < s.h; ++y)
            std::memcpy(padded + ((b * s.padded_h() + y + s.ph) * s.padded_w() + s.pw) * s.c,
                        in + (b * s.h + y) * s.w * s.c, std::size_t(s.w * s.c) * 4);
}

void finish(const Shape& s, const float* bias, const float* added, float* out, bool relu) {
    for (long x = 0; x < s.rows(); ++x, out += s.n, added += added ? s.n : 0)
        for (long n = 0; n < s.n; ++n) {
            const float sum = out[n] + bias[n] + (added ? added[n] : 0.0f);
            out[n] = relu && sum < 0.0f ? 0.0f : sum;
        }
}

bool add_kernels(const Plan& plan, const std::vector<Values>& values, Way& way,
                 std::vector<std::unique_ptr<Kernel>>& kernels) {
    long most = 0;
    for (const Line& l : plan.lines)
        if (l.kind == "product")
            most = std::max(most, (l.shape.rows() + 64) * l.shape.c * l.shape.r * l.shape.s);
    static Floats in_panels = floats(most);
    for (std::size_t i = 0; i < plan.lines.size(); ++i) {
        const Line& l = plan.lines[i];
        if (l.kind != "product") {
            way.add_plain(l);
            continue;
        }
        void* library = dlopen(l.kernel.c_str(), RTLD_NOW | RTLD_LOCAL);
        const Step prepare = library ? reinterpret_cast<Step>(dlsym(library, "eyeroof_prepare")) : nullptr;
        kernels.push_back(std::make_unique<Kernel>());
        Kernel* kernel = kernels.back().get();
        kernel->run = library ? reinterpret_cast<Step>(dlsym(library, "eyeroof_kernel")) : nullptr;
        if (!prepare || !kernel->run) {
            std::fprintf(stdout, "failed the kernel of %s does not load\n", l.name.c_str());
            return false;
        }
        const Shape& s = l.shape;
        const bool framed = s.ph != 0 || s.pw != 0;
        if (framed) {
            const long count = s.images * s.padded_h() * s.padded_w() * s.c;
            kernel->padded = floats(count);
            std::fill(kernel->padded.get(), kernel->padded.get() + count + kSlack, 0.0f);
        }
        for (long b = 0; b < s.images; ++b)
            for (long y = 0; y < s.out_h(); ++y)
                for (long x = 0; x < s.out_w(); ++x)
                    kernel->pixel.push_back(((b * s.padded_h() + y * s.sh) * s.padded_w() + x * s.sw) * s.c);
        kernel->panels = floats((s.n + 256) * s.c * s.r * s.s);
        const float *in = way.of(l.in), *added = way.of(l.added), *bias = values[i].bias.data();
        float* out = way.of(l.out);
        kernel->args = {framed ? kernel->padded.get() : in, values[i].weights.data(), out,
                        kernel->pixel.data(), s.rows(), s.n, s.c, s.r, s.s,
                        s.dh * s.padded_w() * s.c, s.dw * s.c, in_panels.get(), kernel->panels.get()};
        prepare(&kernel->args);
        way.steps.push_back([=, &l] {
            if (framed) pad(l.shape, in, kernel->padded.get());
            kernel->run(&kernel->args);
            finish(l.shape, bias, added, out, l.relu != 0);
        });
    }
    return true;
}

// oneDNN -----------------------------------------------------------------------------------------

struct Library {
    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::stream queue{engine};
    std::vector<dnnl::memory> kept;

    using Tag = dnnl::memory::format_tag;
    static dnnl::memory::desc desc(const dnnl::memory::dims& dims, Tag tag) {
        return {dims, dnnl::memory::data_type::f32, tag};
    }
    dnnl::primitive_attr fused(const Line& l) const {
        dnnl::post_ops ops;
        if (l.added >= 0) ops.append_sum(1.0f);
#if DNNL_VERSION_MAJOR >= 3
        if (l.relu) ops.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
#else
        if (l.relu) ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
#endif
        dnnl::primitive_attr attr;
        attr.set_post_ops(ops);
        return attr;
    }
    dnnl::convolution_forward::primitive_desc convolution(const Line& l) const {
        using namespace dnnl;
        const Shape& s = l.shape;
        const auto src = desc({s.images, s.c, s.h, s.w}, Tag::nhwc), bias = desc({s.n}, Tag::x);
        const auto weights = desc({s.n, s.c, s.r, s.s}, Tag::any);
        const auto dst = desc({s.images, s.n, s.out_h(), s.out_w()}, Tag::nhwc);
        const memory::dims stride{s.sh, s.sw}, dilation{s.dh - 1, s.dw - 1}, frame{s.ph, s.pw};
#if DNNL_VERSION_MAJOR >= 3
        return {engine, prop_kind::forward_inference, algorithm::convolution_auto, src, weights, bias,
                dst, stride, dilation, frame, frame, fused(l)};
#else
        return {{prop_kind::forward_inference, algorithm::convolution_auto, src, weights, bias, dst,
                 stride, dilation, frame, frame}, fused(l), engine};
#endif
    }
    dnnl::inner_product_forward::primitive_desc product(const Line& l) const {
        using namespace dnnl;
        const Shape& s = l.shape;
        const auto src = desc({s.rows(), s.c}, Tag::nc), bias = desc({s.n}, Tag::x);
        const auto weights = desc({s.n, s.c}, Tag::any), dst = desc({s.rows(), s.n}, Tag::nc);
#if DNNL_VERSION_MAJOR >= 3
        return {engine, prop_kind::forward_inference, src, weights, bias, dst, fused(l)};
#else
        return {{prop_kind::forward_inference, src, weights, bias, dst}, fused(l), engine};
#endif
    }
    dnnl::pooling_forward::primitive_desc pooling(const Line& l) const {
        using namespace dnnl;
        const auto kind = l.kind == "max" ? algorithm::pooling_max : algorithm::pooling_avg_include_padding;
        const auto src = desc({l.pool[0], l.pool[3], l.pool[1], l.pool[2]}, Tag::nhwc);
        const auto dst = desc({l.pool[0], l.pool[3], l.pool_h(), l.pool_w()}, Tag::nhwc);
        const memory::dims stride{l.pool[6], l.pool[7]}, window{l.pool[4], l.pool[5]};
        const memory::dims frame{l.pool[8], l.pool[9]};
        // The last window may begin inside and end beyond: what it lacks on that side.
        const memory::dims end{std::max(0L, (l.pool_h() - 1) * l.pool[6] + l.pool[4] - l.pool[1] - l.pool[8]),
                               std::max(0L, (l.pool_w() - 1) * l.pool[7] + l.pool[5] - l.pool[2] - l.pool[9])};
#if DNNL_VERSION_MAJOR >= 3
        return {engine, prop_kind::forward_inference, kind, src, dst, stride, window, {0, 0}, frame, end};
#else
        return {{prop_kind::forward_inference, kind, src, dst, stride, window, frame, end}, engine};
#endif
    }
    // In the layout that the library chose, before the clock starts.
    dnnl::memory packed(const float* weights, const dnnl::memory::desc& plain,
                        const dnnl::memory::desc& wanted) {
        dnnl::memory from(plain, engine, const_cast<float*>(weights)), to(wanted, engine);
        dnnl::reorder(from, to).execute(queue, from, to);
        queue.wait();
        return to;
    }
    template <class Made, class Desc>
    void add_product(const Line& l, const Values& values, const Desc& made,
                     const dnnl::memory::desc& plain, Way& way) {
        const float* added = way.of(l.added);
        if (l.reuses) way.at[std::size_t(l.out)] = way.at[std::size_t(l.added)];
        float *in = way.of(l.in), *out = way.of(l.out);
        const auto weights = packed(values.weights.data(), plain, made.weights_desc());
        const std::unordered_map<int, dnnl::memory> arguments = {
            {DNNL_ARG_SRC, {made.src_desc(), engine, in}},
            {DNNL_ARG_WEIGHTS, weights},
            {DNNL_ARG_BIAS, {made.bias_desc(), engine, const_cast<float*>(values.bias.data())}},
            {DNNL_ARG_DST, {made.dst_desc(), engine, out}}};
        const Made kernel(made);
        const std::size_t bytes = std::size_t(l.shape.rows() * l.shape.n) * 4;
        way.steps.push_back([=, this] {
            if (added && added != out) std::memcpy(out, added, bytes);
            kernel.execute(queue, arguments);
        });
    }
    void add(const Plan& plan, const std::vector<Values>& values, Way& way) {
        for (std::size_t i = 0; i < plan.lines.size(); ++i) {
            const Line& l = plan.lines[i];
            const Shape& s = l.shape;
            if (l.kind == "product" && s.conv)
                add_product<dnnl::convolution_forward>(l, values[i], convolution(l),
                                                       desc({s.n, s.c, s.r, s.s}, Tag::hwio), way);
            else if (l.kind == "product")
                add_product<dnnl::inner_product_forward>(l, values[i], product(l),
                                                         desc({s.n, s.c}, Tag::io), way);
            else if (l.kind == "max" || l.kind == "mean") {
                const auto made = pooling(l);
                const dnnl::pooling_forward kernel(made);
                const std::unordered_map<int, dnnl::memory> arguments = {
                    {DNNL_ARG_SRC, {made.src_desc(), engine, way.of(l.in)}},
                    {DNNL_ARG_DST, {made.dst_desc(), engine, way.of(l.out)}}};
                way.steps.push_back([=, this] { kernel.execute(queue, arguments); });
            } else {
                way.add_plain(l);
            }
        }
    }
};

double statistic(std::vector<double> all, bool least) {
    std::sort(all.begin(), all.end());
    if (least) return all.front();
    return all.size() % 2 ? all[all.size() / 2]
                          : 0.5 * (all[all.size() / 2 - 1] + all[all.size() / 2]);
}

int run_network(const Plan& plan, double most_s, bool least) {
    std::vector<Values> values;
    for (std::size_t i = 0; i < plan.lines.size(); ++i)
        values.emplace_back(plan.lines[i].kind == "product" ? plan.lines[i].shape : Shape{}, i + 1);
    Way ours(plan), theirs(plan);
    std::vector<std::unique_ptr<Kernel>> kernels;
    if (!add_kernels(plan, values, ours, kernels)) return 0;
    Library library;
    library.add(plan, values, theirs);
    const dnnl_version_t* version = dnnl_version();
    std::fprintf(stdout, "library oneDNN %d.%d.%d\n", version->major, version->minor, version->patch);
    const std::size_t n = plan.lines.size();
    std::vector<double> took(n), all[2], times[2];
    std::vector<std::vector<double>> each[2];
    double once = 0.0, worst = 0.0, most = 0.0;
    ours.run(took, once);
    theirs.run(took, once);
    for (long i = 0; i < plan.sizes[std::size_t(plan.output)]; ++i) {
        const double a = ours.of(plan.output)[i], b = theirs.of(plan.output)[i];
        worst = std::isfinite(a - b) ? std::max(worst, std::abs(a - b)) : 1e30;
        most = std::max(most, std::abs(b));
    }
    if (!(worst <= 1e-3 * most) || most == 0.0) {
        std::fprintf(stdout, "wrong the results of both differ by %.3g of %.3g\n", worst, most);
        return 0;
    }
    std::fprintf(stdout, "difference %.3g\n", worst / most);
    const auto start = std::chrono::steady_clock::now();
    each[0].resize(n);
    each[1].resize(n);
    while (all[0].size() < 3 ||
           (all[0].size() < 1000 &&
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < most_s))
        for (int way = 0; way < 2; ++way) { // turn about, so that other load meets both
            (way == 0 ? ours : theirs).run(took, once);
            all[way].push_back(once);
            for (std::size_t i = 0; i < n; ++i) each[way][i].push_back(took[i]);
        }
    for (std::size_t i = 0; i < n; ++i)
        std::fprintf(stdout, "step %s %.9g %.9g\n", plan.lines[i].name.c_str(), statistic(each[0][i], least),
                    statistic(each[1][i], least));
    std::fprintf(stdout, "network %.9g %.9g\n", statistic(all[0], least), statistic(all[1], least));
    std::fprintf(stdout, "runs %zu\n", all[0].size());
    return 0;
}

int main(int count, char** words) {
    if (count == 6) { // the number of threads is read when the library is loaded
        setenv("OMP_NUM_THREADS", words[3], 1);
        std::vector<char*> again(words, words + count);
        std::string mark = "loaded";
        again.push_back(mark.data());
        again.push_back(nullptr);
        execv("/proc/self/exe", again.data());
        return 1;
    }
    if (count != 7) return 2;
    confine(std::atoi(words[2]));
    try {
        return run_network(plan_in(words[1]), std::atof(words[4]), !std::strcmp(words[5], "least"));
    } catch (const std::exception& error) { // oneDNN's own
        std::fprintf(stdout, "failed %s\n", error.what());
        return 0;
    }
}
)network";

} // namespace

std::string network_source() {
    return harness_shared() + "#include <functional>\n#include <oneapi/dnnl/dnnl.hpp>\n" +
           kNetworkProgram;
}

} // namespace eyeroof::analysis::tune
