// The error of predictions on kernels of a real run, beyond the model's own error, for a trace
// beside predictions and for predictions of another GPU from a trace.
#pragma once

namespace eyeroof::analysis {

// Standard deviation of ln(measured / predicted) that a trace adds to the model's own: strides,
// clocks, caches and the library's choice of kernel are those of the run, and where something of
// the shape is inferred, its work too. docs/dev/trace-evidence.md has the coverage of each GPU when
// these are set by the traces of the others.
inline constexpr double kRunSigma = 0.4;
inline constexpr double kInferredSigma = 0.6;

// Correlation of these errors between two GPUs that run the same operator: of the model's own (50
// pairs of five GPUs and five kinds of operator with the same shapes, median 0.30), and of what the
// run adds (the same network traced on two GPUs: 0.44 over 36 operators).
inline constexpr double kModelShared = 0.3;
inline constexpr double kRunShared = 0.45;

} // namespace eyeroof::analysis
