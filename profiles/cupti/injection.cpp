// The library that CUDA loads into the profiled program (CUDA_INJECTION64_PATH). It exports two
// functions and hides everything else. Whatever goes wrong, it writes why, and the program runs on.
#include "profiles/collect/collector.hpp"
#include "profiles/collect/work_folder.hpp"
#include "profiles/cupti/context_counters.hpp"
#include "profiles/cupti/nvtx_stack.hpp"
#include "profiles/cupti/timing_log.hpp"

// What the next header uses, and includes itself only since CUDA 12.8.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <nvtx3/nvToolsExtSync.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <generated_nvtx_meta.h>
#pragma GCC diagnostic pop

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>

namespace {

using namespace eyeroof;
using namespace eyeroof::profiles;

// Everything of one process. Lives until the process ends and is never destroyed: callbacks may
// come from threads that outlive main.
struct Session {
    CollectRequest request;
    CuptiApi api;
    std::ofstream out;
    std::unique_ptr<ContextCounters> counters;
    std::unique_ptr<Collector> collector;
    std::unique_ptr<TimingLog> timing;
    std::mutex mutex;
    pid_t process = 0; // a fork of the program has the session too, and must not write
    std::atomic<bool> broken{false};
    bool inside = false; // replay may call back: such calls are not launches of the program
    bool ended = false;
};

Session* session = nullptr;

// A new file of this process alone: processes of two containers may have one number.
std::string new_output(const CollectRequest& request, const char* extension) {
    constexpr int kTries = 1000;
    const std::string begin =
        request.folder + "/" + request.mode + "-" + request.token + "-" + std::to_string(getpid());
    for (int i = 0; i < kTries; ++i) {
        const std::string path = begin + (i == 0 ? "" : "." + std::to_string(i)) + extension;
        const int file = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC,
                              S_IRUSR | S_IWUSR);
        if (file >= 0) {
            close(file);
            return path;
        }
    }
    return {};
}

void leave_fault(const CollectRequest& request, const BackendFault& fault) {
    std::ofstream(new_output(request, ".fault")) << fault_text(fault) << '\n';
}

// Nothing may be thrown into CUDA or into the program: what fails ends the collecting, with a word.
template <class Work> void guarded(Work work) noexcept {
    if (session->broken || session->process != getpid()) {
        return;
    }
    try {
        work();
    } catch (const std::exception& error) {
        if (!session->broken.exchange(true)) {
            try {
                leave_fault(session->request, {Fault::internal, 0, error.what()});
            } catch (...) { // not even that: the program goes on
            }
        }
    } catch (...) {
        session->broken = true;
    }
}

// Grid and block as the driver's call has them; nothing for calls that launch no single kernel.
bool read_launch(CUpti_CallbackId id, const CUpti_CallbackData& data, LaunchSeen& seen) {
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz: {
        const auto& p = *static_cast<const cuLaunchKernel_params*>(data.functionParams);
        seen.grid = {p.gridDimX, p.gridDimY, p.gridDimZ};
        seen.block = {p.blockDimX, p.blockDimY, p.blockDimZ};
        break;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz: {
        const auto& c = *static_cast<const cuLaunchKernelEx_params*>(data.functionParams)->config;
        seen.grid = {c.gridDimX, c.gridDimY, c.gridDimZ};
        seen.block = {c.blockDimX, c.blockDimY, c.blockDimZ};
        break;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz: {
        const auto& p = *static_cast<const cuLaunchCooperativeKernel_params*>(data.functionParams);
        seen.grid = {p.gridDimX, p.gridDimY, p.gridDimZ};
        seen.block = {p.blockDimX, p.blockDimY, p.blockDimZ};
        break;
    }
    default:
        return false;
    }
    seen.mangled = data.symbolName != nullptr ? data.symbolName : "(unnamed kernel)";
    if (!nvtx_ranges().empty()) {
        seen.range = nvtx_ranges().back().text;
        seen.range_call = nvtx_ranges().back().number;
    }
    return true;
}

void on_launch(CUpti_CallbackId id, const CUpti_CallbackData& data) {
    LaunchSeen seen;
    if (data.callbackSite != CUPTI_API_ENTER || !read_launch(id, data, seen)) {
        return;
    }
    if (session->timing) {
        session->timing->launch_begins(data.correlationId, seen.range, seen.range_call);
        return;
    }
    const std::unique_lock lock(session->mutex, std::try_to_lock);
    if (!lock.owns_lock() || session->inside || session->ended) {
        return; // a launch that replay or another thread makes meanwhile: the counts will differ
    }
    session->inside = true;
    session->counters->use(data.context);
    const bool had_fault = session->collector->fault().has_value();
    session->collector->launch_begins(seen);
    if (!had_fault && session->collector->fault()) {
        leave_fault(session->request, *session->collector->fault());
    }
    session->inside = false;
}

void on_resource(CUpti_CallbackId id) {
    if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING && session->collector) {
        const std::lock_guard lock(session->mutex);
        session->collector->context_ends();
    }
}

void on_nvtx(CUpti_CallbackId id, const CUpti_NvtxData& data) {
    const auto message_of = [](const nvtxEventAttributes_t* attributes) {
        return attributes != nullptr && attributes->messageType == NVTX_MESSAGE_TYPE_ASCII
                   ? attributes->message.ascii
                   : nullptr;
    };
    switch (id) {
    case CUPTI_CBID_NVTX_nvtxRangePushA:
        push_nvtx(static_cast<const nvtxRangePushA_params*>(data.functionParams)->message);
        break;
    case CUPTI_CBID_NVTX_nvtxRangePushEx:
        push_nvtx(message_of(
            static_cast<const nvtxRangePushEx_params*>(data.functionParams)->eventAttrib));
        break;
    case CUPTI_CBID_NVTX_nvtxDomainRangePushEx:
        push_nvtx(message_of(static_cast<const nvtxDomainRangePushEx_params*>(data.functionParams)
                                 ->core.eventAttrib));
        break;
    case CUPTI_CBID_NVTX_nvtxRangePop:
    case CUPTI_CBID_NVTX_nvtxDomainRangePop:
        pop_nvtx();
        break;
    default:
        break;
    }
}

void CUPTIAPI on_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void* data) {
    guarded([&] {
        if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
            on_launch(id, *static_cast<const CUpti_CallbackData*>(data));
        } else if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
            on_resource(id);
        } else if (domain == CUPTI_CB_DOMAIN_NVTX) {
            on_nvtx(id, *static_cast<const CUpti_NvtxData*>(data));
        }
    });
}

constexpr std::size_t kBufferBytes = std::size_t{4} << 20U;

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
    constexpr std::size_t kAlignment = 8;
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBufferBytes));
    *size = *buffer != nullptr ? kBufferBytes : 0;
    *most_records = 0;
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                          std::size_t valid) {
    guarded([&] {
        if (session->timing && valid > 0) {
            session->timing->take(buffer, valid);
        }
    });
    std::free(buffer);
}

// At exit the primary context is mostly still there; what can no longer be read is called lost.
void end_session() {
    if (session->timing) {
        session->api.cuptiActivityFlushAll(1);
        session->timing->finish();
    } else {
        const std::lock_guard lock(session->mutex);
        session->ended = true;
        session->collector->finish();
    }
    session->out.flush();
}

void at_end() {
    guarded(&end_session);
}

std::optional<BackendFault> subscribe() {
    const CuptiApi& api = session->api;
    CUpti_SubscriberHandle subscriber = nullptr;
    const CUptiResult code = api.cuptiSubscribe(&subscriber, &on_callback, nullptr);
    if (code != CUPTI_SUCCESS) {
        return fault_of_cupti(static_cast<int>(code), "cuptiSubscribe");
    }
    for (const CUpti_CallbackId id :
         {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
          CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
          CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
          CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz}) {
        api.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
    }
    api.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                            CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
    for (const CUpti_CallbackId id :
         {CUPTI_CBID_NVTX_nvtxRangePushA, CUPTI_CBID_NVTX_nvtxRangePushEx,
          CUPTI_CBID_NVTX_nvtxDomainRangePushEx, CUPTI_CBID_NVTX_nvtxRangePop,
          CUPTI_CBID_NVTX_nvtxDomainRangePop}) {
        api.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_NVTX, id);
    }
    return std::nullopt;
}

std::optional<BackendFault> begin_timing() {
    session->timing = std::make_unique<TimingLog>(session->api, session->out);
    CUptiResult code = session->api.cuptiActivityRegisterCallbacks(&give_buffer, &take_buffer);
    if (code == CUPTI_SUCCESS) {
        code = session->api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    }
    return code == CUPTI_SUCCESS
               ? std::nullopt
               : std::optional(fault_of_cupti(static_cast<int>(code), "cuptiActivityEnable"));
}

// What the runner asks for; nothing when the library was loaded without a runner.
std::optional<CollectRequest> read_request() {
    const char* path = std::getenv(kRequestVariable); // the only one: this is the library's main
    if (path == nullptr) {
        return std::nullopt;
    }
    // It names a folder to write to and a library to load: others must not have written it.
    if (!is_private_file(path)) {
        return std::nullopt;
    }
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    auto request = request_from_text(text.str());
    const bool ours = request && !request->token.empty() && is_private_folder(request->folder) &&
                      std::string_view(path).ends_with("-" + request->token + ".request");
    return ours ? std::optional(*request) : std::nullopt;
}

bool begin_session() {
    const auto request = read_request();
    if (!request) {
        return false;
    }
    auto api = load_cupti(request->cupti_folder);
    if (!api) {
        leave_fault(*request, {Fault::no_library, 0, api.diagnostics().items()[0].message});
        return false;
    }
    session = new Session; // never deleted: see above
    session->process = getpid();
    session->request = *request;
    session->api = *api;
    std::optional<BackendFault> fault = subscribe();
    if (!fault) {
        session->out.open(new_output(*request, ".jsonl"));
    }
    if (!fault && request->mode == "timing") {
        fault = begin_timing();
    } else if (!fault) {
        session->counters = choose_counters(session->api, request->cupti_folder);
        session->collector =
            std::make_unique<Collector>(*session->counters, session->request, session->out);
    }
    if (fault) {
        leave_fault(*request, *fault);
        return false;
    }
    std::atexit(at_end);
    return true;
}

} // namespace

// 1: stay; 0: step aside, the program goes on without.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
    static const bool began = [] {
        try {
            return begin_session();
        } catch (const std::exception&) {
            return false;
        }
    }();
    return began ? 1 : 0;
}

// NVTX asks the same library; CUPTI does the work, and calls back with every range.
extern "C" __attribute__((visibility("default"))) int
InitializeInjectionNvtx2(void* get_export_table) {
    const auto request = read_request();
    const auto api =
        request ? load_cupti(request->cupti_folder)
                : Result<CuptiApi>::failure("unavailable", "no request",
                                            "this library is loaded by `eyeroof profile` alone");
    void* library = api ? dlopen(api->path.c_str(), RTLD_NOW | RTLD_NOLOAD) : nullptr;
    using Initialize = int (*)(void*);
    const auto initialize = reinterpret_cast<Initialize>( // NOLINT: what dlsym is for
        library != nullptr ? dlsym(library, "cuptiNvtxInitialize2") : nullptr);
    return initialize != nullptr ? initialize(get_export_table) : 0;
}
