#include "formats/timeloop_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::formats {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

// In the order in which Timeloop's own files name the loops of a convolution.
constexpr std::array<Dim, kDims> kOrder = {Dim::R, Dim::S, Dim::P, Dim::Q,
                                           Dim::C, Dim::K, Dim::N, Dim::G};

class Writer {
  public:
    Writer(const Accelerator& machine, const TimeloopNames& names) : machine_(machine) {
        for (const auto& [name, dim] : names.dims) {
            if (name_[index(dim)].empty() || name.front() == letter(dim)) {
                name_[index(dim)] = name;
            }
        }
        for (const auto& [name, operand] : names.spaces) {
            space_[index(operand)] = name;
        }
    }

    void write(const LevelMapping& level, std::size_t at) {
        const std::string& name = machine_.levels[at].name;
        OperandSet bypass = {Operand::input, Operand::weight, Operand::output};
        for (const Operand o : kAllOperands) {
            if (level.keeps.contains(o)) {
                bypass.erase(o);
            }
        }
        text += fmt::format("- {{target: {}, type: datatype, keep: [{}], bypass: [{}]}}\n", name,
                            spaces(level.keeps), spaces(bypass));
        const std::vector<TemporalLoop> inner_first(level.temporal.rbegin(), level.temporal.rend());
        text += fmt::format("- {{target: {}, type: temporal, {}}}\n", name, loops(inner_first));
        for (const std::string& target : openers(at)) {
            write_spread(level, at, target);
        }
    }

    std::string text = "mapping:\n";
    Diagnostics found;

  private:
    // The level, where axes have no owner; else the nodes that open them, outermost first.
    std::vector<std::string> openers(std::size_t at) const {
        std::vector<std::string> names;
        for (const Axis& axis : machine_.levels[at].fanout) {
            const std::size_t dot = axis.name.rfind('.');
            const std::string owner =
                dot == std::string::npos ? machine_.levels[at].name : axis.name.substr(0, dot);
            if (std::find(names.begin(), names.end(), owner) == names.end()) {
                names.push_back(owner);
            }
        }
        return names;
    }

    // Trips of each dimension on the axes of a target that end in x and in y.
    struct Spreading {
        Count size_x = 1, size_y = 1;
        std::vector<TemporalLoop> x, y; // innermost first

        // Dimensions on both axes.
        std::vector<Dim> shared() const {
            std::vector<Dim> dims;
            for (const TemporalLoop& loop : y) {
                const auto same = [&](const TemporalLoop& l) { return l.dim == loop.dim; };
                if (std::any_of(x.begin(), x.end(), same)) {
                    dims.push_back(loop.dim);
                }
            }
            return dims;
        }
    };
    Spreading spreading_of(const LevelMapping& level, std::size_t at,
                           const std::string& target) const {
        Spreading spread;
        const auto& fanout = machine_.levels[at].fanout;
        const auto on = [&](const Axis& axis, const char* end) {
            return axis.name == end || axis.name == target + "." + end;
        };
        for (const Axis& axis : fanout) {
            (on(axis, "x") ? spread.size_x : spread.size_y) *=
                on(axis, "x") || on(axis, "y") ? axis.size : 1;
        }
        for (auto loop = level.spatial.rbegin(); loop != level.spatial.rend(); ++loop) {
            if (on(fanout[loop->axis], "x")) {
                spread.x.push_back({loop->dim, loop->bound});
            } else if (on(fanout[loop->axis], "y")) {
                spread.y.push_back({loop->dim, loop->bound});
            }
        }
        return spread;
    }

    // Timeloop has one place for a dimension: each whole along x or along y, if they fit so. Counts
    // do not depend on the axis.
    static bool part(Spreading& spread) {
        Extents trips = kOnes;
        std::vector<Dim> dims;
        for (const auto* loops : {&spread.x, &spread.y}) {
            for (const TemporalLoop& loop : *loops) {
                trips[index(loop.dim)] *= loop.bound;
                if (std::find(dims.begin(), dims.end(), loop.dim) == dims.end()) {
                    dims.push_back(loop.dim);
                }
            }
        }
        for (unsigned along_y = 0; along_y < 1U << dims.size(); ++along_y) {
            Spreading other{spread.size_x, spread.size_y, {}, {}};
            Count x = 1;
            Count y = 1;
            for (std::size_t n = 0; n < dims.size(); ++n) {
                const bool second = (along_y >> n & 1U) != 0;
                const Count bound = trips[index(dims[n])];
                (second ? y : x) *= bound;
                (second ? other.y : other.x).push_back({dims[n], bound});
            }
            if (x <= spread.size_x && y <= spread.size_y) {
                spread = std::move(other);
                return true;
            }
        }
        return false;
    }

    void write_spread(const LevelMapping& level, std::size_t at, const std::string& target) {
        Spreading spread = spreading_of(level, at, target);
        const auto shared = spread.shared();
        if (!shared.empty() && !part(spread)) {
            found.error("unsupported",
                        fmt::format("{} lies along x and along y of {}, and fits neither alone: "
                                    "Timeloop's mappings have one place for it",
                                    name_[index(shared.front())], target),
                        "save it with --save-mapping, or constrain each axis to its own "
                        "dimensions");
        }
        std::vector<Dim> along_x;
        for (const TemporalLoop& loop : spread.x) {
            if (std::find(along_x.begin(), along_x.end(), loop.dim) == along_x.end()) {
                along_x.push_back(loop.dim);
            }
        }
        std::vector<TemporalLoop> loops_of = spread.x;
        loops_of.insert(loops_of.end(), spread.y.begin(), spread.y.end());
        text += fmt::format("- {{target: {}, type: spatial, {}, split: {}}}\n", target,
                            loops(loops_of), along_x.size());
    }

    // Loops innermost first; dimensions without a loop come after.
    std::string loops(const std::vector<TemporalLoop>& inner_first) const {
        Extents trips = kOnes;
        std::vector<Dim> order;
        const auto add = [&](Dim dim) {
            if (std::find(order.begin(), order.end(), dim) == order.end()) {
                order.push_back(dim);
            }
        };
        for (const TemporalLoop& loop : inner_first) {
            trips[index(loop.dim)] *= loop.bound;
            add(loop.dim);
        }
        std::vector<std::string> factors;
        std::vector<std::string> permutation;
        bool letters = true;
        for (const Dim dim : kOrder) {
            if (!name_[index(dim)].empty() && (dim != Dim::G || trips[index(dim)] > 1)) {
                add(dim);
                letters = letters && name_[index(dim)].size() == 1;
                factors.push_back(fmt::format("{}={}", name_[index(dim)], trips[index(dim)]));
            }
        }
        for (const Dim dim : order) {
            permutation.push_back(name_[index(dim)]);
        }
        return letters ? fmt::format("factors: \"{}\", permutation: \"{}\"",
                                     fmt::join(factors, " "), fmt::join(permutation, ""))
                       : fmt::format("factors: [{}], permutation: [{}]", fmt::join(factors, ", "),
                                     fmt::join(permutation, ", "));
    }

    std::string spaces(OperandSet set) const {
        std::vector<std::string> list;
        for (const Operand o : {Operand::weight, Operand::input, Operand::output}) {
            if (set.contains(o)) {
                list.push_back(space_[index(o)]);
            }
        }
        return fmt::format("{}", fmt::join(list, ", "));
    }

    const Accelerator& machine_;
    std::array<std::string, kDims> name_;
    PerOperand<std::string> space_;
};

} // namespace

Result<std::string> write_timeloop_mapping(const Mapping& mapping, const Accelerator& machine,
                                           const TimeloopNames& names) {
    Writer writer(machine, names);
    for (std::size_t i = mapping.levels.size(); i-- > 0;) {
        writer.write(mapping.levels[i], i);
    }
    return writer.found.has_errors() ? Result<std::string>(std::move(writer.found))
                                     : Result<std::string>(std::move(writer.text));
}

} // namespace eyeroof::formats
