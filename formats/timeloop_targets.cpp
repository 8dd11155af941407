#include "formats/timeloop_entries.hpp"

#include <fmt/format.h>

#include <algorithm>

// Timeloop's mappings: lists of targets.

namespace eyeroof::formats {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field
using hwdb::Node;

namespace {

// By the permutation, innermost first; dimensions outside it come after.
std::vector<timeloop::Factor> ordered(const timeloop::Entry& entry) {
    std::vector<timeloop::Factor> factors;
    for (const Dim dim : entry.permutation) {
        for (const timeloop::Factor& f : entry.factors) {
            if (f.dim == dim) {
                factors.push_back(f);
            }
        }
    }
    for (const timeloop::Factor& f : entry.factors) {
        if (std::find(entry.permutation.begin(), entry.permutation.end(), f.dim) ==
            entry.permutation.end()) {
            factors.push_back(f);
        }
    }
    return factors;
}

void add_spatial(const timeloop::Entry& entry, const timeloop::Factor& f,
                 const Accelerator& machine, Mapping& mapping) {
    const std::size_t at = entry.spread->level;
    const auto axis = timeloop::axis_of(entry, machine.levels[at], f.dim);
    if (!axis) {
        entry.node.error("unknown-axis",
                         fmt::format("{} has no fan-out along {} for {}{}", entry.target,
                                     timeloop::along_x(entry, f.dim) ? "x" : "y", letter(f.dim),
                                     f.trips),
                         "the split parts the dimensions along x from those along y");
        return;
    }
    mapping.levels[at].spatial.push_back({f.dim, f.trips, static_cast<std::uint8_t>(*axis)});
}

// Trips as they were written, of each slot from the innermost outwards, to be checked as a whole.
struct Written {
    std::size_t level;
    bool time;
    timeloop::Factor factor;
    Node node;
};

void apply_loops(const timeloop::Entry& entry, const Accelerator& machine,
                 const TimeloopNames& names, Mapping& mapping, std::vector<Written>& all) {
    const std::vector<timeloop::Factor> factors = ordered(entry);
    for (auto at = factors.rbegin(); at != factors.rend(); ++at) {
        timeloop::Factor f = *at;
        if (f.limit != timeloop::Limit::exact) {
            entry.node.error("bad-loop",
                             fmt::format("a mapping fixes the trips of {} with '='", letter(f.dim)),
                             "constraints may use <= and >=");
            continue;
        }
        if (f.trips == 0 && !names.sizes) {
            entry.node.error("unsupported",
                             "0 stands for all of a dimension, whose size is not "
                             "known here",
                             "write the number, or take the workload from a Timeloop problem");
            continue;
        }
        f.trips = f.trips == 0 ? (*names.sizes)[index(f.dim)] : f.trips;
        const bool time = entry.sort == timeloop::Sort::temporal;
        all.push_back({time ? *entry.level : entry.spread->level, time, f, entry.node});
        if (f.trips > 1 && time) {
            mapping.levels[*entry.level].temporal.push_back({f.dim, f.trips});
        } else if (f.trips > 1) {
            add_spatial(entry, f, machine, mapping);
        }
    }
}

// "P4,2" says that the last visit has two trips. With trips b from the innermost outwards these are
// the digits of size - 1, each and one: nothing that the size does not say already, so they are
// only checked.
void check_last_trips(std::vector<Written> all, const TimeloopNames& names) {
    if (!names.sizes) {
        return;
    }
    std::stable_sort(all.begin(), all.end(), [](const Written& a, const Written& b) {
        return a.level != b.level ? a.level > b.level : !a.time && b.time;
    });
    Extents rest = *names.sizes;
    for (const Written& w : all) {
        Count& left = rest[index(w.factor.dim)];
        const Count last = (left - 1) % w.factor.trips + 1;
        if (w.factor.last && *w.factor.last != last) {
            w.node.error("bad-loop",
                         fmt::format("{}{},{}: its last visit has {} trips, by the size {} of {}",
                                     letter(w.factor.dim), w.factor.trips, *w.factor.last, last,
                                     (*names.sizes)[index(w.factor.dim)], letter(w.factor.dim)),
                         "leave out what stands behind the comma");
        }
        left = (left - 1) / w.factor.trips + 1;
    }
}

} // namespace

Result<Mapping> parse_timeloop_mapping(std::string text, const std::string& file,
                                       const Accelerator& machine, const TimeloopNames& names) {
    const auto document = timeloop::open(std::move(text), file);
    if (!document) {
        return Result<Mapping>(document.diagnostics());
    }
    const timeloop::EntryReader reader{machine, names};
    Mapping mapping;
    mapping.levels.resize(machine.levels.size());
    std::vector<OperandSet> bypassed(machine.levels.size());
    std::vector<Written> written;
    document->root().ignore_rest();
    Node list = document->root().need("mapping");
    if (list.is_map()) {
        list["version"].text();
        list = list.has("nodes") ? list["nodes"] : list.need("targets");
    }
    for (const Node& node : list.items(1)) {
        const auto entry = reader.read(node);
        if (entry && entry->sort == timeloop::Sort::tensors) {
            bypassed[*entry->level] = entry->bypass;
        } else if (entry && entry->sort != timeloop::Sort::utilization) {
            apply_loops(*entry, machine, names, mapping, written);
        }
    }
    check_last_trips(std::move(written), names);
    for (std::size_t i = 0; i < machine.levels.size(); ++i) {
        for (const Operand o : kAllOperands) { // what is not said to pass by rests
            if (store_of(machine.levels[i], o) != nullptr && !bypassed[i].contains(o)) {
                mapping.levels[i].keeps.insert(o);
            }
        }
        std::stable_sort(
            mapping.levels[i].spatial.begin(), mapping.levels[i].spatial.end(),
            [](const SpatialLoop& a, const SpatialLoop& b) { return a.axis > b.axis; });
    }
    return document->conclude(std::move(mapping));
}

} // namespace eyeroof::formats
