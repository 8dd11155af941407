// What a compiler does with the layout of convolutions: when it turns them, and where it passes.
#include "analysis/program/lower.hpp"
#include "tests/step/step_fixture.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace test_step_compiled_layout {

using namespace eyeroof;

namespace {

analysis::Question compiled(const std::string& yaml, const char* machine = "a100-sxm-40gb") {
    auto file = formats::parse_network_yaml(yaml, "net.yaml");
    REQUIRE(file.ok());
    auto question = tests::question_of({file->network, file->edges},
                                       tests::machine_with(tests::catalog_gpu(machine), machine));
    question.scenario.compiled = true;
    return question;
}

long passes(const analysis::Question& question, const std::string& ending) {
    const auto program = analysis::lower(question);
    REQUIRE(program.ok());
    return std::count_if(program->operators.begin(), program->operators.end(), [&](const auto& op) {
        return program->layers[op.layer].name.ends_with(ending);
    });
}

std::string two(int c, int k, int groups) {
    return fmt::format(R"(name: two
defaults: {{dtype: tf32}}
layers:
  - {{name: first, op: conv2d, n: 8, c: {0}, h: 64, w: 64, k: {1}, r: 3, s: 3, pad: 1}}
  - {{name: second, op: conv2d, n: 8, c: {1}, h: 64, w: 64, k: {1}, r: 3, s: 3, pad: 1, groups: {2}}}
graph:
  - {{run: first, reads: input}}
  - {{run: second, output: true}}
)",
                       c, k, groups);
}

} // namespace

TEST_CASE(
    "compiled convolutions run with channels last, and tensors from outside are passed over") {
    const auto question = compiled(two(64, 128, 1));
    CHECK(analysis::turns_layout(question));
    // the input, and the filters of both; between the convolutions nothing is passed over
    CHECK(passes(question, ".to_channels_last") == 3);
    CHECK(passes(question, ".to_channels_first") == 1);
    auto eager = question;
    eager.scenario.compiled = false;
    CHECK(!analysis::turns_layout(eager));
    auto named = question;
    named.scenario.layout = model::Layout::channels_first;
    CHECK(!analysis::turns_layout(named));
}

TEST_CASE("batch norms take the statistics of their batch in training, and in training alone") {
    auto question = compiled(R"(name: norm
layers:
  - {name: conv, op: conv2d, n: 8, c: 4, h: 16, w: 16, k: 64, r: 3, s: 3, pad: 1}
  - {name: bn, op: batchnorm, rows: 64, cols: 2048}
)");
    question.scenario.compiled = false;
    const auto images = [&] {
        const auto program = analysis::lower(question);
        REQUIRE(program.ok());
        std::vector<Count> found;
        for (const model::Layer& layer : program->layers) {
            if (layer.op == model::Op::batchnorm) {
                found.push_back(std::get<model::RowsShape>(layer.shape).images);
            }
        }
        return found;
    };
    CHECK(images() == std::vector<Count>{0});
    question.scenario.training = analysis::TrainingOptions{};
    const auto trained = images();
    CHECK(trained.size() >= 2); // the gradient, too
    CHECK(std::count(trained.begin(), trained.end(), 8) == static_cast<long>(trained.size()));
}

TEST_CASE("grouped convolutions keep their layout where they do most of the work") {
    CHECK(!analysis::turns_layout(compiled(two(4, 256, 2))));
    CHECK(analysis::turns_layout(compiled(two(4, 256, 256)))); // depthwise is not grouped
    CHECK(!analysis::turns_layout(compiled(two(64, 128, 1), "mi100")));
}

TEST_CASE("in training a group, a narrowing filter, or small channels alone keep the layout") {
    const auto training = [](const std::string& yaml) {
        auto question = compiled(yaml);
        question.scenario.training = analysis::TrainingOptions{};
        return analysis::turns_layout(question);
    };
    CHECK(training(two(64, 128, 1)));
    CHECK(!training(two(256, 128, 1))); // 128 filters of 256 channels
    CHECK(!training(two(3, 64, 1)));
    CHECK(!training(two(64, 128, 2)));
}

} // namespace test_step_compiled_layout
