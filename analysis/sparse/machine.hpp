// Machines that skip zeros, as YAML: one of the cost models of model/sparse with its sizes.
// The format is in docs/accelerator-model.md.
#pragma once

#include "analysis/sparse/levels_reader.hpp"
#include "base/provenance.hpp"
#include "base/result.hpp"
#include "hwdb/lint.hpp"
#include "model/sparse/cartesian.hpp"
#include "model/sparse/columns.hpp"
#include "model/sparse/selection.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace eyeroof::analysis {

struct SparseMachine {
    std::string id, name, summary;
    std::variant<model::sparse::Cartesian, model::sparse::Columns, model::sparse::Selection,
                 SparseLevels>
        kind;
    ProvenanceMap provenance;
    std::vector<std::string> numbers; // fields of all that the file gives

    double clock_hz() const {
        return std::visit([](const auto& machine) { return machine.clock_hz; }, kind);
    }
    bool operator==(const SparseMachine&) const = default;
};

// A machine's file; of the kind `levels` names a described accelerator in the folders. Errors:
// those of the strict reader; numbers without a source; "out-of-range"; those of that accelerator's
// file.
Result<SparseMachine> parse_sparse_machine(std::string text, const std::string& file,
                                           std::span<const std::filesystem::path> folders = {});

// By name from sparse/*.yaml of the folders, nearest first, or by path. Errors: "unknown-machine"
// with the nearest name.
Result<SparseMachine> load_sparse_machine(std::string_view name,
                                          std::span<const std::filesystem::path> folders);

// Is this a file of the format, right or wrong?
bool is_sparse_file(const std::filesystem::path& file);

// hwdb::lint_machine() of such a file.
hwdb::LintReport lint_sparse_machine(const std::filesystem::path& file,
                                     std::span<const std::filesystem::path> folders);

// Files of a folder's kind ("sparse", "densities") by name; of equal names the nearest.
std::vector<std::filesystem::path> sparse_files(std::span<const std::filesystem::path> folders,
                                                std::string_view kind);

// The file that a name or a path means. Errors: "unknown-…" with the nearest name.
Result<std::filesystem::path> find_sparse_file(std::string_view name,
                                               std::span<const std::filesystem::path> folders,
                                               std::string_view kind, std::string_view what);

} // namespace eyeroof::analysis
