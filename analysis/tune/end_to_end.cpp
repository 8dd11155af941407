#include "analysis/tune/end_to_end.hpp"

#include "analysis/tune/cpu_source.hpp"
#include "base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

namespace eyeroof::analysis::tune {

namespace {

using model::Op;
using step::kNone;
using step::TensorId;

// Names are words in the program's file.
std::string word(const std::string& name) {
    std::string text = printable(name);
    std::replace(text.begin(), text.end(), ' ', '_');
    return text;
}

class NetPlanner {
  public:
    explicit NetPlanner(const step::Graph& graph) : graph_(graph) {
        readers_.assign(graph.tensors.size(), 0);
        for (const step::Operator& op : graph.operators) {
            for (const TensorId t : graph.reads_of(op)) {
                ++readers_[t];
            }
        }
    }

    Result<NetPlan> plan() {
        for (const step::Operator& op : graph_.operators) {
            add(op);
        }
        if (plan_.steps.empty() && !found_.has_errors()) {
            found_.error("unsupported", "the network has no operators",
                         "eyeroof net show lists them");
        }
        if (found_.has_errors()) {
            return std::move(found_);
        }
        plan_.output = plan_.steps.back().out;
        return std::move(plan_);
    }

  private:
    // What reads the output of a refused operator is left out, too: the reason stands once.
    void refuse(const step::Operator& op, const std::string& why) {
        lose(op);
        found_.error(
            "unsupported",
            fmt::format("'{}' cannot run end to end: {}", printable(graph_.name_of(op)), why),
            "the program runs convolutions in one group, matrix products, batch norms "
            "after them, pooling, relu, add, and softmax");
    }

    void lose(const step::Operator& op) { lost_.insert(output_of(graph_, op)); }
    bool reads_lost(const std::vector<TensorId>& inputs) const {
        return std::any_of(inputs.begin(), inputs.end(),
                           [&](TensorId t) { return lost_.contains(t); });
    }

    // The tensors that an operator reads, weights left out, as the steps call them.
    std::vector<TensorId> inputs_of(const step::Operator& op) {
        std::vector<TensorId> inputs;
        for (const TensorId t : graph_.reads_of(op)) {
            const step::Role role = graph_.tensors[t].role;
            if (role != step::Role::weight && role != step::Role::state) {
                inputs.push_back(called(t));
            }
        }
        return inputs;
    }
    TensorId called(TensorId t) const {
        const auto at = names_.find(t);
        return at == names_.end() ? t : at->second;
    }
    static TensorId output_of(const step::Graph& graph, const step::Operator& op) {
        const auto writes = graph.writes_of(op);
        return writes.empty() ? kNone : writes.front();
    }

    // The product that makes this tensor and nothing else reads before `op` does.
    NetStep* product_of(const step::Operator& op, TensorId t) {
        const auto made = std::find_if(plan_.steps.rbegin(), plan_.steps.rend(),
                                       [&](const NetStep& step) { return step.out == t; });
        if (made == plan_.steps.rend() || made->kind != NetKind::product) {
            return nullptr;
        }
        for (const TensorId read : graph_.reads_of(op)) {
            if (called(read) == t && readers_[read] > 1) {
                return nullptr;
            }
        }
        return &*made;
    }

    // `op` becomes a part of the step that makes t.
    void join(const step::Operator& op, TensorId t) { names_[output_of(graph_, op)] = t; }

    void put(NetStep step, const step::Operator& op, const std::vector<TensorId>& inputs,
             Count read, Count written) {
        if (reads_lost(inputs)) {
            return lose(op);
        }
        step.name = graph_.name_of(op);
        step.in = inputs.front();
        step.out = output_of(graph_, op);
        for (const TensorId t : inputs) {
            if (!plan_.elements.contains(t)) {
                if (plan_.input != kNone && plan_.input != t) {
                    return refuse(op, "the network has a second input");
                }
                plan_.input = t;
                plan_.elements[t] = read;
            } else if (plan_.elements[t] != read) {
                return refuse(op,
                              fmt::format("it reads {} of {} elements", read, plan_.elements[t]));
            }
        }
        plan_.elements[step.out] = written;
        plan_.steps.push_back(std::move(step));
    }

    void add(const step::Operator& op) {
        const model::Layer& layer = graph_.layers[op.layer];
        const std::vector<TensorId> inputs = inputs_of(op);
        if (inputs.empty() || output_of(graph_, op) == kNone) {
            return refuse(op, "it reads or writes nothing");
        }
        if (layer.op == Op::conv2d || layer.op == Op::gemm) {
            add_product(op, layer, inputs);
        } else if (layer.op == Op::batchnorm && reads_lost(inputs)) {
            lose(op);
        } else if (layer.op == Op::batchnorm) {
            const NetStep* before = product_of(op, inputs.front());
            before != nullptr && !before->relu && before->added == kNone
                ? join(op, inputs.front())
                : refuse(op, "it follows no product");
        } else if (layer.op == Op::elementwise) {
            add_point(op, layer, inputs);
        } else if (layer.op == Op::maxpool || layer.op == Op::avgpool) {
            const auto& pool = std::get<model::PoolShape>(layer.shape);
            put({.kind = layer.op == Op::maxpool ? NetKind::maximum : NetKind::mean, .pool = pool},
                op, inputs, pool.n * pool.c * pool.h * pool.w,
                pool.n * pool.c * pool.p() * pool.q());
        } else if (layer.op == Op::softmax) {
            const auto& rows = std::get<model::RowsShape>(layer.shape);
            put({.kind = NetKind::softmax, .rows = rows.rows, .cols = rows.cols}, op, inputs,
                rows.rows * rows.cols, rows.rows * rows.cols);
        } else {
            refuse(op, fmt::format("it is {}", op_name(layer.op)));
        }
    }

    void add_product(const step::Operator& op, const model::Layer& layer,
                     const std::vector<TensorId>& inputs) {
        auto work = workload_of(layer);
        if (!work) {
            found_.append(work.diagnostics());
            return lose(op);
        }
        if (inputs.size() != 1) {
            return refuse(op, "both of its operands are activations");
        }
        const auto same =
            std::find_if(plan_.works.begin(), plan_.works.end(),
                         [&](const Workload& other) { return other.same_shape(*work); });
        const auto at = static_cast<std::size_t>(same - plan_.works.begin());
        const Count read = work->convolution
                               ? work->images * work->height * work->width * work->depth
                               : work->rows * work->depth;
        put({.kind = NetKind::product, .work = at}, op, inputs, read, work->rows * work->cols);
        if (same == plan_.works.end()) {
            plan_.works.push_back(*std::move(work));
        }
    }

    void add_point(const step::Operator& op, const model::Layer& layer,
                   const std::vector<TensorId>& inputs) {
        const auto& shape = std::get<model::ElementwiseShape>(layer.shape);
        const Count count = shape.rows * shape.cols;
        const bool relu = shape.fn == "relu" && inputs.size() == 1;
        if (!relu && !(shape.fn == "add" && inputs.size() == 2)) {
            return refuse(op, shape.fn == "add" ? "what it adds is not known without a graph"
                                                : fmt::format("its function is {}", shape.fn));
        }
        if (reads_lost(inputs)) {
            return lose(op);
        }
        if (relu) {
            if (NetStep* before = product_of(op, inputs.front());
                before != nullptr && !before->relu) {
                before->relu = true;
                return join(op, inputs.front());
            }
            return put({.kind = NetKind::point, .relu = true, .rows = count}, op, inputs, count,
                       count);
        }
        for (const std::size_t last : {std::size_t{0}, std::size_t{1}}) {
            NetStep* before = product_of(op, inputs[last]);
            const TensorId other = inputs[1 - last];
            // The other operand is there when the product ends.
            const bool there = before != nullptr && before == &plan_.steps.back() &&
                               plan_.elements.contains(other) && other != inputs[last];
            if (there && !before->relu && before->added == kNone) {
                before->added = other;
                return join(op, inputs[last]);
            }
        }
        put({.kind = NetKind::point, .added = inputs[1], .rows = count}, op, inputs, count, count);
    }

    const step::Graph& graph_;
    NetPlan plan_;
    Diagnostics found_;
    std::set<TensorId> lost_; // what refused operators would have made
    std::vector<int> readers_;
    std::map<TensorId, TensorId> names_; // of tensors that a step makes in another's place
};

std::string_view kind_word(NetKind kind) {
    constexpr std::array<std::string_view, 5> words = {"product", "max", "mean", "point",
                                                       "softmax"};
    return words[static_cast<std::size_t>(kind)];
}

} // namespace

Result<NetPlan> net_plan(const step::Graph& graph) {
    return NetPlanner(graph).plan();
}

std::string net_text(const NetPlan& plan, const std::vector<std::string>& kernels) {
    std::map<TensorId, std::size_t> number;
    std::string text = "tensors";
    for (const auto& [tensor, elements] : plan.elements) {
        number.emplace(tensor, number.size());
        text += fmt::format(" {}", elements);
    }
    const auto at = [&](TensorId t) {
        return t == kNone ? std::string("-1") : fmt::format("{}", number.at(t));
    };
    text += fmt::format("\ninput {}\noutput {}\n", at(plan.input), at(plan.output));
    for (const NetStep& s : plan.steps) {
        text += fmt::format("{} {} {}", kind_word(s.kind), word(s.name), at(s.in));
        switch (s.kind) {
        case NetKind::product:
            text += fmt::format(" {} {} {} {} {}", at(s.added), at(s.out), s.relu ? 1 : 0,
                                kernels[s.work], fmt::join(harness_shape(plan.works[s.work]), " "));
            break;
        case NetKind::maximum:
        case NetKind::mean:
            text += fmt::format(" {} {} {} {} {} {} {} {} {} {} {}", at(s.out), s.pool.n, s.pool.h,
                                s.pool.w, s.pool.c, s.pool.r, s.pool.s, s.pool.stride.h,
                                s.pool.stride.w, s.pool.pad.h, s.pool.pad.w);
            break;
        case NetKind::point:
            text += fmt::format(" {} {} {} {}", at(s.added), at(s.out), s.rows, s.relu ? 1 : 0);
            break;
        case NetKind::softmax:
            text += fmt::format(" {} {} {}", at(s.out), s.rows, s.cols);
            break;
        }
        text += '\n';
    }
    return text;
}

Result<Done> build_network(CpuSession& session) {
    const auto program = session.built(network_source(), "network", {"-std=c++17", "-w", "-ldnnl"});
    if (program) {
        return Done{};
    }
    const Diagnostic& why = program.diagnostics().items().front();
    if (why.code == "stopped") {
        return Result<Done>::failure("cancelled", "stopped before the first trial");
    }
    return Result<Done>::failure(
        "unavailable",
        fmt::format("there is no library to compare with: oneDNN does not compile here ({})",
                    why.message),
        "install libdnnl-dev (oneDNN 2 or 3), or name its folders with --flags '-O2 -march=native "
        "-IDIR -LDIR -Wl,-rpath,DIR'");
}

Result<EndToEnd> run_network(CpuSession& session, const NetPlan& plan,
                             const std::vector<CpuPlan>& kernels, int threads, double time_s) {
    const bool least = session.statistic() == Statistic::least;
    using Made = Result<EndToEnd>;
    std::vector<std::string> files;
    for (const CpuPlan& kernel : kernels) {
        auto file = session.kernel(kernel, fmt::format("kernel{}", files.size()));
        if (!file) {
            return Made(file.diagnostics());
        }
        files.push_back(*std::move(file));
    }
    const std::string name = (session.folder() / "network.txt").string();
    std::ofstream text(name);
    text << net_text(plan, files);
    text.close();
    if (!text) {
        return Made::failure("cannot-write", "the network's file cannot be written",
                             "is the disk full?");
    }
    auto found =
        parse_end_to_end(plan, session.run({(session.folder() / "network").string(), name,
                                            fmt::format("{}", threads > 1 ? -1 : session.cpu()),
                                            fmt::format("{}", threads), fmt::format("{}", time_s),
                                            least ? "least" : "median"},
                                           session.limit_s() + 2.0 * time_s));
    if (found) {
        found->threads = threads;
        found->least = least;
    }
    return found;
}

Result<EndToEnd> parse_end_to_end(const NetPlan& plan, const ProcessEnd& end) {
    using Made = Result<EndToEnd>;
    if (end.stopped) {
        return Made::failure("cancelled", "stopped while the network ran");
    }
    if (end.timed_out) {
        return Made::failure("time-limit",
                             fmt::format("the network takes longer than {:.3g} s", end.seconds),
                             "raise --limit, or take a smaller network");
    }
    EndToEnd found;
    bool whole = false;
    std::istringstream lines(end.output);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string kind, name;
        words >> kind;
        if (kind == "wrong" || kind == "failed") {
            return Made::failure(kind, "the network did not run: " + printable(line), {});
        }
        if (kind == "library") {
            std::getline(words >> std::ws, found.library);
        } else if (kind == "difference") {
            words >> found.difference;
        } else if (kind == "runs") {
            words >> found.runs;
        } else if (kind == "network") {
            whole = static_cast<bool>(words >> found.tuned_s >> found.library_s);
        } else if (kind == "step" && found.steps.size() < plan.steps.size()) {
            const NetStep& step = plan.steps[found.steps.size()];
            const double flops =
                step.kind == NetKind::product ? plan.works[step.work].flops() : 0.0;
            found.steps.push_back({step.name, step.kind, 0.0, 0.0, flops});
            words >> name >> found.steps.back().tuned_s >> found.steps.back().library_s;
        }
    }
    if (!end.ok() || !whole || found.steps.size() != plan.steps.size()) {
        return Made::failure("failed",
                             fmt::format("the network did not run: {}",
                                         !end.started      ? end.why
                                         : end.signal != 0 ? signal_text(end.signal)
                                                           : printable(first_line(end.output))),
                             "check the free memory");
    }
    return found;
}

} // namespace eyeroof::analysis::tune
