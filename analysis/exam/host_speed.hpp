// The launch speed of a host, inferred from the measured time of a small program:
// `eyeroof measure host`.
#pragma once

#include "analysis/scenario/question.hpp"
#include "base/result.hpp"

#include <stop_token>

namespace eyeroof::analysis {

// As --host-speed takes it. The interval is that of a program whose calls or kernels take 15 % more
// or less than predicted: programs of other operators gave speeds that far apart.
struct HostSpeed {
    double speed = 1.0, low = 1.0, high = 1.0;
    double kernels_s = 0.0; // of the program, predicted

    bool operator==(const HostSpeed&) const = default;
};

// The speed at which the predicted time of the step is the measured one. Errors: those of run();
// "not-a-gpu"; "not-host-bound" where the device takes more than 0.7 of the time, so that the host
// does not show.
Result<HostSpeed> infer_host_speed(const Question& question, double measured_s,
                                   const std::stop_token& stop = {});

} // namespace eyeroof::analysis
