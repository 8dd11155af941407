#include "formats/trace_network.hpp"

#include "base/units.hpp"
#include "formats/trace_kernels.hpp"
#include "formats/trace_step.hpp"
#include "model/workload/elementwise.hpp"
#include "profiles/import/importer.hpp"
#include "profiles/kernel_names.hpp"
#include "profiles/matching.hpp"
#include "profiles/operator_args.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace eyeroof::formats {

namespace {

using profiles::CopyKind;
using profiles::DeviceCopy;
using profiles::kNone;
using profiles::Launch;
using profiles::Operator;
using profiles::Profile;

constexpr double kNs = 1e-9;
constexpr std::string_view kNoOperator = "no operator launched its kernel";
constexpr std::string_view kNoKind = "its dimensions are those of no operator that is known";

std::string dims_text(const Operator& op) {
    std::string text;
    for (const auto& dims : op.input_dims) {
        text += fmt::format("{}[{}]", text.empty() ? "" : ",", fmt::join(dims, ","));
    }
    return "[" + text + "]";
}

// "25088x2304x768" of a GEMM; rows and columns of the rest.
struct ShapeText {
    std::string operator()(const model::GemmShape& s) const {
        return s.batch == 1 ? fmt::format("{}x{}x{}", s.m, s.n, s.k)
                            : fmt::format("{}x{}x{}x{}", s.batch, s.m, s.n, s.k);
    }
    std::string operator()(const model::ConvShape& s) const {
        return fmt::format("{}x{}x{}x{}_k{}_r{}s{}", s.n, s.c, s.h, s.w, s.k, s.r, s.s);
    }
    std::string operator()(const model::PoolShape& s) const {
        return fmt::format("{}x{}x{}x{}", s.n, s.c, s.h, s.w);
    }
    std::string operator()(const model::RowsShape& s) const {
        return fmt::format("{}x{}", s.rows, s.cols);
    }
    std::string operator()(const model::ElementwiseShape& s) const {
        return fmt::format("{}x{}", s.rows, s.cols);
    }
    std::string operator()(const model::AttentionShape& s) const {
        return fmt::format("{}x{}x{}x{}x{}", s.batch, s.groups, s.m, s.n, s.k);
    }
    std::string operator()(const model::MoeShape& s) const {
        return fmt::format("{}x{}x{}", s.m, s.n, s.k);
    }
};

// "addmm.25088x2304x768": letters, digits and what needs no quotes.
std::string name_of(const std::string& op, const model::Layer& layer, const char* part) {
    constexpr std::size_t kLongest = 60;
    const std::size_t colon = op.rfind("::");
    std::string name;
    for (const char c : colon == std::string::npos ? op : op.substr(colon + 2)) {
        const bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        name += plain ? c : '_';
    }
    name = name.empty() ? "operator" : name.substr(0, kLongest);
    for (const char* library : {"cudnn_", "miopen_", "mkldnn_"}) { // whose the kernels are
        if (name.starts_with(std::string(library) + "conv")) {
            name.erase(0, std::string_view(library).size());
        }
    }
    return name + part + "." + std::visit(ShapeText{}, layer.shape);
}

// One execution of an operator, or a launch without one.
struct Call {
    const Operator* op = nullptr;
    std::vector<std::size_t> launches; // of the profile
};

class Builder {
  public:
    Builder(const Profile& profile, TraceStep step) : profile_(profile), step_(std::move(step)) {
        made_.profile.run = profile.run;
        made_.profile.notes = profile.notes;
        made_.profile.sources = profile.sources;
        made_.profile.kernels = profile.kernels;
        made_.profile.operators = profile.operators;
    }

    TraceNetwork run() {
        for (const Call& call : calls()) {
            add(call);
        }
        for (const std::size_t i : step_.copies) {
            add_copy(profile_.copies[i]);
        }
        finish();
        return std::move(made_);
    }

  private:
    std::vector<Call> calls() const {
        std::vector<Call> calls;
        std::map<std::tuple<std::uint32_t, std::int64_t, std::int32_t>, std::size_t> known;
        for (const std::size_t i : step_.launches) {
            const Launch& launch = profile_.launches[i];
            const bool leaf = launch.leaf != kNone;
            const std::int32_t op = leaf ? launch.leaf : launch.op;
            const std::int64_t number = leaf ? launch.leaf_call : launch.op_call;
            std::size_t at = calls.size();
            if (op != kNone && number != kNone) {
                at = known.try_emplace({launch.source, number, op}, calls.size()).first->second;
            }
            if (at == calls.size()) {
                calls.emplace_back().op =
                    op == kNone ? nullptr : &profile_.operators[static_cast<std::size_t>(op)];
            }
            calls[at].launches.push_back(i);
        }
        return calls;
    }

    // Both gradients of a convolution are one call: its kernels' names tell them apart. One kernel
    // without such a name computes both.
    void add(const Call& call) {
        auto found = layer_of_call(profile_, call.op, call.launches);
        made_.kernel_s += seconds(call.launches);
        if (!found || !model::work_of(found->work.layer)) { // or its counts fit no 63 bits
            leave_out(call);
            return;
        }
        if (found->work.repeats == 2) {
            const auto [data, weights] = gradients(call.launches);
            found->work.layer.direction = found->work.data_direction;
            if (call.launches.size() == 1 && !profiles::gradient_of(kernel_of(call.launches[0]))) {
                put(call, *found, ".gradients", call.launches, 2);
                return;
            }
            put(call, *found, ".dgrad", without_passes(call, *found, ".dgrad", data));
            found->work.layer.direction = model::Direction::bwd_weight;
            put(call, *found, ".wgrad", without_passes(call, *found, ".wgrad", weights));
            return;
        }
        put(call, *found, "", without_passes(call, *found, "", call.launches));
    }

    const std::string& kernel_of(std::size_t launch) const {
        return profile_.kernel_of(profile_.launches[launch]).name;
    }

    // Launches of the gradient of the input, which frameworks compute first, and of the filter's:
    // by the names of their kernels; where the first has none, the second begins with its passes to
    // channels last, or behind the first kernel.
    std::pair<std::vector<std::size_t>, std::vector<std::size_t>>
    gradients(const std::vector<std::size_t>& launches) const {
        const auto is = [&](model::Direction direction) {
            return [this, direction](std::size_t i) {
                return profiles::gradient_of(kernel_of(i)) == direction;
            };
        };
        const auto begin = launches.begin(), end = launches.end();
        const auto weights = std::find_if(begin, end, is(model::Direction::bwd_weight));
        const auto data =
            std::find_if(launches.rbegin(), launches.rend(), is(model::Direction::bwd_data)).base();
        const bool named = data != begin;
        if (named && weights < data) {
            std::pair<std::vector<std::size_t>, std::vector<std::size_t>> by_name;
            for (const std::size_t i : launches) {
                (is(model::Direction::bwd_data)(i) ? by_name.first : by_name.second).push_back(i);
            }
            return by_name;
        }
        const auto product = std::find_if_not(
            begin, end, [&](std::size_t i) { return profiles::changes_layout(kernel_of(i)); });
        const auto behind = named ? data : product == end ? end : std::next(product);
        auto split = std::find_if(behind, weights,
                                  [&](std::size_t i) { return turns_to_last(kernel_of(i)); });
        split = split == weights && !named ? std::min(behind, weights) : split;
        return {{begin, split}, {split, end}};
    }

    static bool turns_to_last(const std::string& kernel) {
        return kernel.find("nchwToNhwc") != std::string::npos;
    }

    // Kernels of a convolution that only change the layout of its tensors are layers of their own;
    // gives the others.
    std::vector<std::size_t> without_passes(const Call& call, const FoundLayer& found,
                                            const std::string& part,
                                            const std::vector<std::size_t>& launches) {
        if (!std::holds_alternative<model::ConvShape>(found.work.layer.shape)) {
            return launches;
        }
        std::vector<std::size_t> before, behind, rest;
        for (const std::size_t i : launches) {
            (!profiles::changes_layout(kernel_of(i)) ? rest
             : rest.empty()                          ? before
                                                     : behind)
                .push_back(i);
        }
        if (rest.empty()) {
            return launches;
        }
        if (found.work.layer.direction == model::Direction::fwd) {
            note_layout(call, found.work.layer, rest.size() < launches.size(), rest);
        }
        put_pass(call, found, part + ".to_channels_last", before);
        put_pass(call, found, part + ".to_channels_first", behind);
        return rest;
    }

    // Between passes, on tensors with channels last, or by its name ("..._nhwckrsc_nhwc_...") a
    // kernel of a convolution has channels last.
    void note_layout(const Call& call, const model::Layer& conv, bool passes,
                     const std::vector<std::size_t>& launches) {
        const profiles::OperatorArgs args(*call.op);
        const bool named = std::ranges::any_of(launches, [&](std::size_t i) {
            return profile_.kernel_of(profile_.launches[i]).name.find("nhwc") != std::string::npos;
        });
        const auto work = model::work_of(conv);
        const double macs = work ? static_cast<double>(work->macs) : 0.0;
        constexpr std::size_t kChannels = 1; // axis of PyTorch's tensors
        const bool last = passes || named || profiles::fastest(args, 0) == kChannels;
        (last ? macs_last_ : macs_first_) += macs;
    }

    // Over what is read, the first tensor alone where there is one kernel; over the result behind.
    void put_pass(const Call& call, const FoundLayer& of, const std::string& part,
                  const std::vector<std::size_t>& launches) {
        const auto work = model::work_of(of.work.layer);
        if (launches.empty() || !work) {
            return;
        }
        const model::Layer& conv = of.work.layer;
        const std::string fn = part.substr(part.find("to_channels"));
        const bool behind = fn == "to_channels_first";
        const bool of_filter = conv.direction == model::Direction::bwd_weight;
        Count moved = 0;
        std::size_t taken = 0;
        for (const model::TensorUse& tensor : work->tensors) {
            const bool factor = !tensor.written && tensor.name != "bias" &&
                                (of_filter || launches.size() > 1 || tensor.name != "weight") &&
                                taken < launches.size();
            if (behind ? tensor.written && tensor.name != "bias" : factor) {
                moved += tensor.elements;
                ++taken;
            }
        }
        FoundLayer pass;
        pass.found = Found::assumed;
        pass.why = "the tensors by those of its convolution";
        pass.work.layer.op = model::Op::elementwise;
        const auto& shape = std::get<model::ConvShape>(conv.shape);
        const bool data = conv.direction == model::Direction::bwd_data;
        const Count channels = behind == (data || of_filter) ? shape.c : shape.k;
        pass.work.layer.shape = model::layout_pass(moved, channels, fn);
        pass.work.layer.types = {conv.types.input, conv.types.input, conv.types.input};
        put(call, pass, part.c_str(), launches);
    }

    double seconds(const std::vector<std::size_t>& launches) const {
        double sum = 0.0;
        for (const std::size_t i : launches) {
            sum += std::max(profile_.launches[i].duration_ns, 0.0) * kNs;
        }
        return sum;
    }

    // Launches that are sums (of traces too large to keep each) run their operator as often as the
    // kernel that runs least.
    Count executions(const std::vector<std::size_t>& launches) const {
        Count least = launches.empty() ? 1 : profile_.launches[launches.front()].calls;
        for (const std::size_t i : launches) {
            least = std::min(least, Count{profile_.launches[i].calls});
        }
        return std::max<Count>(least, 1);
    }

    // `times`: how often one execution does the layer's work.
    void put(const Call& call, const FoundLayer& found, const char* part,
             const std::vector<std::size_t>& launches, Count times = 1) {
        const std::string dims = dims_text(*call.op);
        const std::size_t at = layer_at(call.op->name, dims, found, part);
        made_.network.layers[at].count += times * executions(launches);
        made_.layers[at].measured_s += seconds(launches);
        made_.layered_s += seconds(launches);
        for (const std::size_t i : launches) {
            Launch launch = profile_.launches[i];
            launch.range = static_cast<std::int32_t>(at);
            launch.range_call = executed_;
            made_.profile.launches.push_back(std::move(launch));
        }
        ++executed_;
    }

    std::size_t layer_at(const std::string& op, const std::string& dims, const FoundLayer& found,
                         const char* part) {
        model::Layer layer = found.work.layer;
        layer.count = 0;
        const std::string base = name_of(op, layer, part);
        const std::string key =
            fmt::format("{}\x1f{}\x1f{}\x1f{}", base, op, dims, work_key(layer));
        const std::size_t next = made_.network.layers.size();
        const auto [at, fresh] = known_.try_emplace(key, next);
        if (!fresh) {
            return at->second;
        }
        const std::size_t same = ++named_[base];
        layer.name = same == 1 ? base : fmt::format("{}.{}", base, same);
        made_.network.layers.push_back(std::move(layer));
        made_.layers.push_back({op, dims, found.found, found.why, 0.0, 0.0});
        return next;
    }

    // What its name and dimensions leave open: types, direction, function, strides and the like.
    static std::string work_key(const model::Layer& layer) {
        std::string key = fmt::format(
            "{}{}{}{}", static_cast<int>(layer.types.input), static_cast<int>(layer.types.weight),
            static_cast<int>(layer.types.output), static_cast<int>(layer.direction));
        if (const auto* s = std::get_if<model::ElementwiseShape>(&layer.shape)) {
            key += s->fn;
        } else if (const auto* c = std::get_if<model::ConvShape>(&layer.shape)) {
            key += fmt::format("{},{},{},{},{},{},{}", c->stride.h, c->stride.w, c->pad.h, c->pad.w,
                               c->dilation.h, c->dilation.w, c->groups);
        } else if (const auto* a = std::get_if<model::AttentionShape>(&layer.shape)) {
            key += fmt::format("{},{},{}", a->kv_heads, a->causal, a->v);
        } else if (const auto* e = std::get_if<model::MoeShape>(&layer.shape)) {
            key += fmt::format("{},{}", e->topk, e->experts);
        } else if (const auto* r = std::get_if<model::RowsShape>(&layer.shape)) {
            key += fmt::format("{}", r->table);
        }
        return key;
    }

    void leave_out(const Call& call) {
        const std::string& kernel =
            profile_.kernel_of(profile_.launches[call.launches.front()]).name;
        model::Uncosted left;
        left.op = call.op == nullptr ? kernel.substr(0, kLongestName) : call.op->name;
        left.name = call.op == nullptr ? "" : kernel.substr(0, kLongestName);
        left.why = call.op == nullptr                ? std::string(kNoOperator)
                   : profiles::has_tensors(*call.op) ? std::string(kNoKind)
                                                     : "no tensor's size is recorded";
        left.may_multiply = may_multiply(profile_, call.launches);
        left.count = executions(call.launches);
        left.measured_s = seconds(call.launches);
        const auto next = made_.network.uncosted.size();
        const char* const category = profiles::category_name(profiles::category_of(kernel));
        const std::string key =
            left.op + '\0' + left.why + (left.may_multiply ? "m" : "") + category;
        const auto [at, fresh] = left_out_.try_emplace(key, next);
        if (fresh) {
            made_.network.uncosted.push_back(std::move(left));
        } else {
            made_.network.uncosted[at->second].count += left.count;
            made_.network.uncosted[at->second].measured_s += left.measured_s;
        }
        for (const std::size_t i : call.launches) {
            Launch launch = profile_.launches[i];
            launch.range = launch.op = kNone; // of no layer
            launch.range_call = launch.op_call = kNone;
            made_.profile.launches.push_back(std::move(launch));
        }
    }

    void add_copy(const DeviceCopy& copy) {
        if (copy.bytes <= 0) {
            return;
        }
        const bool up = copy.kind == CopyKind::host_to_device;
        const bool down = copy.kind == CopyKind::device_to_host;
        Operator op;
        op.name = up                               ? "copy::from_host"
                  : down                           ? "copy::to_host"
                  : copy.kind == CopyKind::to_peer ? "copy::to_peer"
                  : copy.kind == CopyKind::fill    ? "copy::fill"
                                                   : "copy::on_device";
        op.input_dims = {{copy.bytes}};
        FoundLayer found;
        found.work.layer.op = model::Op::elementwise;
        const char* const fn = up                               ? "h2d"
                               : down                           ? "d2h"
                               : copy.kind == CopyKind::to_peer ? "peer"
                               : copy.kind == CopyKind::fill    ? "fill"
                                                                : "copy";
        const Count columns = copy.bytes <= model::kMaxDimension ? 1 : 1024;
        found.work.layer.shape =
            model::ElementwiseShape{(copy.bytes + columns - 1) / columns, columns, fn};
        found.work.layer.types = {model::DataType::int8, model::DataType::int8,
                                  model::DataType::int8};
        if (model::validate(found.work.layer).has_errors()) {
            return;
        }
        const std::size_t at = layer_at(op.name, dims_text(op), found, "");
        made_.network.layers[at].count += 1;
        made_.layers[at].measured_s += copy.duration_ns * kNs;
        made_.layers[at].host_s += up || down ? copy.duration_ns * kNs : 0.0;
        Launch launch;
        launch.kernel = copy_kernel(fn);
        launch.source = copy.source;
        launch.start_ns = copy.start_ns;
        launch.duration_ns = copy.duration_ns;
        launch.called_ns = copy.called_ns;
        launch.stream = copy.stream;
        launch.device = copy.device;
        launch.range = static_cast<std::int32_t>(at);
        launch.range_call = executed_++;
        made_.profile.launches.push_back(std::move(launch));
    }

    std::uint32_t copy_kernel(const char* fn) {
        const std::string name = fmt::format("copy engine: {}", fn);
        auto& kernels = made_.profile.kernels;
        const auto at = std::ranges::find(kernels, name, &profiles::Kernel::name);
        if (at == kernels.end()) {
            kernels.push_back({name, ""});
            return static_cast<std::uint32_t>(kernels.size() - 1);
        }
        return static_cast<std::uint32_t>(at - kernels.begin());
    }

    void finish() {
        std::size_t runs = 0;
        for (const model::Layer& layer : made_.network.layers) {
            made_.profile.ranges.push_back(std::string(profiles::kTracedLayer) + layer.name);
            runs += static_cast<std::size_t>(layer.count);
        }
        std::map<std::int32_t, std::int32_t> modules; // behind the layers
        for (Launch& launch : made_.profile.launches) {
            if (launch.module == kNone) {
                continue;
            }
            const auto next = static_cast<std::int32_t>(made_.profile.ranges.size());
            const auto [at, fresh] = modules.try_emplace(launch.module, next);
            if (fresh) {
                made_.profile.ranges.push_back(
                    profile_.ranges[static_cast<std::size_t>(launch.module)]);
            }
            launch.module = at->second;
        }
        for (Launch& launch : made_.profile.launches) {
            launch.op = launch.leaf = kNone; // the range says the layer
            launch.op_call = launch.leaf_call = kNone;
        }
        made_.profile.operators.clear();
        made_.step = profiles::keep_launches(profile_, step_.launches);
        for (const std::size_t i : step_.copies) {
            made_.step.copies.push_back(profile_.copies[i]);
            made_.step.copies.back().source = 0;
        }
        if (!made_.step.copies.empty() && made_.step.sources.empty()) {
            made_.step.sources.emplace_back("trace");
        }
        std::ranges::stable_sort(made_.network.uncosted, std::ranges::greater{},
                                 &model::Uncosted::measured_s);
        made_.network.operators = static_cast<Count>(runs) + uncosted_count();
        made_.network.batch = 1;
        made_.network.as_it_ran = true;
        if (macs_last_ + macs_first_ > 0.0) {
            made_.network.ran_channels_last = macs_last_ >= macs_first_;
        }
        made_.step_name = step_.name;
        made_.notes = step_.notes;
    }

    Count uncosted_count() const {
        Count sum = 0;
        for (const model::Uncosted& left : made_.network.uncosted) {
            sum += left.count;
        }
        return sum;
    }

    static constexpr std::size_t kLongestName = 80;

    const Profile& profile_;
    TraceStep step_;
    TraceNetwork made_;
    std::map<std::string, std::size_t> known_;    // layers by name, dimensions and work
    std::map<std::string, std::size_t> named_;    // how many of one name there are
    std::map<std::string, std::size_t> left_out_; // into the network's uncosted
    std::int64_t executed_ = 0;
    double macs_last_ = 0.0, macs_first_ = 0.0; // of forward convolutions, by their kernels' layout
};

// Of the step's kernel time: launched by a graph. Other launches have a call of their own.
double graph_share(const Profile& step) {
    std::map<std::pair<std::uint32_t, std::int64_t>, std::pair<std::size_t, double>> calls;
    double all = 0.0;
    for (const Launch& launch : step.launches) {
        const double time = std::max(launch.duration_ns, 0.0);
        all += time;
        if (launch.called_ns != kNone) {
            auto& [kernels, sum] = calls[{launch.source, launch.called_ns}];
            ++kernels;
            sum += time;
        }
    }
    double graphs = 0.0;
    for (const auto& [call, sum] : calls) {
        graphs += sum.first > 1 ? sum.second : 0.0;
    }
    return all > 0.0 ? graphs / all : 0.0;
}

} // namespace

std::string_view found_name(Found found) {
    constexpr std::string_view kNames[] = {"exact", "assumed", "traffic"};
    return kNames[static_cast<std::size_t>(found)];
}

bool is_trace_file(const std::filesystem::path& path) {
    const std::filesystem::path ending = path.extension();
    std::error_code ignored;
    if (ending == ".csv" || ending == ".yaml" || ending == ".yml" ||
        !std::filesystem::is_regular_file(path, ignored)) {
        return false; // traces are JSON, whatever they are called
    }
    const std::string_view format = profiles::format_of_file(path.string());
    return format == "kineto-json" || format == "eyeroof-profile" || format == "rocprofv3-json";
}

bool is_network_trace(const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) &&
           profiles::format_of_file(path.string()) == "kineto-json";
}

TraceNetwork timeline_of_trace(const Profile& profile, const std::string& name) {
    TraceNetwork made = Builder(profile, step_of(profile)).run();
    const std::string stem = std::filesystem::path(name).stem().stem().string();
    made.network.id = stem;
    made.network.name = stem;
    made.network.source = fmt::format("trace {}, {}", name, made.step_name);
    return made;
}

std::optional<MissingOperators> missing_operators(const TraceNetwork& trace) {
    constexpr double kMost = 0.5;
    const double other_s = trace.kernel_s - trace.layered_s;
    if (!(trace.kernel_s > 0.0) || other_s <= kMost * trace.kernel_s) {
        return std::nullopt;
    }
    double without_s = 0.0;  // without an operator
    double between_s = 0.0;  // of these, between ranks
    double compiled_s = 0.0; // on a CPU, whose generated kernels have no event: of their own name
    double sized_s = 0.0;    // whose dimensions are recorded
    for (const model::Uncosted& left : trace.network.uncosted) {
        const bool unknown = left.why == kNoOperator;
        without_s += unknown ? left.measured_s : 0.0;
        between_s += unknown && profiles::is_collective(left.op) ? left.measured_s : 0.0;
        sized_s += left.why == kNoKind ? left.measured_s : 0.0;
        const bool compiled = left.op.starts_with("Torch-Compiled Region") && left.name == left.op;
        compiled_s += compiled ? left.measured_s : 0.0;
    }
    if (2.0 * between_s >= other_s) {
        return MissingOperators{
            "the other kernels communicate, and no operator says how many bytes",
            "`import` shows in how much of their time nothing computes"};
    }
    if (2.0 * compiled_s >= other_s) {
        return MissingOperators{"torch.compile's kernels leave no event on a CPU",
                                "trace without torch.compile for shapes"};
    }
    if (graph_share(trace.step) >= kMost) {
        return MissingOperators{"CUDA graphs launched the other kernels, and no profiler records "
                                "operators for these",
                                "trace without graphs for shapes (vLLM: enforce_eager=True, "
                                "SGLang: --disable-cuda-graph, torch.compile: no "
                                "mode=\"reduce-overhead\"); `import` shows the timeline"};
    }
    const bool by_torch = trace.profile.run.tool == "kineto-json";
    if (2.0 * without_s >= other_s && !by_torch) {
        return MissingOperators{"this profiler records no operators",
                                "a trace of torch.profiler has them; `exam NETWORK --profile FILE` "
                                "lays the kernels over a network"};
    }
    if (2.0 * without_s >= other_s) {
        return MissingOperators{"no operator of the trace launched the other kernels",
                                "trace the CPU too: activities=[ProfilerActivity.CPU, "
                                "ProfilerActivity.CUDA], record_shapes=True"};
    }
    if (2.0 * sized_s >= other_s) {
        return MissingOperators{"the other operators are of no kind that is known by its name and "
                                "dimensions",
                                "`import` lists their kernels by family"};
    }
    return MissingOperators{"dimensions of the other operators are not recorded",
                            "record shapes: torch.profiler.profile(record_shapes=True)"};
}

Result<TraceNetwork> network_of_trace(const Profile& profile, const std::string& name) {
    TraceNetwork made = timeline_of_trace(profile, name);
    if (made.network.layers.empty()) {
        const auto missing = missing_operators(made);
        return Result<TraceNetwork>::failure(
            "no-layers",
            "no operator of the trace has a known kind and recorded dimensions" +
                (missing ? ": " + missing->why : std::string()),
            missing ? missing->fix
                    : std::string("record shapes: torch.profiler.profile(record_shapes=True)"),
            {name, 0, 0});
    }
    if (made.network.layers.size() > kMostTracedLayers) {
        return Result<TraceNetwork>::failure(
            "too-many-layers",
            fmt::format("{} has {} different operators; {} can be examined at once", made.step_name,
                        made.network.layers.size(), kMostTracedLayers),
            "mark single steps: torch.profiler's step() after each", {name, 0, 0});
    }
    return made;
}

Result<TraceNetwork> load_trace_network(const std::filesystem::path& path) {
    auto profile = profiles::import_file(path.string());
    if (!profile) {
        return profile.diagnostics();
    }
    Diagnostics found = profile.diagnostics();
    auto made = network_of_trace(*profile, path.string());
    if (!made) {
        return made;
    }
    if (const auto missing = missing_operators(*made)) {
        found.warning("low-coverage",
                      fmt::format("the answer is of {:.1f} % of the {} of kernels: {}",
                                  100.0 * made->layered_s / made->kernel_s,
                                  format_si(made->kernel_s, "s"), missing->why),
                      missing->fix, {path.string(), 0, 0});
    }
    for (const std::string& note : made->notes) {
        found.warning("part-of-trace", note, {}, {path.string(), 0, 0});
    }
    return {*std::move(made), std::move(found)};
}

} // namespace eyeroof::formats
