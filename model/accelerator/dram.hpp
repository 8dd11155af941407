// What a DRAM channel gives by its standard and by how it is accessed.
//
// Runs of contiguous bytes lie in rows of their own, spread over banks and bank groups:
//
//   data        = ceil(run / burst) * burst / peak      (of one bank group: times tCCD_L / tCCD_S)
//   activations = ceil(run / row) * max(tRRD_S, tFAW / 4, tRC / banks)
//   bytes/s     = channels * run / max(data, activations) * (1 - tRFC / tREFI)
//
// Activations overlap with the data of other banks; what limits is the longer one. Reads and writes
// that take turns on the bus are not counted. Timings: Ramulator 2 (CMU-SAFARI/ramulator2, commit
// 525d045; HBM2 1fb94b8, LPDDR5 0b89cad), src/dram/impl, which cites the JEDEC standards.
#pragma once

#include "model/workload/problem.hpp"

#include <span>
#include <string>
#include <string_view>

namespace eyeroof::model {

// One channel; times in ns.
struct DramStandard {
    std::string_view name;          // "ddr4-3200"
    double peak_bytes_per_s = 0.0;  // data rate times width
    Count burst_bytes = 64;         // that an access moves at least
    Count row_bytes = 8192;         // open at a time in a bank, over all chips of the channel
    Count banks = 16;               // all bank groups together
    double same_group_slowdown = 1; // tCCD_L / tCCD_S, bursts back to back
    double row_cycle = 0.0;         // tRC
    double row_to_row = 0.0;        // tRRD_S
    double four_rows = 0.0;         // tFAW
    double refresh = 0.0;           // tRFC, of all banks …
    double refresh_interval = 1.0;  // … every tREFI
};

std::span<const DramStandard> dram_standards();
// nullptr: there is none of this name.
const DramStandard* dram_standard(std::string_view name);

struct DramLink {
    std::string standard;
    Count channels = 1;
    Count run_bytes = 0;    // contiguous bytes of an access; 0: whole rows, as a stream has them
    bool one_group = false; // all bursts of a run in one bank group

    bool operator==(const DramLink&) const = default;
};

// Of all channels. The shares multiply to bytes_per_s / peak_bytes_per_s.
struct DramRate {
    double peak_bytes_per_s = 0.0;
    double burst_share = 1.0;   // of the bytes that bursts move, those that are wanted
    double group_share = 1.0;   // lost between bursts of one bank group
    double row_share = 1.0;     // lost to activations
    double refresh_share = 1.0; // lost to refresh

    double bytes_per_s() const {
        return peak_bytes_per_s * burst_share * group_share * row_share * refresh_share;
    }
    bool operator==(const DramRate&) const = default;
};

// The standard must be known.
DramRate rate_of(const DramLink& link);

} // namespace eyeroof::model
