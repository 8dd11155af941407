// The program that runs a candidate: compiled once a session, beside the candidates. What it shares
// with the program that runs a whole network stands first.
#include "analysis/tune/cpu_source.hpp"

namespace eyeroof::analysis::tune {

namespace {

constexpr const char* kShared = R"harness(
#include <dlfcn.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

struct Args {
    const float* in; const float* w; float* out; const long* pixel;
    long rows, cols, depth, taps_h, taps_w, step_r, step_s;
    float* in_panels; float* w_panels;
};
using Step = void (*)(const Args*);

struct Shape { // of a workload; a product has one image of 1 x rows
    long conv, images, h, w, c, n, r, s, sh, sw, ph, pw, dh, dw;
    long out_h() const { return (h + 2 * ph - dh * (r - 1) - 1) / sh + 1; }
    long out_w() const { return (w + 2 * pw - dw * (s - 1) - 1) / sw + 1; }
    long padded_h() const { return h + 2 * ph; }
    long padded_w() const { return w + 2 * pw; }
    long rows() const { return images * out_h() * out_w(); }
};

constexpr long kSlack = 4096;    // floats that vectors and fetches may read beyond an operand
constexpr long kGuard = 1024;    // floats around the result that no one may write
constexpr float kUntouched = -12345.0f;

float value_at(std::uint64_t i) { // multiples of 1/8 within -1 ... 1
    i = (i + 0x9e3779b97f4a7c15ULL) * 0xbf58476d1ce4e5b9ULL;
    return float(long((i >> 40) % 17) - 8) / 8.0f;
}

Shape shape_of(char** words) {
    Shape s{};
    long* to = &s.conv;
    for (int i = 0; i < 14; ++i) to[i] = std::atol(words[i]);
    if (s.conv == 0) { // rows of a product lie next to each other
        s.images = 1;
        s.h = 1;
    }
    return s;
}

void confine(int cpu) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); // ends with its parent
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_FSIZE, &none);
    if (cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        sched_setaffinity(0, sizeof set, &set);
    }
}
)harness";

constexpr const char* kProgram = R"harness(
struct Data {
    Shape shape;
    std::vector<float> input, padded, weights, guarded, in_panels, w_panels;
    std::vector<long> pixel;
    Args args{};

    explicit Data(const Shape& s) : shape(s) {
        const long taps = s.r * s.s;
        input.resize(std::size_t(s.images * s.h * s.w * s.c));
        for (std::size_t i = 0; i < input.size(); ++i) input[i] = value_at(i);
        weights.resize(std::size_t(taps * s.c * s.n + kSlack));
        for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = value_at(i + 7777777);
        padded.assign(std::size_t(s.images * s.padded_h() * s.padded_w() * s.c + kSlack), 0.0f);
        for (long b = 0; b < s.images; ++b)
            for (long y = 0; y < s.out_h(); ++y)
                for (long x = 0; x < s.out_w(); ++x)
                    pixel.push_back(((b * s.padded_h() + y * s.sh) * s.padded_w() + x * s.sw) * s.c);
        guarded.assign(std::size_t(s.rows() * s.n + 2 * kGuard), kUntouched);
        in_panels.resize(std::size_t((s.rows() + 64) * s.c * taps + kSlack));
        w_panels.resize(std::size_t((s.n + 256) * s.c * taps + kSlack));
        args = {padded.data(), weights.data(), guarded.data() + kGuard, pixel.data(), s.rows(),
                s.n, s.c, s.r, s.s, s.dh * s.padded_w() * s.c, s.dw * s.c, in_panels.data(),
                w_panels.data()};
        pad();
    }
    void pad() { // copies the input into its frame; part of what is timed
        const Shape& s = shape;
        if (s.ph == 0 && s.pw == 0) {
            args.in = input.data();
            return;
        }
        for (long b = 0; b < s.images; ++b)
            for (long y = 0; y < s.h; ++y)
                std::memcpy(&padded[std::size_t(((b * s.padded_h() + y + s.ph) * s.padded_w() + s.pw) * s.c)],
                            &input[std::size_t((b * s.h + y) * s.w * s.c)], std::size_t(s.w * s.c) * 4);
    }
    std::vector<float> reference() {
        const Shape& s = shape;
        input.resize(input.size() + kSlack); // unpadded inputs are read in place
        pad();
        std::vector<float> sums(std::size_t(s.rows() * s.n), 0.0f);
        for (long x = 0; x < s.rows(); ++x) {
            float* to = &sums[std::size_t(x * s.n)];
            for (long r = 0; r < s.r; ++r)
                for (long t = 0; t < s.s; ++t)
                    for (long c = 0; c < s.c; ++c) {
                        const float a = args.in[pixel[std::size_t(x)] + r * args.step_r + t * args.step_s + c];
                        const float* w = &weights[std::size_t(((r * s.s + t) * s.c + c) * s.n)];
                        for (long n = 0; n < s.n; ++n) to[n] += a * w[n];
                    }
        }
        return sums;
    }
    void run(Step prepare, Step kernel) {
        pad();
        if (shape.conv == 0) prepare(&args);
        kernel(&args);
    }
    // Empty, or what is wrong with the result.
    std::string checked(const std::vector<float>& wanted) const {
        for (std::size_t i = 0; i < wanted.size(); ++i)
            if (!(args.out[i] == wanted[i])) {
                char text[160];
                std::snprintf(text, sizeof text, "element %zu is %.9g, not %.9g", i,
                              double(args.out[i]), double(wanted[i]));
                return text;
            }
        for (long i = 0; i < kGuard; ++i)
            if (guarded[std::size_t(i)] != kUntouched || guarded[guarded.size() - 1 - std::size_t(i)] != kUntouched)
                return "it writes beyond the result";
        return {};
    }
};

// The same taps, strides and frame on sizes that no tile divides.
Shape odd_of(const Shape& s) {
    Shape odd = s;
    odd.images = 1;
    odd.h = s.conv ? s.dh * (s.r - 1) + 1 + 4 * s.sh : 1;
    odd.w = s.conv ? s.dw * (s.s - 1) + 1 + 10 * s.sw : 61;
    odd.c = 13;
    odd.n = 45;
    return odd;
}

int write_reference(const char* file, const Shape& shape) {
    Data data(shape);
    const std::vector<float> sums = data.reference();
    std::FILE* to = std::fopen(file, "wb");
    const bool ok = to && std::fwrite(sums.data(), 4, sums.size(), to) == sums.size();
    return to && std::fclose(to) == 0 && ok ? 0 : 1;
}

std::vector<float> read_reference(const char* file, long count) {
    std::vector<float> sums(static_cast<std::size_t>(count));
    std::FILE* from = std::fopen(file, "rb");
    if (!from || std::fread(sums.data(), 4, sums.size(), from) != sums.size()) sums.clear();
    if (from) std::fclose(from);
    return sums;
}

// Half the range between the quartiles over the root of their number, as a share of the median.
double doubt(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    const std::size_t n = times.size();
    return 0.5 * (times[3 * n / 4] - times[n / 4]) / std::sqrt(double(n)) / times[n / 2];
}

std::vector<double> timed(Data& data, Step prepare, Step kernel, double most_s) {
    using Clock = std::chrono::steady_clock;
    const auto seconds = [](Clock::time_point a, Clock::time_point b) {
        return std::chrono::duration<double>(b - a).count();
    };
    const auto start = Clock::now();
    data.run(prepare, kernel);
    const double once = seconds(start, Clock::now());
    const long inner = std::max(1L, long(20e-6 / std::max(once, 1e-9)));
    std::vector<double> times;
    while (times.size() < 3 || (times.size() < 100 && seconds(start, Clock::now()) < most_s &&
                                (times.size() < 7 || doubt(times) > 0.005))) {
        const auto begin = Clock::now();
        for (long i = 0; i < inner; ++i) data.run(prepare, kernel);
        times.push_back(seconds(begin, Clock::now()) / double(inner));
    }
    return times;
}

int run(char** words, const Shape& shape) {
    const std::vector<float> wanted = read_reference(words[3], shape.rows() * shape.n);
    void* library = dlopen(words[2], RTLD_NOW | RTLD_LOCAL);
    if (!library || wanted.empty()) {
        std::fprintf(stdout, "failed %s\n", library ? "the reference is missing" : dlerror());
        return 1;
    }
    confine(std::atoi(words[4]));
    const Step prepare = reinterpret_cast<Step>(dlsym(library, "eyeroof_prepare"));
    const Step kernel = reinterpret_cast<Step>(dlsym(library, "eyeroof_kernel"));
    if (!prepare || !kernel) return 1;
    Data odd(odd_of(shape));
    const std::vector<float> odd_wanted = odd.reference();
    prepare(&odd.args);
    odd.run(prepare, kernel);
    std::string wrong = odd.checked(odd_wanted);
    if (!wrong.empty()) {
        std::fprintf(stdout, "wrong on an odd size: %s\n", wrong.c_str());
        return 0;
    }
    Data data(shape);
    data.input.resize(data.input.size() + kSlack);
    prepare(&data.args);
    data.run(prepare, kernel);
    wrong = data.checked(wanted);
    if (!wrong.empty()) {
        std::fprintf(stdout, "wrong: %s\n", wrong.c_str());
        return 0;
    }
    std::string line = "times";
    for (const double time : timed(data, prepare, kernel, std::atof(words[5]))) {
        char text[32];
        std::snprintf(text, sizeof text, " %.9g", time);
        line += text;
    }
    std::fprintf(stdout, "%s\n", line.c_str());
    return 0;
}

int main(int count, char** words) {
    if (count == 3 + 14 && !std::strcmp(words[1], "reference"))
        return write_reference(words[2], shape_of(words + 3));
    if (count == 6 + 14 && !std::strcmp(words[1], "run")) return run(words, shape_of(words + 6));
    return 2;
}
)harness";

} // namespace

std::string harness_shared() {
    return kShared;
}

std::string harness_source() {
    return harness_shared() + kProgram;
}

} // namespace eyeroof::analysis::tune
