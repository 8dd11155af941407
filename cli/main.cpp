// The program `eyeroof`.
#include "cli/program_main.hpp"

int main(int argc, char** argv) {
    return eyeroof::cli::run_process(argc, argv, eyeroof::cli::eyeroof_program());
}
