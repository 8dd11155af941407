// Marks of steps that inference engines leave in traces, and paths of nested ranges.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace eyeroof::profiles {

// "prefill", "decode", "mixed", or another word of the engine, of a range that an engine opens for
// each step: vLLM's "execute_context_1(1024)_generation_3(3)", SGLang's "step[DECODE bs=4]",
// TensorRT-LLM's "[Executor] _forward_step 12: 1 ctx reqs, 3 gen reqs". nullopt for other ranges.
std::optional<std::string> step_kind(std::string_view range);

// The first range of a path that marks a step; empty without one.
std::string_view step_mark(std::string_view path);

// Nested ranges, the outermost first: "step[DECODE bs=4] > layer 3".
inline constexpr std::string_view kRangeJoint = " > ";
std::string joined_range(std::string_view outer, std::string_view inner);
std::string_view innermost_range(std::string_view path);
std::string_view outer_ranges(std::string_view path); // all but the innermost; empty for one

} // namespace eyeroof::profiles
