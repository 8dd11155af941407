#include "formats/onnx/edges.hpp"

#include "model/workload/operands.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace eyeroof::formats::onnx {

namespace {

using model::GraphEdges;
using model::GraphStep;
using model::GraphStepKind;
using model::Layer;

// A tensor: the step that makes it, and its elements where they are known.
struct Source {
    std::size_t step = model::kConstant;
    std::optional<Count> elements;
};
using Sources = std::vector<Source>;

class Wirer {
  public:
    Wirer(const OnnxGraph& graph, const Costed& costed, const std::string& file)
        : graph_(graph), costed_(costed), file_(file) {
        for (const OnnxNode& node : graph.nodes) {
            const auto reads = node.reads();
            wanted_.insert(reads.begin(), reads.end());
        }
    }

    std::optional<GraphEdges> wire(const std::vector<std::size_t>& order) {
        for (const std::size_t at : order) {
            const auto& layers = costed_.layers[at];
            layers.empty() ? view(graph_.nodes[at]) : run(graph_.nodes[at], layers);
            next_layer_ += layers.size();
            if (edges_.steps.size() > model::kMostGraphSteps) {
                return std::nullopt;
            }
        }
        mark_outputs();
        return std::move(edges_);
    }

  private:
    const Value* value_of(const std::string& name) const {
        const auto known = costed_.values.find(name);
        return known == costed_.values.end() ? nullptr : &known->second;
    }

    std::optional<Count> elements_of(const std::string& name) const {
        const Value* value = value_of(name);
        return value == nullptr ? std::nullopt : value->elements();
    }

    // What a node reads that is not known before the network runs.
    Sources data_of(const OnnxNode& node) const {
        Sources sources;
        for (const std::string_view read : node.reads()) {
            const std::string name(read);
            const Value* value = value_of(name);
            if (name.empty() || (value != nullptr && value->origin == Origin::constant)) {
                continue;
            }
            const auto made = made_.find(name);
            if (made != made_.end()) {
                sources.push_back(made->second);
            } else if (value != nullptr && value->origin == Origin::input) {
                sources.push_back({model::kNetworkInput, value->elements()});
            }
        }
        return sources;
    }

    std::size_t push(GraphStep step) {
        step.place = place_;
        edges_.steps.push_back(std::move(step));
        return edges_.steps.size() - 1;
    }

    void begin_place(const OnnxNode& node) {
        place_ = static_cast<std::uint32_t>(edges_.places.size());
        edges_.places.push_back({file_, 0, 0});
        edges_.names.push_back(node.outputs.empty() ? node.name : node.outputs.front());
    }

    // The sources as one tensor of so many elements; each step once.
    Source taken(const Sources& all, std::optional<Count> elements) {
        Count have = 0;
        bool known = true; // what the network is given has the size that it is asked for
        Sources sources;
        for (const Source& source : all) {
            const bool again = std::any_of(sources.begin(), sources.end(),
                                           [&](const Source& s) { return s.step == source.step; });
            if (!again) {
                sources.push_back(source);
                known = known && source.elements && source.step < edges_.steps.size();
                have += source.elements.value_or(0);
            }
        }
        const bool same =
            sources.size() == 1 && (!elements || sources.front().elements == elements);
        if (sources.empty() || same || elements == 0) {
            return sources.empty() || elements == 0 ? Source{model::kConstant, elements}
                                                    : sources.front();
        }
        GraphStep step;
        step.kind = GraphStepKind::view;
        for (const Source& source : sources) {
            step.reads.push_back(source.step);
        }
        step.elements = elements;
        step.expands = elements && (!known || *elements > have);
        return {push(std::move(step)),
                elements ? elements : (known ? std::optional(have) : std::nullopt)};
    }

    void view(const OnnxNode& node) {
        const Sources sources = data_of(node);
        begin_place(node);
        for (const std::string& name : node.outputs) {
            const Value* value = value_of(name);
            const bool constant = value != nullptr && value->origin == Origin::constant;
            if (!name.empty() && !constant && wanted_.contains(name)) {
                made_[name] = taken(sources, elements_of(name));
            }
        }
    }

    // For each operand of the layer a source: of its size where there is one, else in order.
    Sources matched(const model::Operands& operands, const Sources& sources) const {
        Sources chosen;
        std::vector<bool> used(sources.size(), false);
        for (const Count need : operands.reads) {
            std::optional<std::size_t> best;
            for (std::size_t i = 0; i < sources.size(); ++i) {
                const bool fits = sources[i].elements == need;
                if (!used[i] && (!best || (fits && sources[*best].elements != need))) {
                    best = i;
                }
            }
            chosen.push_back(best ? sources[*best] : Source{});
            if (best) {
                used[*best] = true;
            }
        }
        for (std::size_t i = 0; i < sources.size(); ++i) {
            if (!used[i]) {
                chosen.push_back(sources[i]); // waited for
            }
        }
        return chosen;
    }

    Source run_once(const Layer& layer, std::size_t index, const Sources& sources,
                    std::optional<std::size_t> weights_of) {
        const model::Operands operands = operands_of(layer);
        const Sources chosen = matched(operands, sources);
        GraphStep step;
        step.layer = index;
        step.weights_of = weights_of;
        for (std::size_t o = 0; o < chosen.size(); ++o) {
            const bool counts = o < operands.reads.size() && chosen[o].step != model::kConstant;
            step.reads.push_back(counts ? taken({chosen[o]}, operands.reads[o]).step
                                        : chosen[o].step);
        }
        if (step.reads.empty()) {
            step.reads.push_back(model::kConstant); // positions that are looked up
        }
        return {push(std::move(step)), operands.writes};
    }

    void run(const OnnxNode& node, const std::vector<Layer>& layers) {
        Sources sources = data_of(node);
        begin_place(node);
        const auto shared = shared_weights(node, layers);
        for (std::size_t i = 0; i < layers.size(); ++i) {
            for (Count n = 0; n < layers[i].count; ++n) {
                if (edges_.steps.size() > model::kMostGraphSteps) {
                    return;
                }
                sources = {
                    run_once(layers[i], next_layer_ + i, sources, i == 0 ? shared : std::nullopt)};
            }
        }
        for (const std::string& name : node.outputs) {
            if (wanted_.contains(name)) {
                made_[name] = taken(sources, elements_of(name));
            }
        }
    }

    // The layer before this one that already has its largest constant as weights.
    std::optional<std::size_t> shared_weights(const OnnxNode& node,
                                              const std::vector<Layer>& layers) {
        std::string largest;
        Count size = 1;
        for (const std::string& name : node.inputs) {
            const Value* value = value_of(name);
            const bool constant = value != nullptr && value->origin == Origin::constant;
            if (constant && value->elements().value_or(0) > size) {
                size = *value->elements();
                largest = value->made_of.size() == 1 ? value->made_of.front().name : name;
            }
        }
        if (largest.empty()) {
            return std::nullopt;
        }
        const auto [owner, first] = owners_.emplace(largest, next_layer_);
        const bool learns = parameters_of(layers.front()) >= size;
        return first || learns ? std::nullopt : std::optional(owner->second);
    }

    // What no one reads the network gives.
    void mark_outputs() {
        std::vector<bool> read(edges_.steps.size(), false);
        for (const GraphStep& step : edges_.steps) {
            for (const std::size_t from : step.reads) {
                if (from < read.size()) {
                    read[from] = true;
                }
            }
        }
        for (std::size_t i = 0; i < read.size(); ++i) {
            GraphStep& step = edges_.steps[i];
            step.output = step.kind == GraphStepKind::run && !read[i];
        }
        for (const std::string& name : graph_.outputs) {
            const auto made = made_.find(name);
            if (made != made_.end() && made->second.step < edges_.steps.size()) {
                edges_.steps[made->second.step].output = true;
            }
        }
    }

    const OnnxGraph& graph_;
    const Costed& costed_;
    const std::string& file_;
    std::set<std::string_view> wanted_; // tensors that a node reads
    std::map<std::string, Source> made_;
    std::map<std::string, std::size_t> owners_; // of constants: the first layer that reads them
    std::size_t next_layer_ = 0;
    std::uint32_t place_ = 0;
    GraphEdges edges_;
};

} // namespace

std::optional<GraphEdges> edges_of(const OnnxGraph& graph, const std::vector<std::size_t>& order,
                                   const Costed& costed, const std::string& file) {
    return Wirer(graph, costed, file).wire(order);
}

} // namespace eyeroof::formats::onnx
