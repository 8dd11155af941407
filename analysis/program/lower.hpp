// Lowers a question to the program of a step: the only conversion of a network.
#pragma once

#include "analysis/program/costs.hpp"
#include "analysis/program/memory.hpp"
#include "analysis/program/operators.hpp"
#include "analysis/scenario/question.hpp"

namespace eyeroof::analysis {

// What the open choices of a scenario mean for this network and machine.
Operators operators_of(const Question& question);
AttentionForm attention_of(const Question& question);
model::Layout layout_of(const Question& question);
// The software of one layer's kernel: library by name, layout. Passes between layouts are
// operators.
model::Software software_of(const Scenario& scenario, model::Layout layout,
                            const model::Layer& layer);
step::SoftwareOf software_of(const Question& question);

// Whether the compiler runs two-dimensional convolutions of 32 bits with channels last. Inductor
// does where that costs no more by its own table, in training only without groups, narrowing
// filters, and where some channels are more than 64 (torch/_inductor/graph.py, decide_layout_opt,
// PyTorch 2.5).
bool turns_layout(const Question& question);

// Samples that the network's own sizes are for: Network::batch, else the n that all convolutions
// and pools share, else 1.
Count own_batch(const model::Network& network);
// What the network's sizes are multiplied by for the scenario's batch. Errors: "bad-batch" where it
// is no multiple of the network's own.
Result<Count> batch_factor(const Question& question);

// Errors: "uncosted" where the network has a product without a cost and the scenario does not allow
// it.
Diagnostics check_costed(const Question& question);

// The forward layers as they run: operators, batch, types, attention. Errors: "no-layers"; those of
// check_costed(), batch_factor() and with_batch().
Result<model::NetworkGraph> forward_layers(const Question& question);

// The whole step: forward layers, gradients and updates in training, passes between layouts on
// GPUs, fused groups where it is compiled, and of these the layers that match the scenario's
// expression. Layer::count says how often each runs. Errors: those of forward_layers() and
// make_graph(); "no-layers" when the expression matches none; "bad-regex"; "unknown-function" for
// an optimizer that is none.
Result<step::Graph> lower(const Question& question);

// Memory of the lowered program: of all tensors that its operators touch, also of a part of a
// network. Learned values are counted as the network has them, also those of norms that are folded
// into weights. `workspaces`: as for step::memory_of().
step::Memory memory_of(const Question& question, const step::Graph& program,
                       const std::vector<Count>& workspaces = {});

// The same as a network of its layers: for analyses that take single layers on.
Result<model::Network> lowered_network(const Question& question);

// The scenario of layers that were lowered already: their sizes, types and operators are as they
// run.
Scenario for_lowered(Scenario scenario);
// A question about such layers on the same machine.
Question question_of_lowered(const Question& question, model::Network layers);

} // namespace eyeroof::analysis
