// Loop, Scan and If: bodies are walked like graphs of their own.
#include "formats/onnx/order.hpp"
#include "formats/onnx/read_graph.hpp"
#include "formats/onnx/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace eyeroof::formats::onnx {

namespace {

using model::Layer;

struct BodyRun {
    std::vector<Layer> layers;
    std::vector<Value> outputs;
    Outcomes nodes;
    bool walked = false;
};

const OnnxGraph* body_of(const OnnxNode& node, const char* name) {
    const auto found = node.attributes.find(name);
    return found == node.attributes.end() ? nullptr : found->second.graph.get();
}

// Adds to what the tally has counted and walked; the nodes' outcomes are the run's own.
BodyRun run_body(const OnnxGraph& body, const std::vector<Value>& inputs,
                 const std::map<std::string, Value>& outer, const std::string& prefix,
                 Tally& tally) {
    BodyRun run;
    Costed costed;
    for (const std::string& name : captured_by(body)) {
        if (const auto known = outer.find(name); known != outer.end()) {
            costed.values.insert(*known);
        }
    }
    for (std::size_t i = 0; i < body.inputs.size() && i < inputs.size(); ++i) {
        costed.values[body.inputs[i]] = inputs[i];
    }
    tally.walked += body.constants.size(); // read again at each run
    const auto order = run_order(body, "");
    run.walked = order.ok();
    if (!order) {
        return run;
    }
    std::swap(run.nodes, tally.nodes);
    walk_graph(body, *order, prefix, costed, tally);
    std::swap(run.nodes, tally.nodes);
    for (const std::size_t at : *order) {
        std::move(costed.layers[at].begin(), costed.layers[at].end(),
                  std::back_inserter(run.layers));
    }
    for (const std::string& name : body.outputs) {
        const auto known = costed.values.find(name);
        run.outputs.push_back(known == costed.values.end() ? Value() : known->second);
        if (run.outputs.back().origin == Origin::input) {
            run.outputs.back().origin = Origin::data;
        }
    }
    return run;
}

std::string prefix_of(const OnnxNode& node, const char* body) {
    return fmt::format(
        "{}#{}/", node.name.empty() && !node.outputs.empty() ? node.outputs.front() : node.name,
        body);
}

std::optional<bool> truth_of(const Value& value) {
    const bool known = value.values && value.values->size() == 1 && !value.bounds;
    return known ? std::optional(value.values->front() != 0.0) : std::nullopt;
}

Value without_values(Value value) {
    value.values.reset();
    value.bounds = false;
    value.origin = Origin::data;
    return value;
}

// A state that changes from one iteration to the next is no weight, wherever it began.
Value of_iteration(Value value) {
    value = without_values(std::move(value));
    value.made_of.clear();
    return value;
}

// Whether the body gives an input back as it is: a weight that is handed from one iteration to the
// next.
bool hands_on(const OnnxGraph& body, std::size_t input, std::size_t output) {
    if (input >= body.inputs.size() || output >= body.outputs.size()) {
        return false;
    }
    std::string name = body.outputs[output];
    for (std::size_t way = 0; way <= body.nodes.size(); ++way) {
        if (name == body.inputs[input]) {
            return true;
        }
        const auto maker = std::find_if(body.nodes.begin(), body.nodes.end(), [&](const auto& n) {
            return n.op == "Identity" && n.outputs.size() == 1 && n.outputs[0] == name;
        });
        if (maker == body.nodes.end() || maker->inputs.empty()) {
            return false;
        }
        name = maker->inputs[0];
    }
    return false;
}

Value scalar(int element, std::optional<double> value) {
    Value made;
    made.dims = Dims{};
    made.element = element;
    if (value) {
        made.values = std::vector<double>{*value};
        made.origin = Origin::constant;
    }
    return made;
}

void finish(Step& step, std::vector<Layer> layers) {
    step.layers = std::move(layers);
    step.outcome = step.layers.empty() ? Outcome::view : Outcome::costed;
}

// Macs first, then operations: which of two branches costs more.
std::pair<double, double> work_of_all(const std::vector<Layer>& layers) {
    std::pair<double, double> all{0.0, 0.0};
    for (const Layer& layer : layers) {
        if (const auto work = model::work_of(layer)) {
            all.first += static_cast<double>(work->macs) * static_cast<double>(layer.count);
            all.second +=
                static_cast<double>(work->flops + work->bytes()) * static_cast<double>(layer.count);
        }
    }
    return all;
}

// The sizes of either branch: where they differ, upper bounds.
Value either(const Value& a, const Value& b) {
    Value value = without_values(a);
    value.made_of.insert(value.made_of.end(), b.made_of.begin(), b.made_of.end());
    if (a.made_of.empty() || b.made_of.empty()) { // data of one branch
        value.made_of.clear();
    }
    if (a.values == b.values && a.dims == b.dims) {
        value.values = a.values;
        value.bounds = a.bounds || b.bounds;
    }
    if (!a.known() || !b.known() || a.rank() != b.rank()) {
        value.at_most = value.at_most || a.dims != b.dims;
        return value;
    }
    for (std::size_t i = 0; i < a.dims->size(); ++i) {
        value.at_most = value.at_most || (*a.dims)[i] != (*b.dims)[i];
        (*value.dims)[i] = std::max((*a.dims)[i], (*b.dims)[i]);
    }
    return value;
}

// Both branches, the costlier one first.
std::pair<BodyRun, BodyRun> both_branches(const Step& step, const OnnxGraph& then,
                                          const OnnxGraph& otherwise,
                                          const std::map<std::string, Value>& outer, Tally& tally) {
    const std::size_t mark = tally.counted.mark();
    BodyRun first = run_body(then, {}, outer, prefix_of(step.node, "then"), tally);
    const std::vector<std::string> of_first = tally.counted.take_back(mark);
    BodyRun second = run_body(otherwise, {}, outer, prefix_of(step.node, "else"), tally);
    if (work_of_all(second.layers) > work_of_all(first.layers)) {
        return {std::move(second), std::move(first)};
    }
    (void)tally.counted.take_back(mark);
    for (const std::string& name : of_first) {
        tally.counted.insert(name);
    }
    return {std::move(first), std::move(second)};
}

void run_if(Step& step, const std::map<std::string, Value>& outer, Tally& tally) {
    const OnnxGraph* then = body_of(step.node, "then_branch");
    const OnnxGraph* otherwise = body_of(step.node, "else_branch");
    if (then == nullptr || otherwise == nullptr) {
        return step.fail("it has no branches, or they are nested too deeply");
    }
    BodyRun chosen;
    if (const auto truth = truth_of(step.in(0))) {
        chosen = *truth ? run_body(*then, {}, outer, prefix_of(step.node, "then"), tally)
                        : run_body(*otherwise, {}, outer, prefix_of(step.node, "else"), tally);
    } else {
        auto [costlier, other] = both_branches(step, *then, *otherwise, outer, tally);
        for (std::size_t i = 0; i < costlier.outputs.size() && i < other.outputs.size(); ++i) {
            costlier.outputs[i] = either(costlier.outputs[i], other.outputs[i]);
        }
        for (const model::Uncosted& u : other.nodes.uncosted) { // it may be the costlier one
            if (u.may_multiply) {
                costlier.nodes.uncosted.push_back(u);
            }
        }
        costlier.nodes.bounded += costlier.layers.empty() ? 0 : 1;
        chosen = std::move(costlier);
    }
    if (!chosen.walked) {
        return step.fail("its branch is no graph that can be run");
    }
    tally.nodes.add(chosen.nodes);
    for (std::size_t i = 0; i < step.outputs.size() && i < chosen.outputs.size(); ++i) {
        step.outputs[i] = std::move(chosen.outputs[i]);
    }
    finish(step, std::move(chosen.layers));
}

// What a loop is run with; Scan has no condition.
struct LoopPlan {
    const OnnxGraph* body = nullptr;
    std::optional<double> trips; // exact, or an upper bound
    bool at_most = false;
    bool conditional = false;       // the body's first output says whether to go on
    std::vector<Value> carried;     // before the first iteration
    std::vector<Value> scanned;     // a slice of each scan input
    std::vector<std::int64_t> axes; // of the outputs that are stacked
};

// Groups of iterations with equal layers.
class Repeated {
  public:
    void add(std::vector<Layer> layers, Count times) {
        if (!groups_.empty() && groups_.back().first == layers) {
            groups_.back().second += times;
            return;
        }
        size_ += layers.size();
        groups_.emplace_back(std::move(layers), times);
    }
    std::size_t size() const { return size_; } // layers

    // Nothing where a count does not fit.
    std::optional<std::vector<Layer>> layers() {
        std::vector<Layer> all;
        for (auto& [layers, times] : groups_) {
            for (Layer& layer : layers) {
                const auto count = checked_mul(layer.count, times);
                if (!count || *count > model::kMaxDimension) {
                    return std::nullopt;
                }
                if (times > 1 && layer.parameters.value_or(0) > 0) { // learned once
                    all.push_back(layer);
                    layer.parameters = 0;
                    layer.count = *count - layer.count;
                } else {
                    layer.count = *count;
                }
                all.push_back(std::move(layer));
            }
        }
        return all;
    }

  private:
    std::vector<std::pair<std::vector<Layer>, Count>> groups_;
    std::size_t size_ = 0;
};

class LoopRunner {
  public:
    LoopRunner(Step& step, LoopPlan plan, const std::map<std::string, Value>& outer, Tally& tally)
        : step_(step), plan_(std::move(plan)), outer_(outer), tally_(tally),
          prefix_(prefix_of(step.node, "body")) {}

    void run() {
        for (std::size_t i = 0; i < states(); ++i) {
            stays_.push_back(hands_on(*plan_.body, i + 2 * first_state(), i + first_state()));
        }
        if (plan_.trips && *plan_.trips < 1.0) {
            return give(plan_.carried, 0.0);
        }
        if (!once_for_all()) {
            one_by_one();
        }
    }

  private:
    std::size_t states() const { return plan_.carried.size(); }
    std::size_t first_state() const { return plan_.conditional ? 1 : 0; }

    std::vector<Value> inputs(const std::vector<Value>& carried, std::optional<double> i) const {
        std::vector<Value> all;
        if (plan_.conditional) {
            all = {scalar(kInt64, i), scalar(kBool, i ? std::optional(1.0) : std::nullopt)};
        }
        all.insert(all.end(), carried.begin(), carried.end());
        all.insert(all.end(), plan_.scanned.begin(), plan_.scanned.end());
        return all;
    }

    std::vector<Value> states_of(const BodyRun& run) const {
        const auto first = run.outputs.begin() + static_cast<std::ptrdiff_t>(first_state());
        return {first, first + static_cast<std::ptrdiff_t>(states())};
    }

    bool complete(const BodyRun& run) const {
        return run.walked && run.outputs.size() >= first_state() + states();
    }

    // One walk stands for all iterations where no size changes from one to the next.
    bool once_for_all() {
        constexpr double kMostBranching = 256.0; // iterations whose branches are looked at
        const bool branches = std::ranges::any_of(
            plan_.body->nodes, [](const OnnxNode& inner) { return inner.op == "If"; });
        if (!plan_.trips || *plan_.trips > static_cast<double>(model::kMaxDimension) ||
            (branches && *plan_.trips <= kMostBranching)) {
            return false;
        }
        std::vector<Value> carried;
        for (std::size_t i = 0; i < states(); ++i) {
            carried.push_back(stays_[i] ? plan_.carried[i] : of_iteration(plan_.carried[i]));
        }
        const std::size_t mark = tally_.counted.mark();
        BodyRun run = run_body(*plan_.body, inputs(carried, std::nullopt), outer_, prefix_, tally_);
        std::vector<Value> after;
        if (!keeps_sizes(run, carried, after)) {
            (void)tally_.counted.take_back(mark);
            return false;
        }
        const auto goes_on = plan_.conditional ? truth_of(run.outputs[0]) : std::optional(true);
        plan_.at_most = plan_.at_most || !goes_on;
        const double trips = goes_on.value_or(true) ? *plan_.trips : 1.0;
        stack(run);
        repeated_.add(std::move(run.layers), static_cast<Count>(trips));
        tally_.nodes.add(run.nodes);
        give(std::move(after), trips);
        return true;
    }

    bool keeps_sizes(const BodyRun& run, const std::vector<Value>& before,
                     std::vector<Value>& after) const {
        if (!complete(run) || !run.nodes.uncosted.empty()) {
            return false;
        }
        after = states_of(run);
        for (std::size_t i = 0; i < after.size(); ++i) {
            if (after[i].items || after[i].dims != before[i].dims || !after[i].known()) {
                return false;
            }
            after[i] = stays_[i] ? before[i] : of_iteration(std::move(after[i]));
        }
        return true;
    }

    void one_by_one() {
        std::vector<Value> carried = plan_.carried;
        for (std::size_t i = 0; i < states(); ++i) {
            stays_[i] ? void() : carried[i].made_of.clear();
        }
        Outcomes nodes; // of the iteration that leaves the most uncosted: each node counts once
        std::size_t i = 0;
        for (bool goes_on = true; goes_on; ++i) {
            BodyRun run = run_body(*plan_.body, inputs(carried, static_cast<double>(i)), outer_,
                                   prefix_, tally_);
            const auto truth =
                complete(run) && plan_.conditional ? truth_of(run.outputs[0]) : std::optional(true);
            if (!complete(run) || (!truth && !plan_.trips) || i >= kMostIterations ||
                repeated_.size() > kMostNodes || tally_.walked > kMostWalked) {
                return step_.fail(!complete(run) ? "its body is no graph that can be run"
                                  : !truth       ? "its number of iterations depends on the data"
                                                 : "its iterations are too many");
            }
            carried = states_of(run);
            stack(run);
            repeated_.add(std::move(run.layers), 1);
            nodes = i == 0 || run.nodes.uncosted.size() > nodes.uncosted.size()
                        ? std::move(run.nodes)
                        : std::move(nodes);
            plan_.at_most = plan_.at_most || !truth;
            const double done = static_cast<double>(i) + 1.0;
            goes_on = truth.value_or(true) && (!plan_.trips || done < *plan_.trips);
        }
        tally_.nodes.add(nodes);
        give(std::move(carried), static_cast<double>(i));
    }

    // Collects the outputs that are stacked along a new axis.
    void stack(const BodyRun& run) {
        for (std::size_t i = first_state() + states(); i < run.outputs.size(); ++i) {
            stacks_.resize(std::max(stacks_.size(), i - first_state() - states() + 1));
            auto& [value, values, whole] = stacks_[i - first_state() - states()];
            value = run.outputs[i];
            whole = whole && value.values && values.size() + value.values->size() <= kMostKept;
            if (whole) {
                values.insert(values.end(), value.values->begin(), value.values->end());
            }
        }
    }

    void give(std::vector<Value> carried, double trips) {
        auto layers = repeated_.layers();
        if (!layers) {
            return step_.fail("its iterations are too many");
        }
        tally_.nodes.bounded += plan_.at_most && !layers->empty() ? 1 : 0;
        std::vector<Value> outputs = std::move(carried);
        for (std::size_t i = 0; i < stacks_.size(); ++i) {
            outputs.push_back(stacked(stacks_[i], i, trips));
        }
        for (std::size_t i = 0; i < step_.outputs.size() && i < outputs.size(); ++i) {
            step_.outputs[i] = std::move(outputs[i]);
            if (plan_.at_most) {
                step_.outputs[i] = without_values(std::move(step_.outputs[i]));
                step_.outputs[i].at_most = true;
            }
        }
        finish(step_, *std::move(layers));
    }

    struct Stack {
        Value last;
        std::vector<double> values;
        bool whole = true;
    };

    Value stacked(const Stack& of, std::size_t i, double trips) const {
        Value value = of.last;
        value.values.reset();
        if (!value.known()) {
            return value;
        }
        std::int64_t axis = i < plan_.axes.size() ? plan_.axes[i] : 0;
        axis += axis < 0 ? value.rank() + 1 : 0;
        axis = std::clamp<std::int64_t>(axis, 0, value.rank());
        const auto length = static_cast<std::int64_t>(trips);
        value.dims->insert(value.dims->begin() + axis, length);
        const auto elements = value.elements();
        if (axis == 0 && of.whole && elements == static_cast<std::int64_t>(of.values.size())) {
            value.values = of.values;
        } else {
            value.origin = Origin::data;
        }
        return value;
    }

    Step& step_;
    LoopPlan plan_;
    const std::map<std::string, Value>& outer_;
    Tally& tally_;
    std::string prefix_;
    std::vector<bool> stays_; // of each state: the body hands it on as it is
    Repeated repeated_;
    std::vector<Stack> stacks_;
};

void run_loop(Step& step, const std::map<std::string, Value>& outer, Tally& tally) {
    LoopPlan plan;
    plan.body = body_of(step.node, "body");
    if (plan.body == nullptr) {
        return step.fail("it has no body, or it is nested too deeply");
    }
    plan.conditional = true;
    const Value& limit = step.in(0);
    const auto& limits = limit.values;
    constexpr double most = 1e15; // exporters write the largest integer for "no limit"
    if (step.has(0) && limits && limits->size() == 1 && limits->front() < most) {
        plan.trips = std::max(limits->front(), 0.0);
        plan.at_most = limit.bounds;
    }
    if (step.has(1) && truth_of(step.in(1)) == false) {
        plan.trips = 0.0;
        plan.at_most = false;
    }
    for (std::size_t i = 2; i < step.inputs(); ++i) {
        plan.carried.push_back(step.in(i));
        plan.carried.back().origin =
            plan.carried.back().origin == Origin::constant ? Origin::constant : Origin::data;
    }
    LoopRunner(step, std::move(plan), outer, tally).run();
}

void run_scan(Step& step, const std::map<std::string, Value>& outer, Tally& tally) {
    constexpr std::int64_t without_batch = 9; // the first opset whose Scan has no batch axis
    LoopPlan plan;
    plan.body = body_of(step.node, "body");
    const std::int64_t number = step.integer("num_scan_inputs", 0);
    const auto inputs = static_cast<std::int64_t>(step.inputs());
    if (plan.body == nullptr || number < 1 || number > inputs || step.opset < without_batch) {
        return step.fail("it has no body or no scan input, or is of an opset before 9");
    }
    const auto axes = step.integers("scan_input_axes").value_or(Dims());
    plan.axes = step.integers("scan_output_axes").value_or(Dims());
    for (std::int64_t i = 0; i < inputs; ++i) {
        Value value = step.in(static_cast<std::size_t>(i));
        value.origin = value.origin == Origin::constant ? Origin::constant : Origin::data;
        if (i < inputs - number) {
            plan.carried.push_back(std::move(value));
            continue;
        }
        const auto which = static_cast<std::size_t>(i - (inputs - number));
        const auto at = axis_of(value, which < axes.size() ? axes[which] : 0);
        if (!at) {
            return step.fail("the sizes of its scan inputs are not known");
        }
        plan.trips = static_cast<double>((*value.dims)[*at]);
        plan.at_most = plan.at_most || value.at_most;
        value.dims->erase(value.dims->begin() + static_cast<std::ptrdiff_t>(*at));
        plan.scanned.push_back(without_values(std::move(value)));
    }
    LoopRunner(step, std::move(plan), outer, tally).run();
}

// The body for each element of a list, beside those of further lists and whole tensors.
void run_map(Step& step, const std::map<std::string, Value>& outer, Tally& tally) {
    const OnnxGraph* body = body_of(step.node, "body");
    const auto& items = step.in(0).items;
    if (body == nullptr || !items || items->size() > kMostIterations) {
        return step.fail("it has no body, or its list is not known or too long");
    }
    std::vector<std::vector<Value>> results(step.outputs.size());
    Repeated repeated;
    Outcomes nodes; // of the last element
    for (std::size_t at = 0; at < items->size(); ++at) {
        std::vector<Value> inputs;
        for (std::size_t i = 0; i < step.inputs(); ++i) {
            const auto& list = step.in(i).items;
            inputs.push_back(!list ? step.in(i) : at < list->size() ? (*list)[at] : Value());
        }
        BodyRun run = run_body(*body, inputs, outer, prefix_of(step.node, "body"), tally);
        if (!run.walked || tally.walked > kMostWalked || repeated.size() > kMostNodes) {
            return step.fail("its body is no graph that can be run, or runs too often");
        }
        for (std::size_t i = 0; i < results.size(); ++i) {
            results[i].push_back(i < run.outputs.size() ? run.outputs[i] : Value());
        }
        repeated.add(std::move(run.layers), 1);
        nodes = std::move(run.nodes);
    }
    auto layers = repeated.layers();
    if (!layers) {
        return step.fail("its elements are too many");
    }
    tally.nodes.add(nodes);
    for (std::size_t i = 0; i < results.size(); ++i) {
        step.outputs[i].dims.reset();
        step.outputs[i].items = std::make_shared<const std::vector<Value>>(std::move(results[i]));
    }
    finish(step, *std::move(layers));
}

} // namespace

bool is_control(const OnnxNode& node) {
    return node.domain.empty() &&
           (node.op == "If" || node.op == "Loop" || node.op == "Scan" || node.op == "SequenceMap");
}

void run_control(Step& step, const std::map<std::string, Value>& outer, Tally& tally) {
    if (step.node.op == "If") {
        run_if(step, outer, tally);
    } else if (step.node.op == "Loop") {
        run_loop(step, outer, tally);
    } else if (step.node.op == "SequenceMap") {
        run_map(step, outer, tally);
    } else {
        run_scan(step, outer, tally);
    }
}

} // namespace eyeroof::formats::onnx
