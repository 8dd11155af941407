#include "model/gpu/library_cells.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::model {

namespace {

// The numbers of a version, up to what is none: "0.5.6.post2" is 0, 5, 6, 0.
std::vector<int> numbers_of_version(std::string_view version) {
    std::vector<int> numbers = {0};
    for (const char c : version) {
        if (c >= '0' && c <= '9' && numbers.back() < 100000000) {
            numbers.back() = 10 * numbers.back() + (c - '0');
        } else if (c == '.') {
            numbers.push_back(0);
        } else {
            break;
        }
    }
    return numbers;
}

// Before the first of the versions that were measured: its kernels may be others. A version of
// fewer numbers stands for all that begin so.
bool is_older(std::string_view version, std::string_view measured) {
    if (version.empty() || measured.empty()) {
        return false;
    }
    const std::vector<int> asked = numbers_of_version(version);
    std::vector<int> first = numbers_of_version(measured.substr(0, measured.find(',')));
    first.resize(std::min(first.size(), asked.size()));
    return asked < first;
}

bool is_listed(std::string_view version, std::string_view measured) {
    for (std::size_t at = measured.find(version); at != std::string_view::npos;
         at = measured.find(version, at + 1)) {
        const std::size_t end = at + version.size();
        const bool begins = at == 0 || measured[at - 1] == ' ';
        if (begins && (end == measured.size() || measured[end] == ',' || measured[end] == '.')) {
            return true;
        }
    }
    return false;
}

std::string words_key(std::string_view op, std::string_view network, std::string_view type,
                      std::string_view library, std::string_view kernel) {
    std::string key;
    for (const std::string_view word : {op, network, type, library}) {
        key += word;
        key += '|';
    }
    return key.append(kernel);
}

std::string lowered(std::string_view text) {
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return lower;
}

std::size_t alike_for(std::string_view a, std::string_view b) {
    return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                                    a.begin());
}

// Tables cut names, and versions append words: the kernel whose name begins alike, over half of
// it; or one that stands in a longer name.
const std::pair<const std::string, LibraryCell>*
named_alike(const LibraryCells& cells, const std::string& start, std::string_view name) {
    const std::pair<const std::string, LibraryCell>* best = nullptr;
    const std::string kernel = lowered(name);
    std::size_t most = 0;
    for (auto at = cells.cells.lower_bound(start);
         at != cells.cells.end() && at->first.starts_with(start); ++at) {
        const std::string own = lowered(std::string_view(at->first).substr(start.size()));
        const bool within = kernel.find(own) != std::string::npos ||
                            own.find(kernel) != std::string::npos; // "fa3" of "flash_attn_fa3"
        const std::size_t same =
            within ? std::min(own.size(), kernel.size()) : alike_for(own, kernel);
        if (!own.empty() && (within || 2 * same > kernel.size()) && same > most) {
            most = same;
            best = &*at;
        }
    }
    return best;
}

} // namespace

std::string cell_key(const LibraryCall& c) {
    return words_key(c.op, c.network, c.type, c.library, c.kernel);
}

std::string kernel_family(const Gpu& gpu) {
    const std::string& cc = gpu.compute_capability;
    if (cc.starts_with("gfx") || cc.empty()) {
        return cc;
    }
    const auto point = cc.find('.');
    const std::string major = cc.substr(0, point);
    const bool family = gpu.arch >= GpuArch::blackwell; // since Blackwell 10.0 and 10.3 are one
    const std::string minor = family || point == std::string::npos ? "0" : cc.substr(point + 1);
    return "sm_" + major + minor;
}

std::optional<FoundCell> find_cell(const LibraryCells& all, const LibraryCall& c) {
    const auto found = [&](const std::string& key, bool exact) -> std::optional<FoundCell> {
        const auto at = all.cells.find(key);
        return at == all.cells.end() ? std::nullopt
                                     : std::optional(FoundCell{&at->second, at->first, exact});
    };
    if (!c.kernel.empty()) {
        if (auto own = found(cell_key(c), true)) {
            return own;
        }
        if (const auto* alike =
                named_alike(all, words_key(c.op, c.network, c.type, c.library, ""), c.kernel)) {
            return FoundCell{&alike->second, alike->first, true};
        }
    }
    if (auto own = found(words_key(c.op, c.network, c.type, c.library, ""), true)) {
        return own;
    }
    if (auto own = found(words_key(c.op, c.network, c.type, "", ""), false)) {
        return own;
    }
    return found(words_key(c.op, "", c.type, "", ""), false);
}

double widened(double quantile, double by) {
    const double from = std::log(quantile);
    const double to = std::sqrt(from * from + by * by);
    return std::exp(from < 0.0 ? -to : to);
}

std::vector<double> shape_weights(const CallParts& parts, LibraryKind kind) {
    std::vector<double> weights;
    const auto& axes = call_axes(kind);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::vector<double>& knots = axes[i].knots;
        const std::size_t first = weights.size();
        weights.resize(first + knots.size(), 0.0);
        const double at =
            std::clamp(std::log2(std::max(parts.axes[i], 1e-9)), knots.front(), knots.back());
        const auto above = std::upper_bound(knots.begin(), knots.end() - 1, at);
        const std::size_t right =
            std::max<std::size_t>(1, static_cast<std::size_t>(above - knots.begin()));
        const double share = (at - knots[right - 1]) / (knots[right] - knots[right - 1]);
        weights[first + right - 1] = 1.0 - share;
        weights[first + right] = share;
    }
    return weights;
}

double cell_seconds(const LibraryCell& cell, const CallParts& parts, LibraryKind kind) {
    double sum = 0.0;
    for (std::size_t i = 0; i < std::min(cell.added.size(), parts.added.size()); ++i) {
        sum += cell.added[i] * parts.added[i];
    }
    double most = 0.0;
    const std::size_t joined = std::min(cell.joined.size(), parts.joined.size());
    for (std::size_t i = 0; i < joined; ++i) {
        most = std::max(most, cell.joined[i] * parts.joined[i]);
    }
    if (most > 0.0) {
        double powers = 0.0;
        for (std::size_t i = 0; i < joined; ++i) {
            powers += std::pow(cell.joined[i] * parts.joined[i] / most, cell.power);
        }
        sum += most * std::pow(powers, 1.0 / cell.power);
    }
    if (cell.shape.empty()) {
        return sum;
    }
    const std::vector<double> weights = shape_weights(parts, kind);
    double log = 0.0;
    for (std::size_t i = 0; i < std::min(weights.size(), cell.shape.size()); ++i) {
        log += weights[i] * cell.shape[i];
    }
    return sum * std::exp(log);
}

double with_host(double kernel_s, double host_s) {
    constexpr double kPower = 8.0;
    const double longer = std::max(kernel_s, host_s), shorter = std::min(kernel_s, host_s);
    return longer * std::pow(1.0 + std::pow(shorter / longer, kPower), 1.0 / kPower);
}

double power_share(const std::vector<double>& watts, const CallParts& parts, double time_s) {
    constexpr double kPower = 6.0;
    double asked = watts.front();
    for (std::size_t i = 0; i < std::min(watts.size() - 1, parts.joined.size()); ++i) {
        asked += watts[i + 1] * parts.joined[i] / time_s;
    }
    return asked / std::pow(1.0 + std::pow(asked, kPower), 1.0 / kPower);
}

namespace {

// The shares of power of the call's library, else of any: no kernel has its own.
const std::vector<double>* watts_of(const MachineKernels& kernels, const LibraryCall& c) {
    for (const auto& cells : kernels.families) {
        for (const std::string_view library : {std::string_view(c.library), std::string_view()}) {
            const auto at = cells->cells.find(words_key(c.op, c.network, c.type, library, ""));
            if (at != cells->cells.end() && !at->second.watts.empty()) {
                return &at->second.watts;
            }
        }
    }
    return nullptr;
}

// Along how many axes the call lies where no row did: corrections there stayed at their start.
double far_axes(const LibraryCell& cell, const CallParts& parts, LibraryKind kind) {
    if (cell.shape.empty()) {
        return 0.0;
    }
    const std::vector<double> weights = shape_weights(parts, kind);
    double far = 0.0;
    for (std::size_t i = 0; i < std::min(weights.size(), cell.shape.size()); ++i) {
        far += cell.shape[i] == 0.0 ? weights[i] : 0.0;
    }
    return far;
}

// What the family's machines have in common, and how far apart (ln) they lie.
CellMachine mean_machine(const LibraryCell& cell, double& spread) {
    CellMachine mean{0.0, cell.low, cell.high};
    double least = 0.0, most = 0.0;
    int hosts = 0;
    for (const auto& [id, machine] : cell.machines) {
        mean.host_s += machine.host_s;
        hosts += machine.host_s > 0.0 ? 1 : 0;
        const bool first = &machine == &cell.machines.begin()->second;
        least = first ? machine.offset : std::min(least, machine.offset);
        most = first ? machine.offset : std::max(most, machine.offset);
        mean.offset += machine.offset / static_cast<double>(cell.machines.size());
    }
    mean.host_s /= std::max(hosts, 1);
    spread = most - least;
    return mean;
}

} // namespace

const Result<MachineKernels>& KernelShelf::kernels() const {
    std::call_once(once_, [this] { kernels_ = read_(); });
    return *kernels_;
}

std::string served_text(const LibraryTime& time) {
    const auto last = time.key.rfind('|');
    const auto before = time.key.rfind('|', last - 1);
    std::string text = time.key.substr(before + 1, last - before - 1);
    text += time.versions.empty() ? "" : " " + time.versions;
    return last + 1 < time.key.size() ? text + ", " + time.key.substr(last + 1) : text;
}

std::optional<LibraryTime> library_time(const Gpu& gpu, const MachineKernels& kernels,
                                        const LibraryCall& call) {
    const auto kind = library_kind(call.op, call.network);
    if (!kind) {
        return std::nullopt;
    }
    for (const auto& cells : kernels.families) {
        const auto found = find_cell(*cells, call);
        if (!found) {
            continue;
        }
        const LibraryCell& cell = *found->cell;
        const auto own = cell.machines.find(kernels.machine);
        const bool measured = own != cell.machines.end();
        const CallParts parts = parts_of(gpu, call, *kind);
        double spread = 0.0;
        const CellMachine machine = measured ? own->second : mean_machine(cell, spread);
        LibraryTime t;
        const double kernel_s = cell_seconds(cell, parts, *kind) * std::exp(machine.offset);
        t.time_s = call.eager ? with_host(kernel_s, machine.host_s) : kernel_s;
        if (const auto* watts = watts_of(kernels, call); watts != nullptr && t.time_s > 0.0) {
            t.energy_j = power_share(*watts, parts, t.time_s) * gpu.tdp_w * t.time_s;
        }
        const bool known = call.version.empty() || is_listed(call.version, cell.versions);
        const CellDistance& d = cells->distances[static_cast<std::size_t>(*kind)];
        const double library = !found->exact ? d.library : known ? 0.0 : d.version;
        const double by = std::hypot(measured ? 0.0 : std::hypot(d.machine, spread), library,
                                     d.size * far_axes(cell, parts, *kind));
        t.low_s = t.time_s * std::min(widened(machine.low, by), 1.0);
        t.high_s = t.time_s * std::max(widened(machine.high, by), 1.0);
        t.key = found->key;
        t.versions = cell.versions;
        t.machine_measured = measured;
        t.exact = found->exact && !is_older(call.version, cell.versions);
        return t;
    }
    return std::nullopt;
}

} // namespace eyeroof::model
