// The program `eyeroof-dev`.
#include "cli/dev/dev_program.hpp"
#include "cli/program_main.hpp"

int main(int argc, char** argv) {
    return eyeroof::cli::run_process(argc, argv, eyeroof::cli::dev_program());
}
