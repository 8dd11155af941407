// Reads SCALE-Sim's own files: the topology CSV (convolutions or matrix products) and the cfg.
#pragma once

#include "model/accelerator/accelerator.hpp"
#include "model/machine/machine.hpp"
#include "model/workload/network.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace eyeroof::formats {

// Is this first line the header of a topology? ("Layer name, IFMAP Height, …" or "Layer, M, N, K,")
bool is_scalesim_topology(std::string_view text);

// Columns: layer name, IFMAP height and width, filter height and width, channels, filters, stride
// (one, or height and width) and a batch where the header names one; rows of commas alone and
// headings, trailing commas and further columns (sparsity) are passed over. Tabs separate too.
// Or: layer, M, N, K. SCALE-Sim has no padding: heights are those of the padded input. A layer
// whose name holds "DP" is depthwise, as SCALE-Sim reads it: `filters` for each channel. All errors
// at once, with line and column.
Result<model::Network> parse_scalesim_topology(std::string text, const std::string& file);

// Of each layer whose column `Sparsity` says so ("2:4"), which share of its weights is kept; empty
// where no column names any.
struct KeptWeights {
    Count kept = 1;
    Count of = 1;

    bool operator==(const KeptWeights&) const = default;
};
std::map<std::string, KeptWeights> scalesim_sparsity(const std::string& text);

// What of a cfg decides the compute cycles, and the sizes of its buffers.
struct ScaleSimConfig {
    std::string run_name;
    Count rows = 0; // ArrayHeight
    Count cols = 0; // ArrayWidth
    model::DataflowKind dataflow = model::DataflowKind::os;
    Count ifmap_kb = 0;
    Count filter_kb = 0;
    Count ofmap_kb = 0;
    std::optional<Count> bandwidth_words; // words per cycle, where it is given
    bool sparse = false; // SparsitySupport: zeros of a layer's weights are left out

    bool operator==(const ScaleSimConfig&) const = default;
};
Result<ScaleSimConfig> parse_scalesim_cfg(std::string text, const std::string& file);
Result<ScaleSimConfig> load_scalesim_cfg(const std::filesystem::path& path);

// "[architecture_presets]" or an ArrayHeight stands in the text.
bool is_scalesim_cfg(std::string_view text);

// The array of a cfg as a machine: one store a tensor on the chip, which SCALE-Sim double buffers,
// behind a memory of `Bandwidth` words a cycle. Errors: those of parse_scalesim_cfg(), and
// "missing-key" where it names no buffers.
Result<model::Machine> parse_scalesim_machine(std::string text, const std::string& file);

} // namespace eyeroof::formats
