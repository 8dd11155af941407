// The same question has the same answer wherever it is asked: one lowering, one timeline.
#include "analysis/calibrate/networks.hpp"
#include "analysis/exam/gpu_step.hpp"
#include "analysis/exam/run.hpp"
#include "analysis/fuse/fuse.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/program/settled.hpp"
#include "analysis/scale/scale.hpp"
#include "analysis/step/copy_ways.hpp"
#include "analysis/step/improve.hpp"
#include "analysis/sweep/engine.hpp"
#include "analysis/upgrade/offload.hpp"
#include "analysis/upgrade/upgrade.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/fabric_reader.hpp"
#include "report/answer/write.hpp"
#include "report/step/memory_answer.hpp"
#include "report/step/timeline_write.hpp"
#include "tests/near.hpp"
#include "tests/scenario/fixture.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

namespace test_scenario_one_answer {

using namespace eyeroof;
using namespace eyeroof::analysis;
using namespace eyeroof::formats;
using namespace eyeroof::report;
using model::Launch;
using nlohmann::json;

namespace {

constexpr const char* kGpu = "a100-sxm-40gb";

const std::vector<std::string> kNetworks = {"alexnet",
                                            "resnet18",
                                            "resnet50",
                                            "vgg16",
                                            "mobilenet-v2",
                                            "efficientnet-b0",
                                            "bert-base:layers=2",
                                            "gpt2",
                                            "ncf",
                                            "unet-medical",
                                            "mnist-cnn",
                                            "llama-3.2-1b:layers=2",
                                            "vit-b-16:layers=2"};

struct Asked {
    Scenario scenario;
    Question question;
    Report report;
};

// The exam of a network, launched in this way; each once.
const Asked& asked_of(const std::string& network, Launch launch, bool training) {
    static std::map<std::string, Asked> known;
    const std::string key =
        network + " " + std::string(model::launch_name(launch)) + (training ? " training" : "");
    if (const auto at = known.find(key); at != known.end()) {
        return at->second;
    }
    Asked asked{tests::scenario_of(network, kGpu, training, launch), {}, {}};
    asked.scenario.data_type = model::DataType::fp32; // that the host has too
    asked.question = tests::resolved(asked.scenario);
    auto report = run(asked.question);
    REQUIRE(report.ok());
    asked.report = *std::move(report);
    return known.emplace(key, std::move(asked)).first->second;
}

// Every network, launched in each way, in inference and in training.
void for_all(const std::vector<std::string>& networks,
             const std::function<void(const Asked&)>& check) {
    for (const std::string& network : networks) {
        for (const Launch launch : {Launch::eager, Launch::stream, Launch::graph}) {
            for (const bool training : {false, true}) {
                CAPTURE(network);
                CAPTURE(model::launch_name(launch));
                CAPTURE(training);
                check(asked_of(network, launch, training));
            }
        }
    }
}

model::Machine machine_named(const char* name) {
    const auto machine = hwdb::load_machine(name, tests::catalog_folders().machines);
    REQUIRE(machine.ok());
    return *machine;
}

SweepSources sources() {
    const DataFolders folders = tests::catalog_folders();
    return {[=](const std::string& name) { return hwdb::load_machine(name, folders.machines); },
            [=](const std::string& name, const std::vector<std::string>& sizes) {
                return load_workload(name, sizes, folders);
            },
            [=](const model::Machine& machine) {
                const auto issue = load_issue("", machine, folders);
                return issue ? std::pair{issue->issue, issue->id}
                             : std::pair<model::HostIssue, std::string>{};
            }};
}

} // namespace

TEST_CASE("a report's step is its program on the timeline, and its memory that program's") {
    for_all(kNetworks, [](const Asked& asked) {
        const Question question = as_it_runs(asked.question);
        const auto& gpu = std::get<model::Gpu>(question.machine.kind);
        const auto program = lower(question);
        REQUIRE(program.ok());
        CHECK(*program == asked.report.program);
        const auto costs = analysis::step::costs_of(*program, gpu, software_of(question));
        REQUIRE(costs.ok());
        const analysis::step::Timeline line =
            analysis::step::simulate(*program, *costs, gpu, timeline_options(question, gpu));
        CHECK(line == asked.report.timeline);
        CHECK(line.time_s == asked.report.total.time_s);
        const json timeline =
            json::parse(report::to_json(report::timeline_answer({asked.report, gpu})));
        CHECK(timeline["time_s"].get<double>() == asked.report.total.time_s);
        const analysis::step::Memory memory = analysis::step::memory_of(
            *program, analysis::step::workspaces_of(*program, gpu, software_of(question)));
        REQUIRE(asked.report.memory);
        CHECK(memory == *asked.report.memory);
        const json curve =
            json::parse(report::to_json(report::memory_answer({asked.report, 1, std::nullopt})));
        CHECK(curve["peak_bytes"].get<Count>() == memory.peak);
        const auto ways =
            analysis::step::copy_ways(*program, *costs, gpu, timeline_options(question, gpu));
        CHECK(ways.front().step_s == asked.report.total.time_s); // nothing moved
    });
}

TEST_CASE("a kernel's time is the same however it is launched") {
    for_all(kNetworks, [](const Asked& asked) {
        const Report& eager =
            asked_of(asked.scenario.network, Launch::eager, asked.scenario.training.has_value())
                .report;
        CHECK(asked.report.program == eager.program);
        CHECK(asked.report.total.device_s == eager.total.device_s);
        for (std::size_t i = 0; i < eager.layers.size(); ++i) {
            CHECK(asked.report.layers[i].time_s == eager.layers[i].time_s);
        }
    });
}

namespace {

// Of every convolution with passes the tensors that it reads, filters of more than one tap among
// them, are turned before it, and its result behind it unless that is such a filter's of one tap.
void check_passes(const Scenario& scenario) {
    const auto program = lower(tests::resolved(scenario));
    REQUIRE(program.ok());
    std::map<std::string, int> last, first; // passes by convolution
    for (const analysis::step::Operator& op : program->operators) {
        const model::Layer& layer = program->layers[op.layer];
        const auto* pass = std::get_if<model::ElementwiseShape>(&layer.shape);
        if (pass == nullptr || !pass->fn.starts_with("to_channels_")) {
            continue;
        }
        std::string of = layer.name.substr(0, layer.name.find("to_channels"));
        for (const std::string part : {"filter_", "input_"}) {
            of = of.ends_with(part) ? of.substr(0, of.size() - part.size()) : of;
        }
        (pass->fn == "to_channels_last" ? last : first)[of] += 1;
        const Count bytes = pass->rows * pass->cols * 2; // fp16
        CHECK(bytes == program->tensors[program->reads_of(op).front()].bytes);
        CHECK(bytes == program->tensors[program->writes_of(op).front()].bytes);
    }
    CHECK(last.size() > 10);
    for (const auto& [of, passes] : last) {
        const bool one_tap = of.find("proj") != std::string::npos;
        CHECK_MESSAGE(passes == (one_tap && !of.ends_with("bwd_weight.") ? 1 : 2), of);
        CHECK_MESSAGE(first[of] == (one_tap && of.ends_with("bwd_weight.") ? 0 : 1), of);
    }
}

} // namespace

TEST_CASE("passes between layouts move the tensors of their convolution, in and out") {
    Scenario scenario = tests::scenario_of("resnet18", kGpu);
    scenario.layout = model::Layout::channels_first;
    for (const bool training : {false, true}) {
        if (training) {
            scenario.training.emplace();
        }
        check_passes(scenario);
    }
}

TEST_CASE("a library's passes between layouts cost the host a launch, not a framework's call") {
    Scenario scenario = tests::scenario_of("resnet18", kGpu);
    scenario.layout = model::Layout::channels_last;
    const auto last = run(tests::resolved(scenario));
    scenario.layout = model::Layout::channels_first;
    const Question asked = tests::resolved(scenario);
    const auto first = run(asked);
    REQUIRE(last.ok());
    REQUIRE(first.ok());
    const auto passes =
        static_cast<double>(first->program.operators.size() - last->program.operators.size());
    REQUIRE(passes > 20.0);
    CHECK(first->timeline.host_s - last->timeline.host_s ==
          tests::near(passes * asked.host.launch_s));
}

TEST_CASE("an offload takes the time that an exam gives") {
    const model::Machine host = machine_named("server-2x20");
    for_all(kNetworks, [&](const Asked& asked) {
        const auto sent = offload(asked.question, host);
        for (const Diagnostic& d : sent.diagnostics()) {
            MESSAGE(to_string(d));
        }
        REQUIRE(sent.ok());
        CHECK(sent->gpu_s == asked.report.total.time_s);
    });
}

TEST_CASE("an upgrade takes the times that exams give") {
    const model::Machine old_gpu = machine_named("v100-sxm2-16gb");
    for_all({"alexnet", "mnist-cnn", "bert-base:layers=2", "resnet18"}, [&](const Asked& asked) {
        UpgradeOptions options;
        options.from = options.to = asked.scenario;
        options.from_issue = options.to_issue = asked.question.host;
        options.edges = asked.question.edges;
        options.assumptions = false;
        const auto better =
            upgrade(asked.question.network, old_gpu, asked.question.machine, options);
        REQUIRE(better.ok());
        CHECK(better->to_s == asked.report.total.time_s);
        Question before = asked.question;
        before.machine = old_gpu;
        CHECK(better->from_s == run(before)->total.time_s);
    });
}

TEST_CASE("a point of a sweep is the exam of its scenario") {
    for_all(kNetworks, [](const Asked& asked) {
        const Count batch = asked.report.batch;
        SweepQuestion varied{asked.scenario,
                             {"batch=" + std::to_string(2 * batch) + "," + std::to_string(batch)}};
        const auto grid = SweepGrid::make(varied, sources());
        REQUIRE(grid);
        SweptWorkloads workloads;
        SweepEngine engine(*grid, workloads, {});
        const PointFigures figures = engine.at(1);
        CHECK(figures.error.empty());
        CHECK(figures.of(SweptFigure::time_s) == asked.report.total.time_s);
        CHECK(figures.of(SweptFigure::macs) == asked.report.total.macs);
    });
}

TEST_CASE("remedies start from the step that an exam gives") {
    for_all({"alexnet", "mnist-cnn", "bert-base:layers=2", "resnet18"}, [](const Asked& asked) {
        analysis::step::ImproveOptions options;
        options.limit = 40'000'000'000;
        options.batches = {1};
        const auto found = analysis::step::improve(asked.question, options);
        REQUIRE(found.ok());
        CHECK(found->now.time_s == asked.report.total.time_s);
        CHECK(found->now.low_s == *asked.report.total.low_s);
        CHECK(found->now.high_s == *asked.report.total.high_s);
        CHECK(found->now.peak == asked.report.memory->peak);
        CHECK(found->alone.size() >= 2);
        // A remedy that is a field of the scenario is the exam with that field.
        for (const analysis::step::Outcome& alone : found->alone) {
            analysis::step::Combination captured;
            captured.capture = true;
            analysis::step::Combination fused;
            fused.fuse = true;
            Question other = asked.question;
            if (alone.combination == captured) {
                other.scenario.launch = Launch::graph;
            } else if (alone.combination == fused) {
                other.scenario.compiled = true;
                other.scenario.attention = attention_of(asked.question); // a remedy of its own
            } else {
                continue;
            }
            CHECK(alone.time_s == run(other)->total.time_s);
        }
    });
}

TEST_CASE("data parallel training on one device is the training step of the exam") {
    const auto fabric = hwdb::load_fabric("dgx-a100-hdr", tests::catalog_folders().machines);
    REQUIRE(fabric.ok());
    for_all(kNetworks, [&](const Asked& asked) {
        if (!asked.scenario.training) {
            return;
        }
        ScaleOptions options;
        options.devices = {1};
        options.batch = asked.report.batch;
        options.baseline_batch = asked.report.batch;
        const auto scaled = scale_data_parallel(asked.question, *fabric, options);
        REQUIRE(scaled.ok());
        // The step is summed from its halves and buckets: equal but for the order of the sum.
        CHECK(scaled->points.front().step_s == tests::near(asked.report.total.time_s, 1e-12));
        CHECK(scaled->points.front().memory.total() ==
              static_cast<double>(asked.report.memory->peak));
    });
}

TEST_CASE("fusion on a chip counts the layers that the exam runs") {
    for (const std::string& network : kNetworks) {
        CAPTURE(network);
        const Question& question = asked_of(network, Launch::eager, false).question;
        const Report& report = asked_of(network, Launch::eager, false).report;
        const auto layers = lowered_network(question);
        REQUIRE(layers.ok());
        const auto chip = chip_of(question.machine, layers->layers.front().types.input);
        REQUIRE(chip.ok());
        const auto fused = fuse_network(*layers, *chip, FuseAim::traffic);
        REQUIRE(fused.ok());
        double macs = report.total.macs;
        for (const LayerReport& layer : report.layers) {
            const auto& between = fused->between;
            const bool counted =
                std::find(between.begin(), between.end(), layer.layer.name) == between.end();
            macs -= counted
                        ? 0.0
                        : static_cast<double>(layer.macs) * static_cast<double>(layer.layer.count);
        }
        CHECK(fused->apart.macs == tests::near(macs, 1e-9));
    }
}

TEST_CASE("a measured step stands beside the prediction of its scenario") {
    for (const bool training : {false, true}) {
        const std::string phase = training ? "training" : "inference";
        const auto rows =
            parse_networks("network,gpu,measured_s,phase,optimizer,launch\n"
                           "resnet50," +
                               std::string(kGpu) + ",0.01," + phase + ",sgd_momentum,graph\n",
                           "steps.csv");
        REQUIRE(rows.ok());
        const Question question =
            tests::resolved(tests::scenario_of("resnet50", kGpu, training, Launch::graph));
        const PairsSources from{[&](const std::string& name) {
                                    return load_workload(name, {}, tests::catalog_folders());
                                },
                                [](const std::string& name) {
                                    return hwdb::load_machine(name,
                                                              tests::catalog_folders().machines);
                                },
                                [&](const model::Machine&) { return question.host; }};
        const auto result = validate_networks(*rows, from);
        REQUIRE(result.ok());
        CHECK(result->rows.front().predicted_s == run(question)->total.time_s);
    }
}

TEST_CASE("a compiled step sends the gradients that fused groups write") {
    Scenario scenario = tests::scenario_of("bert-base:layers=2", "h100-sxm-80gb", true);
    const auto sent = [&](bool compiled) {
        scenario.compiled = compiled;
        const auto report = run(tests::resolved(scenario));
        REQUIRE(report.ok());
        return device_work(*report).bytes();
    };
    CHECK(sent(true) == sent(false));
}

TEST_CASE("a table's column `library` is the step's library, unless another is named") {
    const auto folder = std::filesystem::temp_directory_path() / "eyeroof-library-column";
    std::filesystem::create_directories(folder);
    const auto table = [&](const std::string& rows) {
        const std::string file = (folder / "layers.csv").string();
        std::ofstream(file) << "name,op,dtype,m,n,k,library\n" << rows;
        return file;
    };
    Scenario asked = tests::scenario_of(table("a,gemm,fp32,256,512,512,cublas 8\n"
                                              "b,gemm,fp32,256,512,512,cublas 8\n"),
                                        "v100-sxm2-16gb");
    const Question named = tests::resolved(asked);
    CHECK(named.scenario.library == "cublas 8");
    CHECK(run(named)->words.find("cublas 8") != std::string::npos);
    asked.library = "cublas 11";
    CHECK(tests::resolved(asked).scenario.library == "cublas 11");
    asked.library.clear();
    asked.network = table("a,gemm,fp32,256,512,512,cublas 8\nb,gemm,fp32,256,512,512,cublas 11\n");
    const auto several = resolve(asked, tests::catalog_folders());
    REQUIRE_FALSE(several.ok());
    CHECK(to_string(*several.diagnostics().begin()).find("layers.csv:3:1") != std::string::npos);
    std::filesystem::remove_all(folder);
}

} // namespace test_scenario_one_answer
