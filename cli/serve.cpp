// eyeroof serve: a decoder that answers requests.
#include "analysis/exam/words.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/scale/request_file.hpp"
#include "analysis/scale/serving.hpp"
#include "base/text_file.hpp"
#include "base/units.hpp"
#include "cli/answer.hpp"
#include "cli/fabric.hpp"
#include "cli/option_values.hpp"
#include "cli/scenario_options.hpp"
#include "hwdb/engine_reader.hpp"
#include "report/scale/serving_answer.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace eyeroof::cli {

namespace {

struct ServeOptions {
    ScenarioOptions scenario;
    std::string draft, plan_file, fabric, ttft, tpot, engine = "vllm", weight_type, cache_type,
                                                      rates, start = "spread", requests_file;
    std::optional<Count> chunk; // nullopt: the engine's
    std::optional<double> memory_share;
    Count prefill_tensor = 0, prefill_data = 0, prefill_expert = 0; // 0: as of next tokens
    analysis::ServingOptions serving;
    OutputOptions output;
};

// "2,4.5,recorded,max": requests a second, the arrivals of a file, and the largest rate within the
// limits.
void read_rates(const std::string& text, analysis::ServingOptions& serving, Diagnostics& found) {
    std::size_t at = 0;
    while (!text.empty() && at <= text.size()) {
        const auto comma = std::min(text.find(',', at), text.size());
        const std::string one = text.substr(at, comma - at);
        at = comma + 1;
        if (one == "max" || one == "recorded") {
            (one == "max" ? serving.largest_rate : serving.recorded) = true;
            continue;
        }
        double rate = 0.0;
        const auto [stop, error] = std::from_chars(one.data(), one.data() + one.size(), rate);
        if (error != std::errc{} || stop != one.data() + one.size() || !(rate >= 1e-3) ||
            rate > 1e6) {
            found.error("usage", "--rate: '" + one + "' is no rate of requests",
                        "requests a second from 0.001 to 1e6, as in --rate 2,4.5, or max, or "
                        "recorded");
            return;
        }
        serving.rates.push_back(rate);
    }
    if (serving.recorded && serving.sizes.empty()) {
        found.error("usage", "--rate recorded needs the arrivals of a file",
                    "as in --requests-file trace.csv");
    }
    if (serving.largest_rate && serving.ttft_limit_s <= 0.0 && serving.tpot_limit_s <= 0.0) {
        found.error("usage", "--rate max needs a limit to stay within",
                    "as in --ttft '500 ms' --tpot '50 ms'");
    }
}

void read_type(const char* option, const std::string& text, std::optional<model::DataType>& type,
               Diagnostics& found) {
    if (text.empty()) {
        return;
    }
    type = model::data_type_from_name(text);
    if (!type) {
        found.error("usage", std::string(option) + ": '" + text + "' is no type",
                    "such as bf16, fp8, int8, or int4");
    }
}

// Requests in the file give the lengths that the first table takes, too: their means.
void read_requests(const std::string& path, analysis::ServingOptions& serving, Diagnostics& found) {
    constexpr std::size_t kMostBytes = std::size_t{1} << 30;
    const auto text = read_text_file(path, kMostBytes);
    auto sizes = text ? analysis::parse_requests(*text, path)
                      : Result<std::vector<analysis::RequestSize>>(text.diagnostics());
    if (!sizes) {
        found.append(sizes.diagnostics());
        return;
    }
    double prompts = 0.0;
    double answers = 0.0;
    for (const analysis::RequestSize& size : *sizes) {
        prompts += static_cast<double>(size.prompt);
        answers += static_cast<double>(size.answer);
    }
    const auto count = static_cast<double>(sizes->size());
    serving.prompt = std::max<Count>(std::llround(prompts / count), 1);
    serving.answer = std::max<Count>(std::llround(answers / count), 1);
    serving.sizes = *std::move(sizes);
}

Result<analysis::ServingOptions> wanted(const Context& context, const ServeOptions& options) {
    analysis::ServingOptions serving = options.serving;
    auto engine = hwdb::load_engine(options.engine, context.machine_dirs());
    Diagnostics found = engine.diagnostics();
    if (engine) {
        serving.engine = *std::move(engine);
    }
    serving.engine.chunk = options.chunk.value_or(serving.engine.chunk);
    serving.memory_share = options.memory_share.value_or(serving.engine.memory_share);
    serving.together = options.start == "together";
    read_type("--weight-type", options.weight_type, serving.weight_type, found);
    read_type("--cache-type", options.cache_type, serving.cache_type, found);
    const auto limit = [&](const char* option, const std::string& text, double& seconds) {
        if (!text.empty()) {
            const auto read = parse<Seconds>(text);
            refuse(found, option, read.diagnostics());
            seconds = read ? read->value : 0.0;
        }
    };
    limit("--ttft", options.ttft, serving.ttft_limit_s);
    limit("--tpot", options.tpot, serving.tpot_limit_s);
    if (!options.requests_file.empty()) {
        read_requests(options.requests_file, serving, found);
    }
    read_rates(options.rates, serving, found);
    if (serving.sizes.empty() && serving.spread <= 0.0 && serving.requests > 0 &&
        serving.rates.empty() && serving.users.empty() && !serving.largest_rate) {
        found.error("usage", "--simulate counts requests of a simulated load",
                    "as in --rate 2 --simulate 10000");
    }
    if (options.prefill_tensor > 0 || options.prefill_data > 0 || options.prefill_expert > 0) {
        const auto next = serving.layout(serving.tensor.front());
        serving.prefill = {options.prefill_tensor > 0 ? options.prefill_tensor : next.tensor,
                           options.prefill_data > 0 ? options.prefill_data : next.data,
                           options.prefill_expert > 0 ? options.prefill_expert : next.expert};
    }
    if (found.has_errors()) {
        return found;
    }
    return serving;
}

// One device joins nothing; more must say what joins them.
Result<model::Fabric> joined_by(Context& context, const ServeOptions& options,
                                const std::string& machine) {
    const auto& degrees = options.serving.tensor;
    if (!options.fabric.empty() || options.serving.expert > 1 || options.serving.data > 1 ||
        options.serving.decode_groups > 0 || options.serving.prefill_groups > 0 ||
        options.prefill_tensor > 1 ||
        std::any_of(degrees.begin(), degrees.end(), [](Count t) { return t > 1; })) {
        return load_fabric(context, options.fabric, machine);
    }
    return one_device_alone();
}

// A drafting decoder drafts four tokens unless it is asked for more or fewer.
void read_draft(Context& context, const ServeOptions& options,
                Result<analysis::ServingOptions>& serving) {
    if (options.draft.empty()) {
        return;
    }
    serving->speculation.tokens = serving->speculation.tokens > 0 ? serving->speculation.tokens : 4;
    if (options.draft == "own") {
        return; // of the decoder itself, once it is read
    }
    const auto workload = analysis::load_workload(options.draft, {}, folders_of(context));
    const auto decoder = workload ? analysis::transformer_of(workload->network)
                                  : Result<analysis::Transformer>(workload.diagnostics());
    if (!decoder) {
        serving = decoder.diagnostics();
        return;
    }
    serving->speculation.draft = *decoder;
    serving->speculation.draft->name = workload->network.id;
}

Exit serve(Context& context, ServeOptions& options) {
    auto question = question_of(context, options.scenario);
    const auto fabric =
        joined_by(context, options, question ? question->machine.id : std::string());
    auto serving = wanted(context, options);
    if (serving) {
        read_draft(context, options, serving);
    }
    Diagnostics all = question.diagnostics();
    all.append(fabric.diagnostics());
    all.append(serving.diagnostics());
    if (all.has_errors()) {
        return context.fail(all);
    }
    if (const auto refused = analysis::check_costed(*question); refused.has_errors()) {
        return context.fail(refused);
    }
    const auto decoder = analysis::transformer_of(question->network);
    if (!decoder) {
        return context.fail(decoder.diagnostics());
    }
    if (options.draft == "own") {
        analysis::draft_by_own_layer(*decoder, serving->speculation);
    }
    if (question->scenario.library.empty()) {
        question->scenario.library = serving->engine.library;
    }
    serving->type = question->scenario.data_type.value_or(model::DataType::bf16);
    serving->exam = question->scenario;
    if (std::holds_alternative<model::Accelerator>(question->machine.kind)) {
        question->scenario.policy = analysis::MappingPolicy::dataflow; // as its steps are mapped
    }
    serving->host = question->host;
    const auto result = analysis::serve(*decoder, question->machine, *fabric, *serving,
                                        context.stop(), context.progress());
    if (!result) {
        return context.fail(result.diagnostics());
    }
    if (!options.plan_file.empty() && result->best) {
        const std::string plan = analysis::server_yaml(result->points[*result->best], *serving);
        if (const Exit exit = context.write(plan, options.plan_file); exit != Exit::done) {
            return exit;
        }
    }
    report::Answer answer = report::serving_answer(*result);
    answer.question = analysis::scenario_words(*question, false);
    return write_answer(context, answer, options.output, result->best ? Exit::done : Exit::says_no);
}

void add_engine(CLI::App& app, ServeOptions& options) {
    app.add_option("--engine", options.engine,
                   "Serving engine, which sets batching, host time, memory, and kernels: a name of "
                   "hwdb/engines, with or without its version, or a file")
        ->type_name("ENGINE|FILE")
        ->capture_default_str();
    app.add_option("--chunk", options.chunk, "Most tokens of a step [the engine's]")
        ->check(CLI::Range(64, 10'000'000));
}

void add_devices_and_drafts(CLI::App& app, ServeOptions& options) {
    analysis::ServingOptions& serving = options.serving;
    app.add_option("--prefill-groups", serving.prefill_groups,
                   "Tensor groups that compute prompts alone (disaggregated prefill)")
        ->check(CLI::Range(1, 4096))
        ->type_name("N");
    app.add_option("--decode-groups", serving.decode_groups,
                   "With --prefill-groups: tensor groups that compute next tokens")
        ->check(CLI::Range(1, 4096))
        ->type_name("N");
    const auto layout = [&](const char* name, Count& value, const char* what) {
        app.add_option(name, value, what)->check(CLI::Range(1, 4096))->type_name("N");
    };
    layout("--prefill-tensor", options.prefill_tensor,
           "With --prefill-groups: their degree of tensor parallelism [--tensor]");
    layout("--prefill-data", options.prefill_data,
           "With --prefill-groups: their replicas of attention [--data]");
    layout("--prefill-expert", options.prefill_expert,
           "With --prefill-groups: their degree of expert parallelism [--expert]");
    app.add_option("--draft-tokens", serving.speculation.tokens,
                   "Speculative decoding: tokens drafted per step and request [with --draft: 4]")
        ->check(CLI::Range(1, 64))
        ->type_name("N");
    app.add_option("--acceptance", serving.speculation.acceptance,
                   "Probability that a drafted token is accepted")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_option("--draft", options.draft,
                   "Decoder that drafts tokens on the same devices; own: a layer of the decoder "
                   "itself (MTP) [n-grams, without cost]")
        ->type_name("NETWORK|own");
    app.add_option("--memory-share", options.memory_share,
                   "Memory share of weights and cache [the engine's]")
        ->check(CLI::Range(0.1, 1.0));
}

// Simulated arrivals.
void add_load(CLI::App& app, ServeOptions& options) {
    analysis::ServingOptions& serving = options.serving;
    app.add_option("--rate", options.rates,
                   "Simulate arrivals at these rates, requests/s; max: the largest rate whose 95th "
                   "percentiles meet the limits; recorded: at the times of --requests-file")
        ->type_name("R,S,…");
    app.add_option("--requests-file", options.requests_file,
                   "Simulated requests: CSV with prompt, answer, and arrival_s [all alike]")
        ->type_name("FILE");
    app.add_option("--spread", serving.spread,
                   "Coefficient of variation of simulated prompts and outputs (log-normal)")
        ->check(CLI::Range(0.0, 10.0))
        ->capture_default_str();
    app.add_option("--servers", serving.servers,
                   "Servers that share the simulated requests, each of --tensor x --data devices")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
    app.add_option("--simulate", serving.requests,
                   "Requests to simulate [1000, 10 per user, or all of the file]")
        ->check(CLI::Range(1, 1'000'000'000))
        ->type_name("N");
    app.add_option("--users", serving.users,
                   "Simulate N users, each of whom sends the next request after the last response")
        ->delimiter(',')
        ->check(CLI::Range(1, 100'000))
        ->type_name("N,M,…");
    add_choice(app, "--start", options.start, {"spread", "together"},
               "Users start evenly spread, or all together");
    app.add_option("--seed", serving.seed, "Seed of the simulated arrivals")->capture_default_str();
}

} // namespace

void add_serve(Frame& frame) {
    auto options = std::make_shared<ServeOptions>();
    CLI::App& app = frame.add(
        "serve", "Predict how fast a decoder is served: TTFT, TPOT, and tokens per second",
        "# one GPU: how many requests at once?\n"
        "eyeroof serve llama-3-8b --on h100-sxm-80gb\n"
        "# batch against latency on 1 to 8 GPUs, and the most within two limits\n"
        "eyeroof serve llama-3-8b --on h100-sxm-80gb --fabric dgx-h100-ndr --tensor 1,2,4,8\n"
        "eyeroof serve llama-3-8b --on h100-sxm-80gb --fabric dgx-h100-ndr --ttft '500 ms'\n"
        "# requests that arrive at 2 and 8 a second, and the most that two limits allow\n"
        "eyeroof serve llama-3-8b --on h100-sxm-80gb --rate 2,8,max --ttft '300 ms' --tpot '30 "
        "ms'\n"
        "# a million requests of uneven lengths on 100 GPUs\n"
        "eyeroof serve llama-3-8b --on h100-sxm-80gb --servers 100 --rate 800 --spread 1 "
        "--simulate 1000000\n"
        "# 64 users who ask again at once, on TensorRT-LLM in fp8\n"
        "eyeroof serve llama-3-8b --on h100-sxm-80gb --engine trtllm --dtype fp8 --users 64\n"
        "# weights of 4 bits beside 16-bit arithmetic\n"
        "eyeroof serve llama-3-8b --on a100-sxm-80gb --weight-type int4 --requests 1\n"
        "# 2 GPUs for prompts, 6 for next tokens\n"
        "eyeroof serve phi-4 --on h100-sxm-80gb --fabric dgx-h100-ndr --prefill-groups 2 "
        "--decode-groups 6\n"
        "# 4 tokens drafted by a small decoder, each accepted with probability 0.8\n"
        "eyeroof serve llama-3-8b --on h100-sxm-80gb --requests 1 --draft llama-3.2-1b "
        "--acceptance 0.8\n"
        "eyeroof serve mixtral-8x7b --on a100-sxm-80gb --fabric dgx-a100-hdr --tensor 2,4,8 "
        "--format svg");
    options->scenario.usual.launch = model::Launch::graph; // as servers replay a decoding step
    options->scenario.usual.data_type = model::DataType::bf16;
    options->scenario.usual.settled_clocks = true;
    add_scenario(app, options->scenario,
                 {{"batch", "phase", "optimizer", "states", "operators", "density", "in-place",
                   "layers", "copies", "pageable", "mapping", "dataflow", "objective", "time-limit",
                   "factors", "counting", "constraints", "search-nodes", "energies"}});
    app.add_option("--fabric", options->fabric,
                   "Fabric that connects the devices: a name of hwdb/fabrics, or a file [the usual "
                   "one of --on]")
        ->type_name("FABRIC|FILE");
    analysis::ServingOptions& serving = options->serving;
    app.add_option("--prompt", serving.prompt, "Prompt tokens of a request")
        ->check(CLI::Range(1, 10'000'000))
        ->capture_default_str();
    app.add_option("--answer", serving.answer, "Output tokens of a request")
        ->check(CLI::Range(1, 10'000'000))
        ->capture_default_str();
    app.add_option("--cached-prompt", serving.cached,
                   "Tokens of each prompt that the prefix cache holds, which are not computed")
        ->check(CLI::Range(0, 10'000'000))
        ->capture_default_str();
    app.add_option("--tensor", serving.tensor, "Degrees of tensor parallelism to try")
        ->delimiter(',')
        ->check(CLI::Range(1, 4096))
        ->type_name("N,M,…");
    app.add_option("--expert", serving.expert,
                   "Degree of expert parallelism, over the server's tensor x data devices")
        ->check(CLI::Range(1, 4096));
    app.add_option("--data", serving.data,
                   "Replicas of attention that share the experts (attention data parallelism) "
                   "[1, or --expert over --tensor]")
        ->check(CLI::Range(1, 4096));
    app.add_option("--requests", serving.batches,
                   "Concurrent requests [powers of two up to what fits]")
        ->delimiter(',')
        ->check(CLI::Range(1, 1'000'000))
        ->type_name("N,M,…");
    app.add_option("--ttft", options->ttft, "Limit of the time to first token (TTFT)")
        ->type_name("TIME");
    app.add_option("--tpot", options->tpot, "Limit of the time per output token (TPOT)")
        ->type_name("TIME");
    add_engine(app, *options);
    add_devices_and_drafts(app, *options);
    app.add_option("--weight-type", options->weight_type,
                   "Storage type of weights, where narrower than the arithmetic [--dtype]")
        ->type_name("TYPE");
    app.add_option("--cache-type", options->cache_type,
                   "Type of cached keys and values [16 bits; trtllm: fp8 beside --dtype fp8]")
        ->type_name("TYPE");
    add_load(app, *options);
    app.add_option("--plan-file", options->plan_file,
                   "Also write the best point, and the options of vLLM, SGLang, and TensorRT-LLM "
                   "that say the same")
        ->type_name("FILE");
    add_output(app, options->output, answer_formats(true));
    frame.run(app, [options](Context& context) { return serve(context, *options); });
}

} // namespace eyeroof::cli
