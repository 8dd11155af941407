// Cache sizes and names of this processor, as Linux tells them.
#include "profiles/host/host_machine.hpp"
#include "profiles/host/measure_host.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <thread>

namespace eyeroof::profiles {

namespace {

std::string line_of(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

// "32768K" -> bytes; 0 for anything else.
std::size_t size_of(const std::string& text) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) {
        return 0;
    }
    const char unit = end == text.data() + text.size() ? ' ' : *end;
    return number << (unit == 'K' ? 10U : unit == 'M' ? 20U : 0U);
}

// "0-3,8" -> 5.
int count_of(const std::string& list) {
    int count = 0;
    for (std::size_t at = 0; at < list.size();) {
        const std::size_t comma = std::min(list.find(',', at), list.size());
        const std::string part = list.substr(at, comma - at);
        const std::size_t dash = part.find('-');
        const int first = std::atoi(part.c_str());
        const int last = dash == std::string::npos ? first : std::atoi(part.c_str() + dash + 1);
        count += std::max(1, last - first + 1);
        at = comma + 1;
    }
    return std::max(1, count);
}

} // namespace

std::vector<CacheSize> host_caches() {
    std::vector<CacheSize> caches;
    for (int index = 0; index < 8; ++index) {
        const std::string folder =
            "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
        const std::size_t bytes = size_of(line_of(folder + "size"));
        if (bytes > 0 && line_of(folder + "type") != "Instruction") {
            caches.push_back({"l" + line_of(folder + "level"), bytes,
                              count_of(line_of(folder + "shared_cpu_list"))});
        }
    }
    if (caches.empty()) {
        constexpr std::size_t kKiB = 1024;
        caches = {{"l1", 32 * kKiB, 1}, {"l2", 1024 * kKiB, 1}, {"l3", 32 * 1024 * kKiB, 8}};
    }
    std::ranges::sort(caches, {}, &CacheSize::bytes);
    return caches;
}

std::string host_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("model name")) {
            return line.substr(std::min(line.size(), line.find(':') + 2));
        }
    }
    return "this processor";
}

std::size_t available_bytes() {
    constexpr std::string_view key = "MemAvailable:";
    std::ifstream file("/proc/meminfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(key)) {
            return std::strtoull(line.c_str() + key.size(), nullptr, 10) * 1024; // it counts in KiB
        }
    }
    return 0;
}

int host_threads() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
        return std::max(1, CPU_COUNT(&allowed));
    }
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

std::string host_load() {
    const std::string line = line_of("/proc/loadavg");
    const std::string load = line.substr(0, line.find(' '));
    return (load.empty() ? "not known" : load) + " of " + std::to_string(host_threads()) +
           " processors";
}

std::size_t walk_bytes(const std::vector<CacheSize>& caches, const std::string& level,
                       int threads) {
    const auto team = static_cast<std::size_t>(std::max(threads, 1));
    // A thread's share of a cache that several processors use.
    const auto share = [&](const CacheSize& cache) {
        return cache.bytes / std::min(team, static_cast<std::size_t>(std::max(cache.shared_by, 1)));
    };
    std::size_t below = 0;
    for (const CacheSize& cache : caches) {
        if (cache.level == level) {
            return std::max(share(cache) / 2, 2 * below);
        }
        below = share(cache);
    }
    constexpr std::size_t kLeast = std::size_t{64} << 20U;
    const std::size_t last = caches.empty() ? 0 : caches.back().bytes;
    const auto sharing =
        static_cast<std::size_t>(caches.empty() ? 1 : std::max(caches.back().shared_by, 1));
    const std::size_t all_of_last = last * ((team + sharing - 1) / sharing);
    return std::max(4 * all_of_last, kLeast) / team;
}

std::string level_holding(const std::vector<CacheSize>& caches, double bytes, int threads) {
    const int team = std::max(threads, 1);
    for (const CacheSize& cache : caches) {
        const int shared = std::max(cache.shared_by, 1);
        const int instances = (team + shared - 1) / shared;
        if (bytes <= static_cast<double>(cache.bytes) * instances) {
            return cache.level;
        }
    }
    return "dram";
}

} // namespace eyeroof::profiles
