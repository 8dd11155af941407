// The collector's core: which launches are collected, when windows are drained, which range belongs
// to which launch, and what is written.
#pragma once

#include "base/pattern.hpp"
#include "profiles/collect/counter_backend.hpp"
#include "profiles/collect/request.hpp"
#include "profiles/profile_file.hpp"

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::profiles {

// A launch as the callback before it sees it.
struct LaunchSeen {
    std::string mangled;
    Dim3 grid, block;
    std::int64_t stream = kNone;
    std::string range; // innermost NVTX range of the launching thread
    std::int64_t range_call = kNone;
};

// "void gemm<float>(…)" for a mangled name; other names as they are.
std::string demangled(const std::string& name);

class Collector {
  public:
    // Both must outlive the collector.
    Collector(CounterBackend& backend, const CollectRequest& request, std::ostream& out);

    // Before each launch. Opens and drains windows; after a fault, and after the wanted number of
    // launches, it does nothing more and the program runs on untouched.
    void launch_begins(const LaunchSeen& launch);
    // The context goes away: what is pending is read first.
    void context_ends();
    // At the end of the program. `lost` says that the last window can no longer be read.
    void finish(bool lost = false);

    const std::optional<BackendFault>& fault() const { return fault_; }
    std::size_t collected() const { return collected_; } // launches with counters

  private:
    enum class State { idle, ready, open, done };

    struct Pending {
        LaunchSeen launch;
        bool wanted = false;
    };

    bool wanted(const LaunchSeen& launch);
    bool enough() const;
    bool open_window();
    void drain();
    void write_pending(const CounterWindow* window);
    void fail(const BackendFault& fault);
    void close(State next);

    CounterBackend& backend_;
    CollectRequest request_;
    ProfileWriter writer_;
    ProfileBuilder built_;
    Pattern kernel_;
    std::vector<std::string> metrics_;
    std::vector<Pending> pending_;
    std::optional<BackendFault> fault_;
    State state_ = State::idle;
    bool header_written_ = false;
    bool backend_begun_ = false;
    std::int64_t matched_ = 0; // launches that pass name and range
    std::int64_t seen_ = 0;    // all launches
    std::size_t collected_ = 0;
};

} // namespace eyeroof::profiles
