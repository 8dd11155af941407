#include "base/plausible.hpp"
#include "base/units.hpp"
#include "model/gpu/gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace eyeroof::model {

namespace {

enum class Unknown { refused, allowed }; // 0 stands for "not published"

struct Range {
    double least;
    double most;
    const char* unit;
    Unknown zero = Unknown::allowed;
};

constexpr Range kClock{kMinClockHz, kMaxClockHz, "Hz"};
constexpr Range kBoost{kMinClockHz, kMaxClockHz, "Hz", Unknown::refused};
constexpr Range kBytes{1.0, kMaxBytes, "B"};
constexpr Range kBandwidth{1.0, kMaxBytesPerSecond, "B/s"};
constexpr Range kDramBandwidth{1.0, kMaxBytesPerSecond, "B/s", Unknown::refused};
constexpr Range kPeak{1.0, kMaxFlopsPerSecond, "FLOP/s"};
constexpr Range kPower{1e-3, kMaxWatts, "W"};
constexpr Range kCount{1.0, 1 << 20, "", Unknown::refused};

class GpuCheck {
  public:
    explicit GpuCheck(const Gpu& gpu) : gpu_(gpu) {}

    Diagnostics run() {
        check_ranges();
        check_rates();
        check_clocks();
        check_memories();
        check_prices();
        return std::move(found_);
    }

  private:
    void fail(const char* code, std::string message, std::string hint, const char* field) {
        found_.error(code, std::move(message), std::move(hint), {}, field);
    }

    void check(double value, const Range& range, const char* field) {
        const bool unknown = value == 0.0 && range.zero == Unknown::allowed;
        if (unknown || (value >= range.least && value <= range.most)) {
            return; // NaN is neither
        }
        const auto text = [&](double number) {
            return *range.unit == '\0' ? fmt::format("{:g}", number)
                                       : fmt::format("{:g} {}", number, range.unit);
        };
        fail("bad-number", fmt::format("{} is no plausible value", text(value)),
             fmt::format("{} to {}", text(range.least), text(range.most)), field);
    }

    void check_ranges() {
        check(gpu_.sms, kCount, "sms");
        check(gpu_.fp32_lanes, kCount, "fp32_lanes");
        check(gpu_.max_threads_per_sm, kCount, "sm.max_threads");
        check(gpu_.boost_hz, kBoost, "clocks.boost");
        check(gpu_.base_hz, kClock, "clocks.base");
        check(gpu_.tensor_hz, kClock, "clocks.tensor");
        check(gpu_.dram_bytes_per_s, kDramBandwidth, "dram.bandwidth");
        check(gpu_.dram_bytes, kBytes, "dram.capacity");
        check(gpu_.l2_bytes, kBytes, "l2.capacity");
        check(gpu_.l2_bytes_per_s, kBandwidth, "l2.bandwidth");
        check(gpu_.near_l2_bytes_per_s, kBandwidth, "l2.near_bandwidth");
        check(gpu_.shared_bytes_per_sm, kBytes, "sm.shared_memory");
        check(gpu_.registers_bytes_per_sm, kBytes, "sm.registers");
        check(gpu_.pcie_bytes_per_s, kBandwidth, "links.pcie");
        check(gpu_.link_bytes_per_s, kBandwidth, "links.peer");
        check(gpu_.tdp_w, kPower, "tdp");
    }

    void check_rates() {
        bool any = false;
        for (const std::string_view name : data_type_names()) {
            const double rate = gpu_.rate(*data_type_from_name(name)).flops_per_s;
            any = any || rate > 0.0;
            check(rate, kPeak, fmt::format("peaks.{}", name).c_str());
        }
        if (!any) {
            fail("no-rate", "the GPU serves no data type", "give at least peaks.fp32", "peaks");
        }
    }

    void check_clocks() {
        if (gpu_.base_hz > gpu_.boost_hz) {
            fail("bad-clock",
                 fmt::format("the base clock, {}, is above the boost clock, {}",
                             format_si(gpu_.base_hz, "Hz", 4), format_si(gpu_.boost_hz, "Hz", 4)),
                 "exchange them, or leave the base clock out", "clocks.base");
        }
    }

    // Each memory is smaller than the one behind it.
    void check_memories() {
        if (gpu_.l2_bytes > 0.0 && gpu_.l2_bytes < gpu_.shared_bytes_per_sm) {
            fail("bad-capacity",
                 fmt::format("the L2, {}, is smaller than the shared memory of one SM, {}",
                             format_iec(gpu_.l2_bytes, "B"),
                             format_iec(gpu_.shared_bytes_per_sm, "B")),
                 "the L2 of the whole GPU in MiB, the shared memory of one SM in KiB",
                 "l2.capacity");
        }
        if (gpu_.dram_bytes > 0.0 && gpu_.l2_bytes > gpu_.dram_bytes) {
            fail("bad-capacity",
                 fmt::format("the L2, {}, is larger than the DRAM, {}",
                             format_iec(gpu_.l2_bytes, "B"), format_iec(gpu_.dram_bytes, "B")),
                 "the L2 in MiB, the DRAM in GB", "l2.capacity");
        }
    }

    void check_price(const std::optional<double>& usd, const char* field) {
        if (usd && !(*usd >= 0.0 && std::isfinite(*usd))) {
            fail("bad-price", fmt::format("{} is no price", *usd), "0 or more US dollars", field);
        }
    }

    void check_prices() {
        const GpuPrice& price = gpu_.price;
        check_price(price.buy_usd, "prices.buy_usd");
        check_price(price.usd_per_hour_low, "prices.usd_per_hour_low");
        check_price(price.usd_per_hour_high, "prices.usd_per_hour_high");
        if (price.usd_per_hour_low && price.usd_per_hour_high &&
            *price.usd_per_hour_low > *price.usd_per_hour_high) {
            fail("bad-price", "the low price of an hour is above the high one", "exchange them",
                 "prices.usd_per_hour_low");
        }
    }

    const Gpu& gpu_;
    Diagnostics found_;
};

} // namespace

Diagnostics validate(const Gpu& gpu) {
    return GpuCheck(gpu).run();
}

} // namespace eyeroof::model
