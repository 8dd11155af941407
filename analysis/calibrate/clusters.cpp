#include "analysis/calibrate/clusters.hpp"

#include "analysis/calibrate/named_cells.hpp"
#include "analysis/scale/collective_study.hpp"
#include "analysis/scale/serving.hpp"
#include "analysis/scale/transformer_step.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <string_view>

namespace eyeroof::analysis {

namespace {

constexpr const char* kRunHint = "a row is table,metric,published,fabric and what the metric is of";
const std::vector<std::string> kMetrics = {"step_s", "tokens_per_s", "token_rate",
                                           "tpot_s", "ttft_s",       "time_s"};

constexpr std::array<std::string_view, 21> kCounts = {
    "devices",       "batch",          "length",       "tensor",         "pipeline",
    "context",       "expert",         "microbatch",   "interleave",     "prompt",
    "answer",        "users",          "chunk",        "data",           "prefill_groups",
    "decode_groups", "prefill_tensor", "prefill_data", "prefill_expert", "running",
    "draft_tokens"};
constexpr double kMostCount = 1e9;

using Words = std::vector<std::string>;

// What the cells of a column may say; nullopt: anything.
std::optional<Words> words_of(const std::string& column, const std::string& metric) {
    if (column == "recompute") {
        return Words{"none", "selective", "full"};
    }
    if (column == "zero") {
        return Words{"0", "1", "2", "3"};
    }
    if (column == "attention") {
        Words words = attention_kernel_names();
        words.emplace_back("written");
        return words;
    }
    if (column == "sequence" || column == "held_out") {
        return Words{"yes", "no"};
    }
    if (column == "order") {
        return order_names();
    }
    if (column == "software" && metric == "step_s") {
        return Words{"no-overlap", "overlap-tensor", "apart-accumulation", "apart-bias",
                     "fused-pointwise"};
    }
    return std::nullopt;
}

// Why a cell that is not empty cannot be taken as it stands; empty: it can.
std::string refusal(const std::string& column, const std::string& cell, const std::string& metric) {
    if (std::ranges::find(kCounts, column) != kCounts.end() &&
        !(column == "interleave" && cell == "any")) {
        const auto value = positive_number(cell);
        const bool whole = value && *value <= kMostCount && *value == std::floor(*value);
        return whole ? "" : "write a whole number from 1 to 1000000000";
    }
    if (column == "memory_share" || column == "acceptance") {
        const auto value = positive_number(cell);
        return value && *value <= 1.0 ? "" : "write a share above 0, at most 1";
    }
    if (column == "bytes") {
        return positive_number(cell) ? "" : "write a number above 0";
    }
    if (column == "dtype" || column == "weight_type") {
        return model::data_type_from_name(cell) ? "" : "a type such as bf16 or fp8";
    }
    const auto allowed = words_of(column, metric);
    std::istringstream words(cell);
    for (std::string word; allowed && words >> word;) {
        if (std::ranges::find(*allowed, word) == allowed->end()) {
            return fmt::format("{}", fmt::join(*allowed, ", "));
        }
    }
    return {};
}

// Cells of one row, with defaults.
class Cells {
  public:
    explicit Cells(const ClusterRow& row) : row_(row) {}
    std::string text(const char* column, const char* otherwise = "") const {
        const auto cell = row_.cells.find(column);
        return cell == row_.cells.end() || cell->second.empty() ? otherwise : cell->second;
    }
    Count count(const char* column, Count otherwise) const {
        const auto value = positive_number(text(column));
        return value ? static_cast<Count>(*value) : otherwise;
    }
    bool says(const char* column, const std::string& word) const {
        return (" " + text(column) + " ").find(" " + word + " ") != std::string::npos;
    }

  private:
    const ClusterRow& row_;
};

// What a row needs, each loaded once.
class Sources {
  public:
    explicit Sources(const ClusterSources& sources) : sources_(sources) {}
    Result<Transformer> decoder(const std::string& name) {
        return known(decoders_, name, [&]() -> Result<Transformer> {
            const auto network = sources_.networks(name);
            return network ? transformer_of(*network) : network.diagnostics();
        });
    }
    Result<model::Machine> machine(const std::string& name) {
        return known(machines_, name, [&] { return sources_.machines(name); });
    }
    Result<model::Fabric> fabric(const std::string& name) {
        return known(fabrics_, name, [&] { return sources_.fabrics(name); });
    }
    Result<Engine> engine(const std::string& name) {
        return known(engines_, name, [&] { return sources_.engines(name); });
    }
    Result<model::MachineKernels> kernels(const model::Machine& machine) {
        const auto* gpu = std::get_if<model::Gpu>(&machine.kind);
        if (gpu == nullptr || !sources_.kernels) {
            return model::MachineKernels{};
        }
        return known(kernels_, machine.id, [&] { return sources_.kernels(*gpu, machine.id); });
    }

  private:
    template <class T, class Load>
    static Result<T> known(std::map<std::string, T>& all, const std::string& name,
                           const Load& load) {
        if (const auto found = all.find(name); found != all.end()) {
            return found->second;
        }
        Result<T> loaded = load();
        if (loaded) {
            all.emplace(name, *loaded);
        }
        return loaded;
    }
    const ClusterSources& sources_;
    std::map<std::string, Transformer> decoders_;
    std::map<std::string, model::Machine> machines_;
    std::map<std::string, model::Fabric> fabrics_;
    std::map<std::string, Engine> engines_;
    std::map<std::string, model::MachineKernels> kernels_;
};

// What a run of a decoder needs.
struct Parts {
    Transformer decoder;
    model::Machine machine;
    model::Fabric fabric;
};

Result<Parts> parts_of(const Cells& cells, Sources& sources) {
    auto decoder = sources.decoder(cells.text("network"));
    auto machine = sources.machine(cells.text("machine"));
    auto fabric = sources.fabric(cells.text("fabric"));
    Diagnostics all = decoder.diagnostics();
    all.append(machine.diagnostics());
    all.append(fabric.diagnostics());
    if (all.has_errors()) {
        return all;
    }
    return Parts{*std::move(decoder), *std::move(machine), *std::move(fabric)};
}

TransformerOptions training_options(const Cells& cells) {
    TransformerOptions o;
    o.batch = cells.count("batch", 1);
    o.length = cells.count("length", 2048);
    o.type = model::data_type_from_name(cells.text("dtype")).value_or(model::DataType::bf16);
    o.fused = cells.text("attention") != "written";
    o.attention =
        attention_kernel_from_name(cells.text("attention")).value_or(AttentionKernel::newest);
    o.overlap = !cells.says("software", "no-overlap");
    if (cells.says("software", "overlap-tensor")) {
        o.overlap_tensor = true;
    }
    o.fused_accumulation = !cells.says("software", "apart-accumulation");
    o.fused_bias_gradient = !cells.says("software", "apart-bias");
    o.exam.compiled = cells.says("software", "fused-pointwise");
    o.exam.library = cells.text("library");
    return o;
}

Plan training_plan(const Cells& cells) {
    Plan plan;
    plan.tensor = cells.count("tensor", 1);
    plan.pipeline = cells.count("pipeline", 1);
    plan.context = cells.count("context", 1);
    plan.expert = cells.count("expert", 1);
    plan.order = order_from_name(cells.text("order")).value_or(plan.order);
    plan.interleave = cells.count("interleave", 1);
    plan.microbatch = cells.count("microbatch", 1);
    plan.data = std::max<Count>(
        cells.count("devices", 1) / (plan.tensor * plan.pipeline * plan.context), 1);
    plan.zero = static_cast<int>(cells.count("zero", 0));
    plan.sequence = cells.text("sequence") == "yes";
    const std::string recompute = cells.text("recompute");
    plan.recompute = recompute == "full"        ? Recompute::full
                     : recompute == "selective" ? Recompute::selective
                                                : Recompute::none;
    return plan;
}

// What the source does not print: the fastest that fits.
std::vector<Plan> training_plans(const Cells& cells, const Transformer& t, Count batch) {
    std::vector<Plan> plans;
    Plan plan = training_plan(cells);
    const bool open = cells.text("microbatch").empty();
    const Count stage = std::max<Count>(t.layers / plan.pipeline, 1);
    const bool chunks = cells.text("interleave") == "any" && plan.pipeline > 1;
    for (const Count microbatch : {Count{1}, Count{2}, Count{4}, Count{8}, Count{16}}) {
        plan.microbatch = open ? microbatch : plan.microbatch;
        for (Count v = 1; v <= (chunks ? stage : 1); ++v) {
            plan.interleave = chunks ? v : plan.interleave;
            if (batch % (plan.data * plan.microbatch) == 0 && (!chunks || stage % v == 0)) {
                plans.push_back(plan);
            }
        }
        if (!open) {
            break;
        }
    }
    return plans;
}

std::string model_of(const Transformer& t) {
    return fmt::format("{} blocks of {}", t.layers, t.hidden);
}

Result<ClusterResult> training(const ClusterRow& row, Sources& sources, std::stop_token stop) {
    const Cells cells(row);
    const auto parts = parts_of(cells, sources);
    if (!parts) {
        return parts.diagnostics();
    }
    TransformerOptions o = training_options(cells);
    auto kernels = sources.kernels(parts->machine);
    if (!kernels) {
        return kernels.diagnostics();
    }
    o.kernels = *std::move(kernels);
    const Transformer& t = parts->decoder;
    BlockExams exams(parts->decoder, parts->machine, o);
    ClusterResult result{row, 0.0, 0.0, 0.0};
    result.model = model_of(t) + (t.experts > 1 ? " of " + t.name : "");
    result.kind = t.experts > 1                      ? "training step with experts"
                  : model::storage_bits(o.type) <= 8 ? "training step in 8 bits or fewer"
                                                     : "training step";
    double smallest = INFINITY; // where no plan fits: the one that needs least
    bool fits = false;
    for (const Plan& plan : training_plans(cells, parts->decoder, o.batch)) {
        if (auto bad = check_plan(t, plan, exams.options(), parts->fabric); bad.has_errors()) {
            return bad;
        }
        const auto point = transformer_point(exams, plan, parts->fabric, 1.0, stop);
        if (!point) {
            return point.diagnostics();
        }
        const bool better = point->memory.fits() ? !fits || point->step_s < result.predicted
                                                 : !fits && point->memory.total() < smallest;
        if (better) {
            fits = point->memory.fits();
            smallest = point->memory.total();
            result.memory = smallest;
            result.capacity = point->memory.capacity;
            result.predicted = point->step_s;
            result.low = point->low_s.value_or(point->step_s);
            result.high = point->high_s.value_or(point->step_s);
        }
    }
    return result.predicted > 0.0
               ? Result<ClusterResult>(result)
               : Result<ClusterResult>::failure(
                     "bad-batch", "no microbatch divides the batch by the data parallel devices",
                     "check batch, devices, tensor, and pipeline");
}

ServingOptions serving_options(const Cells& cells, const Engine& engine, const Transformer& t) {
    ServingOptions o;
    o.engine = engine;
    o.prompt = cells.count("prompt", o.prompt);
    o.answer = cells.count("answer", o.answer);
    o.type = model::data_type_from_name(cells.text("dtype")).value_or(model::DataType::bf16);
    o.weight_type = model::data_type_from_name(cells.text("weight_type"));
    o.cache_type = model::data_type_from_name(cells.text("cache_type"));
    o.tensor = {cells.count("tensor", 1)};
    o.data = cells.count("data", 0);
    o.expert = cells.count("expert", 1);
    o.prefill_groups = cells.count("prefill_groups", 0);
    o.decode_groups = cells.count("decode_groups", 0);
    if (!cells.text("prefill_tensor").empty()) {
        o.prefill = {cells.count("prefill_tensor", 1), cells.count("prefill_data", 1),
                     cells.count("prefill_expert", 1)};
    }
    o.speculation.tokens = cells.count("draft_tokens", 0);
    if (o.speculation.tokens > 0 && t.latent.rank > 0) {
        draft_by_own_layer(t, o.speculation);
    }
    o.speculation.acceptance =
        positive_number(cells.text("acceptance")).value_or(o.speculation.acceptance);
    if (const Count most = cells.count("running", 0); most > 0) {
        o.batches = {most};
    }
    o.engine.chunk = cells.count("chunk", o.engine.chunk);
    o.memory_share = positive_number(cells.text("memory_share")).value_or(engine.memory_share);
    o.exam.launch = model::Launch::graph;
    return o;
}

Result<ClusterResult> server(const ClusterRow& row, Sources& sources, std::stop_token stop) {
    const Cells cells(row);
    const auto parts = parts_of(cells, sources);
    if (!parts) {
        return parts.diagnostics();
    }
    const auto engine = sources.engine(cells.text("engine", "vllm"));
    if (!engine) {
        return engine.diagnostics();
    }
    ServingOptions o = serving_options(cells, *engine, parts->decoder);
    const bool loaded = row.metric == "tpot_s" || row.metric == "ttft_s";
    const bool alone = row.metric == "token_rate";
    if (loaded) {
        o.users = {cells.count("users", 1)};
        o.together = true;
    }
    if (alone) {
        o.engine = Engine{};
        o.batches = {1};
        o.memory_share = 1.0;
    }
    const auto served = serve(parts->decoder, parts->machine, parts->fabric, o, std::move(stop));
    if (!served) {
        return served.diagnostics();
    }
    if (loaded) {
        const LoadResult& r = served->loads.at(0).result;
        const bool first = row.metric == "ttft_s";
        const double mean = first ? r.ttft.mean : r.tpot.mean;
        const bool apart = o.decode_groups > 0;
        const ErrorBand& band = first ? (apart ? o.engine.apart_ttft : o.engine.ttft)
                                      : (apart ? o.engine.apart_tpot : o.engine.tpot);
        return ClusterResult{row, mean, mean * band.low, mean * band.high,
                             model_of(parts->decoder)};
    }
    double most = 0.0;
    for (const ServingPoint& p : served->points) {
        most = std::max(most, alone ? 1.0 / p.step_s : p.tokens_per_s);
    }
    const ErrorBand& band = alone ? kOneRequestBand : kServerRateBand;
    return ClusterResult{row, most, most * band.low, most * band.high, model_of(parts->decoder)};
}

Result<ClusterResult> collective(const ClusterRow& row, Sources& sources) {
    const Cells cells(row);
    const auto fabric = sources.fabric(cells.text("fabric"));
    if (!fabric) {
        return fabric.diagnostics();
    }
    CollectiveQuestion q;
    const auto kind = collective_from_name(cells.text("operation"));
    if (!kind) {
        return Result<ClusterResult>::failure("bad-operation",
                                              "'" + cells.text("operation") + "' is no collective",
                                              "such as all-reduce");
    }
    q.kind = *kind;
    q.devices = cells.count("devices", 8);
    q.sizes = {positive_number(cells.text("bytes")).value_or(1.0)};
    q.options.direct = cells.text("software");
    q.options.from_host = cells.text("launch") == "eager";
    const auto study = study_collective(*fabric, q);
    if (!study) {
        return study.diagnostics();
    }
    const CollectivePoint& p = study->points.at(0);
    return ClusterResult{row, p.time_s, p.low_s, p.high_s};
}

// The kind of prediction whose interval a row belongs to; empty: none is fitted.
std::string kind_of(const ClusterResult& result) {
    const ClusterRow& row = result.row;
    if (!result.kind.empty()) {
        return result.kind;
    }
    const Cells cells(row);
    const std::string of = " of " + cells.text("engine", "vllm") +
                           (cells.text("decode_groups").empty() ? "" : ", apart");
    return row.metric == "tokens_per_s" ? "tokens/s of a server"
           : row.metric == "token_rate" ? "tokens/s of one request"
           : row.metric == "tpot_s"     ? "TPOT" + of
           : row.metric == "ttft_s"     ? "TTFT" + of
                                        : "";
}

std::vector<RunBand> bands_of(const std::vector<ClusterResult>& rows) {
    std::vector<std::string> kinds;
    std::map<std::string, std::vector<RunRatio>> of_kind;
    for (const ClusterResult& r : rows) {
        const std::string kind = r.row.held_out ? kind_of(r) : std::string();
        if (kind.empty()) {
            continue;
        }
        if (!of_kind.contains(kind)) {
            kinds.push_back(kind);
        }
        const Cells cells(r.row);
        const bool loaded = r.row.metric == "tpot_s" || r.row.metric == "ttft_s";
        const std::string prompt = cells.text("prompt") + " tokens";
        RunRatio run{1.0 / r.ratio(),
                     r.low / r.predicted,
                     r.high / r.predicted,
                     r.model,
                     {{"source", cells.text("source", r.row.table.c_str())},
                      {"GPU", cells.text("machine")},
                      {"model", r.model},
                      {"table", r.row.table}}};
        if (loaded) { // an engine has one model or two, each with prompts of several sizes
            run.group += ", " + prompt + ", " + cells.text("machine");
            run.left_out["prompt"] = prompt;
        }
        of_kind[kind].push_back(std::move(run));
    }
    std::vector<RunBand> bands;
    for (const std::string& kind : kinds) {
        bands.push_back(fit_band(kind, of_kind[kind]));
    }
    return bands;
}

ClusterFigures figures_of(const std::vector<const ClusterResult*>& rows) {
    ClusterFigures f;
    f.rows = static_cast<int>(rows.size());
    std::vector<double> ratios;
    for (const ClusterResult* r : rows) {
        const double one = 1.0 / static_cast<double>(rows.size());
        const double ratio = r->ratio();
        ratios.push_back(ratio);
        f.error += one * std::fabs(ratio - 1.0);
        f.worst = std::max(f.worst, std::fabs(ratio - 1.0));
        f.within += ratio <= 1.5 && ratio >= 1.0 / 1.5 ? one : 0.0;
        f.too_large += r->memory > r->capacity ? 1 : 0;
        f.inside += r->row.published >= r->low && r->row.published <= r->high ? one : 0.0;
    }
    if (!ratios.empty()) {
        const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
        std::nth_element(ratios.begin(), middle, ratios.end());
        f.median = *middle;
    }
    return f;
}

} // namespace

Result<std::vector<ClusterRow>> parse_clusters(const std::string& text, const std::string& file) {
    Diagnostics found;
    std::vector<ClusterRow> rows;
    each_row(text, file, {"table", "metric", "published", "fabric"}, kRunHint, found,
             [&](const NamedCells& cells, int line) {
                 ClusterRow row;
                 row.line = line;
                 for (const auto& [name, cell] : cells) {
                     row.cells[name] = text_of(cells, name.c_str());
                 }
                 row.table = row.cells["table"];
                 row.metric = row.cells["metric"];
                 row.held_out = row.cells["held_out"] != "no";
                 row.published = positive_number(row.cells["published"]).value_or(0.0);
                 if (std::ranges::find(kMetrics, row.metric) == kMetrics.end()) {
                     found.error("bad-metric", "'" + row.metric + "' is no metric",
                                 "step_s, tokens_per_s, token_rate, tpot_s, ttft_s, or time_s",
                                 place_of(cells, "metric", file), "metric");
                 }
                 if (!(row.published > 0.0)) {
                     found.error("bad-number",
                                 "'" + row.cells["published"] + "' is no positive number", kRunHint,
                                 place_of(cells, "published", file), "published");
                 }
                 for (const auto& [name, cell] : row.cells) {
                     const std::string hint =
                         cell.empty() ? std::string() : refusal(name, cell, row.metric);
                     if (!hint.empty()) {
                         found.error("bad-cell", fmt::format("{} cannot be '{}'", name, cell), hint,
                                     place_of(cells, name.c_str(), file), name);
                     }
                 }
                 rows.push_back(std::move(row));
             });
    if (found.has_errors()) {
        return found;
    }
    return rows;
}

Result<ClusterValidation> validate_clusters(const std::vector<ClusterRow>& rows,
                                            const ClusterSources& given, std::stop_token stop,
                                            const ProgressCallback& progress) {
    ClusterValidation validation;
    Sources sources(given);
    for (const ClusterRow& row : rows) {
        if (stop.stop_requested()) {
            return Result<ClusterValidation>::failure("cancelled", "the validation was cancelled");
        }
        if (progress) {
            progress(
                {static_cast<double>(validation.rows.size()) / static_cast<double>(rows.size()),
                 row.table, 0.0, -1.0});
        }
        auto result = row.metric == "step_s"   ? training(row, sources, stop)
                      : row.metric == "time_s" ? collective(row, sources)
                                               : server(row, sources, stop);
        if (!result) {
            Diagnostics failed = result.diagnostics();
            if (!stop.stop_requested()) {
                failed.error("not-predicted", fmt::format("line {} is not predicted", row.line),
                             "correct the row, or leave it out");
            }
            return failed;
        }
        validation.rows.push_back(*std::move(result));
    }
    std::vector<const ClusterResult*> every;
    for (const ClusterResult& result : validation.rows) {
        const auto same = [&](const ClusterFigures& f) {
            return f.table == result.row.table && f.metric == result.row.metric;
        };
        if (!result.row.held_out || std::ranges::any_of(validation.groups, same)) {
            if (result.row.held_out) {
                every.push_back(&result);
            }
            continue;
        }
        every.push_back(&result);
        std::vector<const ClusterResult*> of_group;
        for (const ClusterResult& other : validation.rows) {
            if (other.row.held_out && other.row.table == result.row.table &&
                other.row.metric == result.row.metric) {
                of_group.push_back(&other);
            }
        }
        validation.groups.push_back(figures_of(of_group));
        validation.groups.back().table = result.row.table;
        validation.groups.back().metric = result.row.metric;
    }
    validation.all = figures_of(every);
    validation.all.table = "all";
    validation.bands = bands_of(validation.rows);
    return validation;
}

} // namespace eyeroof::analysis
