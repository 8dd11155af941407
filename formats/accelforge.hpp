// AccelForge's files: architectures (`arch` with nodes !Memory, !Container, !Compute) and workloads
// (`workload` with einsums). Templates are expanded first (template.hpp).
//
// Architectures: sizes are bits, energies joules an action, throughputs actions a second;
// an action moves `bits_per_action` bits, 1 unless it says otherwise. A spatial fan-out that reuses
// a tensor takes the dimensions that this tensor does not have. Stores of different tensors with no
// fan-out between them share a level. Energies that component models would give follow from the
// classes, where `technology` knows these (component_energy.hpp), and are 0 otherwise, as warnings
// say. Words that arrays in memory take in slices count whole.
//
// Workloads: an einsum of two tensors is a convolution or a matrix product; dimensions that lie in
// the same tensors are folded into one. An einsum of one tensor, a sum, and a product of equal
// shapes are element-wise; one that is called softmax is a softmax. Copies run nothing.
#pragma once

#include "formats/template.hpp"
#include "model/machine/machine.hpp"
#include "model/technology/technology.hpp"
#include "model/workload/graph_edges.hpp"

#include <string>
#include <string_view>

namespace eyeroof::formats {

bool is_accelforge_arch(std::string_view text);
bool is_accelforge_workload(std::string_view text);

// Errors: "unsupported" with the node or einsum that is not modelled, "missing-key"; with lines.
Result<model::Machine> parse_accelforge_arch(std::string text, const std::string& file,
                                             const model::Technology* technology = nullptr,
                                             const TemplateWords& words = {});

// `given`: values of the template's variables. The edges say which einsum reads whose output.
Result<model::NetworkGraph> parse_accelforge_workload(std::string text, const std::string& file,
                                                      const Variables& given = {});

} // namespace eyeroof::formats
