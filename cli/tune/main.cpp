// The program `eyeroof-tune`.
#include "cli/program_main.hpp"
#include "cli/tune/tune_program.hpp"

int main(int argc, char** argv) {
    return eyeroof::cli::run_process(argc, argv, eyeroof::cli::tune_program());
}
