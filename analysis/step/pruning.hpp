// GEMMs with sparse weights, on devices whose kernels exploit them.
// For the optimizations of `eyeroof improve`.
#pragma once

#include "analysis/program/costs.hpp"

#include <string>

namespace eyeroof::analysis::step {

// two_of_four: two of four neighbors along k are zero; tensor cores since Ampere skip them.
// blocks: whole blocks of 64 x 64 weights are zero; any kernel that walks a list of blocks skips
// them.
enum class Pruning { none, two_of_four, blocks };

inline constexpr Count kBlock = 64;

// A GEMM with weights of its own, or those of experts.
bool learned_product(const model::Layer& layer);

bool serves_two_of_four(const model::Gpu& gpu, model::DataType type);

// Share of the dense weights' bytes that is left. 2:4: half, and two bits a kept element (16 bits
// 0.5625, 8 bits 0.625); blocks: the density, and four bytes a block.
double bytes_left(Pruning pruning, double density, model::DataType type);

// Share of k that the busiest column of blocks walks: with blocks kept at random, n/64 columns of
// k/64 blocks each, mean d and deviation sqrt(d (1-d) 64/k); its expected maximum
//   d + sqrt(2 ln(n/64) d (1-d) 64/k),  at most 1.  2:4: a half.
double depth_left(Pruning pruning, double density, Count n, Count k);

// The density below which vector lanes that skip single zeros beat dense tensor cores:
// peak of the lanes / peak of the cores; 1 where the type has no tensor cores.
double unstructured_break_even(const model::Gpu& gpu, model::DataType type);

struct Pruned {
    std::size_t layers = 0; // whose products gain
    Count saved_bytes = 0;  // of weights, all pruned layers
};

// Sets the costs of products with learned weights to
//   t' = max(t(m, n, depth k), (bytes - (1 - left) weights) / (dram_share B)),  at most t,
// t of the model for the shorter product. A layer that does not gain stays dense. No rates of
// sparse kernels have been fitted: the interval ends at the dense product's own.
Pruned prune(const Graph& graph, LayerCosts& known, Pruning pruning, double density, Costs& costs);

// Progressive pruning: so many steps of a tenth of all weights, each followed by retraining.
Count pruning_steps(Pruning pruning, double density);

} // namespace eyeroof::analysis::step
