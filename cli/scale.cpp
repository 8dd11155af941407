// eyeroof scale: a network's training on many devices.
#include "analysis/scale/scale.hpp"

#include "analysis/exam/words.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/scale/search.hpp"
#include "analysis/scale/transformer_step.hpp"
#include "base/units.hpp"
#include "cli/answer.hpp"
#include "cli/fabric.hpp"
#include "cli/option_values.hpp"
#include "cli/origin.hpp"
#include "cli/scale_unequal.hpp"
#include "hwdb/kernels_reader.hpp"
#include "report/scale/layer_search_answer.hpp"
#include "report/scale/scale_answer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::cli {

namespace {

struct ScaleOptions {
    ScenarioOptions scenario;
    std::string fabric, nodes, devices = "8..1024";
    std::optional<std::int64_t> batch_per_device, baseline_batch, per_node, microbatches;
    std::string collective = "auto", transport, compress = "none", bucket = "25 MB", overlap = "on";
    int servers = 1, zero = 0;
    double jitter = 0.0, kept = 0.01, samples = 0.0, measured = 0.0;
    bool asynchronous = false, details = false, search = false;
    analysis::Plan plan;
    analysis::Adapters adapters;
    std::string recompute = "none", overlap_tensor = "auto", stages = "even", kernel = "newest",
                attention_type = "auto", order = "tp-cp-ep-dp-pp", dispatcher = "flex",
                overlap_expert = "auto";
    std::optional<std::int64_t> length;
    std::string adapted = "all";
    bool divided = false;       // an option that divides a decoder is given
    bool data_parallel = false; // one is given that a decoder's step does not have
    bool modules_given = false;
    std::string plan_file, offload = "none", host_bandwidth = "200 GB/s",
                           nvme_bandwidth = "25 GB/s";
    OutputOptions output;
};

Result<analysis::ScaleOptions> wanted(const ScaleOptions& options,
                                      const analysis::Scenario& scenario) {
    analysis::ScaleOptions scale;
    Diagnostics found;
    const bool nodes = !options.nodes.empty();
    auto devices = analysis::parse_devices(nodes ? options.nodes : options.devices);
    const auto bucket = parse<Bytes>(options.bucket);
    refuse(found, nodes ? "--nodes" : "--devices", devices.diagnostics());
    refuse(found, "--bucket", bucket.diagnostics());
    if (scenario.batch && options.batch_per_device) {
        found.error("usage", "--batch and --batch-per-device conflict",
                    "--batch for strong scaling, --batch-per-device for weak");
    }
    if (nodes && !options.per_node) {
        found.error("usage", "--nodes needs --per-node", "as in --nodes 16 --per-node 8");
    }
    if (options.modules_given && options.adapters.rank <= 0) {
        found.error("usage", "--lora-modules needs --lora", "as in --lora 16 --lora-modules all");
    }
    if (nodes && options.per_node && devices) {
        const Count most = std::ranges::max(*devices);
        if (most > model::kMaxDevices / *options.per_node) {
            found.error("usage",
                        fmt::format("{} nodes of {} devices are too many", most, *options.per_node),
                        fmt::format("{} devices at most", model::kMaxDevices));
        }
    }
    if (found.has_errors()) {
        return found;
    }
    scale.devices = *std::move(devices);
    for (Count& count : scale.devices) {
        count *= nodes ? *options.per_node : 1;
    }
    scale.batch = scenario.batch;
    scale.batch_per_device = options.batch_per_device;
    scale.baseline_batch = options.baseline_batch;
    scale.asynchronous = options.asynchronous;
    scale.data.zero = options.zero;
    scale.data.overlap = options.overlap == "on";
    scale.data.bucket_bytes = bucket->value;
    scale.data.compression = *analysis::compression_from_name(options.compress);
    scale.data.kept = options.kept;
    scale.data.jitter = options.jitter;
    scale.data.collective.algorithm = analysis::algorithm_from_name(options.collective);
    scale.data.collective.servers = options.servers;
    scale.transport = options.transport;
    scale.samples = options.samples;
    scale.measured_samples_per_s = options.measured;
    return scale;
}

analysis::TransformerOptions decoder_options(const ScaleOptions& options,
                                             const analysis::Question& question,
                                             const analysis::ScaleOptions& study) {
    analysis::TransformerOptions o;
    const Count inner = options.plan.tensor * options.plan.pipeline * options.plan.context;
    const Count last = study.devices.back();
    const Count data = std::max<Count>(last / std::max<Count>(inner, 1), 1);
    o.batch = study.batch.value_or(study.batch_per_device.value_or(32) * data);
    constexpr Count kUsualLength = 2048; // of a decoder whose attention does not say it
    const Count own = analysis::length_of(question.network);
    o.length = options.length.value_or(own > 0 ? own : kUsualLength);
    o.type = question.scenario.data_type.value_or(model::DataType::bf16);
    o.fused = question.scenario.attention != analysis::AttentionForm::written;
    o.attention = analysis::attention_kernel_from_name(options.kernel)
                      .value_or(analysis::AttentionKernel::newest);
    o.attention_type = model::data_type_from_name(options.attention_type);
    o.overlap = options.overlap == "on";
    if (options.overlap_tensor != "auto") {
        o.overlap_tensor = options.overlap_tensor == "on";
    }
    o.dispatcher = *analysis::dispatcher_from_name(options.dispatcher);
    o.order = *analysis::order_from_name(options.order);
    if (options.overlap_expert != "auto") {
        o.overlap_expert = options.overlap_expert == "on";
    }
    o.adapters = options.adapters;
    o.adapters.feed_forward = options.adapted == "all";
    o.exam = question.scenario;
    // As Megatron-Core's fusions of pointwise kernels beside Transformer Engine's narrow products.
    o.exam.compiled = o.exam.compiled || model::storage_bits(o.type) <= 8;
    o.exam.batch = std::nullopt; // a block has its own
    o.collective = study.data.collective;
    return o;
}

Exit scale_decoder(Context& context, const ScaleOptions& options,
                   const analysis::Transformer& decoder, const analysis::Question& question,
                   const model::Fabric& fabric, const analysis::ScaleOptions& study,
                   const std::string& command) {
    const model::Machine& machine = question.machine;
    analysis::Plan plan = options.plan;
    plan.zero = options.zero;
    plan.balanced = options.stages == "balanced";
    plan.recompute = options.recompute == "full"        ? analysis::Recompute::full
                     : options.recompute == "selective" ? analysis::Recompute::selective
                                                        : analysis::Recompute::none;
    analysis::TransformerOptions o = decoder_options(options, question, study);
    plan.order = o.order;
    plan.sequence = plan.sequence || (plan.tensor > 1 && model::storage_bits(o.type) <= 8);
    if (const auto* gpu = std::get_if<model::Gpu>(&machine.kind)) {
        auto kernels = hwdb::load_kernels(*gpu, machine.id, context.machine_dirs());
        if (!kernels) {
            return context.fail(kernels.diagnostics());
        }
        o.kernels = *std::move(kernels);
    }
    plan.offload = options.offload == "host"   ? analysis::OptimizerPlace::host
                   : options.offload == "nvme" ? analysis::OptimizerPlace::nvme
                                               : analysis::OptimizerPlace::device;
    Diagnostics found;
    const auto host = parse<BytesPerSec>(options.host_bandwidth);
    const auto nvme = parse<BytesPerSec>(options.nvme_bandwidth);
    refuse(found, "--host-bandwidth", host.diagnostics());
    refuse(found, "--nvme-bandwidth", nvme.diagnostics());
    if (host && nvme && !(host->value > 0.0 && nvme->value > 0.0)) {
        found.error("usage", "an offloaded optimizer needs bandwidths above 0",
                    "as in --host-bandwidth '200 GB/s'");
    }
    if (found.has_errors()) {
        return context.fail(found);
    }
    o.offload = plan.offload;
    o.host_bytes_per_s = host->value;
    o.nvme_bytes_per_s = nvme->value;
    auto result = options.search
                      ? analysis::search_transformer(decoder, machine, fabric, study.devices, o,
                                                     context.stop(), context.progress())
                      : analysis::scale_transformer(decoder, machine, fabric, study.devices, plan,
                                                    o, context.stop(), context.progress());
    if (!result) {
        return context.fail(result.diagnostics());
    }
    if (!options.plan_file.empty() && result->points.back().plan) {
        const std::string plan_text = analysis::plan_yaml(*result->points.back().plan, decoder, o);
        if (const Exit exit = context.write(plan_text, options.plan_file); exit != Exit::done) {
            return exit;
        }
    }
    result->samples = options.samples;
    analysis::Question shown = question;
    shown.scenario.batch = o.batch;
    shown.scenario.data_type = o.type;
    shown.scenario.compiled = o.exam.compiled;
    shown.scenario.training = analysis::TrainingOptions{"adam"};
    result->baseline = fmt::format(
        "{}, sequences of {} tokens{}; baseline: {}", analysis::scenario_words(shown, false),
        o.length,
        o.adapters.rank > 0 ? fmt::format(", adapters of rank {}", o.adapters.rank) : std::string(),
        result->baseline);
    return write_answer(context, report::scale_answer(*result, options.details), options.output,
                        command, {machine});
}

Exit search_layers(Context& context, const ScaleOptions& options,
                   const analysis::Question& question, const model::Fabric& fabric,
                   const analysis::ScaleOptions& study) {
    const std::string& name = question.network.name;
    const Count devices = study.devices.front();
    if (study.devices.size() > 1) {
        return context.fail_usage("a search over layers is for one number of devices",
                                  "as in --devices 8");
    }
    const Count batch = study.batch.value_or(study.batch_per_device.value_or(32) * devices);
    const auto search =
        analysis::search_layers(question, fabric, devices, batch, study, context.stop());
    if (!search) {
        return context.fail(search.diagnostics());
    }
    return write_answer(context, report::layer_search_answer(*search, name), options.output);
}

// Whether one device is asked about and no other.
bool is_alone(const analysis::ScaleOptions& study) {
    return study.devices == std::vector<Count>{1};
}

// What joins the devices, with nodes as the options say; one device needs nothing.
Result<model::Fabric> fabric_of(Context& context, const ScaleOptions& options,
                                const std::string& machine,
                                const Result<analysis::ScaleOptions>& study) {
    if (options.fabric.empty() && study && is_alone(*study)) {
        return one_device_alone();
    }
    auto fabric = load_fabric(context, options.fabric, machine);
    if (fabric && options.per_node && fabric->levels.size() > 1) {
        fabric->levels.front().size = *options.per_node;
    }
    return fabric;
}

Exit scale_equal(Context& context, const ScaleOptions& options, const analysis::Scenario& scenario,
                 const std::string& command) {
    auto question = analysis::resolve(scenario, folders_of(context));
    auto study = wanted(options, scenario);
    const auto fabric =
        fabric_of(context, options, question ? question->machine.id : std::string(), study);
    Diagnostics all = question.diagnostics();
    all.append(fabric.diagnostics());
    all.append(study.diagnostics());
    if (!scenario.training) {
        all.error("usage", "devices that are alike share a training step, not inference",
                  "leave out --phase inference; `eyeroof serve` divides a decoder's inference");
    }
    if (all.has_errors()) {
        return context.fail(all);
    }
    context.report(all);
    if (const auto refused = analysis::check_costed(*question); refused.has_errors()) {
        return context.fail(refused);
    }
    if (is_alone(*study) && !study->batch && !study->batch_per_device) {
        study->batch = analysis::own_batch(question->network); // the step that an exam shows
    }
    question->scenario.batch = std::nullopt; // of one device: the study gives it
    if (!options.plan_file.empty() && !options.divided && !options.search) {
        return context.fail_usage("--plan-file writes the plan of a divided decoder",
                                  "add --tensor, --pipeline, or --search");
    }
    if ((options.divided || options.search) && options.measured > 0.0) {
        return context.fail_usage("--measured-rate belongs to data parallel training",
                                  "leave out the options that divide a decoder, and --search");
    }
    const bool sharded = options.zero > 0 && !options.data_parallel && !is_alone(*study);
    if (options.divided || options.search || sharded) {
        const auto decoder = analysis::transformer_of(question->network);
        if (decoder) {
            return scale_decoder(context, options, *decoder, *question, *fabric, *study, command);
        }
        if (options.divided) {
            return context.fail(decoder.diagnostics());
        }
        if (options.search) {
            return search_layers(context, options, *question, *fabric, *study);
        }
    }
    const auto result = analysis::scale_data_parallel(*question, *fabric, *study, context.stop(),
                                                      context.progress());
    if (!result) {
        return context.fail(result.diagnostics());
    }
    return write_answer(context, report::scale_answer(*result, options.details), options.output,
                        command, {question->machine});
}

Exit scale(Context& context, ScaleOptions& options, const std::string& command) {
    const auto scenario = scenario_of(context, options.scenario);
    const auto absent = scenario ? missing(options.scenario, *scenario) : scenario.diagnostics();
    if (absent.has_errors()) {
        return context.fail(absent);
    }
    if (options.scenario.machines.size() > 1) {
        return scale_unequal(context, {*scenario, options.scenario.machines, options.fabric,
                                       options.microbatches.value_or(8), options.output});
    }
    if (options.microbatches) {
        return context.fail_usage("--microbatches belongs to devices that differ",
                                  "name each of them with --on; --microbatch divides a decoder");
    }
    return scale_equal(context, options, *scenario, command);
}

constexpr const char* kScaleExamples =
    "# weak scaling: 32 images on each of 8 to 1024 GPUs\n"
    "eyeroof scale resnet50 --on a100-sxm-80gb --fabric dgx-a100-hdr --dtype fp16 --devices "
    "8..1024\n"
    "# strong scaling, and every step above the device\n"
    "eyeroof scale googlenet --on k40m --dtype fp32 --fabric titan-gemini --batch 1024 --details\n"
    "# FireCaffe's NiN: a K20X did 142 images/s with the Caffe of 2015\n"
    "eyeroof scale nin --on k40m --dtype fp32 --fabric titan-gemini --measured-rate 142\n"
    "# 64 workers that do not wait for each other\n"
    "eyeroof scale vgg16 --on v100-pcie-16gb --fabric roce-100g --devices 64 --asynchronous\n"
    "# a GPT on 64 GPUs, 8 of which share each product\n"
    "eyeroof scale gpt-3-6.7b --on a100-sxm-80gb --fabric dgx-a100-hdr --devices 64 --tensor 8\n"
    "# a plan for Llama 3 405B, whose 126 layers do not divide evenly into stages\n"
    "eyeroof scale llama-3.1-405b --on h100-sxm-80gb --fabric llama3-roce --devices 8192 --search\n"
    "# the best plan for Llama 3 70B, and for each layer of AlexNet\n"
    "eyeroof scale llama-3-70b --on h100-sxm-80gb --fabric dgx-h100-ndr --devices 512 --search\n"
    "eyeroof scale alexnet --on k40m --dtype fp32 --fabric pcie4-100g --devices 8 --batch 1024 "
    "--search\n"
    "# an old GPU beside a new one: a training step divided over both, and a pipeline\n"
    "eyeroof scale resnet50 --batch 32 --on a100-sxm-40gb --on v100-sxm2-16gb\n"
    "# a model that neither holds alone, for inference\n"
    "eyeroof scale llama-2-13b --on rtx-4090 --on rtx-3090 --phase inference --format json";

void add_system(CLI::App& app, ScaleOptions& options) {
    options.scenario.usual.training = analysis::TrainingOptions{};
    add_scenario(app, options.scenario,
                 {{"copies", "pageable", "density", "in-place", "mapping", "dataflow", "objective",
                   "time-limit", "factors", "counting", "constraints", "energies"},
                  true});
    app.add_option("--fabric", options.fabric,
                   "Fabric that connects the devices: a name of hwdb/fabrics, or a file [the usual "
                   "one of --on; unequal devices: each GPU's PCIe, through the host]")
        ->type_name("FABRIC|FILE");
    app.add_option("--devices", options.devices, "Device counts: N, N,M,… or FROM..TO by doubling")
        ->type_name("LIST")
        ->capture_default_str();
    app.add_option("--nodes", options.nodes,
                   "Node counts, instead of --devices: N, N,M,… or FROM..TO by doubling")
        ->type_name("LIST");
    app.add_option("--per-node", options.per_node, "Devices per node, instead of the fabric's")
        ->check(CLI::PositiveNumber);
    app.add_option("--batch-per-device", options.batch_per_device,
                   "Batch size on each device, for weak scaling [up to 32, what fits]")
        ->check(CLI::PositiveNumber);
    app.add_option("--baseline-batch", options.baseline_batch,
                   "Batch of the single-device baseline of the speedups [the most that fit]")
        ->check(CLI::PositiveNumber);
    app.add_option(
           "--measured-rate", options.measured,
           "Measured samples/s of one device at --baseline-batch; kernel times are scaled to it")
        ->check(CLI::Range(1e-6, 1e12));
    app.add_option("--microbatches", options.microbatches,
                   "Unequal devices: microbatches of a training step in a pipeline [8]")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{4096}))
        ->type_name("N");
}

void add_decoder(CLI::App& app, ScaleOptions& options) {
    const auto degree = [&](const char* name, Count& value, const char* what) {
        app.add_option(name, value, what)->check(CLI::Range(1, 1'000'000))->capture_default_str();
    };
    degree("--tensor", options.plan.tensor, "Decoders: degree of tensor parallelism");
    degree("--pipeline", options.plan.pipeline,
           "Decoders: degree of pipeline parallelism; data parallelism takes the rest");
    degree("--context", options.plan.context, "Decoders: degree of context parallelism");
    degree("--expert", options.plan.expert, "Decoders: degree of expert parallelism");
    degree("--interleave", options.plan.interleave,
           "Decoders: model chunks on each pipeline stage");
    degree("--microbatch", options.plan.microbatch, "Decoders: microbatch size in sequences");
    app.add_option("--length", options.length, "Decoders: sequence length in tokens")
        ->check(CLI::Range(1, 100'000'000))
        ->default_str("the network's");
    app.add_flag(
        "--sequence", options.plan.sequence,
        "Decoders: sequence parallelism, norms and residuals divided by --tensor too [on with "
        "8-bit and 4-bit GEMMs]");
    add_choice(app, "--recompute", options.recompute, {"none", "selective", "full"},
               "Decoders: activation recomputation in the backward pass");
    app.add_option("--lora", options.adapters.rank,
                   "Decoders: train low-rank adapters of this rank (LoRA); weights are frozen, and "
                   "have neither gradients nor optimizer states")
        ->check(CLI::Range(1, 65536))
        ->type_name("RANK");
    add_choice(app, "--lora-modules", options.adapted, {"all", "attention"},
               "With --lora: adapt all linear layers but routed experts, or those of attention");
    add_choice(app, "--stages", options.stages, {"even", "balanced"},
               "Decoders: pipeline stages with equal blocks, or balanced with embedding and head");
    add_choice(app, "--attention-kernel", options.kernel, analysis::attention_kernel_names(),
               "Decoders: attention kernel; FlashAttention 2 is slower than the newest on Hopper "
               "and Blackwell, FlashAttention 1 in Triton on every GPU");
    add_choice(app, "--attention-type", options.attention_type, {"auto", "bf16", "fp16", "fp8"},
               "Decoders: precision of attention; auto: 16 bits beside narrower GEMMs");
    add_choice(app, "--offload", options.offload, {"none", "host", "nvme"},
               "Decoders: keep the optimizer in the host's memory or on NVMe, and update there");
    app.add_option("--host-bandwidth", options.host_bandwidth,
                   "With --offload: memory bandwidth of a node's host (unsourced default)")
        ->type_name("RATE")
        ->capture_default_str();
    app.add_option("--nvme-bandwidth", options.nvme_bandwidth,
                   "With --offload nvme: bandwidth of a node's drives (unsourced default)")
        ->type_name("RATE")
        ->capture_default_str();
    add_choice(app, "--overlap-tensor", options.overlap_tensor, {"auto", "off", "on"},
               "Decoders: overlap tensor-parallel communication with GEMMs; auto: with sequence "
               "parallelism and 8-bit GEMMs, as recipes of Megatron-Bridge");
    add_choice(app, "--order", options.order, analysis::order_names(),
               "Decoders: axes in which neighboring devices differ, nearest first: pipeline stages "
               "or replicas outermost");
    app.add_option("--expert-tensor", options.plan.expert_tensor,
                   "Decoders: devices that divide each expert [as --tensor]")
        ->check(CLI::Range(1, 1'000'000));
    add_choice(app, "--dispatcher", options.dispatcher, analysis::dispatcher_names(),
               "Decoders: send a token's copy to each of its experts (alltoall), or to each device "
               "or node that has any of them (flex: DeepEP, HybridEP)");
    add_choice(app, "--overlap-expert", options.overlap_expert, {"auto", "off", "on"},
               "Decoders: overlap all-to-alls of experts with another microbatch's kernels; auto: "
               "without full recomputation, and with --interleave where stages are several");
}

bool any_given(const CLI::App& app, std::initializer_list<const char*> names) {
    return std::ranges::any_of(names, [&](const char* name) { return app.count(name) > 0; });
}

// Whether an option is given that a decoder's step does not have.
bool is_data_parallel(const CLI::App& app) {
    return any_given(app, {"--asynchronous", "--compress", "--servers", "--jitter", "--bucket",
                           "--measured-rate", "--baseline-batch", "--optimizer", "--states"});
}

// Whether an option is given that divides a decoder rather than its batch alone.
bool divides(const CLI::App& app) {
    return any_given(app,
                     {"--tensor", "--pipeline", "--context", "--expert", "--interleave",
                      "--microbatch", "--length", "--sequence", "--recompute", "--overlap-tensor",
                      "--stages", "--attention-kernel", "--attention-type", "--offload", "--order",
                      "--dispatcher", "--expert-tensor", "--overlap-expert", "--lora"});
}

void add_strategy(CLI::App& app, ScaleOptions& options) {
    std::vector<std::string> collectives = analysis::algorithm_names();
    collectives.insert(collectives.begin(), "auto");
    add_choice(app, "--algorithm", options.collective, collectives,
               "All-reduce algorithm for gradients; auto: the fastest without servers");
    app.add_option("--servers", options.servers, "Parameter servers")->check(CLI::Range(1, 65536));
    app.add_option("--transport", options.transport,
                   "Software transport of messages, of those that the fabric names [its first]")
        ->type_name("NAME");
    app.add_option("--zero", options.zero,
                   "ZeRO stage: shard the optimizer (1), also gradients (2), also weights (3)")
        ->check(CLI::Range(0, 3));
    add_choice(app, "--compress", options.compress, analysis::compression_names(),
               "Compression of gradients");
    app.add_option("--kept", options.kept, "Share of gradients that topk sends")
        ->check(CLI::Range(1e-6, 1.0));
    app.add_option("--bucket", options.bucket, "Bucket size of gradients in data-parallel training")
        ->type_name("SIZE");
    add_choice(app, "--overlap", options.overlap, {"on", "off"},
               "Overlap gradient buckets with the backward pass");
    app.add_option(
           "--jitter", options.jitter,
           "Standard deviation of a worker's step time over its mean; a step waits for the slowest")
        ->check(CLI::Range(0.0, 1.0));
    app.add_flag("--asynchronous", options.asynchronous,
                 "Asynchronous workers with parameter servers: throughput and staleness");
    app.add_option("--samples", options.samples,
                   "Samples of the whole run, for its time, energy, and cost")
        ->check(CLI::PositiveNumber);
}

} // namespace

void add_scale(Frame& frame) {
    auto options = std::make_shared<ScaleOptions>();
    CLI::App& app = frame.add(
        "scale", "Predict a training step on 8 to 10,000 devices, and find the best parallel plan",
        kScaleExamples);
    add_system(app, *options);
    add_strategy(app, *options);
    add_decoder(app, *options);
    app.add_flag("--search", options->search,
                 "Search for the best parallel plan: for decoders within memory, for other "
                 "networks data or model parallel by layer");
    app.add_option("--plan-file", options->plan_file,
                   "Also write the plan of the most devices, and the options of Megatron-LM and "
                   "DeepSpeed that say the same")
        ->type_name("FILE");
    app.add_flag("--details", options->details,
                 "Add steps, memory, and messages of every count (text)");
    add_output(app, options->output, answer_formats(true));
    frame.run(app, [options, &app](Context& context) {
        options->divided = divides(app);
        options->data_parallel = is_data_parallel(app);
        options->modules_given = app.count("--lora-modules") > 0;
        return scale(context, *options, command_line(app));
    });
}

} // namespace eyeroof::cli
