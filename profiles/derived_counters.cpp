#include "profiles/derived_counters.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace eyeroof::profiles {

namespace {

constexpr double kNs = 1e-9;
constexpr double kSectorBytes = 32.0; // of DRAM, L2 and L1

using Value = std::optional<double>;

Value value_of(const Counters& counters, const std::string& name) {
    const auto it = counters.find(name);
    return it == counters.end() ? std::nullopt : Value(it->second);
}

Value first_of(const Counters& counters, std::initializer_list<std::string> names) {
    for (const std::string& name : names) {
        if (const Value found = value_of(counters, name)) {
            return found;
        }
    }
    return std::nullopt;
}

// Units of one clock: those of the SMs count the same cycles.
std::vector<std::string> clocks_of(const std::string& unit) {
    constexpr std::array<const char*, 4> kOfSms = {"sm", "smsp", "l1tex", "gpc"};
    std::vector<std::string> units = {unit};
    const bool of_sms = std::find(kOfSms.begin(), kOfSms.end(), unit) != kOfSms.end();
    for (const char* other : kOfSms) {
        if (of_sms && other != unit) {
            units.emplace_back(other);
        }
    }
    return units;
}

Value cycles_of(const Counters& counters, const std::string& unit, double time_s) {
    for (const std::string& clock : clocks_of(unit)) {
        const std::string name = clock + "__cycles_elapsed";
        if (const Value cycles = first_of(counters, {name + ".max", name + ".avg"})) {
            return cycles;
        }
    }
    for (const std::string& clock : clocks_of(unit)) {
        const Value rate = value_of(counters, clock + "__cycles_elapsed.avg.per_second");
        if (rate && time_s > 0.0) {
            return *rate * time_s;
        }
    }
    return std::nullopt;
}

void find_time(Launch& launch) {
    const Counters& counters = launch.counters;
    if (launch.duration_ns > 0.0) {
        return;
    }
    Value time = first_of(counters, {"gpu__time_duration.sum", "gpu__time_duration.avg",
                                     "gpu__time_duration.max", "gpu__time_active.sum",
                                     "gpu__time_active.avg"});
    for (const char* unit : {"sm", "smsp", "gpc"}) {
        const std::string name = std::string(unit) + "__cycles_elapsed";
        const Value cycles = first_of(counters, {name + ".max", name + ".avg"});
        const Value rate = value_of(counters, name + ".avg.per_second");
        if (!time && cycles && rate && *rate > 0.0) {
            time = *cycles / *rate / kNs;
        }
    }
    if (time && *time > 0.0) {
        launch.duration_ns = *time;
    }
}

// The amount of "X.sum.per_second" and the like; nullopt for other counters.
Value amount_of(const Counters& counters, std::string_view name, double value, double time_s,
                std::string& sum) {
    constexpr std::string_view kPerSecond = ".per_second", kPerCycle = ".per_cycle_elapsed",
                               kShare = ".pct_of_peak_sustained_elapsed";
    for (const std::string_view suffix : {kPerSecond, kPerCycle, kShare}) {
        if (!name.ends_with(suffix)) {
            continue;
        }
        sum = name.substr(0, name.size() - suffix.size());
        if (!sum.ends_with(".sum")) {
            return std::nullopt;
        }
        if (suffix == kPerSecond) {
            return time_s > 0.0 ? Value(value * time_s) : std::nullopt;
        }
        const Value cycles = cycles_of(counters, sum.substr(0, sum.find("__")), time_s);
        const Value peak =
            suffix == kPerCycle ? Value(1.0) : value_of(counters, sum + ".peak_sustained");
        constexpr double kPercent = 0.01;
        const double scale = suffix == kPerCycle ? 1.0 : kPercent;
        return cycles && peak ? Value(value * scale * *cycles * *peak) : std::nullopt;
    }
    return std::nullopt;
}

using Derived = std::vector<std::pair<std::string, double>>;

void add_all(const Derived& derived, Counters& counters) {
    for (const auto& [name, value] : derived) {
        if (!counters.contains(name)) {
            counters[name] = value;
        }
    }
}

void add_sums(Launch& launch) {
    const double time_s = launch.duration_ns > 0.0 ? launch.duration_ns * kNs : 0.0;
    Derived sums;
    std::string sum;
    for (const auto& [name, value] : launch.counters) {
        if (const Value amount = amount_of(launch.counters, name, value, time_s, sum)) {
            sums.emplace_back(sum, *amount);
        }
    }
    add_all(sums, launch.counters);
    Derived beside;
    for (const auto& [name, value] : launch.counters) {
        const std::string_view text = name;
        if (text.ends_with(".sum") && text.starts_with("sm__sass_")) {
            beside.emplace_back("smsp__" + std::string(text.substr(4)), value);
        }
    }
    add_all(beside, launch.counters);
}

// Operations of one source type over all result types, "sm__ops_path_tensor_src_fp16.sum" of
// "…_dst_fp16.sum" and "…_dst_fp32.sum": families count either.
void add_tensor_operations(Counters& counters) {
    std::map<std::string, double> sums;
    for (const auto& [name, value] : counters) {
        const std::string_view text = name;
        const std::size_t to = text.find("_dst_");
        if (text.starts_with("sm__ops_path_tensor_src_") && text.ends_with(".sum") &&
            to != std::string_view::npos && text.find("sparsity") == std::string_view::npos) {
            sums[std::string(text.substr(0, to)) + ".sum"] += value;
        }
    }
    add_all(Derived(sums.begin(), sums.end()), counters);
}

void add_sectors(Counters& counters) {
    Derived bytes;
    for (const auto& [name, value] : counters) {
        const std::string_view text = name;
        for (const auto& [sectors, of] :
             {std::pair<std::string_view, std::string_view>{"dram__sectors", "dram__bytes"},
              {"lts__t_sectors", "lts__t_bytes"},
              {"l1tex__t_sectors", "l1tex__t_bytes"}}) {
            const std::string_view rest = text.substr(std::min(sectors.size(), text.size()));
            if (text.starts_with(sectors) &&
                (rest == ".sum" || rest == "_read.sum" || rest == "_write.sum")) {
                bytes.emplace_back(std::string(of).append(rest), kSectorBytes * value);
            }
        }
    }
    add_all(bytes, counters);
    const Value read = value_of(counters, "dram__bytes_read.sum");
    const Value write = value_of(counters, "dram__bytes_write.sum");
    if (read && write) {
        add_all({{"dram__bytes.sum", *read + *write}}, counters);
    }
}

// Requests of AMD's L2 to memory, in KiB. Source: AMD, "MI200 and MI300 performance counters and
// metrics": reads are of 64 bytes but for those counted as 32 or 128, writes of 32 but for those
// counted as 64.
void add_memory_requests(Counters& counters) {
    constexpr double kKiB = 1024.0;
    for (const std::string port : {"TCC_EA0_", "TCC_EA_"}) {
        const auto requests = [&](const std::string& name) {
            return first_of(counters, {port + name + "_sum", port + name});
        };
        const Value reads = requests("RDREQ"), small = requests("RDREQ_32B");
        Value large = requests("RDREQ_128B");
        large = large ? large : first_of(counters, {"TCC_BUBBLE_sum", "TCC_BUBBLE"});
        if (reads && small) {
            const double wide = large.value_or(0.0);
            add_all({{"FETCH_SIZE",
                      (128.0 * wide + 32.0 * *small + 64.0 * (*reads - *small - wide)) / kKiB}},
                    counters);
        }
        const Value writes = requests("WRREQ"), full = requests("WRREQ_64B");
        if (writes && full) {
            add_all({{"WRITE_SIZE", (64.0 * *full + 32.0 * (*writes - *full)) / kKiB}}, counters);
        }
    }
}

} // namespace

void add_derived_counters(Launch& launch) {
    if (launch.counters.empty()) {
        return;
    }
    find_time(launch);
    add_sums(launch);
    add_tensor_operations(launch.counters);
    add_sectors(launch.counters);
    add_memory_requests(launch.counters);
}

} // namespace eyeroof::profiles
