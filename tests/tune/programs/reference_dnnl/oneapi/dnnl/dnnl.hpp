// The part of oneDNN 3 that the network program calls, computed in the plainest way: a second
// opinion on every network, where the library itself is not installed.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#define DNNL_VERSION_MAJOR 3
#define DNNL_ARG_SRC 1
#define DNNL_ARG_DST 17
#define DNNL_ARG_WEIGHTS 33
#define DNNL_ARG_BIAS 41

struct dnnl_version_t {
    int major, minor, patch;
};
inline const dnnl_version_t* dnnl_version() {
    static const dnnl_version_t version = {3, 0, 0};
    return &version;
}

namespace dnnl {

enum class prop_kind { forward_inference };
enum class algorithm { convolution_auto, eltwise_relu, pooling_max, pooling_avg_include_padding };

struct engine {
    enum class kind { cpu };
    engine(kind, int) {}
};
struct stream {
    explicit stream(const engine&) {}
    void wait() {}
};

struct memory {
    using dims = std::vector<long>;
    enum class data_type { f32 };
    enum class format_tag { any, x, nc, io, nhwc, hwio };
    struct desc { // as the program names them: nchw, oihw, or rows and columns
        dims sizes;
        format_tag tag = format_tag::any;
        desc() = default;
        desc(const dims& d, data_type, format_tag t) : sizes(d), tag(t) {}
        long count() const {
            long all = 1;
            for (const long n : sizes)
                all *= n;
            return all;
        }
    };
    desc what;
    float* data = nullptr;
    std::shared_ptr<std::vector<float>> own;

    memory() = default;
    memory(const desc& d, const engine&, void* values)
        : what(d), data(static_cast<float*>(values)) {}
    memory(const desc& d, const engine&)
        : what(d), own(std::make_shared<std::vector<float>>(std::size_t(d.count()))) {
        data = own->data();
    }
};

struct reorder { // every layout that is asked for is the one that there is
    reorder(const memory&, const memory&) {}
    void execute(stream&, const memory& from, const memory& to) {
        std::memcpy(to.data, from.data, std::size_t(from.what.count()) * 4);
    }
};

struct post_ops {
    bool sum = false, relu = false;
    void append_sum(float) { sum = true; }
    void append_eltwise(algorithm, float, float) { relu = true; }
};
struct primitive_attr {
    post_ops ops;
    void set_post_ops(const post_ops& o) { ops = o; }
};
using Arguments = std::unordered_map<int, memory>;

struct descs {
    memory::desc src, weights, bias, dst;
    memory::desc src_desc() const { return src; }
    memory::desc weights_desc() const { return weights; }
    memory::desc bias_desc() const { return bias; }
    memory::desc dst_desc() const { return dst; }
};

inline float finished(const post_ops& ops, double sum, float before) {
    const float all = float(sum) + (ops.sum ? before : 0.0f);
    return ops.relu ? std::max(all, 0.0f) : all;
}

struct convolution_forward {
    struct primitive_desc : descs {
        memory::dims stride, dilation, pad;
        post_ops ops;
        primitive_desc(const engine&, prop_kind, algorithm, const memory::desc& s,
                       const memory::desc& w, const memory::desc& b, const memory::desc& d,
                       const memory::dims& strides, const memory::dims& dilations,
                       const memory::dims& frame, const memory::dims&, const primitive_attr& attr)
            : descs{s, w, b, d}, stride(strides), dilation(dilations), pad(frame), ops(attr.ops) {}
    };
    primitive_desc made;
    explicit convolution_forward(const primitive_desc& d) : made(d) {}
    void execute(stream&, const Arguments& all) const {
        const float *in = all.at(DNNL_ARG_SRC).data, *w = all.at(DNNL_ARG_WEIGHTS).data,
                    *bias = all.at(DNNL_ARG_BIAS).data;
        float* out = all.at(DNNL_ARG_DST).data;
        const auto &s = made.src.sizes, &f = made.weights.sizes, &d = made.dst.sizes;
        for (long b = 0; b < d[0]; ++b)
            for (long y = 0; y < d[2]; ++y)
                for (long x = 0; x < d[3]; ++x)
                    for (long k = 0; k < d[1]; ++k) {
                        double sum = bias[k];
                        for (long r = 0; r < f[2]; ++r)
                            for (long q = 0; q < f[3]; ++q) {
                                const long v =
                                    y * made.stride[0] - made.pad[0] + r * (made.dilation[0] + 1);
                                const long u =
                                    x * made.stride[1] - made.pad[1] + q * (made.dilation[1] + 1);
                                if (v < 0 || v >= s[2] || u < 0 || u >= s[3])
                                    continue;
                                for (long c = 0; c < s[1]; ++c)
                                    sum += double(in[((b * s[2] + v) * s[3] + u) * s[1] + c]) *
                                           w[((r * f[3] + q) * f[1] + c) * f[0] + k];
                            }
                        float& to = out[((b * d[2] + y) * d[3] + x) * d[1] + k];
                        to = finished(made.ops, sum, to);
                    }
    }
};

struct inner_product_forward {
    struct primitive_desc : descs {
        post_ops ops;
        primitive_desc(const engine&, prop_kind, const memory::desc& s, const memory::desc& w,
                       const memory::desc& b, const memory::desc& d, const primitive_attr& attr)
            : descs{s, w, b, d}, ops(attr.ops) {}
    };
    primitive_desc made;
    explicit inner_product_forward(const primitive_desc& d) : made(d) {}
    void execute(stream&, const Arguments& all) const {
        const float *in = all.at(DNNL_ARG_SRC).data, *w = all.at(DNNL_ARG_WEIGHTS).data;
        float* out = all.at(DNNL_ARG_DST).data;
        const long m = made.dst.sizes[0], n = made.dst.sizes[1], k = made.src.sizes[1];
        for (long i = 0; i < m; ++i)
            for (long j = 0; j < n; ++j) {
                double sum = all.at(DNNL_ARG_BIAS).data[j];
                for (long c = 0; c < k; ++c)
                    sum += double(in[i * k + c]) * w[c * n + j];
                out[i * n + j] = finished(made.ops, sum, out[i * n + j]);
            }
    }
};

struct pooling_forward {
    struct primitive_desc : descs {
        algorithm kind;
        memory::dims stride, window, pad;
        primitive_desc(const engine&, prop_kind, algorithm a, const memory::desc& s,
                       const memory::desc& d, const memory::dims& strides, const memory::dims& w,
                       const memory::dims&, const memory::dims& frame, const memory::dims&)
            : descs{s, {}, {}, d}, kind(a), stride(strides), window(w), pad(frame) {}
    };
    primitive_desc made;
    explicit pooling_forward(const primitive_desc& d) : made(d) {}
    void execute(stream&, const Arguments& all) const {
        const float* in = all.at(DNNL_ARG_SRC).data;
        float* out = all.at(DNNL_ARG_DST).data;
        const auto &s = made.src.sizes, &d = made.dst.sizes;
        const bool most = made.kind == algorithm::pooling_max;
        for (long b = 0; b < d[0]; ++b)
            for (long y = 0; y < d[2]; ++y)
                for (long x = 0; x < d[3]; ++x)
                    for (long c = 0; c < d[1]; ++c) {
                        double found = most ? -1e30 : 0.0;
                        for (long r = 0; r < made.window[0]; ++r)
                            for (long q = 0; q < made.window[1]; ++q) {
                                const long v = y * made.stride[0] - made.pad[0] + r;
                                const long u = x * made.stride[1] - made.pad[1] + q;
                                if (v < 0 || v >= s[2] || u < 0 || u >= s[3])
                                    continue;
                                const double value = in[((b * s[2] + v) * s[3] + u) * s[1] + c];
                                found = most ? std::max(found, value) : found + value;
                            }
                        out[((b * d[2] + y) * d[3] + x) * d[1] + c] =
                            float(most ? found : found / double(made.window[0] * made.window[1]));
                    }
    }
};

} // namespace dnnl
