// The speed of a host that a measured time implies, as an answer, eyeroof/host-speed/1.
#pragma once

#include "analysis/exam/host_speed.hpp"
#include "report/answer/answer.hpp"

#include <string>

namespace eyeroof::report {

// `host`: the id of the one that the speed multiplies.
Answer host_speed_answer(const analysis::HostSpeed& speed, const std::string& host,
                         double measured_s);

} // namespace eyeroof::report
