// Serving engines, which hwdb reads, and intervals of what engines do not say.
#pragma once

#include "model/machine/engine.hpp"

namespace eyeroof::analysis {

using model::Engine;
using model::EngineKind;
using ErrorBand = model::RatioBand;

// Measured over predicted tokens/s: the most of a server, and of one request at a time without an
// engine. Fitted with rows left out by GPU, model, and table: `eyeroof validate --scale`, 54 and 28
// rows (TensorRT-LLM's and gpt-fast's tables).
inline constexpr ErrorBand kServerRateBand = {0.96, 1.32};
inline constexpr ErrorBand kOneRequestBand = {0.81, 1.22};

} // namespace eyeroof::analysis
