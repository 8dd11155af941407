#include "analysis/tune/nvrtc.hpp"

#include "analysis/tune/outcome.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace eyeroof::analysis::tune {

using Program = void*;

struct Nvrtc::Calls {
    void* library = nullptr;
    int (*version)(int*, int*) = nullptr;
    int (*count_archs)(int*) = nullptr; // since 11.2; may be absent, as get_archs
    int (*get_archs)(int*) = nullptr;
    int (*create)(Program*, const char*, const char*, int, const char* const*,
                  const char* const*) = nullptr;
    int (*compile)(Program, int, const char* const*) = nullptr;
    int (*destroy)(Program*) = nullptr;
    int (*log_size)(Program, std::size_t*) = nullptr;
    int (*log)(Program, char*) = nullptr;
    int (*ptx_size)(Program, std::size_t*) = nullptr;
    int (*ptx)(Program, char*) = nullptr;
    int (*binary_size)(Program, std::size_t*) = nullptr; // since 11.1; may be absent, as binary
    int (*binary)(Program, char*) = nullptr;

    Calls() = default;
    Calls(const Calls&) = delete;
    Calls& operator=(const Calls&) = delete;
    ~Calls() = default; // the library stays open: closed, it leaves its own memory behind
    template <class F> bool find(F& call, const char* name) {
        call = reinterpret_cast<F>(dlsym(library, name)); // NOLINT: POSIX' own way
        return call != nullptr;
    }
    bool load() {
        const bool all =
            find(version, "nvrtcVersion") && find(create, "nvrtcCreateProgram") &&
            find(compile, "nvrtcCompileProgram") && find(destroy, "nvrtcDestroyProgram") &&
            find(log_size, "nvrtcGetProgramLogSize") && find(log, "nvrtcGetProgramLog") &&
            find(ptx_size, "nvrtcGetPTXSize") && find(ptx, "nvrtcGetPTX");
        find(count_archs, "nvrtcGetNumSupportedArchs");
        find(get_archs, "nvrtcGetSupportedArchs");
        find(binary_size, "nvrtcGetCUBINSize");
        find(binary, "nvrtcGetCUBIN");
        return all;
    }
};

namespace {

std::vector<std::string> usual_places() {
    std::vector<std::string> places = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12",
                                       "libnvrtc.so.11.2"};
    places.emplace_back("/usr/local/cuda/lib64/libnvrtc.so");
    return places;
}

using SizeCall = int (*)(Program, std::size_t*);
using TextCall = int (*)(Program, char*);

std::string text_of(Program program, SizeCall size, TextCall text) {
    std::size_t bytes = 0;
    if (size == nullptr || text == nullptr || size(program, &bytes) != 0) {
        return {};
    }
    std::string whole(bytes, '\0');
    return bytes > 0 && text(program, whole.data()) == 0 ? whole : std::string{};
}

} // namespace

Result<Nvrtc> Nvrtc::open(const std::string& library) {
    std::string why;
    for (const std::string& place :
         library.empty() ? usual_places() : std::vector<std::string>{library}) {
        auto calls = std::make_shared<Calls>();
        calls->library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (calls->library == nullptr || !calls->load()) {
            const char* said = dlerror();
            why = why.empty() && said != nullptr ? said : why;
            continue;
        }
        Nvrtc opened;
        int major = 0, minor = 0, count = 0;
        calls->version(&major, &minor);
        opened.version_ = fmt::format("NVRTC {}.{}", major, minor);
        constexpr int kMostArchs = 1000;
        if (calls->count_archs != nullptr && calls->get_archs != nullptr &&
            calls->count_archs(&count) == 0 && count > 0 && count < kMostArchs) {
            opened.capabilities_.resize(static_cast<std::size_t>(count));
            calls->get_archs(opened.capabilities_.data());
            std::sort(opened.capabilities_.begin(), opened.capabilities_.end());
        }
        opened.calls_ = std::move(calls);
        return opened;
    }
    return Result<Nvrtc>::failure("unavailable", fmt::format("NVRTC cannot be opened: {}", why),
                                  "install CUDA's libnvrtc, or name it with --nvrtc");
}

Result<GpuImage> Nvrtc::compile(const std::string& source, int capability,
                                const std::vector<std::string>& flags, bool ptx) const {
    using Made = Result<GpuImage>;
    int known = capability;
    if (!capabilities_.empty()) {
        const auto above = std::upper_bound(capabilities_.begin(), capabilities_.end(), capability);
        if (above == capabilities_.begin()) {
            return Made::failure("unavailable",
                                 fmt::format("{} has no compute capability {}.{}: its first is {}",
                                             version_, capability / 10, capability % 10,
                                             capabilities_.front()),
                                 "use an older CUDA");
        }
        known = *std::prev(above);
    }
    const bool binary = !ptx && known == capability && calls_->binary != nullptr;
    std::vector<std::string> words = {
        fmt::format("--gpu-architecture={}_{}", binary ? "sm" : "compute", known)};
    words.insert(words.end(), flags.begin(), flags.end());
    std::vector<const char*> options;
    for (const std::string& word : words) {
        options.push_back(word.c_str());
    }
    Program program = nullptr;
    if (calls_->create(&program, source.c_str(), "candidate.cu", 0, nullptr, nullptr) != 0) {
        return Made::failure("compile", "NVRTC makes no program of the source");
    }
    const int status = calls_->compile(program, static_cast<int>(options.size()), options.data());
    GpuImage image;
    image.log = text_of(program, calls_->log_size, calls_->log);
    image.binary = binary;
    image.bytes = status != 0 ? std::string{}
                  : binary    ? text_of(program, calls_->binary_size, calls_->binary)
                              : text_of(program, calls_->ptx_size, calls_->ptx);
    calls_->destroy(&program);
    if (image.bytes.empty()) {
        const std::size_t at = image.log.find("error");
        return Made::failure("compile",
                             first_line(image.log.substr(at == std::string::npos ? 0 : at)));
    }
    return image;
}

} // namespace eyeroof::analysis::tune
