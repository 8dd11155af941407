// A GPU, or a host processor seen the same way, as its published numbers describe it.
// Made by hwdb from one YAML file; consumed by the GPU time model and the seven steps.
#pragma once

#include "base/diagnostic.hpp"
#include "model/gpu/calibration.hpp"
#include "model/gpu/step.hpp"
#include "model/workload/layer.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::model {

enum class GpuArch {
    kepler,
    maxwell,
    pascal,
    volta,
    turing,
    ampere,
    ada,
    hopper,
    blackwell,
    amd,
    host
};

std::string_view gpu_arch_name(GpuArch arch);
std::optional<GpuArch> gpu_arch_from_name(std::string_view name);
std::vector<std::string_view> gpu_arch_names();

enum class MemoryType { unknown, ddr, lpddr, gddr, hbm };
std::string_view memory_type_name(MemoryType type);
// By how the name begins ("HBM2e", "GDDR6X"), letter case ignored; unknown where no family does so.
MemoryType memory_type_from_name(std::string_view name);

// Which units serve a data type.
enum class Pipe { none, vector, tensor };

struct Rate {
    double flops_per_s = 0.0; // dense, 1 MAC = 2 FLOP; 0: the type is not supported
    Pipe pipe = Pipe::none;

    bool operator==(const Rate&) const = default;
};

// What one seller asks for an hour of one GPU. Prices of different sellers, or of different kinds
// of one seller, are not comparable.
struct Rent {
    double usd_per_hour = 0.0;
    std::string seller, kind; // "Lambda", "list"
    std::string date;         // "2026-09-20", "2026-09", "2018"; empty: not known
    std::string source, note;
    bool own = false; // of a table that the user gave

    bool operator==(const Rent&) const = default;
};

struct GpuPrice {
    std::optional<double> buy_usd;
    std::optional<double> usd_per_hour_low; // of the machine's own file
    std::optional<double> usd_per_hour_high;
    std::vector<Rent> rents; // of tables of prices, each of one seller and kind

    bool operator==(const GpuPrice&) const = default;
};

// That of the machine's own file, else the lowest of the tables, whatever its kind; nullopt: none.
std::optional<double> lowest_rent(const GpuPrice& price);

class KernelShelf; // library_cells.hpp

struct Gpu {
    std::string vendor;
    GpuArch arch = GpuArch::ampere;
    std::string compute_capability; // "8.0", "gfx90a"
    int launch_year = 0;
    int sms = 1;            // streaming multiprocessors, compute units, or cores
    int fp32_lanes = 64;    // of an SM
    double base_hz = 0.0;   // 0: not published
    double boost_hz = 1e9;  // the clock of the vector peaks
    double tensor_hz = 0.0; // the clock of the tensor peaks; 0: boost_hz
    std::array<Rate, kDataTypes> rates{};
    double dram_bytes = 0.0;
    double dram_bytes_per_s = 1.0;
    double l2_bytes = 0.0;
    double l2_bytes_per_s = 0.0; // 0: not known, derived from the SMs
    // Peak of the caches before the L2, one a chiplet, all together; 0: there are none.
    double near_l2_bytes_per_s = 0.0;
    double shared_bytes_per_sm = 0.0;
    double registers_bytes_per_sm = 0.0;
    int max_threads_per_sm = 2048;
    double pcie_bytes_per_s = 0.0; // one direction
    double link_bytes_per_s = 0.0; // NVLink and the like, both directions
    double tdp_w = 0.0;
    bool capped = false; // tdp_w is below the board's own limit
    MemoryType memory_type = MemoryType::unknown;
    GpuPrice price;
    HostIssue issue; // of hosts
    GpuCalibration calibration;
    // Constants of serving libraries' kernels, read when a layer asks for them; null: none.
    std::shared_ptr<const KernelShelf> kernels;

    const Rate& rate(DataType type) const { return rates[static_cast<std::size_t>(type)]; }
    Rate& rate(DataType type) { return rates[static_cast<std::size_t>(type)]; }
    bool operator==(const Gpu&) const = default;
};

// Every number that cannot be, at its field path in a machine file: not positive, not finite,
// beyond plausible.hpp, a base clock above the boost clock, a memory larger than the one behind it.
Diagnostics validate(const Gpu& gpu);

// Clock of the units that serve the type, Hz.
double pipe_clock_hz(const Gpu& gpu, DataType type);

// The peak of the type that SMs x FLOP a cycle x clock make and that is nearest to the published
// one, FLOP/s: an SM's fp32 lanes do two FLOP each, other units a power of two (also in fp32 where
// an AMD peak is beyond the lanes': its matrix cores). 0 when it is not supported.
double fitting_peak(const Gpu& gpu, DataType type);
inline constexpr double kPeakTolerance = 0.01;
// Whether the published peak is within the tolerance of that.
bool peak_fits(const Gpu& gpu, DataType type);

// MAC per cycle of the whole GPU for the type: peak / 2 / clock. 0 when it is not supported.
double macs_per_cycle(const Gpu& gpu, DataType type);

// Do the FP32 lanes of an SM take every issue slot of its schedulers, so that loads and addresses
// cost arithmetic? 128 lanes on four schedulers without dual issue: GA10x, Ada, Hopper, Blackwell.
// Earlier SMs have 64 lanes, or issue two instructions a cycle (Maxwell, Pascal).
bool lanes_fill_issue(const Gpu& gpu);

// L2 to SMs, bytes/s: measured where known, else of the SMs and the boost clock 0.55 of 64 B for
// data-centre parts since the A100 (compute capability 8.0, 9.0, 10.x: A100 and H100 PCIe reach 35
// B), 0.65 of 32 B elsewhere (V100, T4). Source: cache curves of te42kyfo/gpu-benches@1c36d509.
double l2_bandwidth(const Gpu& gpu);

// What tiles are read at, bytes/s: l2_bandwidth; where chiplets have caches of their own before the
// one that all share, 0.65 of their peak, as of a port.
double tile_bandwidth(const Gpu& gpu);

// What no kernel exceeds: 64 B per SM and boost cycle, the width of an SM's port to L2 (NVIDIA's
// and AMD's architecture white papers since 2016), or l2_bandwidth or the chiplets' caches where
// that is more; of hosts l2_bandwidth.
double l2_port_bandwidth(const Gpu& gpu);

// L2 that an SM reaches without crossing to another partition, which keeps a copy of what it asks
// for: half of the capacity on data-centre parts since the A100 (compute
// capability 8.0, 9.0, 10.x), all of it elsewhere. Source: NVIDIA A100 architecture white paper,
// "L2 cache divided into two partitions".
double l2_reach_bytes(const Gpu& gpu);

// Share of the boost clock that the board's power sustains when the pipe is busy:
// min(1, 0.8 TDP / (energy per FLOP * peak)), not below the base clock (half the boost clock where
// none is published). 0.8: what is left beside memory and leakage. Energy per FLOP by architecture,
// and that of AMD's matrix cores, which serve products in fp32 too: power.cpp.
double sustained_clock_share(const Gpu& gpu, DataType type);

// Has `more` at least as much of everything as `less`, of one architecture and compute capability?
// No program need run slower on it.
bool lacks_nothing(const Gpu& more, const Gpu& less);

// FLOP per byte at which peak and DRAM bandwidth meet.
double ridge_flop_per_byte(const Gpu& gpu, DataType type);

} // namespace eyeroof::model
