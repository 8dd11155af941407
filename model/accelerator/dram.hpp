// What a DRAM channel gives by its standard and by how it is accessed.
//
// Runs of contiguous bytes lie in rows of their own, spread over banks and bank groups:
//
//   data        = ceil(run / burst) * burst / peak      (of one bank group: times tCCD_L / tCCD_S)
//   activations = ceil(run / row) * max(tRRD_S, tFAW / 4, tRC / banks)
//   bytes/s     = channels * run / max(data, activations) * (1 - tRFC / tREFI)
//
// Activations overlap with the data of other banks; what limits is the longer one. Timings:
// Ramulator 2 (CMU-SAFARI/ramulator2, commit 525d045; HBM2 1fb94b8, LPDDR5 0b89cad), src/dram/impl,
// and Ramulator 2.1 (python/ramulator/dram; DDR5-4800, grade AN, and HBM3), which cite the JEDEC
// standards.
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
    double turnaround = 0.0;        // lost when the bus turns to writes and back
};

// Bursts that a controller writes before its bus turns back to reads: its write queue of 32 is
// emptied from 80 to 20 % (Ramulator 2, generic_dram_controller.cpp and base/request.h).
inline constexpr double kWriteBatch = 19.0;

std::span<const DramStandard> dram_standards();
// nullptr: there is none of this name.
const DramStandard* dram_standard(std::string_view name);

// Order of a tensor's elements in memory, outermost first: N C H W, or N H W C. Matrices are
// row-major in both.
enum class TensorLayout { channels_first, channels_last };

struct DramLink {
    std::string standard;
    Count channels = 1;
    Count run_bytes = 0;    // contiguous bytes of an access; 0: whole rows, as a stream has them
    bool one_group = false; // all bursts of a run in one bank group
    // The accesses are those of a mapping's tiles (model/cost/dram_pattern.hpp), run_bytes is 0,
    // and the link's bandwidth is that of a stream, which no mapping exceeds.
    bool by_mapping = false;
    TensorLayout layout = TensorLayout::channels_first; // of by_mapping

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

// What one transfer of a tile asks of one channel, were there no other.
struct DramAccess {
    double bytes = 0.0;  // that are wanted
    double bursts = 0.0; // different ones that hold them
    double rows = 0.0;   // different ones that hold them

    bool operator==(const DramAccess&) const = default;
};

// Time of the accesses, relative to a stream of as many bytes; at least 1:
//
//   time     = max(bursts * burst / peak, rows * max(tRRD_S, tFAW / 4, tRC / banks))
//              (written: + bursts / batch * turnaround)
//   slowdown = time * peak / bytes        (of one bank group: peak / (tCCD_L / tCCD_S))
//
// Turnaround = (CL + 2 + tWTR_S) cycles: what is lost from reads to writes (CL + BL + 2 - CWL) and
// back (CWL + BL + tWTR_S) beyond two bursts of BL.
double slowdown_of(const DramLink& link, const DramAccess& access, bool written);

} // namespace eyeroof::model
