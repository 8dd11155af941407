#include "formats/timeloop_entries.hpp"

#include <fmt/format.h>

#include <algorithm>

// Timeloop's constraints: lists of targets, and those inside the nodes of a 0.4 architecture.

namespace eyeroof::formats {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field
using hwdb::Node;
using timeloop::along_x;
using timeloop::axis_of;
using timeloop::Entry;
using timeloop::EntryReader;
using timeloop::Factor;
using timeloop::member;
using timeloop::Sort;

namespace {

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

void add_target(const EntryReader& reader, const Node& node, Rules& rules) {
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

void add_node_rules(const EntryReader& reader, const Node& list, Rules& rules) {
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
    const EntryReader reader{machine, names};
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

} // namespace eyeroof::formats
