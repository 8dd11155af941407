#include "formats/onnx/order.hpp"

#include <fmt/format.h>

#include <set>

namespace eyeroof::formats::onnx {

Result<std::vector<std::size_t>> run_order(const OnnxGraph& graph, const std::string& file) {
    using Answer = Result<std::vector<std::size_t>>;
    std::map<std::string_view, std::size_t> makers;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        for (const std::string& name : graph.nodes[i].outputs) {
            if (!name.empty() && !makers.emplace(name, i).second) {
                return Answer::failure("bad-onnx", fmt::format("two nodes give '{}'", name),
                                       "export the model again: each tensor has one producer",
                                       {file, 0, 0});
            }
        }
    }
    std::vector<std::vector<std::size_t>> readers(graph.nodes.size());
    std::vector<std::size_t> waits(graph.nodes.size(), 0);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        for (const std::string_view name : graph.nodes[i].reads()) {
            if (const auto maker = makers.find(name); maker != makers.end()) {
                readers[maker->second].push_back(i);
                ++waits[i];
            }
        }
    }
    std::set<std::size_t> ready; // the first in the file goes first
    for (std::size_t i = 0; i < waits.size(); ++i) {
        if (waits[i] == 0) {
            ready.insert(ready.end(), i);
        }
    }
    std::vector<std::size_t> order;
    while (!ready.empty()) {
        const std::size_t at = *ready.begin();
        ready.erase(ready.begin());
        order.push_back(at);
        for (const std::size_t reader : readers[at]) {
            if (--waits[reader] == 0) {
                ready.insert(reader);
            }
        }
    }
    for (std::size_t i = 0; i < waits.size(); ++i) {
        if (waits[i] > 0) {
            const OnnxNode& node = graph.nodes[i];
            return Answer::failure(
                "cyclic-graph",
                fmt::format("{} '{}' waits for a tensor that it helps to make", node.op, node.name),
                "nodes of an ONNX graph read from those before them", {file, 0, 0});
        }
    }
    return order;
}

} // namespace eyeroof::formats::onnx
