// Several exams of one network side by side: layers down, machines across. Computes only which
// machine is fastest; the two sides of a change are analysis/diff.
#pragma once

#include "analysis/exam/report.hpp"
#include "report/answer/answer.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::report {

// A layer by its name (the second of a name by its second place, and so on), and its row on each
// side: nothing where a machine has no such layer, because it fuses it.
struct SideRow {
    const analysis::LayerReport* any = nullptr; // the first that has it
    std::vector<const analysis::LayerReport*> on;

    // Index of the side that takes least time, if at least two have the layer.
    std::optional<std::size_t> quickest() const;
};
// The fastest machine with its scenario.
const analysis::Report& fastest(const std::vector<analysis::Report>& sides);
// "Fastest: h100, 12 ms; 1.4x a100", its bottleneck, and what would help.
std::vector<std::string> side_by_side_sentences(const std::vector<analysis::Report>& sides);

std::vector<SideRow> side_rows(const std::vector<analysis::Report>& sides);

// Schema "eyeroof/exams/1". The sides must outlive the answer. CSV has a row for each layer and
// machine, then a row "total" for each machine.
Answer side_by_side_answer(const std::vector<analysis::Report>& sides);

} // namespace eyeroof::report
