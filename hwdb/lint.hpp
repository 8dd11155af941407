// Checks a machine description beyond what its reader enforces: does it hold together, where do its
// numbers come from, and does a printed peak agree with units times clock?
// Prints nothing.
#pragma once

#include "base/provenance.hpp"
#include "base/result.hpp"
#include "model/machine/machine.hpp"

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace eyeroof::hwdb {

struct LintReport {
    std::string id;
    std::string name;
    bool in_catalog = false; // in a folder of machines, where its file's name is how it is found
    bool loads = false;
    int numbers = 0;                       // that the file gives
    std::map<Confidence, int> confidences; // how many of them have which confidence
    double units = 0.0;                    // MACs per cycle
    double peak_macs_per_s = 0.0;          // units x clock
    std::optional<double> printed_peak_macs_per_s;
    Diagnostics findings; // errors, and warnings that need no change

    bool operator==(const LintReport&) const = default;
};

// Warnings: peak-mismatch (a printed peak that differs from units x clock by more than 1 %; the
// recomputed one is used everywhere), id-mismatch (a catalog file that is called otherwise than its
// machine), capability-mismatch, old-price (a price whose source is dated more than 12 months
// before `today`, or not dated; not looked for without a day).
LintReport lint_machine(const std::filesystem::path& file,
                        std::optional<std::chrono::year_month_day> today = std::nullopt);

// How many numbers of the machine can decide anything: false when any is recalled.
bool fit_for_benchmarks(const LintReport& report);

} // namespace eyeroof::hwdb
