// Chains of convolutions and pooling whose intermediate planes stay on the chip: tiles of the last
// output pulled through, what their overlap costs or needs, and the best tile for a buffer.
//
// Sources: Alwani et al., "Fused-Layer CNN Accelerators", MICRO 2016; modes of the overlap, Mei et
// al., "DeFiNES", HPCA 2023.
#pragma once

#include "base/checked.hpp"
#include "model/workload/layer.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace eyeroof::model::fuse {

// One member of a chain: a window that moves over a plane.
struct Window {
    Extent2 in{1, 1}, out{1, 1}; // planes, without padding
    Extent2 filter{1, 1}, stride{1, 1}, pad{0, 0}, dilation{1, 1};
    Count images = 1;
    Count c = 1, k = 1;        // channels in and out
    Count macs_per_output = 0; // of one position, all output channels; 0: pooling
    Count weights = 0;         // words
    Count weights_at_once = 0; // the least that must be there to work: of one output channel

    bool operator==(const Window&) const = default;
};
// Convolutions forward and pooling; nothing for other operators.
std::optional<Window> window_of(const Layer& layer);

enum class Overlap { recomputed, kept_along_x, kept };
std::string_view overlap_name(Overlap overlap);

struct Tiling {
    Extent2 tile{1, 1}; // of the last output
    Overlap overlap = Overlap::kept;
    bool weights_stay = true; // or come again for each tile
    // A window alone: output channels in so many parts, each of which goes over all tiles, so that
    // only a part of the weights must stay and the input comes again for each. 1 in a group.
    Count passes = 1;

    bool operator==(const Tiling&) const = default;
};

struct GroupCost {
    Count macs = 0;     // with what is computed twice
    Count traffic = 0;  // words to and from outside
    Count capacity = 0; // words that must fit at once
    Count weight_traffic = 0, input_traffic = 0, output_traffic = 0;

    bool operator==(const GroupCost&) const = default;
};

// One image after the other, tiles row by row. The regions that a tile needs are followed back
// exactly, clipped at borders. Capacity:
//   weights that stay, or of one output channel of the layer that runs
// + kept overlap: (filter - stride) rows of the whole width, and columns of the tile's height
// + the largest pair of a layer's input and output tile
// At least one window; each one's input is the output of the one before.
GroupCost cost_of(std::span<const Window> group, const Tiling& tiling);

// Tile extents that are tried: all of them up to an extent of 64; up to 4,096 for each number of
// tiles the least that makes so many; beyond, numbers of tiles an eighth apart, at most 65,536 of
// them. Along channels, where a part has no border, each number of parts is all there is. "Best"
// below is among these.
std::vector<Count> tile_sizes(Count extent);
enum class SizesTried { all, each_number_of_tiles, thinned };
SizesTried sizes_tried(Count extent);

struct GroupChoice {
    Tiling tiling;
    GroupCost cost;

    bool operator==(const GroupChoice&) const = default;
};

// What is to be least: max(MACs x per_mac, words x per_word), then traffic, MACs, capacity. With
// per_mac 0 it is traffic; with seconds for both, the time of a group whose work and transfers
// overlap.
struct Aim {
    double per_mac = 0.0, per_word = 1.0;

    double of(const GroupCost& cost) const;
};

// The best tiling that fits into so many words; nothing where none does.
std::optional<GroupChoice> best_tiling(std::span<const Window> group, Count words,
                                       const Aim& aim = {});

} // namespace eyeroof::model::fuse
