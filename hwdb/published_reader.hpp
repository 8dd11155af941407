// Published figures of machines, as YAML: what was printed of which machine and network, where, and
// how far it is to be trusted.
#pragma once

#include "base/provenance.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::hwdb {

// What a published figure is. Times are of the whole batch; processing leaves out what the
// outermost memory is waited for; tera_ops counts two operations a MAC. energy_mj is of all levels
// that the machine names; chip_mw and chip_giga_ops_per_w are those of what `exam` estimates for
// the chip. The MAC hardware of an array in memory is its cells, row drivers, and ADCs: no
// accumulators, no memory around it.
enum class Figure {
    processing_ms,
    total_ms,
    frames_per_s,
    tera_ops,
    processing_tera_ops,
    active_pes,
    dram_mb,
    processing_speedup,
    energy_mj,
    chip_mw,
    chip_giga_ops_per_w,
    array_tera_ops_per_w,
    array_tera_ops_per_mm2
};

std::string_view figure_name(Figure figure); // "processing ms", "frames/s"

// A step of the seven that the prediction leaves out or counts in another way than the figure does,
// and by how much that makes the prediction too good (above 1) or too bad: reported beside the
// error, never put into it.
struct Explanation {
    int step = 7;        // 1 to 7
    double factor = 1.0; // predicted over what it would be with the step as published
    std::string why;

    bool operator==(const Explanation&) const = default;
};

struct PublishedRow {
    std::string name;                 // "CONV1"
    std::string machine;              // id in the catalog …
    std::vector<std::string> changes; // … with what is different: "axis-kernel=16"
    std::string over;                 // of speed-ups: the other machine
    std::string network;              // reference, with parameters: "alexnet:batch=4"
    std::string layers;               // those that match this expression; empty: all
    std::int64_t batch = 0;           // 0: as the network has it
    Figure figure = Figure::total_ms;
    double published = 0.0;
    Provenance from;                    // confidence and source of the figure
    std::string note;                   // why the prediction may differ
    std::vector<Explanation> explained; // what of the difference is known, step by step
    bool seen = false;                  // a rule of the machine was inferred from this figure
    bool searched =
        false; // the chip's compiler searches: the best mapping instead of the dataflow's

    bool operator==(const PublishedRow&) const = default;
};

struct PublishedTable {
    std::string id, title;
    std::vector<PublishedRow> rows;

    bool operator==(const PublishedTable&) const = default;
};

// Errors: those of the YAML reader, all at once, with line and column.
Result<PublishedTable> load_published(const std::filesystem::path& file);

// All tables of <folder>/published/*.yaml, in the order of their names. Errors: "no-tables" when no
// folder has one; those of the files.
Result<std::vector<PublishedTable>>
load_all_published(const std::vector<std::filesystem::path>& folders);

} // namespace eyeroof::hwdb
