#include "analysis/scale/heterogeneous_training.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace eyeroof::analysis {

using step::TensorId;

namespace {

constexpr std::size_t kNoTask = std::numeric_limits<std::size_t>::max();

bool stays(const step::Tensor& tensor) {
    return tensor.role == step::Role::weight || tensor.role == step::Role::optimizer ||
           tensor.role == step::Role::state;
}

// Each weight of an update with what is read and written for it: they follow it in the operands.
std::vector<StepTask> parts_of_update(const step::Graph& graph, step::OperatorId op) {
    std::vector<StepTask> parts;
    double all = 0.0;
    for (const TensorId id : graph.reads_of(graph.operators[op])) {
        const step::Tensor& tensor = graph.tensors[id];
        if (tensor.role == step::Role::weight) {
            const auto bytes = static_cast<double>(tensor.bytes);
            parts.push_back({op, bytes, {}, {}});
            all += bytes;
        }
        if (!parts.empty()) {
            parts.back().reads.push_back(id);
            if (stays(tensor)) {
                parts.back().writes.push_back(id);
            }
        }
    }
    for (StepTask& part : parts) {
        part.share = all > 0.0 ? part.share / all : 1.0 / static_cast<double>(parts.size());
    }
    return parts;
}

// Sets that are joined one pair after another.
class Joined {
  public:
    explicit Joined(std::size_t n) : parent_(n) {
        std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    }
    std::size_t root(std::size_t i) {
        while (parent_[i] != i) {
            i = parent_[i] = parent_[parent_[i]];
        }
        return i;
    }
    void join(std::size_t a, std::size_t b) { parent_[root(a)] = root(b); }

  private:
    std::vector<std::size_t> parent_;
};

std::vector<std::size_t> groups_of(const step::Graph& graph, const std::vector<StepTask>& tasks) {
    Joined joined(tasks.size());
    std::vector<std::size_t> user(graph.tensors.size(), kNoTask);
    for (std::size_t t = 0; t < tasks.size(); ++t) {
        const auto together = [&](TensorId id) {
            if (user[id] != kNoTask) {
                joined.join(t, user[id]);
            }
            user[id] = t;
        };
        for (const TensorId id : tasks[t].reads) {
            if (stays(graph.tensors[id])) {
                together(id);
            }
        }
        for (const TensorId id : tasks[t].writes) {
            together(id);
        }
    }
    std::map<std::size_t, std::size_t> number;
    std::vector<std::size_t> groups;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
        groups.push_back(number.try_emplace(joined.root(t), number.size()).first->second);
    }
    return groups;
}

// Who wrote a tensor last and who has read it since.
struct Users {
    std::size_t writer = kNoTask;
    std::vector<std::size_t> readers;
};

void add_edges(const step::Graph& graph, const std::vector<StepTask>& tasks,
               const SecondsOf& link_seconds, TaskGraph& made) {
    std::vector<Users> users(graph.tensors.size());
    for (std::size_t t = 0; t < tasks.size(); ++t) {
        std::map<std::size_t, double> bytes; // from earlier tasks; 0: only the order matters
        for (const TensorId id : tasks[t].reads) {
            if (users[id].writer != kNoTask) {
                bytes[users[id].writer] += static_cast<double>(graph.tensors[id].bytes);
            }
        }
        for (const TensorId id : tasks[t].writes) {
            if (users[id].writer != kNoTask) {
                bytes.try_emplace(users[id].writer, 0.0);
            }
            for (const std::size_t reader : users[id].readers) {
                bytes.try_emplace(reader, 0.0);
            }
        }
        for (const auto& [from, sent] : bytes) {
            made.edges.push_back({from, t, sent > 0.0 ? link_seconds(sent) : 0.0});
        }
        for (const TensorId id : tasks[t].reads) {
            users[id].readers.push_back(t);
        }
        for (const TensorId id : tasks[t].writes) {
            users[id] = {t, {}};
        }
    }
}

} // namespace

std::vector<StepTask> tasks_of_step(const step::Graph& graph) {
    std::vector<StepTask> tasks;
    for (step::OperatorId op = 0; op < graph.operators.size(); ++op) {
        if (graph.operators[op].kind == model::Issued::update) {
            const auto parts = parts_of_update(graph, op);
            tasks.insert(tasks.end(), parts.begin(), parts.end());
        } else {
            const step::Operator& whole = graph.operators[op];
            const auto reads = graph.reads_of(whole), writes = graph.writes_of(whole);
            tasks.push_back(
                {op, 1.0, {reads.begin(), reads.end()}, {writes.begin(), writes.end()}});
        }
        for (std::vector<TensorId>* ids : {&tasks.back().reads, &tasks.back().writes}) {
            std::sort(ids->begin(), ids->end());
            ids->erase(std::unique(ids->begin(), ids->end()), ids->end());
        }
    }
    return tasks;
}

TaskGraph schedule_of_step(const step::Graph& graph, const std::vector<StepTask>& tasks,
                           const std::vector<std::vector<double>>& op_s,
                           const SecondsOf& link_seconds) {
    TaskGraph made;
    made.group = groups_of(graph, tasks);
    made.held_bytes.assign(tasks.size(), 0.0);
    std::vector<bool> counted(graph.tensors.size(), false);
    for (std::size_t t = 0; t < tasks.size(); ++t) {
        std::vector<double>& task_s = made.task_s.emplace_back();
        for (const std::vector<double>& of_device : op_s) {
            task_s.push_back(of_device[tasks[t].op] * tasks[t].share);
        }
        for (const TensorId id : tasks[t].reads) {
            if (stays(graph.tensors[id]) && !counted[id]) {
                counted[id] = true;
                made.held_bytes[made.group[t]] += static_cast<double>(graph.tensors[id].bytes);
            }
        }
    }
    add_edges(graph, tasks, link_seconds, made);
    return made;
}

} // namespace eyeroof::analysis
