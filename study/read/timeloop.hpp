// Timeloop's files: architecture, problem, mapping and constraints, as far as they describe what
// eyeroof models. Called where a machine, network, mapping or constraint file is taken.
// Knows no display. What is not supported is an error with its name, file and line.
//
// Read: flat architectures (`arch:` with `arithmetic` and `storage`, innermost first), problems of
// shape cnn-layer (dimensions beside `shape`, or under `instance`), mappings and constraints as
// lists of targets (`mapping:`, `mapspace: constraints:`, `architecture_constraints: targets:`,
// `mapspace_constraints: targets:`), with factors as "R3", "R=3" or lists of these.
#pragma once

#include "mapper/problem_space.hpp"
#include "model/machine.hpp"
#include "model/mapping.hpp"
#include "model/network.hpp"

#include <string>
#include <string_view>

namespace eyeroof::study::read {

enum class TimeloopKind { none, architecture, problem, mapping, constraints };

// By the first top-level key.
TimeloopKind timeloop_kind(std::string_view text);

model::Result<model::Machine> parse_timeloop_architecture(std::string text,
                                                          const std::string& file);
// A network of one convolution, named after the file.
model::Result<model::Network> parse_timeloop_problem(std::string text, const std::string& file);
// Names of levels and dimensions are Timeloop's; P and R lie along what eyeroof calls rows.
model::Result<model::Mapping> parse_timeloop_mapping(std::string text, const std::string& file,
                                                     const model::Accelerator& machine);
model::Result<mapper::Constraints> parse_timeloop_constraints(std::string text,
                                                              const std::string& file,
                                                              const model::Accelerator& machine);
std::string write_timeloop_mapping(const model::Mapping& mapping,
                                   const model::Accelerator& machine);

} // namespace eyeroof::study::read
