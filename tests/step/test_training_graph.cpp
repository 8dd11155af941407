// Training graphs of every network of the catalog.
#include "analysis/program/gradients.hpp"
#include "tests/step/step_fixture.hpp"

namespace test_step_training_graph {

using namespace eyeroof;
using namespace eyeroof::analysis::step;
using analysis::Regime;

TEST_CASE("every network of the catalog has a training graph, also with tables of another layer") {
    const auto heads =
        formats::list_networks({std::filesystem::path(tests::source_dir()) / "examples/networks"});
    REQUIRE(heads.ok());
    GraphOptions options;
    options.training = analysis::TrainingOptions{"sgd"};
    std::size_t shared = 0;
    for (const auto& head : *heads) {
        CAPTURE(head.id);
        const auto wired = tests::catalog_network(head.id);
        const auto graph = make_graph(wired.network, wired.edges, options);
        if (!graph && graph.diagnostics().begin()->code == "not-forward") {
            continue; // is a training step itself
        }
        REQUIRE(graph.ok());
        for (const model::Layer& layer : graph->layers) {
            shared += layer.op == model::Op::embedding && model::parameters_of(layer) == 0 ? 1 : 0;
        }
        for (const TensorId operand : graph->operands) {
            CHECK(operand < graph->tensors.size());
        }
    }
    CHECK(shared > 0); // else this says nothing of them
}

TEST_CASE("an update without copies in fp32 is of the weights' own type") {
    model::Layer fc;
    fc.shape = model::GemmShape{1, 8, 64, 64};
    const auto type = [&](Regime states) {
        return analysis::update_of(fc, analysis::TrainingOptions{"adam"}, states)
            .value()
            .layer.types.output;
    };
    fc.types = {model::DataType::bf16, model::DataType::bf16, model::DataType::bf16};
    CHECK(type(Regime::pure) == model::DataType::bf16);
    CHECK(type(Regime::mixed) == model::DataType::fp32);
}

} // namespace test_step_training_graph
