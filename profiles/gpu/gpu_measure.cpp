// The library that measures a GPU, opened by the program at run time. What is measured and how is
// described in docs/measuring.md. Not yet run on a GPU: tests/gpu/validate.sh does that.
#include "profiles/collect/device_facts.hpp"
#include "profiles/collect/gpu_measure_abi.h"
#include "profiles/gpu/gpu_timer.hpp"
#include "profiles/gpu/kernels.hpp"
#include "profiles/gpu/lt_product.hpp"
#include "profiles/profile_file.hpp"

#include <fmt/format.h>

#include <cstring>

namespace eyeroof::gpu {

namespace {

using profiles::Ceiling;

constexpr std::size_t kMiB = std::size_t{1} << 20U;
constexpr std::size_t kWorkspaceBytes = 64 * kMiB;

struct Cancelled {};

// Blocks enough to fill every SM several times over, for the loops that stride over a grid.
Grid full_grid(const cudaDeviceProp& device, int threads) {
    constexpr int kBlocksPerSm = 8;
    return {device.multiProcessorCount * kBlocksPerSm, threads};
}

class GpuMeasurement {
  public:
    explicit GpuMeasurement(const EyeroofGpuMeasureRequest& request) : request_(request) {
        check(cudaSetDevice(request.device), "cudaSetDevice");
        check(cudaGetDeviceProperties(&device_, request.device), "cudaGetDeviceProperties");
        check(cudaMemGetInfo(&free_bytes_, &total_bytes_), "cudaMemGetInfo");
    }

    profiles::Profile run() {
        profiles::RunInfo& info = built_.profile.run;
        info.tool = "eyeroof-measure-gpu";
        built_.source("measure gpu");
        profiles::describe_device(info, request_.device);
        profiles::DeviceWatch watch(request_.device);
        {
            Timer timer(request_.trials, request_.trial_s);
            timer_ = &timer;
            measure_dram();
            measure_caches();
            measure_fma();
            measure_launches();
            measure_pcie();
            measure_products();
            timer_ = nullptr;
        }
        watch.finish(info);
        return std::move(built_.profile);
    }

  private:
    void tell(const std::string& activity) {
        constexpr double kActivities = 32.0;
        if (request_.stopped != nullptr && request_.stopped(request_.user) != 0) {
            throw Cancelled{};
        }
        if (request_.progress != nullptr) {
            request_.progress(request_.user, std::min(0.99, done_++ / kActivities),
                              activity.c_str());
        }
    }

    // `amount` of one repeat over its time; for an overhead (amount 0) the time itself.
    void add(Ceiling ceiling, double amount, const Trials& trials) {
        const bool rate = amount > 0.0;
        ceiling.value = rate ? amount / trials.best() : trials.best();
        ceiling.median = rate ? amount / trials.median() : trials.median();
        ceiling.spread = 1.0 - trials.best() / trials.worst();
        ceiling.trials = static_cast<std::int64_t>(trials.seconds.size());
        built_.profile.ceilings.push_back(std::move(ceiling));
    }

    // Arrays that no cache holds: four times L2, at least 256 MiB, at most a quarter of the memory.
    std::size_t dram_bytes() const {
        const std::size_t wanted =
            std::max(4 * static_cast<std::size_t>(device_.l2CacheSize), 256 * kMiB);
        return std::min(wanted, free_bytes_ / 4) / kMiB * kMiB;
    }

    void measure_dram() {
        const std::size_t bytes = dram_bytes();
        const DeviceMemory from(bytes);
        const DeviceMemory to(bytes);
        const DeviceMemory sink(256);
        const Grid grid = full_grid(device_, 512);
        const cudaStream_t stream = timer_->stream();
        fill_random(from.get(), bytes / sizeof(float), Fill::fp32, stream);
        const std::string size = fmt::format("{} MiB, 16 B a thread", bytes / kMiB);
        const auto amount = static_cast<double>(bytes);
        tell("reading DRAM");
        add({.name = "dram read", .level = "dram", .how = size}, amount, timer_->on_device([&] {
            read_global(from.get(), bytes, static_cast<float*>(sink.get()), grid, stream);
        }));
        tell("copying DRAM");
        add({.name = "dram copy", .level = "dram", .how = size + ", read and written bytes"},
            2.0 * amount,
            timer_->on_device([&] { copy_global(from.get(), to.get(), bytes, grid, stream); }));
        tell("writing DRAM");
        add({.name = "dram write", .level = "dram", .how = size}, amount,
            timer_->on_device([&] { write_global(to.get(), bytes, grid, stream); }));
    }

    void measure_caches() {
        constexpr int kRounds = 64;
        const cudaStream_t stream = timer_->stream();
        const DeviceMemory sink(256);
        float* const out = static_cast<float*>(sink.get());
        const std::size_t l2 =
            std::max<std::size_t>(static_cast<std::size_t>(device_.l2CacheSize) / 4, kMiB);
        const Grid grid = full_grid(device_, 512);
        const Grid pair{2 * device_.multiProcessorCount, 512};
        const DeviceMemory data(std::max(l2, kL1Bytes * static_cast<std::size_t>(pair.blocks)));
        fill_random(data.get(), l2 / sizeof(float), Fill::fp32, stream);
        tell("reading L2");
        add({.name = "l2 read",
             .level = "l2",
             .how = fmt::format("{} KiB past L1, {} rounds", l2 / 1024, kRounds)},
            static_cast<double>(l2) * kRounds,
            timer_->on_device([&] { read_l2(data.get(), l2, kRounds, out, grid, stream); }));
        constexpr int kInner = 2000;
        tell("reading L1");
        add({.name = "l1 read",
             .level = "l1",
             .how = fmt::format("{} KiB a block, two blocks an SM", kL1Bytes / 1024)},
            static_cast<double>(kL1Bytes) * kInner * pair.blocks,
            timer_->on_device([&] { read_l1(data.get(), kInner, out, pair, stream); }));
        tell("reading shared memory");
        const Grid threads{2 * device_.multiProcessorCount, 1024};
        constexpr double kBytesPerThread = 16.0;
        add({.name = "shared read",
             .level = "shared",
             .how = "16 B a thread without bank conflicts"},
            kBytesPerThread * kInner * threads.blocks * threads.threads,
            timer_->on_device([&] { read_shared(kInner, out, threads, stream); }));
    }

    void measure_fma() {
        constexpr int kRounds = 4096;
        constexpr int kSlowRounds = 256; // GPUs without much fp64 take 64 times as long
        const DeviceMemory sink(256);
        float* const out = static_cast<float*>(sink.get());
        const Grid grid = full_grid(device_, 256);
        const cudaStream_t stream = timer_->stream();
        const double per_round = 2.0 * kFmaChains * grid.blocks * grid.threads;
        const auto one = [&](const char* precision, double flops, const std::function<void()>& go) {
            tell(std::string("multiply-add ") + precision);
            add({.name = std::string("fma ") + precision,
                 .precision = precision,
                 .pipe = "fma",
                 .how = fmt::format("{} independent chains a thread", kFmaChains)},
                flops, timer_->on_device(go));
        };
        one("fp64", per_round * kSlowRounds,
            [&] { fma_fp64(kSlowRounds, static_cast<double*>(sink.get()), grid, stream); });
        one("fp32", per_round * kRounds, [&] { fma_fp32(kRounds, out, grid, stream); });
        one("fp16", 2.0 * per_round * kRounds, [&] { fma_fp16(kRounds, out, grid, stream); });
    }

    // Host time of one launch: back to back, as nodes of a graph, and with waiting for its end.
    void measure_launches() {
        constexpr int kNodes = 100;
        const cudaStream_t stream = timer_->stream();
        tell("launching");
        add({.name = "launch eager", .how = "empty kernels back to back, host time"}, 0.0,
            timer_->on_host([&] { nothing(stream); }));
        tell("launching and waiting");
        add({.name = "launch and wait", .how = "an empty kernel and a synchronisation"}, 0.0,
            timer_->on_host([&] {
                nothing(stream);
                check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
            }));
        tell("launching a graph");
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t executable = nullptr;
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
              "cudaStreamBeginCapture");
        for (int i = 0; i < kNodes; ++i) {
            nothing(stream);
        }
        check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
        check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
        Trials trials =
            timer_->on_host([&] { check(cudaGraphLaunch(executable, stream), "cudaGraphLaunch"); });
        for (double& seconds : trials.seconds) {
            seconds /= kNodes;
        }
        add({.name = "launch graph",
             .how = fmt::format("a node of a graph of {} empty kernels", kNodes)},
            0.0, trials);
        cudaGraphExecDestroy(executable);
        cudaGraphDestroy(graph);
    }

    void measure_pcie() {
        const std::size_t bytes = std::min(256 * kMiB, free_bytes_ / 4);
        const DeviceMemory device(bytes);
        const PinnedMemory pinned(bytes);
        std::vector<char> pageable(bytes, 1);
        std::memset(pinned.get(), 1, bytes);
        const std::string size = fmt::format("{} MiB", bytes / kMiB);
        const auto one = [&](const char* name, void* host, bool to_device) {
            tell(std::string("copying: ") + name);
            add({.name = name, .level = "pcie", .how = size}, static_cast<double>(bytes),
                timer_->on_host([&] {
                    check(to_device ? cudaMemcpyAsync(device.get(), host, bytes,
                                                      cudaMemcpyHostToDevice, timer_->stream())
                                    : cudaMemcpyAsync(host, device.get(), bytes,
                                                      cudaMemcpyDeviceToHost, timer_->stream()),
                          "cudaMemcpyAsync");
                    check(cudaStreamSynchronize(timer_->stream()), "cudaStreamSynchronize");
                }));
        };
        one("pcie to device, pinned", pinned.get(), true);
        one("pcie to host, pinned", pinned.get(), false);
        one("pcie to device, pageable", pageable.data(), true);
        one("pcie to host, pageable", pageable.data(), false);
    }

    void measure_products() {
        std::string why;
        const auto library =
            LtLibrary::open(request_.library_folder != nullptr ? request_.library_folder : "", why);
        if (library == nullptr) {
            built_.profile.notes.push_back("no products: " + why);
            return;
        }
        const DeviceMemory workspace(kWorkspaceBytes);
        for (const LtType& type : kLtTypes) {
            measure_type(*library, type, workspace.get());
        }
        if (request_.layers != 0) {
            for (const std::int64_t side : {200, 2000}) {
                measure_with_copies(*library, side, workspace.get());
            }
        }
    }

    // The square product that fills the GPU: 8192, or less where memory is short or the type slow.
    void measure_type(const LtLibrary& library, const LtType& type, void* workspace) {
        const double capability = device_.major + 0.1 * device_.minor;
        if (capability + 1e-6 < type.least_capability) {
            return;
        }
        std::int64_t side = type.in_bytes == 8 || !type.tensor ? 4096 : 8192;
        const auto need = [&] {
            const auto elements = static_cast<std::size_t>(side * side);
            return elements * (2 * type.in_bytes + type.out_bytes);
        };
        while (need() > free_bytes_ / 2 && side > 512) {
            side /= 2;
        }
        const std::string name =
            (type.tensor ? std::string("tensor ") : std::string("library ")) + type.precision;
        tell("product, " + name);
        const LtProduct product(library, type, side, side, side, kWorkspaceBytes);
        if (!product.supported()) {
            built_.profile.notes.push_back("cuBLASLt has no " + name + " product for this GPU");
            return;
        }
        const auto elements = static_cast<std::size_t>(side * side);
        const DeviceMemory a(elements * type.in_bytes);
        const DeviceMemory b(elements * type.in_bytes);
        const DeviceMemory d(elements * type.out_bytes);
        fill_random(a.get(), elements, type.fill, timer_->stream());
        fill_random(b.get(), elements, type.fill, timer_->stream());
        const double cubed =
            static_cast<double>(side) * static_cast<double>(side) * static_cast<double>(side);
        add({.name = name,
             .precision = type.precision,
             .pipe = type.tensor ? "tensor" : "fma",
             .how = fmt::format("cuBLASLt product {0}x{0}x{0} of random numbers", side)},
            2.0 * cubed, timer_->on_device([&] { multiply(product, a, b, d, workspace); }));
    }

    void multiply(const LtProduct& product, const DeviceMemory& a, const DeviceMemory& b,
                  const DeviceMemory& d, void* workspace) const {
        if (const int status =
                product.run(a.get(), b.get(), d.get(), workspace, timer_->stream())) {
            throw Failure{{profiles::Fault::internal, status, "cublasLtMatmul"}};
        }
    }

    // The classic experiment: the same product with operands that stay, and that are copied each
    // time.
    void measure_with_copies(const LtLibrary& library, std::int64_t side, void* workspace) {
        const LtType& type = lt_type("fp32", false);
        const LtProduct product(library, type, side, side, side, kWorkspaceBytes);
        if (!product.supported()) {
            return;
        }
        const auto bytes = static_cast<std::size_t>(side * side) * sizeof(float);
        const DeviceMemory a(bytes);
        const DeviceMemory b(bytes);
        const DeviceMemory d(bytes);
        fill_random(a.get(), bytes / sizeof(float), Fill::fp32, timer_->stream());
        fill_random(b.get(), bytes / sizeof(float), Fill::fp32, timer_->stream());
        const std::string name = fmt::format("gemm {0}x{0}x{0} fp32", side);
        tell(name);
        add_product(name + " gpu", side, 0,
                    timer_->on_device([&] { multiply(product, a, b, d, workspace); }));
        const PinnedMemory pinned(3 * bytes);
        std::vector<char> pageable(3 * bytes);
        for (const auto& [kind, host] : {std::pair{"pinned", static_cast<char*>(pinned.get())},
                                         std::pair{"pageable", pageable.data()}}) {
            const auto times = timer_->on_host([&, from = host] {
                const cudaStream_t stream = timer_->stream();
                cudaMemcpyAsync(a.get(), from, bytes, cudaMemcpyHostToDevice, stream);
                cudaMemcpyAsync(b.get(), from + bytes, bytes, cudaMemcpyHostToDevice, stream);
                multiply(product, a, b, d, workspace);
                cudaMemcpyAsync(from + 2 * bytes, d.get(), bytes, cudaMemcpyDeviceToHost, stream);
                check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
            });
            add_product(fmt::format("{} gpu, copied each time, {}", name, kind), side, 3 * bytes,
                        times);
        }
    }

    void add_product(const std::string& name, std::int64_t side, std::size_t copied,
                     const Trials& trials) {
        profiles::Launch launch;
        launch.kernel = built_.kernel(name);
        launch.op = built_.op({"gemm", {{side, side}, {side, side}}, {"float"}, {}});
        launch.op_call = static_cast<std::int64_t>(built_.profile.launches.size());
        launch.device = request_.device;
        launch.duration_ns = trials.median() * 1e9;
        const auto n = static_cast<double>(side);
        launch.counters["flops.fp32.fma"] = 2.0 * n * n * n;
        if (copied > 0) {
            launch.counters["bytes.pcie"] = static_cast<double>(copied);
        } else {
            launch.counters["bytes.dram"] = 3.0 * n * n * sizeof(float);
        }
        launch.counters["best_ns"] = trials.best() * 1e9;
        launch.counters["trials"] = static_cast<double>(trials.seconds.size());
        built_.profile.launches.push_back(std::move(launch));
    }

    const EyeroofGpuMeasureRequest& request_;
    cudaDeviceProp device_{};
    std::size_t free_bytes_ = 0, total_bytes_ = 0;
    profiles::ProfileBuilder built_;
    Timer* timer_ = nullptr;
    int done_ = 0;
};

} // namespace

} // namespace eyeroof::gpu

extern "C" __attribute__((visibility("default"))) int
eyeroof_measure_gpu(const EyeroofGpuMeasureRequest* request,
                    void (*result)(void* user, const char* text)) {
    using namespace eyeroof; // NOLINT
    const auto fail = [&](const profiles::BackendFault& fault) {
        result(request->user, profiles::fault_text(fault).c_str());
        return 1;
    };
    if (request->version != EYEROOF_GPU_MEASURE_VERSION) {
        return fail({profiles::Fault::wrong_version, request->version, "eyeroof_measure_gpu"});
    }
    try {
        result(request->user, profiles::profile_text(gpu::GpuMeasurement(*request).run()).c_str());
        return 0;
    } catch (const gpu::Failure& failure) {
        return fail(failure.fault);
    } catch (const gpu::Cancelled&) {
        return fail({profiles::Fault::internal, 0, "cancelled"});
    } catch (const std::exception& error) {
        return fail({profiles::Fault::internal, 0, error.what()});
    }
}
