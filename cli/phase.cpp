#include "cli/phase.hpp"

namespace eyeroof::cli {

void add_phase(CLI::App& app, PhaseOptions& options) {
    add_choice(app, "--phase", options.phase, {"inference", "training"},
               "What is run: the layers, or a training step: they, both gradients and the update "
               "of the weights");
    add_choice(app, "--optimizer", options.optimizer, {"sgd", "sgd_momentum", "adam"},
               "Update of the weights in training");
    add_choice(app, "--operators", options.operators, {"all", "fused", "products"},
               "Every operator for itself; batch norms folded and activations fused into the layer "
               "before; or convolutions and products alone [all; fused for inference on "
               "accelerators]");
}

std::optional<study::Operators> operators_of(const PhaseOptions& options) {
    return options.operators == "all"        ? std::optional(study::Operators::all)
           : options.operators == "fused"    ? std::optional(study::Operators::fused)
           : options.operators == "products" ? std::optional(study::Operators::products)
                                             : std::nullopt;
}

std::optional<study::TrainingOptions> training_of(const PhaseOptions& options) {
    return options.phase == "training" ? std::optional(study::TrainingOptions{options.optimizer})
                                       : std::nullopt;
}

} // namespace eyeroof::cli
