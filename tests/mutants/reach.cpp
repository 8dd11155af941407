// Records which lines each test case reaches, in a program that was built without instrumentation.
//
// run.py links this file into a test program. EYEROOF_REACH_POINTS names a file of addresses as the
// line table has them (8 bytes each, sorted). Before each case a breakpoint (int3, x86-64) is set
// at every address; one that is hit removes itself, so a line costs one signal per case, and loops
// run at full speed. EYEROOF_REACH_OUT receives a line "=case", the indices of the addresses that
// the case reached, and "+" with its seconds of CPU. Forked processes run without breakpoints: what
// only they reach is not recorded.
#include <doctest/doctest.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

namespace {

constexpr unsigned char kBreakpoint = 0xcc;

struct Points {
    std::vector<std::uintptr_t> addresses;
    std::vector<unsigned char> originals;
    std::vector<std::atomic<bool>> hit;
    std::FILE* out = nullptr;
    struct sigaction before = {};
};

Points* points = nullptr; // of the handler

unsigned char& byte_at(std::uintptr_t address) {
    return *reinterpret_cast<unsigned char*>(address); // NOLINT: an instruction of this program
}

// Another thread may have removed the same breakpoint: its address still says that it was one.
void on_trap(int /*signal*/, siginfo_t* /*info*/, void* context) {
    auto& at = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
    const std::uintptr_t address = static_cast<std::uintptr_t>(at) - 1;
    const auto found =
        std::lower_bound(points->addresses.begin(), points->addresses.end(), address);
    if (found == points->addresses.end() || *found != address) {
        sigaction(SIGTRAP, &points->before, nullptr); // no breakpoint of this file
        return;
    }
    const auto i = static_cast<std::size_t>(found - points->addresses.begin());
    points->hit[i] = true;
    byte_at(address) = points->originals[i];
    at = static_cast<greg_t>(address);
}

std::uintptr_t load_address() {
    std::uintptr_t base = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* into) {
            *static_cast<std::uintptr_t*>(into) = info->dlpi_addr; // the program comes first
            return 1;
        },
        &base);
    return base;
}

void make_writable() {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const std::uintptr_t from = points->addresses.front() / page * page;
    const std::uintptr_t to = points->addresses.back() + 1;
    if (mprotect(reinterpret_cast<void*>(from), to - from, PROT_READ | PROT_WRITE | PROT_EXEC) !=
        0) {
        std::perror("mprotect");
        std::exit(70);
    }
}

Points* points_of(const char* path) {
    auto* all = new Points; // for the handler, until the process ends
    std::FILE* in = std::fopen(path, "rb");
    if (in == nullptr) {
        std::perror(path);
        std::exit(70);
    }
    const std::uintptr_t base = load_address();
    for (std::uint64_t address = 0; std::fread(&address, sizeof address, 1, in) == 1;) {
        all->addresses.push_back(base + address);
        all->originals.push_back(byte_at(base + address));
    }
    std::fclose(in);
    all->hit = std::vector<std::atomic<bool>>(all->addresses.size());
    all->out = std::fopen(std::getenv("EYEROOF_REACH_OUT"), "w");
    return all;
}

void remove_all() {
    for (std::size_t i = 0; i < points->addresses.size(); ++i) {
        byte_at(points->addresses[i]) = points->originals[i];
    }
}

class Reach : public doctest::IReporter {
  public:
    explicit Reach(const doctest::ContextOptions& /*options*/) {}

    void test_run_start() override {
        const char* path = std::getenv("EYEROOF_REACH_POINTS");
        if (path == nullptr) {
            return;
        }
        points = points_of(path);
        make_writable();
        struct sigaction action = {};
        action.sa_sigaction = on_trap;
        action.sa_flags = SA_SIGINFO | SA_NODEFER;
        sigaction(SIGTRAP, &action, &points->before);
        pthread_atfork(nullptr, nullptr, remove_all); // a child may reset or block its signals
    }

    void test_case_start(const doctest::TestCaseData& data) override {
        if (points == nullptr) {
            return;
        }
        std::fprintf(points->out, "=%s\n", data.m_name);
        began_ = std::clock();
        for (std::size_t i = 0; i < points->addresses.size(); ++i) {
            points->hit[i] = false;
            byte_at(points->addresses[i]) = kBreakpoint;
        }
    }

    void test_case_end(const doctest::CurrentTestCaseStats& /*stats*/) override {
        if (points == nullptr) {
            return;
        }
        remove_all();
        for (std::size_t i = 0; i < points->addresses.size(); ++i) {
            if (points->hit[i]) {
                std::fprintf(points->out, "%zu\n", i);
            }
        }
        const auto ticks = static_cast<double>(std::clock() - began_);
        std::fprintf(points->out, "+%.3f\n", ticks / CLOCKS_PER_SEC);
        std::fflush(points->out);
    }

    void report_query(const doctest::QueryData& /*data*/) override {}
    void test_run_end(const doctest::TestRunStats& /*stats*/) override {}
    void test_case_reenter(const doctest::TestCaseData& /*data*/) override {}
    void test_case_exception(const doctest::TestCaseException& /*exception*/) override {}
    void subcase_start(const doctest::SubcaseSignature& /*signature*/) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData& /*assertion*/) override {}
    void log_message(const doctest::MessageData& /*message*/) override {}
    void test_case_skipped(const doctest::TestCaseData& /*data*/) override {}

  private:
    std::clock_t began_ = 0;
};

DOCTEST_REGISTER_LISTENER("reach", 1, Reach);

} // namespace
