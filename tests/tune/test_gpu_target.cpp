// The GPU target from end to end on a GPU that is none: generated kernels compute the right result
// in emulation, compile with NVRTC where it is there, and what goes wrong is told by its kind.
#include "analysis/tune/gpu_source.hpp"
#include "analysis/tune/gpu_target.hpp"
#include "analysis/tune/nvrtc.hpp"
#include "tests/near.hpp"
#include "tests/tune/workloads.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

namespace test_tune_gpu_target {

using namespace eyeroof;
using namespace eyeroof::analysis::tune;
using eyeroof::tests::convolution;
using eyeroof::tests::product;

namespace {

bool compiler_works() {
    static const bool works = std::system("c++ --version >/dev/null 2>&1") == 0; // NOLINT
    return works;
}

GpuOptions emulated() {
    GpuOptions options;
    options.driver = EYEROOF_FAKE_CUDA;
    options.nvrtc = EYEROOF_FAKE_CUDA;
    options.time_s = 0.0;
    options.limit_s = 600.0; // machines that run tests are busy
    return options;
}

int points_wanted(int usual) {
    const char* told = std::getenv("EYEROOF_GPU_POINTS"); // NOLINT: no one changes it
    return told == nullptr ? usual : std::atoi(told);
}

struct Variable { // of the environment, for one test
    explicit Variable(const char* name, const char* value) : name_(name) {
        ::setenv(name, value, 1);
    }
    ~Variable() { ::unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const char* name_;
};

void check_points(const Workload& work, int points, std::uint64_t seed) {
    auto session = GpuSession::open(emulated());
    REQUIRE(session);
    const Space space = gpu_space(work, (*session)->machine());
    const auto target = (*session)->target(work, space);
    REQUIRE(target);
    Rng rng(seed);
    for (int n = 0; n < points; ++n) {
        const Point point = *space.draw(rng);
        const Outcome outcome = (*target)->measure(point);
        CHECK_MESSAGE(outcome.ok(), work.name, ": ", outcome.error, " ", outcome.detail, " of ",
                      plan_text(gpu_plan(space, point, work, (*session)->machine())));
    }
}

Outcome with_source(const std::function<std::string(const GpuPlan&)>& source,
                    double limit_s = 600.0) {
    GpuOptions options = emulated();
    options.source = source;
    options.limit_s = limit_s;
    auto session = GpuSession::open(options);
    REQUIRE(session);
    const Workload work = product(37, 52, 64);
    const Space space = gpu_space(work, (*session)->machine());
    const auto target = (*session)->target(work, space);
    REQUIRE(target);
    Rng rng(1);
    return (*target)->measure(*space.draw(rng));
}

// The generated text with other words in it.
std::function<std::string(const GpuPlan&)> changed(const std::string& from, const std::string& to) {
    return [=](const GpuPlan& plan) {
        std::string text = gpu_source(plan);
        REQUIRE(text.find(from) != std::string::npos);
        return text.replace(text.find(from), from.size(), to);
    };
}

} // namespace

TEST_CASE("random candidates of the GPU template give the exact result of products in emulation" *
          doctest::skip(!compiler_works())) {
    check_points(product(83, 52, 136), points_wanted(4), 1);  // whole slices
    check_points(product(130, 45, 101), points_wanted(3), 2); // nothing divides
}

TEST_CASE("random candidates of the GPU template give the exact result of convolutions in "
          "emulation" *
          doctest::skip(!compiler_works())) {
    check_points(convolution(2, 64, 9, 7, 24, 3, 1, 1), points_wanted(3), 3);
    check_points(convolution(1, 3, 21, 17, 20, 7, 2, 3), points_wanted(3), 4); // slices over taps
}

TEST_CASE("GPUs before asynchronous copies get kernels that copy through registers" *
          doctest::skip(!compiler_works())) {
    const Variable older("EYEROOF_FAKE_CAPABILITY_7", "1");
    check_points(product(83, 52, 136), points_wanted(3), 5);
    check_points(convolution(1, 12, 9, 8, 20, 3, 2, 1), points_wanted(2), 6);
}

TEST_CASE("what goes wrong on a GPU costs a trial and is told by its kind" *
          doctest::skip(!compiler_works())) {
    CHECK(with_source([](const GpuPlan&) { return "this is no CUDA"; }).error == "compile");
    CHECK(with_source(changed("*to = sums", "*(volatile int*)8 = 1; *to = sums")).error == "crash");
    CHECK(with_source(changed("Sums sums;", "Sums sums; for (volatile int i = 0; i == 0;) {}"), 5.0)
              .error == "timeout");
    CHECK(with_source(changed("sums.at[i][j] += x[i]", "sums.at[i][j] += 2.0f * x[i]")).error ==
          "wrong");
    CHECK(with_source(changed("&& n + COL_OF(j) < a.cols", "")).error != ""); // over the edge
}

TEST_CASE("a barrier that some threads never reach is an error of the kernel" *
          doctest::skip(!compiler_works())) {
    const Outcome outcome =
        with_source(changed("    write(a, sums", "    if (threadIdx.x == 0) __syncthreads();\n"
                                                 "    write(a, sums"));
    CHECK(outcome.error == "crash");
    CHECK(outcome.detail.find("ILLEGAL_ADDRESS") != std::string::npos);
}

TEST_CASE("without a driver, a GPU or NVRTC the target is told to be unavailable, with a hint") {
    const auto refused = [](const GpuOptions& options) {
        const auto session = GpuSession::open(options);
        REQUIRE(!session);
        CHECK(session.diagnostics().items().front().code == "unavailable");
        CHECK(!session.diagnostics().items().front().hint.empty());
        return session.diagnostics().items().front().message;
    };
    GpuOptions options = emulated();
    options.driver = "/nonexistent/libcuda.so";
    CHECK(refused(options).find("no NVIDIA driver") != std::string::npos);
    options = emulated();
    options.nvrtc = "/nonexistent/libnvrtc.so";
    CHECK(refused(options).find("NVRTC") != std::string::npos);
    options = emulated();
    options.device = 3;
    CHECK(refused(options).find("no GPU 3") != std::string::npos);
    const Variable none("EYEROOF_FAKE_CUDA", "none");
    CHECK(refused(emulated()).find("CUDA_ERROR_NO_DEVICE") != std::string::npos);
}

TEST_CASE("the machine of a session is the device's own") {
    const auto session = GpuSession::open(emulated());
    REQUIRE(session);
    const GpuMachine& machine = (*session)->machine();
    CHECK(machine.name == "Emulated GPU");
    CHECK(machine.capability == 80);
    CHECK(machine.sms == 4);
    CHECK(machine.lanes == 64);
    CHECK(machine.cta_shared_bytes == 227 << 10);
    CHECK(machine.dram_bytes_per_s == eyeroof::tests::near(2.0 * 1e9 * 1024 / 8));
    CHECK((*session)->compiler() == "NVRTC 99.9, driver 99.9");
}

TEST_CASE("points of the GPU template compile with NVRTC for every GPU generation it knows") {
    const char* told = std::getenv("EYEROOF_NVRTC"); // NOLINT: no one changes it
    const auto nvrtc = Nvrtc::open(told == nullptr ? "" : told);
    if (!nvrtc) {
        MESSAGE("skipped: ", nvrtc.diagnostics().items().front().message);
        return;
    }
    for (const int capability : {70, 75, 80, 86, 90}) {
        if (!nvrtc->capabilities().empty() && capability < nvrtc->capabilities().front()) {
            MESSAGE(nvrtc->version(), " has no sm_", capability);
            continue;
        }
        const GpuMachine machine = with_limits_of(capability, GpuMachine{});
        for (const Workload& work : {product(512, 512, 512), convolution(1, 3, 56, 56, 64, 7, 2, 3),
                                     convolution(1, 64, 14, 14, 128, 3, 1, 1)}) {
            const Space space = gpu_space(work, machine);
            Rng rng(static_cast<std::uint64_t>(capability));
            for (int n = 0; n < points_wanted(1); ++n) {
                const GpuPlan plan = gpu_plan(space, *space.draw(rng), work, machine);
                const auto image = nvrtc->compile(gpu_source(plan), capability, {});
                CHECK_MESSAGE(image, capability, ": ", plan_text(plan), ": ",
                              image ? "" : image.diagnostics().items().front().message);
                CHECK(image->binary);
                const auto text = nvrtc->compile(gpu_source(plan), capability, {}, true);
                REQUIRE(text);
                const std::string ptx = text->bytes;
                CHECK(ptx.find(".visible .entry eyeroof_kernel") != std::string::npos);
                CHECK((ptx.find("cp.async") != std::string::npos) == plan.async);
                CHECK((ptx.find("red.global.add") != std::string::npos ||
                       ptx.find("atom.global.add") != std::string::npos) == (plan.split_k > 1));
            }
        }
    }
}

} // namespace test_tune_gpu_target
