// Kernel times from CUPTI's activity records, written as they arrive.
#pragma once

#include "profiles/cupti/cupti_api.hpp"
#include "profiles/measurement.hpp"
#include "profiles/profile_file.hpp"

#include <iosfwd>
#include <map>
#include <mutex>
#include <string>

namespace eyeroof::profiles {

class TimingLog {
  public:
    TimingLog(const CuptiApi& api, std::ostream& out);

    // Before the launch: the range that is open on its thread.
    void launch_begins(std::uint32_t correlation, const std::string& range,
                       std::int64_t range_call);
    // A buffer of records that CUPTI has filled.
    void take(std::uint8_t* buffer, std::size_t bytes);
    void finish();
    bool any() const { return any_; }

  private:
    void add(const CUpti_Activity& record);

    const CuptiApi& api_;
    std::mutex mutex_;
    ProfileWriter writer_;
    ProfileBuilder built_;
    std::map<std::uint32_t, std::pair<std::string, std::int64_t>> ranges_; // by correlation
    bool any_ = false;
};

} // namespace eyeroof::profiles
