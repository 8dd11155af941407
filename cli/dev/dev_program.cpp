#include "cli/dev/dev_program.hpp"

#include "cli/command.hpp"

namespace eyeroof::cli {

const Program& dev_program() {
    static const Program program = {
        "eyeroof-dev", "Fit the constants of serving libraries' kernels that eyeroof ships",
        "eyeroof-dev fit-kernels gemm.csv.gz attention.csv.gz moe.csv.gz --constants new",
        [](Frame& frame) { add_fit_kernels(frame); }};
    return program;
}

} // namespace eyeroof::cli
