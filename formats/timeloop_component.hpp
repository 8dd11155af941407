// A component of a Timeloop architecture: one storage or the arithmetic, whatever form of file it
// stands in.
#pragma once

#include "formats/expression.hpp"
#include "formats/script.hpp"
#include "formats/timeloop_parts.hpp"
#include "model/accelerator/accelerator.hpp"

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::formats::timeloop {

inline constexpr Count kMaxInstances = Count{1} << 31;

struct Component {
    std::string name;
    bool arithmetic = false;
    std::optional<Count> entries; // nullopt: unbounded; 0: stores nothing
    Count instances = 1;          // of all, in flat files and trees
    Count mesh_x = 1;
    Count word_bits = 16;
    Count block = 1;   // words that a vector access moves, which cost its energy together
    Count cluster = 1; // instances that one access of the full width serves at once
    int buffers = 1;
    double read = model::kUnlimited; // words per cycle
    double write = model::kUnlimited;
    std::optional<double> pj;        // per vector access, or per MAC
    std::optional<double> write_pj;  // where it differs from that of reads
    std::optional<double> update_pj; // where it differs from that of writes
    double leak_pj = 0.0;            // of an instance and cycle
    std::vector<model::Axis> axes;   // 0.4: opened by this node or by containers before it
    model::OperandSet holds = {model::Operand::input, model::Operand::weight,
                               model::Operand::output};
    hwdb::Node node;
};

// A component's attributes, and behind them those of the nodes around it, nearest first.
// Expressions may also name `variables`: mappings of a document.
class Attributes {
  public:
    Attributes(hwdb::Node own, std::vector<hwdb::Node> around,
               std::vector<hwdb::Node> variables = {});

    // The first of the names that is set, own ones before inherited ones.
    hwdb::Node find(std::initializer_list<std::string_view> names) const;
    // Numbers may be expressions of other attributes: "word_bits * n_words".
    std::optional<double> number(std::initializer_list<std::string_view> names) const;
    std::optional<Count> count(std::initializer_list<std::string_view> names,
                               Count least = 1) const;
    bool has(std::initializer_list<std::string_view> names) const { return bool(find(names)); }

    // Of an expression; nothing where it names what has no value.
    std::optional<double> value_of(const std::string& text) const;

  private:
    Result<ScriptValue> evaluated(const std::string& text, int depth) const;
    hwdb::Node variable(std::string_view name) const;

    std::vector<hwdb::Node> chain_;
    std::vector<hwdb::Node> variables_;
};

void read_capacity(const Attributes& at, bool dram, Component& c);
void read_speed(const Attributes& at, Component& c);
// Errors for attributes that matter and are not modelled, and warnings for those of compressed
// tensors: words count as those of dense ones.
void refuse_unmodelled(const Attributes& at);
inline constexpr int kMaxDepth = 48;   // of trees and of lists in lists
inline constexpr Count kWordBits = 16; // Timeloop's, where none are named

// Name, class and attributes; sets neither instances nor axes. Nothing for what is left out.
std::optional<Component> read_component(const hwdb::Node& node, const std::string& name,
                                        const std::vector<hwdb::Node>& around,
                                        const std::vector<hwdb::Node>& variables = {});

// The mappings under `variables` at the top of a file, which may be a list of them.
std::vector<hwdb::Node> variable_maps(const hwdb::Node& root);

// Bits of whole words and their slices, as CiMLoop's variables state them; 1 and 0 elsewhere.
struct WordSlices {
    Count word_bits = 0;     // 0: words are not counted in bits
    double per_column = 1.0; // columns that one weight takes
    double steps = 1.0;      // of one input
    double step_s = 0.0;     // 0: not stated
};
WordSlices word_slices(const std::vector<hwdb::Node>& variables);

// The components of a list of nodes (0.4), from the outermost inwards, with the axes they open.
std::vector<Component> read_nodes(const hwdb::Node& list,
                                  const std::vector<hwdb::Node>& variables = {});

// Energies from tables stand above those of attributes. One warning names every component of the
// tables that is not used as it stands there: no part of the architecture has its name, none of its
// actions is counted, or another has the same name.
Diagnostics add_energies(const std::map<std::string, Energies>& tables,
                         std::vector<Component>& components);

} // namespace eyeroof::formats::timeloop
