// A network, or the list of all networks, for people and for programs: sizes, work and bytes of
// each layer, before any machine comes into it. JSON schema "eyeroof/net/1" and "eyeroof/nets/1".
// Computes nothing but sums.
#pragma once

#include "formats/network_yaml.hpp"
#include "model/workload/network.hpp"
#include "report/answer/answer.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace eyeroof::report {

// A catalog entry with the totals of its standard parameters.
struct NetworkRow {
    formats::NetworkHead head;
    std::size_t runs = 0; // of layers, each as often as it runs
    model::NetworkTotals totals;
};

Answer network_answer(const model::Network& network, const model::NetworkTotals& totals);
Answer networks_answer(const std::vector<NetworkRow>& rows);

} // namespace eyeroof::report
