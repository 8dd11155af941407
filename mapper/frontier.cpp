#include "mapper/frontier.hpp"

#include "model/cost/dram_pattern.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace eyeroof::mapper {

using namespace model;

namespace {

constexpr double kStep = 1e-12; // relative: what counts as less

// Shares one time limit among searches and says whether all of them ended.
class Series {
  public:
    Series(const SearchOptions& options, std::stop_token stop, const ProgressCallback& progress)
        : options_(options), stop_(std::move(stop)), progress_(progress) {}

    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }
    bool over() const {
        return stop_.stop_requested() ||
               (options_.time_limit_s > 0.0 && seconds() >= options_.time_limit_s);
    }
    Result<SearchResult> next(const Task& task) {
        SearchOptions options = options_;
        if (options.time_limit_s > 0.0) {
            options.time_limit_s = std::max(1e-3, options.time_limit_s - seconds());
        }
        auto found = search(task, options, stop_, {});
        if (found) {
            complete = complete && found->certificate.proved;
            nodes += found->certificate.nodes;
        }
        return found;
    }
    void tell(double fraction, const char* what, double best) const {
        if (progress_) {
            progress_({fraction, what, best, -1.0});
        }
    }

    bool complete = true;
    std::uint64_t nodes = 0;

  private:
    SearchOptions options_;
    std::stop_token stop_;
    const ProgressCallback& progress_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

bool infeasible(const Diagnostics& found) {
    return std::any_of(found.begin(), found.end(),
                       [](const Diagnostic& d) { return d.code == "infeasible"; });
}

} // namespace

// From the least energy of all towards ever fewer cycles: each search asks for the least energy
// among the faster mappings. A point that the next one equals in energy was not on the front.
Result<Front> pareto_front(const Task& task, const FrontOptions& options, std::stop_token stop,
                           const ProgressCallback& progress) {
    Series series(options.search, std::move(stop), progress);
    Task now = task;
    now.machine = at_stream_rate(task.machine);
    now.objective = Objective::energy();
    Front front;
    while (true) {
        auto found = series.next(now);
        if (!found) {
            if (front.points.empty()) {
                return found.diagnostics();
            }
            series.complete = series.complete && infeasible(found.diagnostics());
            break;
        }
        const double energy = found->cost.energy_pj;
        if (!front.points.empty() && energy <= front.points.back().cost.energy_pj * (1.0 + kStep)) {
            front.points.pop_back();
        }
        const double cycles = found->latency.total_cycles();
        front.points.push_back(*std::move(found));
        series.tell(0.0, "walking along the front", cycles);
        now.constraints.max_cycles = cycles * (1.0 - kStep) / (1.0 + options.tolerance);
        if (series.over()) {
            series.complete = false;
            break;
        }
    }
    front.complete = series.complete;
    front.nodes = series.nodes;
    front.time_s = series.seconds();
    return Result<Front>(std::move(front));
}

namespace {

// Of a word in the outermost memory; a task may leave the levels out.
int outer_bits(const Task& task, Operand o) {
    return task.machine.levels.empty() ? task.machine.word_bits[index(o)]
                                       : bits_at(task.machine, 0, o);
}

// Memory and one buffer before one MAC; energies are bytes, so that the least energy is the least
// traffic.
Task collapsed(const Task& task) {
    Task two;
    two.problem = task.problem;
    two.factors = task.factors;
    two.counting = task.counting;
    two.objective = Objective::energy();
    two.machine.clock_hz = 1.0;
    two.machine.word_bits = task.machine.word_bits;
    Level memory;
    memory.name = "memory";
    Level buffer;
    buffer.name = "buffer";
    for (const Operand o : kAllOperands) {
        Store store;
        store.operands = {o};
        store.read_pj = outer_bits(task, o) / 8.0;
        store.write_pj = store.read_pj;
        memory.stores.push_back(store);
    }
    Store shared;
    shared.operands = {Operand::input, Operand::weight, Operand::output};
    buffer.stores = {shared};
    two.machine.levels = {memory, buffer};
    return two;
}

Count bytes_of(const Task& task, Operand o, Count words) {
    return ceil_div(words * task.machine.word_bits[index(o)], 8);
}

CapacityPoint point_of(const Task& task, SearchResult found) {
    CapacityPoint point;
    for (const Operand o : kAllOperands) {
        const std::size_t i = index(o);
        point.buffer_words[i] = found.cost.levels[1].tile_words[i];
        point.capacity_bytes += bytes_of(task, o, point.buffer_words[i]);
        const Accesses& a = found.cost.levels[0].total[i];
        point.traffic_words[i] = a.reads + a.fills + a.updates;
    }
    point.traffic_bytes = found.cost.energy_pj;
    point.mapping = std::move(found.mapping);
    point.certificate = std::move(found.certificate);
    point.certificate.objective = "traffic in bytes";
    return point;
}

} // namespace

Result<CapacityPoint> least_traffic(const Task& task, Count capacity_bytes,
                                    const SearchOptions& options, std::stop_token stop) {
    Task two = collapsed(task);
    two.machine.levels[1].stores[0].capacity_bytes = std::max<Count>(1, capacity_bytes);
    auto found = search(two, options, std::move(stop), {});
    if (!found) {
        return found.diagnostics();
    }
    return point_of(two, *std::move(found));
}

// From the largest buffer downwards: each search asks for the least traffic with less than the
// capacity that the last one needed.
Result<CapacityCurve> capacity_curve(const Task& task, const CurveOptions& options,
                                     std::stop_token stop, const ProgressCallback& progress) {
    Series series(options.search, std::move(stop), progress);
    Task now = collapsed(task);
    CapacityCurve curve;
    Count all = 0;
    for (const Operand o : kAllOperands) {
        const bool there = o != Operand::weight || task.problem.has_weight;
        const Count words = tile_elements(task.problem, o, task.problem.bounds);
        curve.compulsory_bytes +=
            there ? static_cast<double>(words) * outer_bits(task, o) / 8.0 : 0.0;
        all += there ? bytes_of(task, o, words) : 0;
    }
    const Count first = std::min(all, options.max_capacity_bytes.value_or(all));
    Count capacity = first;
    while (true) {
        now.machine.levels[1].stores[0].capacity_bytes = std::max<Count>(1, capacity);
        auto found = series.next(now);
        if (!found && curve.points.empty()) {
            return found.diagnostics();
        }
        if (!found) { // what a limit leaves undone costs no point that is known
            series.complete = false;
            break;
        }
        CapacityPoint point = point_of(now, *std::move(found));
        if (!curve.points.empty() &&
            point.traffic_bytes <= curve.points.back().traffic_bytes * (1.0 + kStep)) {
            curve.points.pop_back();
        }
        const Count used = point.capacity_bytes;
        curve.points.push_back(std::move(point));
        series.tell(1.0 - std::log1p(static_cast<double>(used)) /
                              std::log1p(static_cast<double>(first)),
                    "shrinking the buffer", curve.points.back().traffic_bytes);
        if (used == 0 || series.over()) {
            series.complete = series.complete && used == 0;
            break;
        }
        capacity = static_cast<Count>(static_cast<double>(used - 1) / (1.0 + options.tolerance));
    }
    std::reverse(curve.points.begin(), curve.points.end());
    curve.complete = series.complete;
    curve.time_s = series.seconds();
    return Result<CapacityCurve>(std::move(curve));
}

} // namespace eyeroof::mapper
