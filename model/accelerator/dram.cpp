#include "model/accelerator/dram.hpp"

#include "base/checked.hpp"

#include <algorithm>
#include <array>

namespace eyeroof::model {

namespace {

// Name, peak, burst, row, banks, same group, tRC, tRRD_S, tFAW, tRFC, tREFI, turnaround.
// ddr3: 64 bit of eight x8 chips of 2 Gb; ddr4: 64 bit of eight x8 chips of 8 Gb; ddr5: 32 bit of
// four x8 chips of 16 Gb (half a DIMM); lpddr5: a x16 channel of 16 Gb, tRC as tRAS + tRP; gddr6: a
// x16 channel at 14 Gb/s a pin; hbm2: a pseudo channel of 64 bit of a 4 Gb channel; hbm3: one of 32
// bit of an 8-high stack of 16 Gb dies.
constexpr std::array<DramStandard, 9> kStandards = {{
    {"ddr3-1066", 8.528e9, 64, 8192, 8, 1.0, 50.6, 7.5, 37.5, 160.0, 7800.0, 24.4},
    {"ddr4-2400", 19.2e9, 64, 8192, 16, 1.5, 45.8, 3.33, 21.7, 360.0, 7800.0, 17.5},
    {"ddr4-3200", 25.6e9, 64, 8192, 16, 2.0, 46.25, 2.5, 21.25, 360.0, 7800.0, 17.5},
    {"ddr5-3200", 12.8e9, 64, 4096, 32, 1.0, 46.9, 5.0, 20.0, 295.0, 3900.0, 18.75},
    {"ddr5-4800", 19.2e9, 64, 4096, 32, 1.5, 46.18, 3.33, 13.31, 295.0, 3900.0, 17.47},
    {"lpddr5-6400", 12.8e9, 32, 2048, 16, 2.0, 61.25, 5.0, 20.0, 280.0, 3906.0, 33.75},
    {"gddr6-14000", 28.0e9, 32, 2048, 16, 1.5, 45.0, 4.0, 16.0, 120.0, 1900.0, 19.95},
    {"hbm2-2000", 16.0e9, 32, 1024, 16, 2.0, 19.0, 2.0, 15.0, 260.0, 3900.0, 12.0},
    {"hbm3-6400", 25.6e9, 32, 1024, 32, 2.0, 45.0, 2.5, 15.0, 350.0, 3900.0, 18.13},
}};

constexpr double kNs = 1e-9;

// Seconds from one activation to the next, over all banks.
double activation_s(const DramStandard& standard) {
    return kNs * std::max({standard.row_to_row, standard.four_rows / 4.0,
                           standard.row_cycle / static_cast<double>(standard.banks)});
}

} // namespace

std::span<const DramStandard> dram_standards() {
    return kStandards;
}

const DramStandard* dram_standard(std::string_view name) {
    const auto found = std::find_if(kStandards.begin(), kStandards.end(),
                                    [&](const DramStandard& s) { return s.name == name; });
    return found == kStandards.end() ? nullptr : &*found;
}

DramRate rate_of(const DramLink& link) {
    const DramStandard& standard = *dram_standard(link.standard);
    const Count run = link.run_bytes > 0 ? link.run_bytes : standard.row_bytes;
    const double moved =
        static_cast<double>(ceil_div(run, standard.burst_bytes) * standard.burst_bytes);
    DramRate rate;
    rate.peak_bytes_per_s = static_cast<double>(link.channels) * standard.peak_bytes_per_s;
    rate.burst_share = static_cast<double>(run) / moved;
    rate.group_share = link.one_group ? 1.0 / standard.same_group_slowdown : 1.0;
    const double data_s = moved / standard.peak_bytes_per_s / rate.group_share;
    const double activations_s =
        static_cast<double>(ceil_div(run, standard.row_bytes)) * activation_s(standard);
    rate.row_share = std::min(1.0, data_s / activations_s);
    rate.refresh_share = 1.0 - standard.refresh / standard.refresh_interval;
    return rate;
}

double slowdown_of(const DramLink& link, const DramAccess& access, bool written) {
    const DramStandard& standard = *dram_standard(link.standard);
    const double peak =
        standard.peak_bytes_per_s / (link.one_group ? standard.same_group_slowdown : 1.0);
    // As bytes of a stream, which keeps a whole stream at exactly 1.
    const double bus = std::max(access.bursts * static_cast<double>(standard.burst_bytes),
                                access.rows * activation_s(standard) * peak);
    const double turns =
        written ? access.bursts / kWriteBatch * kNs * standard.turnaround * peak : 0.0;
    return access.bytes > 0.0 ? std::max(1.0, (bus + turns) / access.bytes) : 1.0;
}

} // namespace eyeroof::model
