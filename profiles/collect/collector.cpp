#include "profiles/collect/collector.hpp"

#include "profiles/metric_family.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <memory>

namespace eyeroof::profiles {

std::string demangled(const std::string& name) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && text != nullptr ? std::string(text.get()) : name;
}

namespace {

// The runner has checked the expression; a broken one matches nothing.
Pattern compiled(const std::string& pattern) {
    const auto read = Pattern::compile(pattern);
    return read ? *read : *Pattern::compile("a^");
}

} // namespace

Collector::Collector(CounterBackend& backend, const CollectRequest& request, std::ostream& out)
    : backend_(backend), request_(request), writer_(out),
      kernel_(compiled(request.filter.name_regex)) {
    built_.source("eyeroof profile");
    built_.profile.run.tool = "eyeroof-cupti";
    built_.profile.notes.push_back("counters were taken with kernel replay: their own times are no "
                                   "times of an ordinary run");
}

// Name and range decide; of the launches that pass, the first `skip` are left out.
bool Collector::wanted(const LaunchSeen& launch) {
    const auto& filter = request_.filter;
    if (!filter.range.empty() && launch.range.find(filter.range) == std::string::npos) {
        return false;
    }
    if (!filter.name_regex.empty() && !kernel_.found_in(demangled(launch.mangled))) {
        return false;
    }
    const std::int64_t position = matched_++ - filter.skip;
    return position >= 0 && (filter.count < 0 || position < filter.count);
}

bool Collector::enough() const {
    const auto& filter = request_.filter;
    return filter.count >= 0 && matched_ >= filter.skip + filter.count;
}

void Collector::launch_begins(const LaunchSeen& launch) {
    if (state_ == State::done) {
        return;
    }
    ++seen_;
    if (enough()) {
        drain();
        close(State::done);
        return;
    }
    const bool want = wanted(launch);
    if (!want && state_ != State::open) {
        return; // nothing is being counted, and this launch is not asked for
    }
    if (pending_.size() >= request_.window) {
        drain();
    }
    if (state_ != State::done && (state_ == State::open || open_window())) {
        pending_.push_back({launch, want});
    }
}

bool Collector::open_window() {
    if (!backend_begun_) {
        const auto metrics_for = [this](const std::string& chip) {
            const auto it = request_.metrics.find(chip);
            return it == request_.metrics.end() ? std::vector<std::string>{} : it->second;
        };
        const auto fault =
            backend_.begin(metrics_for, request_.window, built_.profile.run, metrics_);
        if (fault) {
            fail(*fault);
            return false;
        }
        backend_begun_ = true;
    }
    if (!header_written_) {
        writer_.begin(built_.profile.run);
        header_written_ = true;
    }
    if (const auto fault = backend_.start()) {
        fail(*fault);
        return false;
    }
    state_ = State::open;
    return true;
}

void Collector::drain() {
    if (state_ != State::open) {
        return;
    }
    CounterWindow window;
    state_ = State::ready;
    if (const auto fault = backend_.stop(window)) {
        fail(*fault);
        return;
    }
    // Range i is launch i, or nothing is known: a counter on the wrong kernel is worse than none.
    const bool fits = window.dropped == 0 && window.values.size() == pending_.size();
    constexpr std::size_t kMostNotes = 100;
    if (!fits && built_.profile.notes.size() < kMostNotes) {
        built_.profile.notes.push_back(
            fmt::format("counters of launches {} to {} were left out: {} ranges were read and {} "
                        "dropped for {} launches",
                        seen_ - static_cast<std::int64_t>(pending_.size()), seen_ - 1,
                        window.values.size(), window.dropped, pending_.size()));
    }
    write_pending(fits ? &window : nullptr);
}

void Collector::write_pending(const CounterWindow* window) {
    for (std::size_t i = 0; i < pending_.size(); ++i) {
        const LaunchSeen& seen = pending_[i].launch;
        if (!pending_[i].wanted) {
            continue;
        }
        Launch launch;
        launch.kernel = built_.kernel(demangled(seen.mangled), seen.mangled);
        launch.range = built_.range(seen.range);
        launch.range_call = seen.range_call;
        launch.grid = seen.grid;
        launch.block = seen.block;
        launch.stream = seen.stream;
        launch.under_replay = true;
        const bool has_values = window != nullptr && window->values[i].size() == metrics_.size();
        for (std::size_t metric = 0; has_values && metric < metrics_.size(); ++metric) {
            const double value = window->values[i][metric];
            if (std::isfinite(value)) {
                launch.counters[metrics_[metric]] = value;
            }
        }
        if (const auto time = launch.counters.find(kTimeCounter); time != launch.counters.end()) {
            launch.duration_ns = time->second;
        }
        collected_ += has_values ? 1 : 0;
        built_.profile.launches.push_back(std::move(launch));
    }
    pending_.clear();
    if (header_written_) {
        writer_.append_and_forget(built_.profile);
    }
}

void Collector::fail(const BackendFault& fault) {
    fault_ = fault;
    built_.profile.notes.push_back("collecting stopped: " + diagnostic_of(fault).message);
    write_pending(nullptr);
    close(State::done);
}

void Collector::close(State next) {
    if (backend_begun_) {
        backend_.end();
        backend_begun_ = false;
    }
    state_ = next;
}

void Collector::context_ends() {
    drain();
    close(state_ == State::done ? State::done : State::idle);
}

void Collector::finish(bool lost) {
    if (lost && state_ == State::open) {
        built_.profile.notes.push_back(
            fmt::format("lost tail: the counters of the last {} launches could not be read at the "
                        "program's end",
                        pending_.size()));
        write_pending(nullptr);
        state_ = State::done;
        backend_begun_ = false; // the driver is gone
    } else {
        drain();
        close(State::done);
    }
    if (header_written_) {
        writer_.append(built_.profile);
        writer_.finish();
        header_written_ = false;
    }
}

} // namespace eyeroof::profiles
