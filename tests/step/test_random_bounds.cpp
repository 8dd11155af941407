// Random programs on every machine of the catalog: what every answer keeps (answer_checks.hpp). A
// few hundred in each run of the tests; EYEROOF_RANDOM_CASES asks for more, EYEROOF_RANDOM_FIRST
// for those from a number on, EYEROOF_RANDOM_SEED for others.
#include "analysis/bound/bound.hpp"
#include "analysis/exam/run.hpp"
#include "analysis/what_if/parameters.hpp"
#include "tests/step/answer_checks.hpp"
#include "tests/step/step_fixture.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdlib>
#include <random>

namespace test_step_random_bounds {

using namespace eyeroof;
using tests::check_bound;
using tests::check_headline;
using tests::check_layers;
using tests::check_total;

namespace {

long asked(const char* name, long usual) {
    const char* text = std::getenv(name); // NOLINT(concurrency-mt-unsafe)
    return text == nullptr ? usual : std::atol(text);
}

class Rng {
  public:
    explicit Rng(std::uint64_t seed) : engine_(seed) {}
    std::size_t upto(std::size_t n) { return engine_() % n; }
    bool one_in(std::size_t n) { return upto(n) == 0; }
    // 1 … most, its logarithm even.
    Count size(double most) {
        const double share = static_cast<double>(upto(10'000)) / 10'000.0;
        return std::max<Count>(1, std::llround(std::pow(most, share)));
    }
    template <class T> T one_of(std::initializer_list<T> list) {
        return *(list.begin() + upto(list.size()));
    }

  private:
    std::mt19937_64 engine_;
};

std::string random_layer(Rng& rng) {
    const Count rows = rng.size(10'000), cols = rng.size(5'000);
    const std::string size = fmt::format("rows: {}, cols: {}", rows, cols);
    const Count r = rng.one_of<Count>({1, 3, 5});
    switch (rng.upto(10)) {
    case 0:
    case 1:
        return fmt::format("op: gemm, m: {}, n: {}, k: {}", rows, cols, rng.size(8'000));
    case 2:
    case 3:
        return fmt::format(
            "op: conv2d, n: {}, c: {}, h: {}, w: {}, k: {}, r: {}, s: {}, stride: {}, pad: {}",
            rng.size(16), rng.size(512), r + rng.size(60), r + rng.size(60), rng.size(512), r, r,
            rng.one_of({1, 1, 2}), r / 2);
    case 4:
        return fmt::format("op: bmm, batch: {}, m: {}, n: {}, k: {}", rng.size(64), rng.size(500),
                           rng.size(500), rng.size(500));
    case 5:
        return fmt::format("op: attention, batch: {}, groups: {}, m: {}, n: {}, k: {}", rng.size(8),
                           rng.size(32), rng.size(1000), rng.size(2000), rng.one_of({32, 64, 128}));
    case 6:
        return fmt::format("op: moe, m: {}, n: {}, k: {}, topk: 2, experts: {}", rng.size(500),
                           rng.size(2000), rng.size(2000), 1 + rng.size(64));
    case 7:
        return "op: " + rng.one_of<std::string>({"softmax, ", "layernorm, "}) + size;
    case 8:
        return fmt::format("op: maxpool, n: {}, c: {}, h: 30, w: 31, r: 2, s: 2, stride: 2",
                           rng.size(16), rng.size(256));
    default:
        return "op: elementwise, fn: " + rng.one_of<std::string>({"relu, ", "add, ", "gelu, "}) +
               size;
    }
}

std::string random_network(Rng& rng, const std::string& type) {
    std::string yaml = "name: random\nlayers:\n";
    for (std::size_t i = 0, n = 1 + rng.upto(5); i < n; ++i) {
        yaml += fmt::format("  - {{name: a{}, {}, count: {}, dtype: {}}}\n", i, random_layer(rng),
                            rng.one_of({1, 1, 3}), type);
    }
    return yaml;
}

const std::vector<model::Machine>& catalog() {
    static const std::vector<model::Machine> machines = [] {
        const std::vector<std::filesystem::path> folders{
            std::filesystem::path(tests::source_dir()) / "hwdb"};
        std::vector<model::Machine> all;
        for (const hwdb::CatalogEntry& entry : hwdb::list_machines(folders)) {
            auto machine = hwdb::load_machine(entry.id, folders);
            REQUIRE(machine);
            all.push_back(*std::move(machine));
        }
        return all;
    }();
    return machines;
}

std::string random_type(Rng& rng, const model::Machine& machine) {
    const auto* gpu = std::get_if<model::Gpu>(&machine.kind);
    std::vector<std::string> types;
    for (const std::string_view name : model::data_type_names()) {
        if (gpu == nullptr || gpu->rate(*model::data_type_from_name(name)).flops_per_s > 0.0) {
            types.emplace_back(name);
        }
    }
    return types[rng.upto(types.size())];
}

analysis::Scenario random_scenario(Rng& rng) {
    analysis::Scenario s;
    s.policy = rng.one_in(20) ? analysis::MappingPolicy::best : analysis::MappingPolicy::dataflow;
    s.search_nodes = 300;
    s.threads = 1;
    s.launch = rng.one_of(
        {model::Launch::eager, model::Launch::stream, model::Launch::graph, model::Launch::none});
    s.streams = rng.one_of({1, 1, 1, 3});
    s.compiled = rng.one_in(3);
    s.copies = rng.one_in(4) ? analysis::Copies::batch : analysis::Copies::none;
    s.batch = rng.one_of<Count>({1, 1, 2, 8});
    s.host_speed = rng.one_of({1.0, 0.5, 4.0});
    s.free_dataflow = rng.one_in(8);
    if (rng.one_in(6)) {
        s.training = analysis::TrainingOptions{"adam"};
    }
    return s;
}

// Random layers on a random machine of the catalog.
analysis::Question random_question(Rng& rng, std::string& yaml) {
    const model::Machine& machine = catalog()[rng.upto(catalog().size())];
    yaml = random_network(rng, random_type(rng, machine));
    const auto file = formats::parse_network_yaml(yaml, "net.yaml");
    REQUIRE(file.ok());
    return tests::question_of(model::NetworkGraph{file->network, file->edges}, machine,
                              random_scenario(rng));
}

// Every third GPU with a power cap of a third of its limit and more.
void cap(Rng& rng, analysis::Question& question) {
    const auto* gpu = std::get_if<model::Gpu>(&question.machine.kind);
    if (gpu == nullptr || gpu->arch == model::GpuArch::host || gpu->tdp_w <= 0.0 ||
        !rng.one_in(3)) {
        return;
    }
    const double share = rng.one_of({0.35, 0.5, 0.8});
    question.scenario.changes = {fmt::format("power-cap={:.0f} W", share * gpu->tdp_w)};
    question.uncapped = analysis::uncapped(question.machine, question.scenario.changes);
    auto capped = analysis::changed(question.machine, question.scenario.changes);
    REQUIRE(capped);
    question.machine = *std::move(capped);
}

// Cases of a seed, or the one that EYEROOF_RANDOM_ONLY names.
template <class Case> void each_case(long usual, Case one) {
    const auto seed = static_cast<std::uint64_t>(asked("EYEROOF_RANDOM_SEED", 61));
    const long only = asked("EYEROOF_RANDOM_ONLY", -1);
    const long first = only < 0 ? asked("EYEROOF_RANDOM_FIRST", 0) : only;
    const long cases = only < 0 ? asked("EYEROOF_RANDOM_CASES", usual) : 1;
    long examined = 0;
    for (long i = first; i < first + cases; ++i) {
        Rng rng(seed * 1'000'000'007ULL + static_cast<std::uint64_t>(i));
        CAPTURE(i);
        examined += one(rng, i) ? 1 : 0;
    }
    MESSAGE(examined << " of " << cases << " cases examined");
    CHECK((only >= 0 || examined * 2 > cases));
}

} // namespace

TEST_CASE("no prediction is below its bound, whatever runs on whatever machine") {
    each_case(250, [](Rng& rng, long) {
        std::string yaml;
        const auto question = random_question(rng, yaml);
        CAPTURE(question.machine.id);
        CAPTURE(yaml);
        const auto report = analysis::run(question);
        if (!report) { // a type or direction that this operator does not have there
            CHECK_MESSAGE(report.diagnostics().items().front().code != "internal-bound",
                          report.diagnostics().items().front().message);
            return false;
        }
        check_layers(*report);
        check_total(*report);
        const double factor = rng.one_of({1.0, 0.9, 1.3});
        const auto measured =
            rng.one_in(2) ? std::optional(factor * report->total.time_s) : std::optional<double>();
        const auto bound = analysis::bound::bound(question, measured);
        REQUIRE(bound.ok());
        check_bound(*bound);
        return true;
    });
}

TEST_CASE("the headline's saving is what its change gives when it is examined again") {
    each_case(20, [](Rng& rng, long) {
        std::string yaml;
        auto question = random_question(rng, yaml);
        cap(rng, question);
        CAPTURE(question.machine.id);
        CAPTURE(fmt::format("{}", fmt::join(question.scenario.changes, " ")));
        CAPTURE(yaml);
        const auto report = analysis::run(question);
        if (!report) {
            return false;
        }
        check_headline(question, *report);
        return true;
    });
}

} // namespace test_step_random_bounds
