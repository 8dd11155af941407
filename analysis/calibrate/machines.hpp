// Published figures of accelerators beside the predictions.
#pragma once

#include "analysis/calibrate/pairs.hpp"
#include "analysis/exam/run.hpp"
#include "base/progress.hpp"
#include "hwdb/published_reader.hpp"
#include "model/technology/technology.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace eyeroof::analysis {

struct PublishedResult {
    hwdb::PublishedRow row;
    double predicted = 0.0; // in the unit of the row's figure
    std::string limit;      // step and limit that take most of the longest layer: "6 DRAM link"

    double error() const { return predicted / row.published - 1.0; }
    // What is left of it once the steps that the row explains are counted as published.
    double unexplained() const;
    bool operator==(const PublishedResult&) const = default;
};

struct MachineTable {
    std::string id, title;
    std::vector<PublishedResult> rows;
    // Mean of |error| over the rows that are not recalled, and over those that no rule was inferred
    // from; nullopt without such rows.
    std::optional<double> mape, unseen_mape;

    bool operator==(const MachineTable&) const = default;
};

// Each row is run as `exam` runs it, with the machine's own dataflow unless `options` ask for
// another policy, or the row for the best mapping. `technology` makes figures of the chip (power);
// nullptr: rows that need one are errors. Errors, with the row they belong to: those of the
// networks, the machines, their changes, and run(); "cancelled".
Result<std::vector<MachineTable>>
validate_machines(const std::vector<hwdb::PublishedTable>& tables, const NetworkSource& networks,
                  const MachineSource& machines, const model::Technology* technology,
                  const Scenario& options, std::stop_token stop = {},
                  const ProgressCallback& progress = {});

} // namespace eyeroof::analysis
