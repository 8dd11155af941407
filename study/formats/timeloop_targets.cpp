#include "model/base/suggest.hpp"
#include "study/formats/timeloop_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

// Timeloop's mappings and constraints: lists of targets, and the constraints inside the nodes of a
// 0.4 architecture.

namespace eyeroof::study::read {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field
using hwdb::Node;
using timeloop::Factor;
using timeloop::member;
using timeloop::Spread;

namespace {

enum class Sort { tensors, temporal, spatial, utilization };

struct Entry {
    Sort sort = Sort::temporal;
    std::string target;
    std::optional<std::size_t> level; // of tensors and loops in time
    std::optional<Spread> spread;     // of loops in space
    std::vector<Factor> factors;
    bool only_these = false; // dimensions without a factor do not loop
    std::vector<Dim> permutation;
    std::optional<Count> split;
    OperandSet keep;
    OperandSet bypass;
    std::optional<double> least;
    Node node;

    Node place() const { return node; }
};

struct Reader {
    const Accelerator& machine;
    const TimeloopNames& names;

    std::optional<Sort> sort_of(const Node& node, const std::string& type) const {
        if (type == "datatype" || type == "dataspace" || type == "bypass" || type == "bypassing") {
            return Sort::tensors;
        }
        if (type == "temporal" || type == "spatial") {
            return type == "temporal" ? Sort::temporal : Sort::spatial;
        }
        if (type == "utilization" || type == "parallelism") {
            return Sort::utilization;
        }
        static const std::vector<std::string> known = {"datatype", "bypass",      "temporal",
                                                       "spatial",  "utilization", "dataspace"};
        node.error("unsupported", fmt::format("entries of type '{}' are not read", type),
                   model::suggestion(type, known));
        return std::nullopt;
    }

    // The level or axes that a target names; "inter_PE_spatial" is what opens at node PE.
    void find_target(const Node& node, Entry& entry) const {
        std::string name = entry.target;
        if (!timeloop::level_named(machine, name) && name.starts_with("inter_") &&
            name.ends_with("_spatial")) {
            name = name.substr(6, name.size() - 14);
        }
        if (entry.sort == Sort::spatial) {
            entry.spread = timeloop::spread_of(machine, name);
        } else {
            entry.level = timeloop::level_named(machine, name);
        }
        if (entry.sort != Sort::utilization && !entry.level && !entry.spread) {
            node.error("unknown-level", fmt::format("the machine has no level '{}'", entry.target),
                       model::suggestion(entry.target, timeloop::target_names(machine)));
        }
    }

    void read_loops(const Node& node, Entry& entry) const {
        if (const Node factors = member(node, "factors")) {
            entry.factors = timeloop::factors_of(factors, names);
        }
        if (const Node only = member(node, "factors_only")) {
            entry.factors = timeloop::factors_of(only, names);
            entry.only_these = true;
        }
        if (const Node permutation = node["permutation"]) {
            entry.permutation = timeloop::permutation_of(permutation, names);
        }
        if (const Node split = node["split"]) {
            entry.split = split.integer({0, 1000000});
        }
        if (const Node still = member(node, "no_iteration_over_dataspaces")) {
            for (const Dim d : moved_by(timeloop::operands_of(still, names))) {
                entry.factors.push_back({d, 1});
            }
        }
        for (const auto key :
             {"no_reuse", "no_coalesce", "no_link_transfer", "rmw_first_update", "maximize_dims",
              "maximize_dims_capacity", "must_iterate_over_dataspaces", "no_multicast",
              "no_reduction", "remainders"}) {
            timeloop::refuse(node, key, "rules of this kind");
        }
    }

    void read_tensors(const Node& node, Entry& entry) const {
        entry.keep = timeloop::operands_of(node["keep"], names);
        entry.bypass = timeloop::operands_of(node["bypass"], names);
        if (const Node only = member(node, "keep_only")) {
            entry.keep = timeloop::operands_of(only, names);
            for (const Operand o : kAllOperands) {
                if (!entry.keep.contains(o)) {
                    entry.bypass.insert(o);
                }
            }
        }
        for (const auto key :
             {"no_coalesce", "no_reuse", "rmw_first_update", "no_temporal_reuse"}) {
            timeloop::refuse(node, key, "rules of this kind");
        }
    }

    void read_body(const Node& node, Entry& entry) const {
        if (entry.sort == Sort::tensors) {
            read_tensors(node, entry);
        } else if (entry.sort == Sort::utilization) {
            entry.least = node.need("min").number(0.0, 1.0);
        } else {
            read_loops(node, entry);
        }
    }

    // {target: GLB, type: temporal, …}; the rest may stand under `attributes`.
    // Inside another target's `constraints` its name is known: `outer`.
    std::optional<Entry> read(const Node& node, const std::string& outer = {}) const {
        Entry entry;
        entry.node = node;
        const bool named = node.has("target") || node.has("name") || outer.empty();
        const Node target = node.has("target") ? node["target"] : named ? node.need("name") : node;
        entry.target = named ? target.text().value_or("") : outer;
        const Node type = node.need("type");
        const auto sort = type ? sort_of(type, type.text().value_or("")) : std::nullopt;
        if (!sort) {
            node.ignore_rest();
            return std::nullopt;
        }
        entry.sort = *sort;
        find_target(target, entry);
        const Node attributes = node["attributes"];
        read_body(attributes ? attributes : node, entry);
        const bool found = entry.level || entry.spread || entry.sort == Sort::utilization;
        return found ? std::optional(std::move(entry)) : std::nullopt;
    }

    std::vector<Dim> moved_by(OperandSet operands) const {
        std::vector<Dim> dims;
        for (const Dim d : kAllDims) {
            for (const Operand o : kAllOperands) {
                if (operands.contains(o) && relevant(o, d)) {
                    dims.push_back(d);
                    break;
                }
            }
        }
        return dims;
    }
};

std::string axis_end(const std::string& name) {
    return name.substr(name.rfind('.') + 1); // npos + 1 is 0
}

// Dimensions in the first `split` places of the permutation lie along x, the others along y.
bool along_x(const Entry& entry, Dim dim) {
    const auto at = std::find(entry.permutation.begin(), entry.permutation.end(), dim);
    return !entry.split || at - entry.permutation.begin() < *entry.split;
}

std::optional<std::size_t> axis_of(const Entry& entry, const Level& level, Dim dim) {
    if (entry.spread->own && entry.spread->axes.size() == 1) {
        return entry.spread->axes.front();
    }
    const char* wanted = along_x(entry, dim) ? "x" : "y";
    for (const std::size_t a : entry.spread->axes) {
        if (axis_end(level.fanout[a].name) == wanted) {
            return a;
        }
    }
    return std::nullopt;
}

// ---- mapping ------------------------------------------------------------------------------------

// By the permutation, innermost first; dimensions outside it come after.
std::vector<Factor> ordered(const Entry& entry) {
    std::vector<Factor> factors;
    for (const Dim dim : entry.permutation) {
        for (const Factor& f : entry.factors) {
            if (f.dim == dim) {
                factors.push_back(f);
            }
        }
    }
    for (const Factor& f : entry.factors) {
        if (std::find(entry.permutation.begin(), entry.permutation.end(), f.dim) ==
            entry.permutation.end()) {
            factors.push_back(f);
        }
    }
    return factors;
}

void add_spatial(const Entry& entry, const Factor& f, const Accelerator& machine,
                 Mapping& mapping) {
    const std::size_t at = entry.spread->level;
    const auto axis = axis_of(entry, machine.levels[at], f.dim);
    if (!axis) {
        entry.node.error("unknown-axis",
                         fmt::format("{} has no fan-out along {} for {}{}", entry.target,
                                     along_x(entry, f.dim) ? "x" : "y", letter(f.dim), f.trips),
                         "the split parts the dimensions along x from those along y");
        return;
    }
    mapping.levels[at].spatial.push_back({f.dim, f.trips, static_cast<std::uint8_t>(*axis)});
}

// Trips as they were written, of each slot from the innermost outwards, to be checked as a whole.
struct Written {
    std::size_t level;
    bool time;
    Factor factor;
    Node node;
};

void apply_loops(const Entry& entry, const Accelerator& machine, const TimeloopNames& names,
                 Mapping& mapping, std::vector<Written>& all) {
    const std::vector<Factor> factors = ordered(entry);
    for (auto at = factors.rbegin(); at != factors.rend(); ++at) {
        Factor f = *at;
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
        const bool time = entry.sort == Sort::temporal;
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

// ---- constraints --------------------------------------------------------------------------------

class Rules {
  public:
    Rules(const Accelerator& machine, PlacedConstraints& placed)
        : machine_(machine), placed_(placed) {
        placed_.rules.levels.resize(machine.levels.size());
        for (std::size_t i = 0; i < machine.levels.size(); ++i) {
            placed_.rules.levels[i].where = machine.levels[i].name;
        }
    }

    void add(const Entry& entry) {
        switch (entry.sort) {
        case Sort::tensors:
            add_tensors(entry);
            break;
        case Sort::temporal:
            add_temporal(entry);
            break;
        case Sort::spatial:
            add_spatial_rule(entry);
            break;
        case Sort::utilization:
            placed_.rules.min_utilization = entry.least.value_or(0.0);
            placed_.places["min_utilization"] = entry.node.where();
            break;
        }
    }

  private:
    void place(const Entry& entry, std::size_t level, const std::string& what) {
        placed_.places.emplace(fmt::format("levels[{}].{}", level, what), entry.node.where());
    }

    void add_tensors(const Entry& entry) {
        const std::size_t at = *entry.level;
        if (machine_.levels[at].stores.empty()) {
            return; // a place that stores nothing
        }
        auto& level = placed_.rules.levels[at];
        for (const Operand o : kAllOperands) {
            if (entry.keep.contains(o)) {
                level.keep.insert(o);
                place(entry, at, fmt::format("keep.{}", operand_name(o)));
            }
            if (entry.bypass.contains(o)) {
                level.bypass.insert(o);
                place(entry, at, fmt::format("bypass.{}", operand_name(o)));
            }
        }
    }

    void fix(const Entry& entry, std::optional<Count>& slot, const Factor& f, std::size_t at,
             const char* what) {
        if (f.last) {
            entry.node.error("unsupported",
                             fmt::format("{}{},{}: a rule has no last trip of its own",
                                         letter(f.dim), f.trips, *f.last),
                             "give the trips alone");
        }
        if (slot && *slot != f.trips) {
            entry.node.error("conflict",
                             fmt::format("{}{} of {} is fixed to {} trips elsewhere", letter(f.dim),
                                         f.trips, entry.target, *slot),
                             "keep one of the two");
        }
        slot = f.trips;
        place(entry, at, fmt::format("{}.{}", what, letter(f.dim)));
    }

    void limit(const Entry& entry, mapper::TripRange& range, const Factor& f, std::size_t at,
               const char* what) {
        if (f.limit == timeloop::Limit::least) {
            range.least = std::max(range.least, f.trips);
        } else {
            range.most = std::min(range.most, f.trips);
        }
        if (range.least > range.most) {
            entry.node.error("conflict",
                             fmt::format("{} of {} has to be at least {} and at most {}",
                                         letter(f.dim), entry.target, range.least, range.most),
                             "loosen one of the two");
        }
        place(entry, at, fmt::format("{}.{}", what, letter(f.dim)));
    }

    void add_temporal(const Entry& entry) {
        auto& level = placed_.rules.levels[*entry.level];
        for (const Factor& f : entry.factors) {
            if (f.limit == timeloop::Limit::exact) {
                fix(entry, level.temporal[index(f.dim)], f, *entry.level, "temporal");
            } else {
                limit(entry, level.temporal_range[index(f.dim)], f, *entry.level, "temporal");
            }
        }
        for (const Dim d : kAllDims) {
            if (entry.only_these && !level.temporal[index(d)] && !mentions(entry, d)) {
                level.temporal[index(d)] = 1;
                place(entry, *entry.level, fmt::format("temporal.{}", letter(d)));
            }
        }
        if (!entry.permutation.empty()) {
            level.order = entry.permutation;
            place(entry, *entry.level, "order");
        }
    }

    static bool mentions(const Entry& entry, Dim d) {
        return std::any_of(entry.factors.begin(), entry.factors.end(),
                           [&](const Factor& f) { return f.dim == d; });
    }

    // Axes that a node opens itself carry every dimension but those with one trip; on shared axes
    // the split says which dimension lies where.
    void add_spatial_rule(const Entry& entry) {
        const std::size_t at = entry.spread->level;
        auto& level = placed_.rules.levels[at];
        if (entry.spread->own) {
            restrict_axes(entry, level);
            place(entry, at, "axes");
        } else if (entry.split) {
            place(entry, at, "axes");
            std::vector<DimSet> axes(machine_.levels[at].fanout.size());
            for (const Dim dim : entry.permutation) {
                if (const auto axis = axis_of(entry, machine_.levels[at], dim)) {
                    axes[*axis].insert(dim);
                }
            }
            level.axis_dims = axes;
        }
        for (const Factor& f : entry.factors) {
            const bool exact = f.limit == timeloop::Limit::exact;
            const bool elsewhere =
                exact && entry.spread->own && f.trips == 1 && carried(level, f.dim);
            if (!exact) {
                limit(entry, level.spatial_range[index(f.dim)], f, at, "spatial");
            } else if (!elsewhere) {
                fix(entry, level.spatial[index(f.dim)], f, at, "spatial");
            }
            place(entry, at, fmt::format("spatial.{}", letter(f.dim)));
        }
    }

    void restrict_axes(const Entry& entry, mapper::LevelConstraint& level) {
        const auto& fanout = machine_.levels[entry.spread->level].fanout;
        if (!level.axis_dims) {
            DimSet all;
            for (const Dim d : kAllDims) {
                all.insert(d);
            }
            level.axis_dims = std::vector<DimSet>(fanout.size(), all);
        }
        for (const std::size_t a : entry.spread->axes) {
            DimSet dims;
            for (const Dim d : kAllDims) {
                const bool one =
                    std::any_of(entry.factors.begin(), entry.factors.end(), [&](const Factor& f) {
                        return f.dim == d && f.trips == 1 && f.limit != timeloop::Limit::least;
                    });
                const bool left_out = entry.only_these && !mentions(entry, d);
                if ((*level.axis_dims)[a].contains(d) && !one && !left_out) {
                    dims.insert(d);
                }
            }
            (*level.axis_dims)[a] = dims;
        }
    }

    static bool carried(const mapper::LevelConstraint& level, Dim d) {
        return level.axis_dims && std::any_of(level.axis_dims->begin(), level.axis_dims->end(),
                                              [&](const DimSet& s) { return s.contains(d); });
    }

    const Accelerator& machine_;
    PlacedConstraints& placed_;
};

void add_target(const Reader& reader, const Node& node, Rules& rules) {
    if (const Node nested = node["constraints"]) { // several for one target
        const Node target = node.has("target") ? node["target"] : node.need("name");
        const std::string outer = target.text().value_or("");
        for (const Node& part : nested.items()) {
            if (const auto entry = reader.read(part, outer)) {
                rules.add(*entry);
            }
        }
        return;
    }
    if (const auto entry = reader.read(node)) {
        rules.add(*entry);
    }
}

void add_node_rules(const Reader& reader, const Node& list, Rules& rules) {
    for (const Node& node : list.items()) {
        node.ignore_rest();
        if (node.tag() == "!Nothing") {
            continue;
        }
        if (const Node inner = node["nodes"]) {
            add_node_rules(reader, inner, rules);
            continue;
        }
        const Node own = node["constraints"];
        if (!own) {
            continue;
        }
        for (const auto& [key, part] : own.entries()) {
            Entry entry;
            entry.node = part;
            entry.target = node["name"].text().value_or("");
            const auto sort = reader.sort_of(part, key);
            if (!sort) {
                continue;
            }
            entry.sort = *sort;
            reader.find_target(part, entry);
            reader.read_body(part, entry);
            if (entry.level || entry.spread) {
                rules.add(entry);
            }
        }
    }
}

} // namespace

Result<Mapping> parse_timeloop_mapping(std::string text, const std::string& file,
                                       const Accelerator& machine, const TimeloopNames& names) {
    const auto document = timeloop::open(std::move(text), file);
    if (!document) {
        return Result<Mapping>(document.diagnostics());
    }
    const Reader reader{machine, names};
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
        if (entry && entry->sort == Sort::tensors) {
            bypassed[*entry->level] = entry->bypass;
        } else if (entry && entry->sort != Sort::utilization) {
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

Result<PlacedConstraints> parse_timeloop_constraints(std::string text, const std::string& file,
                                                     const Accelerator& machine,
                                                     const TimeloopNames& names,
                                                     PlacedConstraints placed) {
    const auto document = timeloop::open(std::move(text), file);
    if (!document) {
        return Result<PlacedConstraints>(document.diagnostics());
    }
    const Node root = document->root();
    root.ignore_rest();
    const Reader reader{machine, names};
    Rules rules(machine, placed);
    const Node tree = root["architecture"];
    if (tree && tree.has("nodes")) {
        tree.ignore_rest();
        add_node_rules(reader, tree["nodes"], rules);
    }
    for (const char* key : {"mapspace", "architecture_constraints", "mapspace_constraints"}) {
        Node list = member(root, key);
        if (list && list.is_map()) {
            list["version"].text();
            list["template"].text();
            list = list.has("constraints") ? list["constraints"] : list["targets"];
        }
        if (list) {
            for (const Node& node : list.items()) {
                add_target(reader, node, rules);
            }
        }
    }
    return document->conclude(std::move(placed));
}

} // namespace eyeroof::study::read
