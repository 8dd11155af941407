// What the profiled program is asked to collect: written by the runner, read by the injected
// library.
#pragma once

#include "profiles/measurement.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::profiles {

inline constexpr const char* kRequestVariable = "EYEROOF_COLLECT"; // names the request's file

struct CollectRequest {
    std::string mode = "timing";   // "timing" or "counters"
    std::string folder;            // outputs: <mode>-<token>-<process>.jsonl and .fault
    std::string token = {};        // no one else knows it; other names are not of this run
    std::string cupti_folder = {}; // empty: where it was at build time
    std::map<std::string, std::vector<std::string>> metrics = {}; // by chip
    KernelFilter filter = {};
    std::size_t window = 512; // launches between two drains; thousands make CUPTI fail

    bool operator==(const CollectRequest&) const = default;
};

std::string request_text(const CollectRequest& request);
// Error "bad-request" for anything that is not such a text.
Result<CollectRequest> request_from_text(std::string_view text);

} // namespace eyeroof::profiles
