#include "analysis/step/streaming.hpp"

#include <algorithm>

namespace eyeroof::analysis::step {

namespace {

Count weights_read(const Graph& graph, const Operator& op) {
    Count bytes = 0;
    for (const TensorId t : graph.reads_of(op)) {
        bytes += graph.tensors[t].role == Role::weight ? graph.tensors[t].bytes : 0;
    }
    return bytes;
}

} // namespace

Streamed stream_weights(const Graph& graph, const Timeline& line, double bytes_per_s) {
    Streamed result;
    Count largest = 0, second = 0;
    double copied = 0.0, ended = 0.0, before = 0.0; // `before`: the end of the last but one
    double last_end = 0.0;                          // on the line without copies
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        const Count bytes = weights_read(graph, graph.operators[i]);
        if (bytes > 0) {
            copied = std::max(copied, before) + static_cast<double>(bytes) / bytes_per_s;
            second = std::max(std::min(bytes, largest), second);
            largest = std::max(largest, bytes);
        }
        const double took = std::max(line.spans[i].end_s - last_end, 0.0);
        last_end = std::max(last_end, line.spans[i].end_s);
        before = bytes > 0 ? ended : before;
        ended = std::max(ended, bytes > 0 ? copied : 0.0) + took;
    }
    for (const Tensor& tensor : graph.tensors) {
        result.weights += tensor.role == Role::weight ? tensor.bytes : 0;
    }
    result.time_s = std::max(ended, line.time_s);
    result.buffers = largest + second;
    return result;
}

} // namespace eyeroof::analysis::step
