// The scatter form counted by walking over it: P and Q step over input rows, and a row and a tap
// that meet no output are left out, so that what a dimension needs depends on the other.
#pragma once

#include "model/nest/loops.hpp"
#include "model/workload/problem.hpp"

#include <optional>
#include <vector>

namespace eyeroof::model::nest {

struct Movement;

enum class ScatterPart : std::uint8_t { inside, fixed, group, family };

// Words of the axis (along, tap) that a movement counts; nullopt when the axis is too long to walk.
std::optional<Count> scattered(const Problem& problem, const Nest& nest, const Movement& movement,
                               const std::vector<ScatterPart>& parts,
                               std::optional<std::size_t> moving, Dim along, Dim tap);

// Trips of the axis' temporal loops at which any neighbour has a MAC to do.
std::optional<Count> scattered_steps(const Problem& problem, const Nest& nest, Dim along, Dim tap);

} // namespace eyeroof::model::nest
