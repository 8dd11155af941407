#include "cli/dev/dev_program.hpp"

#include "cli/command.hpp"

namespace eyeroof::cli {

const Program& dev_program() {
    static const Program program = {
        "eyeroof-dev",
        "Fit the constants that eyeroof ships, and judge its models and searches on measurements",
        "# errors of the time model on GPUs and shapes that its constants have not seen\n"
        "eyeroof-dev cross-validate measured.csv\n"
        "# strategies of learned search against each other\n"
        "eyeroof-dev tune-compare resnet18-c1-c12 --layers 'C[69]$' --trials 32 --seeds 3",
        [](Frame& frame) {
            add_cross_validate(frame);
            add_fit_kernels(frame);
            add_tune_compare(frame);
        }};
    return program;
}

} // namespace eyeroof::cli
