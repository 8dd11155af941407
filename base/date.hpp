// Calendar days as they stand in sources: "2026-09-20", "September 2026", "2018".
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace eyeroof {

// The last day that the text names. Of a month or a year without a day, its last day. Years from
// 1990 to 2099 count. A month in words is English; letter case matters.
std::optional<std::chrono::sys_days> date_in(std::string_view text);

// Today, in UTC.
std::chrono::sys_days today();

} // namespace eyeroof
